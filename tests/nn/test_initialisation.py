"""Initialisers: bounds, variances, orthogonality, seeds; and penalties."""

from __future__ import annotations

from functools import partial
from math import sqrt
from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad import nn
from tests.nn.derivatives import right

SHAPE = (60, 40, 3, 3)
IN, OUT = 40 * 9, 60 * 9
DEVIATIONS: dict[str, tuple[Any, float]] = {
    "xavier_uniform": (lambda **k: nn.init.xavier_uniform(SHAPE, **k), sqrt(2 / (IN + OUT))),
    "xavier_normal": (lambda **k: nn.init.xavier_normal(SHAPE, 2.0, **k), 2 * sqrt(2 / (IN + OUT))),
    "he_uniform": (lambda **k: nn.init.he_uniform(SHAPE, **k), sqrt(2 / IN)),
    "he_uniform backwards": (lambda **k: nn.init.he_uniform(SHAPE, 0.5, "fan_out", **k), sqrt(2 / 1.25 / OUT)),
    "he_normal": (lambda **k: nn.init.he_normal(SHAPE, 0.5, **k), sqrt(2 / 1.25 / IN)),
    "he_normal before tanh": (lambda **k: nn.init.he_normal(SHAPE, nonlinearity="tanh", **k), 5 / 3 / sqrt(IN)),
}


@pytest.mark.parametrize("name", DEVIATIONS)
def test_distributions(name: str) -> None:
    make, deviation = DEVIATIONS[name]
    weight = make(rng=0)
    assert (weight.shape, weight.dtype) == (SHAPE, np.float32)
    uniform = "uniform" in name
    fourth = 9 / 5 if uniform else 3.0
    assert abs(weight.mean()) < 4 * deviation / sqrt(weight.size)
    assert abs(weight.var() / deviation**2 - 1) < 4 * sqrt((fourth - 1) / weight.size)
    bound = sqrt(3) * deviation
    if uniform:
        assert 0.999 * bound < np.max(np.abs(weight)) <= bound * (1 + 1e-6)
    else:
        assert abs(np.mean(np.abs(weight) < deviation) - 0.6827) < 4 * sqrt(0.25 / weight.size)
    np.testing.assert_array_equal(weight, make(rng=np.random.default_rng(0)))
    assert np.any(weight != make(rng=1))
    assert make(rng=0, dtype=np.float64).dtype == np.float64


@pytest.mark.parametrize("shape", [(5, 5), (3, 7), (7, 3), (4, 2, 3, 3), (40, 2, 3)])
def test_orthogonal(shape: tuple[int, ...]) -> None:
    weight = nn.init.orthogonal(shape, gain=2.0, rng=0, dtype=np.float64).reshape(shape[0], -1)
    rows = weight if weight.shape[0] <= weight.shape[1] else weight.T
    np.testing.assert_allclose(rows @ rows.T, 4 * np.eye(len(rows)), atol=1e-14)


def test_orthogonal_is_uniform() -> None:
    """No sign is preferred: the mean of each entry is 0, as its mean square is one over the size."""
    found = np.array([nn.init.orthogonal((3, 3), rng=k, dtype=np.float64) for k in range(600)])
    assert np.max(np.abs(found.mean(axis=0))) < 4 * sqrt(1 / 3 / 600)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0), (2, 3, 0)])
def test_shapes_without_entries(shape: tuple[int, ...]) -> None:
    for make in (
        nn.init.xavier_uniform,
        nn.init.xavier_normal,
        nn.init.he_uniform,
        nn.init.he_normal,
        nn.init.orthogonal,
        nn.init.zeros,
    ):
        assert make(shape).shape == shape


def test_gains_and_what_is_refused() -> None:
    gains = {
        "linear": 1,
        "conv2d": 1,
        "conv_transpose1d": 1,
        "sigmoid": 1,
        "tanh": 5 / 3,
        "relu": sqrt(2),
        "selu": 0.75,
    }
    for name, gain in gains.items():
        assert nn.init.calculate_gain(name) == gain
    assert nn.init.calculate_gain("leaky_relu") == sqrt(2 / (1 + 0.01**2))
    assert nn.init.calculate_gain("leaky_relu", 0.5) == sqrt(2 / 1.25)
    with pytest.raises(ValueError, match="no gain is known for 'gelu'"):
        nn.init.calculate_gain("gelu")
    with pytest.raises(ValueError, match="fan_in"):
        nn.init.he_normal((2, 3), mode="fan_avg")  # type: ignore[arg-type]
    for make in (nn.init.xavier_uniform, nn.init.he_normal, nn.init.orthogonal):
        with pytest.raises(ValueError, match=r"\(out, in, \.\.\.\)"):
            make((3,))
    np.testing.assert_array_equal(nn.init.zeros((2, 3)), np.zeros((2, 3), np.float32))


def test_penalties_of_arrays_and_modules() -> None:
    net = nn.Sequential(nn.Linear(3, 4, rng=0), nn.Tanh(), nn.Linear(4, 1, rng=1))
    values = net.arrays()
    one = sum(np.sum(np.abs(array)) for array in values.values())
    two = sum(np.sum(array**2) for array in values.values())
    for penalty, expected in ((nn.l1_penalty, one), (nn.l2_penalty, two)):
        for found in (penalty(values), penalty(net).numpy(), ea.compile(penalty)(values)):
            np.testing.assert_allclose(found, expected, rtol=1e-6)
            assert found.dtype == np.float32
        with nn.no_grad():
            assert isinstance(penalty(net), np.floating)
    net.zero_grad()
    (nn.l2_penalty(net) + nn.l1_penalty(net)).backward()
    for parameter in net.parameters():
        np.testing.assert_allclose(parameter.grad, 2 * parameter.data + np.sign(parameter.data), rtol=1e-6)


def test_penalties_in_functions_that_are_differentiated() -> None:
    values = {"weight": np.array([[0.5, -2.0]]), "bias": np.array([1.5])}
    right(lambda v: nn.l2_penalty(v) ** 2 + nn.l1_penalty(v) ** 3, values)
    np.testing.assert_array_equal(ea.grad(nn.l1_penalty)({"w": np.array([0.0, -3.0])})["w"], [0, -1])


def test_penalties_count_tied_parameters_once() -> None:
    net = nn.Sequential(nn.Linear(2, 2, bias=False, rng=0), nn.Linear(2, 2, bias=False, rng=1))
    net[1].weight = net[0].weight
    np.testing.assert_allclose(nn.l2_penalty(net).numpy(), np.sum(net[0].weight.data ** 2), rtol=1e-6)
    assert nn.l1_penalty(nn.ReLU()) == 0
    with pytest.raises(TypeError, match="got ndarray"):
        nn.l2_penalty(np.ones(2))  # type: ignore[arg-type]


FILLED: dict[str, tuple[Any, Any]] = {
    "xavier_uniform_": (nn.init.xavier_uniform_, partial(nn.init.xavier_uniform, dtype=np.float64)),
    "xavier_normal_": (nn.init.xavier_normal_, partial(nn.init.xavier_normal, dtype=np.float64)),
    "kaiming_uniform_": (nn.init.kaiming_uniform_, partial(nn.init.he_uniform, dtype=np.float64)),
    "kaiming_normal_": (nn.init.kaiming_normal_, partial(nn.init.he_normal, dtype=np.float64)),
    "orthogonal_": (nn.init.orthogonal_, partial(nn.init.orthogonal, dtype=np.float64)),
    "uniform_": (
        lambda p, rng: nn.init.uniform_(p, -1, 2, rng=rng),
        lambda shape, rng: np.random.default_rng(rng).uniform(-1, 2, shape),
    ),
    "normal_": (
        lambda p, rng: nn.init.normal_(p, 1, 2, rng=rng),
        lambda shape, rng: np.random.default_rng(rng).normal(1, 2, shape),
    ),
    "constant_": (lambda p, rng: nn.init.constant_(p, 0.1), lambda shape, rng: np.full(shape, 0.1)),  # noqa: ARG005
    "zeros_": (lambda p, rng: nn.init.zeros_(p), lambda shape, rng: np.zeros(shape)),  # noqa: ARG005
    "ones_": (lambda p, rng: nn.init.ones_(p), lambda shape, rng: np.ones(shape)),  # noqa: ARG005
}


@pytest.mark.parametrize("name", FILLED)
def test_parameters_that_are_filled(name: str) -> None:
    fill, array = FILLED[name]
    for dtype in (np.float32, np.float64):
        layer = nn.Linear(4, 3, dtype=dtype, rng=0)
        weight = layer.weight
        assert fill(weight, rng=5) is weight
        assert layer.weight is weight
        assert weight.dtype == dtype
        np.testing.assert_array_equal(weight.data, array((3, 4), rng=5).astype(dtype))
    with pytest.raises(TypeError, match=r"nn\.Parameter is filled, got ndarray"):
        fill(np.zeros((3, 4)), rng=0)
