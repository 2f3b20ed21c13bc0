"""Optimisers: groups, parameters that are skipped, states that are saved, and what is refused."""

from __future__ import annotations

import copy
import pickle
import sys
from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad import nn, optim

METHODS: list[tuple[Any, dict[str, Any]]] = [
    (optim.SGD, {"momentum": 0.9, "dampening": 0.5}),
    (optim.SGD, {}),
    (optim.RMSprop, {"momentum": 0.5, "centered": True}),
    (optim.Adagrad, {"lr_decay": 0.1, "initial_accumulator_value": 0.5}),
    (optim.Adam, {"amsgrad": True}),
    (optim.AdamW, {}),
]
SHAPES = [(3, 4), (4,), (), (0, 2)]
rng = np.random.default_rng(11)


def parameters(dtype: Any = np.float32, seed: int = 0) -> list[nn.Parameter]:
    own = np.random.default_rng(seed)
    return [nn.Parameter(own.normal(size=shape).astype(dtype)) for shape in SHAPES]


def steps(
    optimizer: optim.Optimizer, params: list[nn.Parameter], numbers: range, skipped: tuple[int, ...] = ()
) -> None:
    for number in numbers:
        own = np.random.default_rng(number)
        for k, p in enumerate(params):
            gradient = own.normal(size=p.shape)
            p.grad = None if k in skipped else gradient
        optimizer.step()


def arrays(params: list[nn.Parameter]) -> list[np.ndarray]:
    return [p.data for p in params]


def assert_same(one: list[np.ndarray], other: list[np.ndarray]) -> None:
    for a, b in zip(one, other, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(("make", "options"), METHODS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_resuming_is_going_on_bit_for_bit(make: Any, options: dict[str, Any], dtype: Any) -> None:
    params = parameters(dtype)
    optimizer = make(params, lr=0.01, **options)
    steps(optimizer, params, range(3))
    saved = copy.deepcopy(optimizer.state_dict())
    again = [nn.Parameter(p.data) for p in params]
    steps(optimizer, params, range(3, 7))
    resumed = make(again, lr=0.5)
    resumed.load_state_dict(saved)
    steps(resumed, again, range(3, 7))
    assert_same(arrays(params), arrays(again))
    assert resumed.param_groups[0]["lr"] == 0.01


def test_what_is_saved_does_not_change_with_later_steps_and_is_read_only() -> None:
    params = parameters()
    optimizer = optim.Adam(params)
    assert optimizer.state_dict()["state"] == {}
    steps(optimizer, params, range(2))
    saved = optimizer.state_dict()
    kept = copy.deepcopy(saved)
    steps(optimizer, params, range(2, 4))
    assert saved["param_groups"] == kept["param_groups"]
    assert saved["param_groups"][0]["params"] == [0, 1, 2, 3]
    assert [type(saved["state"][0][name]) for name in ("step", "exp_avg")] == [int, np.ndarray]
    assert_same([saved["state"][0]["exp_avg"]], [kept["state"][0]["exp_avg"]])
    with pytest.raises(ValueError, match="read-only"):
        saved["state"][0]["exp_avg"][0, 0] = 1


def test_loading_copies() -> None:
    params = parameters()
    optimizer = optim.Adam(params)
    steps(optimizer, params, range(2))
    saved = copy.deepcopy(optimizer.state_dict())
    optimizer.load_state_dict(saved)
    saved["state"][0]["exp_avg"][:] = 99
    assert not np.any(optimizer.states()[0]["exp_avg"] == 99)


@pytest.mark.parametrize(("make", "options"), METHODS)
def test_parameters_without_a_gradient_are_skipped(make: Any, options: dict[str, Any]) -> None:
    params, alone = parameters(np.float64), parameters(np.float64)
    optimizer = make(params, lr=0.1, **options)
    steps(optimizer, params, range(2), skipped=(0, 2))
    assert_same([params[0].data, params[2].data], [alone[0].data, alone[2].data])
    assert sorted(optimizer.state_dict()["state"]) == [1, 3]
    steps(optimizer, params, range(2, 4))
    late = make([alone[0], alone[2]], lr=0.1, **options)
    for number in range(2, 4):
        gradients = [np.random.default_rng(number)]
        drawn = [gradients[0].normal(size=p.shape) for p in params]
        alone[0].grad, alone[2].grad = drawn[0], drawn[2]
        late.step()
    np.testing.assert_allclose(params[0].data, alone[0].data, rtol=1e-14)
    np.testing.assert_allclose(params[2].data, alone[2].data, rtol=1e-14)


def test_parameters_that_require_no_gradient_are_skipped() -> None:
    frozen = nn.Parameter(np.ones(2), requires_grad=False)
    free = nn.Parameter(np.ones(2))
    optimizer = optim.SGD([frozen, free], lr=0.5)
    np.sum(frozen * free).backward()
    optimizer.step()
    np.testing.assert_array_equal(frozen.data, [1, 1])
    np.testing.assert_array_equal(free.data, [0.5, 0.5])


def test_groups_have_hyperparameters_of_their_own() -> None:
    a, b, c = (nn.Parameter(np.ones(2)) for _ in range(3))
    optimizer = optim.SGD([{"params": [a], "lr": 0.5}, {"params": b, "momentum": 0.5}], lr=0.25)
    optimizer.add_param_group({"params": [c], "weight_decay": 1.0})
    for _ in range(2):
        for p in (a, b, c):
            p.grad = np.ones(2)
        optimizer.step()
    np.testing.assert_array_equal(a.data, [0, 0])
    np.testing.assert_array_equal(b.data, [1 - 0.25 - 0.25 * 1.5] * 2)
    np.testing.assert_array_equal(c.data, [0.5 - 0.25 * 1.5] * 2)
    assert [group["lr"] for group in optimizer.param_groups] == [0.5, 0.25, 0.25]
    assert [len(state) for state in optimizer.states()] == [0, 1, 0]


def test_numbers_that_change_make_no_new_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    params = parameters()
    optimizer = optim.Adam(params, weight_decay=0.1)
    steps(optimizer, params, range(1))
    monkeypatch.setattr(sys.modules["einsumad.frontend.compile"], "trace_program", None)
    for lr in (0.1, 0.2):
        optimizer.param_groups[0].update(lr=lr, betas=(0.8, 0.9), eps=1e-3, weight_decay=lr)
        steps(optimizer, params, range(1, 3))


def test_momentum_may_be_switched_on_and_off() -> None:
    p, twin = nn.Parameter(np.ones(2)), nn.Parameter(np.ones(2))
    optimizer, other = optim.SGD([p], lr=0.1, dampening=0.5), optim.SGD([twin], lr=0.1, dampening=0.5, momentum=0.5)
    p.grad = np.ones(2)
    optimizer.step()
    optimizer.param_groups[0]["momentum"] = 0.5
    twin.data = p.data
    for _ in range(3):
        p.grad = twin.grad = np.ones(2)
        optimizer.step()
        other.step()
    np.testing.assert_array_equal(p.data, twin.data)


def test_take_counts_a_step_and_leaves_out_what_is_none() -> None:
    params = parameters()
    optimizer = optim.Adam(params)
    states = [{name: array + 1 for name, array in state.items()} for state in optimizer.states()]
    optimizer.take([*states[:3], None])
    assert [entry["step"] for entry in optimizer.state_dict()["state"].values()] == [1, 1, 1]
    assert optimizer.numbers()[0]["eps"] == np.float32(1e-8 * (1 - 0.999**2) ** 0.5)
    assert optimizer.numbers()[3]["eps"] == np.float32(1e-8 * (1 - 0.999) ** 0.5)
    before = optimizer.state_dict()
    for wrong, error in [
        (states[:2], ValueError),
        ([{}, *states[1:]], ValueError),
        ([*states[:3], {**states[3], "exp_avg": np.zeros(3, np.float32)}], ea.ShapeError),
        ([*states[:3], {**states[3], "exp_avg": np.zeros((0, 2), int)}], TypeError),
    ]:
        with pytest.raises(error):
            optimizer.take(wrong)
    assert [entry["step"] for entry in before["state"].values()] == [1, 1, 1]
    assert_same([optimizer.states()[0]["exp_avg"]], [before["state"][0]["exp_avg"]])


def test_updated_leaves_alone_what_has_no_gradient_and_counts_its_arguments() -> None:
    params = parameters()
    optimizer = optim.SGD(params, lr=1.0, momentum=0.5)
    values, gradients = arrays(params), [np.ones_like(p.data) for p in params]
    gradients[1] = None  # type: ignore[call-overload] # none
    new, states = optimizer.updated(values, gradients, optimizer.states(), optimizer.numbers())
    assert new[1] is values[1]
    assert not np.any(states[1]["momentum_buffer"])
    np.testing.assert_array_equal(new[0], values[0] - 1)
    with pytest.raises(ValueError, match="3 gradients"):
        optimizer.updated(values, gradients[:3], optimizer.states(), optimizer.numbers())


def test_closures_are_called_first() -> None:
    p = nn.Parameter(np.array([2.0]))
    optimizer = optim.SGD([p], lr=0.25)

    def closure() -> float:
        optimizer.zero_grad()
        loss = np.sum(p**2)
        loss.backward()
        return float(loss.numpy())

    assert optimizer.step(closure) == 4.0
    assert p.data == [1.0]


def test_zero_grad() -> None:
    p, q = nn.Parameter(np.ones(2)), nn.Parameter(np.ones(2))
    optimizer = optim.SGD([p, q])
    p.grad = np.ones(2)
    optimizer.zero_grad(set_to_none=False)
    np.testing.assert_array_equal(p.grad, [0, 0])
    assert q.grad is None
    optimizer.zero_grad()
    assert p.grad is None
    assert optimizer.step() is None


@pytest.mark.parametrize(
    ("make", "options", "error", "text"),
    [
        (optim.SGD, {"lr": -1}, ValueError, "lr must be a finite number of at least 0, got -1"),
        (optim.SGD, {"lr": float("nan")}, ValueError, "lr"),
        (optim.SGD, {"lr": "fast"}, TypeError, "lr"),
        (optim.SGD, {"lr": True}, TypeError, "lr"),
        (optim.SGD, {"momentum": -0.1}, ValueError, "momentum"),
        (optim.SGD, {"weight_decay": -0.1}, ValueError, "weight_decay"),
        (optim.SGD, {"nesterov": True}, ValueError, "nesterov"),
        (optim.SGD, {"nesterov": True, "momentum": 0.9, "dampening": 0.1}, ValueError, "nesterov"),
        (optim.SGD, {"nesterov": 1, "momentum": 0.9}, TypeError, "nesterov"),
        (optim.RMSprop, {"alpha": -1}, ValueError, "alpha"),
        (optim.RMSprop, {"eps": -1}, ValueError, "eps"),
        (optim.Adagrad, {"lr_decay": -1}, ValueError, "lr_decay"),
        (optim.Adagrad, {"initial_accumulator_value": -1}, ValueError, "initial_accumulator_value"),
        (optim.Adam, {"betas": (1.0, 0.9)}, ValueError, r"betas\[0\] must be at least 0 and below 1"),
        (optim.Adam, {"betas": (0.9, -0.5)}, ValueError, r"betas\[1\]"),
        (optim.Adam, {"betas": 0.9}, TypeError, "betas must be two numbers"),
        (optim.AdamW, {"eps": -1e-8}, ValueError, "eps"),
    ],
)
def test_bad_hyperparameters(make: Any, options: dict[str, Any], error: type[Exception], text: str) -> None:
    p = nn.Parameter(np.ones(2))
    with pytest.raises(error, match=text):
        make([p], **options)
    if options != {"nesterov": True}:
        with pytest.raises(error, match=text):
            make([{"params": [p], **options}])


def test_bad_parameters() -> None:
    p = nn.Parameter(np.ones(2))
    q = nn.Parameter(np.ones(3))
    for params, error, text in [
        ([], ValueError, "no parameters"),
        ({p, q}, TypeError, "list"),
        (3, TypeError, "list"),
        ("weights", TypeError, "list"),
        ([np.ones(2)], TypeError, "parameter 0 is a ndarray"),
        ([("weight", p)], TypeError, "parameter 0 is a tuple"),
        ([p, q, p], ValueError, r"shape \(2,\) is twice in group 0"),
        ([{"params": [p]}, {"params": [q, p]}], ValueError, "in groups 0 and 1"),
        ([{"params": [p]}, q], TypeError, "a group is a dictionary"),
        ([{"lr": 0.1}], TypeError, "'params'"),
        ([{"params": [p], "weigth_decay": 1}], TypeError, "'weigth_decay' .* 'weight_decay'"),
        ([{"params": [p], "colour": 1}], TypeError, "hyperparameters are lr"),
    ]:
        with pytest.raises(error, match=text):
            optim.SGD(params)
    assert optim.SGD(p).param_groups[0]["params"] == [p]


class Held:
    """A parameter that checks nothing."""

    def __init__(self, data: np.ndarray, grad: np.ndarray) -> None:
        self.data, self.grad, self.requires_grad = data, grad, True


def test_gradients_that_do_not_fit_change_nothing() -> None:
    first, second = Held(np.ones(2), np.ones(2)), Held(np.ones((2, 1)), np.ones((1, 2)))
    optimizer = optim.SGD([first, second], lr=0.1)
    with pytest.raises(ea.ShapeError, match=r"parameter 1 has shape \(2, 1\), its gradient \(1, 2\)"):
        optimizer.step()
    second.grad = np.ones((2, 1), complex)
    with pytest.raises(TypeError, match="parameter 1 has dtype float64, its gradient complex128"):
        optimizer.step()
    np.testing.assert_array_equal(first.data, [1, 1])
    second.grad = np.ones((2, 1), np.float32)
    optimizer.step()
    np.testing.assert_allclose(second.data, [[0.9], [0.9]])
    with pytest.raises(TypeError, match="dtype int64"):
        optim.SGD([Held(np.ones(2, np.int64), np.ones(2))])


def changed(state: dict[str, Any], *path: Any, to: Any = None) -> dict[str, Any]:
    """The state with one entry set, or left out."""
    new = copy.deepcopy(state)
    place: Any = new
    for key in path[:-1]:
        place = place[key]
    if to is None:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    return new


def test_states_that_do_not_fit_change_nothing() -> None:
    params = parameters()
    optimizer = optim.Adam(params[:3])
    steps(optimizer, params[:3], range(2))
    good = optimizer.state_dict()
    sgd = optim.SGD(params).state_dict()
    bad: list[tuple[Any, type[Exception], str]] = [
        ([], ValueError, "'state' and 'param_groups'"),
        (changed(good, "state"), ValueError, "'state' and 'param_groups'"),
        (sgd, ValueError, "groups of 4 parameters, there are groups of 3"),
        (changed(sgd, "param_groups", 0, "params", to=[0, 1, 2]), TypeError, "no hyperparameter of Adam"),
        (changed(good, "param_groups", 0, "eps"), ValueError, "'eps' is missing"),
        (changed(good, "param_groups", 0, "eps", to=-1.0), ValueError, "eps"),
        (changed(good, "param_groups", 0, "params", to=[0, 1, 1]), ValueError, "in no group|twice"),
        (changed(good, "state", 7, to={}), ValueError, "state for 7"),
        (changed(good, "state", 0, "step"), ValueError, "no 'step'"),
        (changed(good, "state", 0, "step", to=1.5), ValueError, "whole number"),
        (
            changed(good, "state", 0, "exp_avg"),
            ValueError,
            "has the arrays exp_avg_sq, expected exp_avg, exp",
        ),
        (changed(good, "state", 0, "other", to=np.ones(2)), ValueError, "other"),
        (changed(good, "state", 0, "exp_avg", to=np.ones((4, 3), np.float32)), ea.ShapeError, r"\(4, 3\)"),
        (changed(good, "state", 0, "exp_avg", to=np.ones((3, 4), int)), TypeError, "int64"),
    ]
    for state, error, text in bad:
        with pytest.raises(error, match=text):
            optimizer.load_state_dict(state)
        now = optimizer.state_dict()
        assert now["param_groups"] == good["param_groups"]
        for place, entry in good["state"].items():
            assert_same([now["state"][place]["exp_avg"]], [entry["exp_avg"]])


@pytest.mark.parametrize(("make", "options"), METHODS)
def test_copies_go_on_by_themselves(make: Any, options: dict[str, Any]) -> None:
    params = parameters()
    optimizer = make(params, **options)
    steps(optimizer, params, range(2))
    others = [copy.deepcopy((params, optimizer)), pickle.loads(pickle.dumps((params, optimizer)))]  # noqa: S301 (own)
    steps(optimizer, params, range(2, 4))
    for their_params, other in others:
        assert other.param_groups[0]["params"][0] is their_params[0]
        steps(other, their_params, range(2, 4))
        assert_same(arrays(params), arrays(their_params))


def test_repr() -> None:
    optimizer = optim.SGD([{"params": parameters()}, {"params": [nn.Parameter(np.ones(2))], "lr": 0.5}], momentum=0.9)
    text = repr(optimizer)
    assert text.startswith("SGD(\n  group 0: 4 parameters of shapes (3, 4), (4,), (), (0, 2)\n    lr=0.001, momentum=")
    assert "group 1: 1 parameters of shapes (2,)\n    lr=0.5, momentum=0.9, dampening=0" in text
