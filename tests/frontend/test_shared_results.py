"""Functions whose result NumPy shares with their argument: writes into the one are seen in the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import einsumad as ea

Function = Callable[[Any], Any]
X = np.array([1.0, 2.0, 3.0])


def broadcast(x: Any) -> Any:
    y = x * 1
    a, _ = np.broadcast_arrays(y, np.ones((2, 3)))
    y[0] = 9 * x[1]
    return np.sum(a)


def broadcast_both(x: Any) -> Any:
    y, z = x * 1, x**2
    a, b = np.broadcast_arrays(y, z[:, None])
    z[0], y[2] = 9 * x[1], x[0]
    return np.sum(a * b)


def real(x: Any) -> Any:
    y = x * 1
    a = np.real_if_close(y)
    y[0], a[1] = 9 * x[1], x[2] ** 2
    return np.sum(a * np.arange(3.0)) + np.sum(y * 2)


def grid(x: Any) -> Any:
    y = x * 1
    a, _ = np.meshgrid(y, np.ones(2), copy=False)
    y[0] = 9 * x[1]
    return np.sum(a)


def copied_grid(x: Any) -> Any:
    y = x * 1
    a, _ = np.meshgrid(y, np.ones(2))
    y[0] = 9 * x[1]
    return np.sum(a)


def no_difference(x: Any) -> Any:
    y = x * 1
    a = np.diff(y, n=0)
    y[0] = 9 * x[1]
    return np.sum(a)


def difference(x: Any) -> Any:
    y = x * 1
    a = np.diff(y)
    y[0] = 9 * x[1]
    return np.sum(a)


def power(exponent: int) -> Function:
    def function(x: Any) -> Any:
        y = np.outer(x, x)
        a = np.linalg.matrix_power(y, exponent)
        y[0] = 9 * x[1]
        a[1, 1] = 7 * x[0]
        return np.sum(a) + np.sum(y)

    return function


def trimmed(x: Any) -> Any:
    y = np.concatenate([np.zeros(1), x])
    a = np.trim_zeros(y)
    y[1], a[1] = 9 * x[1], x[0] ** 2
    return np.sum(a) + np.sum(y**2)


@pytest.mark.parametrize(
    "f",
    [broadcast, broadcast_both, real, grid, copied_grid, no_difference, difference, power(1), power(2), trimmed],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_writes_are_seen(f: Function) -> None:
    value, gradient = ea.value_and_grad(f)(X)
    assert value == f(X)
    step = 1e-5
    expected = [(f(X + move) - f(X - move)) / (2 * step) for move in step * np.eye(3)]
    np.testing.assert_allclose(gradient, expected, rtol=1e-8)
