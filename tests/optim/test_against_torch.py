"""Steps, clipping and schedules against PyTorch, on random hyperparameters."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from einsumad import nn, optim
from einsumad.optim import lr_scheduler as schedules

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

SHAPES = [(4, 3), (5,), (), (2, 0)]
STEPS = 8
shares = st.floats(0.0, 0.99)
decays = st.sampled_from([0.0, 0.0, 0.01, 0.3])
rates = st.floats(1e-4, 0.3)
flags = st.booleans()
epsilons = st.sampled_from([1e-8, 1e-4, 0.1])


@st.composite
def sgd(draw: Any) -> tuple[str, dict[str, Any]]:
    momentum = draw(st.sampled_from([0.0, 0.5, 0.9]))
    nesterov = momentum > 0 and draw(flags)
    dampening = 0.0 if nesterov else draw(st.sampled_from([0.0, 0.25]))
    return "SGD", {"momentum": momentum, "nesterov": nesterov, "dampening": dampening}


METHODS = st.one_of(
    sgd(),
    st.tuples(
        st.just("RMSprop"),
        st.fixed_dictionaries(
            {"alpha": st.floats(0.3, 0.99), "eps": epsilons, "momentum": st.sampled_from([0, 0.9]), "centered": flags}
        ),
    ),
    st.tuples(
        st.just("Adagrad"),
        st.fixed_dictionaries(
            {"lr_decay": st.floats(0, 1), "eps": epsilons, "initial_accumulator_value": st.sampled_from([0, 0.5])}
        ),
    ),
    st.tuples(
        st.sampled_from(["Adam", "AdamW"]),
        st.fixed_dictionaries({"betas": st.tuples(shares, st.floats(0.3, 0.999)), "eps": epsilons, "amsgrad": flags}),
    ),
)


def groups_of(params: list[Any], second: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"params": params[:2]}, {"params": params[2:], **second}]


def close(found: Any, expected: Any, dtype: Any, largest: float) -> None:
    """Equal to a few units in the last place of the numbers that were added up."""
    np.testing.assert_allclose(found, expected, rtol=0, atol=40 * np.finfo(dtype).eps * largest)


@given(METHODS, rates, decays, flags, rates, decays, st.integers(0, 2**32), st.sampled_from([np.float32, np.float64]))
def test_steps(  # noqa: PLR0917 (Hypothesis draws them)
    method: tuple[str, dict[str, Any]],
    lr: float,
    weight_decay: float,
    maximize: bool,
    other_lr: float,
    other_decay: float,
    seed: int,
    dtype: Any,
) -> None:
    name, options = method
    options = {**options, "lr": lr, "weight_decay": weight_decay, "maximize": maximize}
    second = {"lr": other_lr, "weight_decay": other_decay}
    rng = np.random.default_rng(seed)
    start = [rng.normal(size=shape).astype(dtype) for shape in SHAPES]
    ours = [nn.Parameter(array) for array in start]
    theirs = [torch.nn.Parameter(torch.tensor(array)) for array in start]
    optimizer = getattr(optim, name)(groups_of(ours, second), **options)
    reference = getattr(torch.optim, name)(groups_of(theirs, second), **options)
    largest = 1.0
    for number in range(STEPS):
        gradients = [rng.normal(size=shape).astype(dtype) for shape in SHAPES]
        for k, (p, q) in enumerate(zip(ours, theirs, strict=True)):
            skipped = rng.random() < 0.3 or (number < 2 and k == 1)
            p.grad = None if skipped else gradients[k]
            q.grad = None if skipped else torch.tensor(gradients[k])
        optimizer.step()
        reference.step()
        for p, q in zip(ours, theirs, strict=True):
            largest = max(largest, float(np.max(np.abs(p.data), initial=0)))
            assert p.data.dtype == dtype
            close(p.data, q.detach().numpy(), dtype, largest)
    if name != "SGD" or options["momentum"]:
        same_states(optimizer, reference, dtype)


def same_states(optimizer: Any, reference: Any, dtype: Any) -> None:
    """Counts and arrays of the states, by PyTorch's own names."""
    ours, theirs = optimizer.state_dict()["state"], reference.state_dict()["state"]
    for place, entry in theirs.items():
        if entry.get("step") == 0:
            assert place not in ours
            continue
        for name, value in entry.items():
            if name == "step":
                assert ours[place][name] == float(value)
            elif value is not None:
                array = value.numpy()
                close(ours[place][name], array, dtype, max(1, float(np.max(np.abs(array), initial=0))))


@given(st.integers(0, 2**32), st.sampled_from([1.0, 2.0, 3.0, float("inf")]), st.floats(0.01, 20))
def test_clipping(seed: int, order: float, bound: float) -> None:
    rng = np.random.default_rng(seed)
    arrays = [rng.normal(size=shape) for shape in SHAPES]
    for ours_by, theirs_by in [
        (lambda p: optim.clip_grad_norm_(p, bound, order), lambda p: torch.nn.utils.clip_grad_norm_(p, bound, order)),
        (lambda p: optim.clip_grad_value_(p, bound), lambda p: torch.nn.utils.clip_grad_value_(p, bound)),
    ]:
        ours = [nn.Parameter(np.zeros(shape)) for shape in SHAPES]
        theirs = [torch.nn.Parameter(torch.zeros(shape, dtype=torch.float64)) for shape in SHAPES[:-1]]
        for p, array in zip(ours, arrays, strict=True):
            p.grad = array
        for q, array in zip(theirs, arrays, strict=False):
            q.grad = torch.tensor(array)
        norm, expected = ours_by(ours), theirs_by(theirs)
        if norm is not None:
            np.testing.assert_allclose(norm, float(expected), rtol=1e-13)
        for p, q in zip(ours, theirs, strict=False):
            np.testing.assert_allclose(p.grad, q.grad.numpy(), rtol=1e-13)  # type: ignore[arg-type] # it is set


counts = st.integers(1, 12)
CURVES = st.one_of(
    st.tuples(st.just("StepLR"), st.fixed_dictionaries({"step_size": counts, "gamma": shares})),
    st.tuples(
        st.just("MultiStepLR"),
        st.fixed_dictionaries({"milestones": st.lists(st.integers(0, 15), max_size=4), "gamma": shares}),
    ),
    st.tuples(st.just("ExponentialLR"), st.fixed_dictionaries({"gamma": shares})),
    st.tuples(
        st.just("ConstantLR"), st.fixed_dictionaries({"factor": st.floats(0.01, 1), "total_iters": st.integers(0, 12)})
    ),
    st.tuples(
        st.just("LinearLR"),
        st.fixed_dictionaries({"start_factor": st.floats(0.01, 1), "end_factor": shares, "total_iters": counts}),
    ),
    st.tuples(st.just("CosineAnnealingLR"), st.fixed_dictionaries({"T_max": counts, "eta_min": st.floats(0, 0.1)})),
    st.tuples(st.just("LambdaLR"), st.just({"lr_lambda": lambda epoch: 1 / (1 + epoch)})),
)


def pair() -> tuple[Any, Any]:
    ours = optim.SGD([{"params": [nn.Parameter(np.ones(2))], "lr": lr} for lr in (0.5, 0.02)])
    theirs = torch.optim.SGD([{"params": [torch.nn.Parameter(torch.ones(2))], "lr": lr} for lr in (0.5, 0.02)])
    return ours, theirs


def stepped(optimizer: Any, all_of_them: list[Any], epochs: int) -> list[list[float]]:
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's, that its optimiser takes no steps
        for _ in range(epochs):
            found.append([group["lr"] for group in optimizer.param_groups])
            for schedule in all_of_them:
                schedule.step()
    return found


@given(st.lists(CURVES, min_size=1, max_size=2))
def test_schedules(curves: list[tuple[str, dict[str, Any]]]) -> None:
    ours, theirs = pair()
    own = [getattr(schedules, name)(ours, **copy.copy(options)) for name, options in curves]
    other = [getattr(torch.optim.lr_scheduler, name)(theirs, **copy.copy(options)) for name, options in curves]
    np.testing.assert_allclose(stepped(ours, own, 30), stepped(theirs, other, 30), rtol=1e-13)
    for schedule, reference in zip(own, other, strict=True):
        np.testing.assert_allclose(schedule.get_last_lr(), reference.get_last_lr(), rtol=1e-13)


@given(st.lists(CURVES, min_size=2, max_size=3), st.integers(0, 9), st.integers(1, 9))
def test_schedules_one_after_another(curves: list[tuple[str, dict[str, Any]]], first: int, then: int) -> None:
    milestones = [first, first + then][: len(curves) - 1]
    ours, theirs = pair()
    own = [getattr(schedules, name)(ours, **options) for name, options in curves]
    other = [getattr(torch.optim.lr_scheduler, name)(theirs, **options) for name, options in curves]
    sequence = schedules.SequentialLR(ours, own, milestones)
    reference = torch.optim.lr_scheduler.SequentialLR(theirs, other, milestones)
    np.testing.assert_allclose(stepped(ours, [sequence], 30), stepped(theirs, [reference], 30), rtol=1e-13)


@given(
    st.lists(st.sampled_from([0.5, 0.9, 0.99995, 1.0, 1.5, float("nan")]), max_size=30),
    st.fixed_dictionaries(
        {
            "mode": st.sampled_from(["min", "max"]),
            "threshold_mode": st.sampled_from(["rel", "abs"]),
            "patience": st.integers(0, 3),
            "cooldown": st.integers(0, 3),
            "factor": shares,
            "threshold": st.sampled_from([1e-4, 0.1]),
            "min_lr": st.sampled_from([0, 0.01, [0.1, 0.001]]),
        }
    ),
)
def test_plateaus(measures: list[float], options: dict[str, Any]) -> None:
    ours, theirs = pair()
    own = schedules.ReduceLROnPlateau(ours, **options)
    reference = torch.optim.lr_scheduler.ReduceLROnPlateau(theirs, **options)
    for measure in measures:
        own.step(measure)
        reference.step(measure)
        assert own.get_last_lr() == reference.get_last_lr()
        for name in ("best", "num_bad_epochs", "cooldown_counter", "last_epoch"):
            assert getattr(own, name) == getattr(reference, name)
