"""Floats of Python are weak in compiled functions as they are elsewhere: float32 stays float32."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import einsumad as ea

FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "product": lambda x, a: x * a,
    "reflected": lambda x, a: a - x,
    "arithmetic of numbers": lambda x, a: (2 * a + 1) * x - a**2 / 3,
    "sign": lambda x, a: -a * x + abs(a),
    "quotients": lambda x, a: x / a + x // a + x % a,
    "powers": lambda x, a: x**a + a**x,
    "ufuncs": lambda x, a: np.multiply(a, np.maximum(x, a)) + np.hypot(x, a),
    "choices": lambda x, a: np.where(x > a, x, a) + np.clip(x, -a, a),
    "a function of the number is an array": lambda x, a: x * np.exp(a),
    "beside a number of NumPy": lambda x, a: x * (a * np.float32(2)),
    "beside a wide number of NumPy": lambda x, a: x + np.float64(1) * a,
    "alone": lambda _, a: a * 2,
    "filled": lambda x, a: np.full_like(x, a) + x,
    "einsum": lambda x, a: np.einsum("i,->i", x, a),
    "gradient": lambda x, a: ea.grad(lambda x: np.sum(x * x * a))(x),
    "gradient in the number": lambda x, a: ea.grad(lambda a: np.sum(x * x * a))(a),
}


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_compiled_functions_have_the_dtypes_of_the_function(name: str, dtype: Any) -> None:
    f, x = FUNCTIONS[name], np.array([0.5, 1.25, 3.0], dtype)
    for number in (0.75, 1.0, 2.0):
        expected, found = f(x, number), ea.compile(f)(x, number)
        assert np.asarray(found).dtype == np.asarray(expected).dtype
        np.testing.assert_allclose(found, expected, rtol=20 * np.finfo(dtype).eps)


def test_whole_numbers_beside_a_float() -> None:
    x = np.arange(4)
    found = ea.compile(lambda x, a: x * a)(x, 0.5)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, x * 0.5)


def test_numbers_of_numpy_are_not_weak() -> None:
    x = np.ones(3, np.float32)
    assert ea.compile(lambda x, a: x * a)(x, np.float64(0.1)).dtype == np.float64
    assert ea.compile(lambda x, a: x * a)(x, np.float32(0.1)).dtype == np.float32


def test_one_plan_for_all_numbers() -> None:
    step = ea.compile(lambda x, gradient, rate: x - rate * gradient)
    x = np.ones(3, np.float32)
    step(x, x, 0.1)
    before = len(step._by_signature)
    for rate in (0.0, 1.0, 0.5, 3e-4):
        np.testing.assert_array_equal(step(x, x, rate), x - rate * x)
    assert len(step._by_signature) == before
