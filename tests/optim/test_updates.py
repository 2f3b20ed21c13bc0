"""The pure updates: formulas written entry by entry, traced as they are plain, in the dtype of the value."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import sqrt
from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad import nn, optim
from einsumad.testing import check_derivatives

STEPS = 6
rng = np.random.default_rng(3)
START = rng.normal(size=(2, 3))
GRADIENTS = rng.normal(size=(STEPS, 2, 3))

Entry = Callable[[float, list[float]], float]


def sgd(p: float, g: list[float], o: dict[str, Any]) -> float:
    buffer = None
    for gradient in g:
        d = (-gradient if o["maximize"] else gradient) + o["weight_decay"] * p
        if o["momentum"]:
            buffer = d if buffer is None else o["momentum"] * buffer + (1 - o["dampening"]) * d
            d = d + o["momentum"] * buffer if o["nesterov"] else buffer
        p -= o["lr"] * d
    return p


def rmsprop(p: float, g: list[float], o: dict[str, Any]) -> float:
    square = mean = buffer = 0.0
    for gradient in g:
        d = (-gradient if o["maximize"] else gradient) + o["weight_decay"] * p
        square = o["alpha"] * square + (1 - o["alpha"]) * d * d
        mean = o["alpha"] * mean + (1 - o["alpha"]) * d
        d /= sqrt(square - mean**2 if o["centered"] else square) + o["eps"]
        buffer = o["momentum"] * buffer + d
        p -= o["lr"] * (buffer if o["momentum"] else d)
    return p


def adagrad(p: float, g: list[float], o: dict[str, Any]) -> float:
    total = o["initial_accumulator_value"]
    for t, gradient in enumerate(g):
        d = (-gradient if o["maximize"] else gradient) + o["weight_decay"] * p
        total += d * d
        p -= o["lr"] / (1 + t * o["lr_decay"]) * d / (sqrt(total) + o["eps"])
    return p


def adam(p: float, g: list[float], o: dict[str, Any], *, decoupled: bool = False) -> float:
    (b1, b2), m, v, most = o["betas"], 0.0, 0.0, 0.0
    for t, gradient in enumerate(g, 1):
        d = -gradient if o["maximize"] else gradient
        if decoupled:
            p *= 1 - o["lr"] * o["weight_decay"]
        else:
            d += o["weight_decay"] * p
        m, v = b1 * m + (1 - b1) * d, b2 * v + (1 - b2) * d * d
        most = max(most, v)
        second = most if o["amsgrad"] else v
        p -= o["lr"] * (m / (1 - b1**t)) / (sqrt(second / (1 - b2**t)) + o["eps"])
    return p


def adamw(p: float, g: list[float], o: dict[str, Any]) -> float:
    return adam(p, g, o, decoupled=True)


def combined(fixed: dict[str, Any], **choices: list[Any]) -> list[dict[str, Any]]:
    return [{**fixed, **dict(zip(choices, values, strict=True))} for values in product(*choices.values())]


BOTH = [False, True]
DECAYS = {"weight_decay": [0, 0.125], "maximize": BOTH}
CASES = [
    *[(optim.SGD, sgd, o) for o in combined({"lr": 0.1, "nesterov": False}, momentum=[0, 0.75], dampening=[0, 0.5])],
    *[(optim.SGD, sgd, o) for o in combined({"lr": 0.1, "momentum": 0.5, "dampening": 0, "nesterov": True}, **DECAYS)],
    *[
        (optim.RMSprop, rmsprop, o)
        for o in combined({"lr": 0.1, "eps": 0.25}, alpha=[0.25, 0.875], centered=BOTH, momentum=[0, 0.5], **DECAYS)
    ],
    *[
        (optim.Adagrad, adagrad, o)
        for o in combined({"lr": 0.1, "eps": 1e-3}, lr_decay=[0, 0.5], initial_accumulator_value=[0, 0.5], **DECAYS)
    ],
    *[
        (kind, formula, o)
        for kind, formula in ((optim.Adam, adam), (optim.AdamW, adamw))
        for o in combined({"lr": 0.1, "eps": 1e-3}, betas=[(0.9, 0.99), (0.25, 0.5), (0, 0)], amsgrad=BOTH, **DECAYS)
    ],
]


def after_steps(make: Any, options: dict[str, Any], dtype: Any = np.float64) -> np.ndarray:
    p = nn.Parameter(START.astype(dtype))
    optimizer = make([p], **options)
    for gradient in GRADIENTS:
        p.grad = gradient.astype(dtype)
        optimizer.step()
    assert p.data.dtype == dtype
    return p.data


def pure(optimizer: optim.Optimizer, p: nn.Parameter) -> None:
    """The same steps by the pure update on plain arrays."""
    for gradient in GRADIENTS:
        values, states = optimizer.updated([p.data], [gradient], optimizer.states(), optimizer.numbers())
        p.data = values[0]
        optimizer.take(states)


@pytest.mark.parametrize(("make", "formula", "options"), CASES)
def test_steps_follow_the_formula(make: Any, formula: Any, options: dict[str, Any]) -> None:
    options = {"weight_decay": 0, "maximize": False, **options}
    expected = [formula(p, list(g), options) for p, g in zip(START.flat, GRADIENTS.reshape(STEPS, -1).T, strict=True)]
    stepped = after_steps(make, options)
    np.testing.assert_allclose(stepped.ravel(), expected, rtol=1e-13, atol=1e-15)
    p = nn.Parameter(START)
    pure(make([p], **options), p)
    np.testing.assert_allclose(p.data, stepped, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("make", [optim.SGD, optim.RMSprop, optim.Adagrad, optim.Adam, optim.AdamW])
def test_single_precision_stays_single(make: Any) -> None:
    options = {"lr": 0.01, "momentum": 0.9} if make in (optim.SGD, optim.RMSprop) else {"lr": 0.01}
    single, double = after_steps(make, options, np.float32), after_steps(make, options)
    np.testing.assert_allclose(single, double, rtol=2e-6, atol=2e-6)


def test_updates_are_traced_in_the_dtype_of_the_value() -> None:
    p = nn.Parameter(START.astype(np.float32))
    optimizer = optim.Adam([p], amsgrad=True, weight_decay=0.1)
    arguments = [p.data], [GRADIENTS[0].astype(np.float32)], optimizer.states(), optimizer.numbers()
    values, states = ea.compile(optimizer.updated)(*arguments)
    plain_values, plain_states = optimizer.updated(*arguments)
    assert values[0].dtype == np.float32
    assert {name: array.dtype for name, array in states[0].items()} == dict.fromkeys(states[0], np.dtype(np.float32))
    np.testing.assert_allclose(values[0], plain_values[0], rtol=1e-6)
    for name in states[0]:
        np.testing.assert_allclose(states[0][name], plain_states[0][name], rtol=1e-6)


def test_a_training_step_is_one_plan_and_its_flags_may_be_arguments() -> None:
    x, y = rng.normal(size=(5, 3)), rng.normal(size=(5, 2))
    p = nn.Parameter(START)
    optimizer = optim.SGD([p], lr=0.1, momentum=0.5)
    traced = []

    @ea.compile
    def train(values: Any, states: Any, numbers: Any, flags: Any) -> Any:
        traced.append(None)
        loss, gradients = ea.value_and_grad(lambda values: np.sum((x @ values[0].T - y) ** 2))(values)
        return loss, *optimizer.updated(values, gradients, states, numbers, flags)

    twin = nn.Parameter(START)
    other = optim.SGD([twin], lr=0.1, momentum=0.5)
    for k in range(4):
        optimizer.param_groups[0]["lr"] = other.param_groups[0]["lr"] = 0.1 / (k + 1)
        optimizer.param_groups[0]["nesterov"] = other.param_groups[0]["nesterov"] = k >= 2
        _, values, states = train([p.data], optimizer.states(), optimizer.numbers(), optimizer.flags())
        p.data = values[0]
        optimizer.take(states)
        other.zero_grad()
        np.sum((x @ twin.T - y) ** 2).backward()
        other.step()
        np.testing.assert_allclose(p.data, twin.data, rtol=1e-12)
    assert len(traced) == 2


def test_an_update_can_be_differentiated() -> None:
    numbers = {"lr": np.float64(0.1), "momentum": np.float64(0.5), "undamped": np.float64(1.0)}

    def after(start: Any) -> Any:
        value, state = start, {"momentum_buffer": np.zeros(3)}
        for _ in range(3):
            value, state = optim.updates.sgd(value, value**2, state, numbers, momentum=True)
        return np.sum(value)

    check_derivatives(after, np.array([0.5, -1.0, 2.0]), order=2)


def test_rounding_gives_no_negative_variance() -> None:
    p = nn.Parameter(np.full(50, 1.0, np.float32))
    optimizer = optim.RMSprop([p], lr=1e-6, alpha=0.5, centered=True, eps=1.0)
    for _ in range(60):
        p.grad = np.linspace(0.1, 1, 50, dtype=np.float32)
        optimizer.step()
    assert np.all(np.isfinite(p.data))
