"""Derivatives from values alone, and the comparison of every mode of the library with them.

Shares nothing with the library: central differences of order eight on plain NumPy functions. They are exact,
up to rounding, for polynomials of degree eight and less, whatever the step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import einsumad as ea

MODES = ("auto", "forward", "reverse", "cross-country")

_STEP = 2.0**-5
_WEIGHTS = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}

Function = Callable[..., Any]


def numeric_jacobian(f: Function, args: Sequence[Any], argnum: int = 0, step: float = _STEP) -> np.ndarray:
    """Central differences: axes of the output, then axes of the argument."""
    args = [np.array(arg, float) for arg in args]
    at = args[argnum]
    result = np.zeros((*np.shape(f(*args)), *at.shape))
    for place in np.ndindex(at.shape):
        for distance, weight in _WEIGHTS.items():
            for sign in (1, -1):
                moved = [arg.copy() for arg in args]
                moved[argnum][place] += sign * distance * step
                result[(..., *place)] += sign * weight / step * np.asarray(f(*moved))
    return result


def numeric_hessian(f: Function, args: Sequence[Any], first: int = 0, second: int = 0) -> np.ndarray:
    """Differences of differences: axes of the output, of the first and of the second argument."""
    return numeric_jacobian(lambda *at: numeric_jacobian(f, at, first), args, second)


def every_jacobian(f: Function, args: Sequence[Any], argnum: int = 0) -> dict[str, Any]:
    """The Jacobian by every mode, and by products with directions."""
    found = {mode: ea.jacobian(f, argnum, mode=mode)(*args) for mode in MODES}
    found["columns by jvp"] = columns(f, args, argnum)
    found["rows by vjp"] = rows(f, args, argnum)
    return found


def columns(f: Function, args: Sequence[Any], argnum: int) -> np.ndarray:
    """The Jacobian put together from pushforwards of one-hot tangents."""
    at = np.asarray(args[argnum])
    shape = np.shape(f(*args))
    result = np.zeros((*shape, *at.shape), at.dtype)
    for place in np.ndindex(at.shape):
        tangents = [np.zeros_like(arg) for arg in args]
        tangents[argnum][place] = 1
        _, result[(..., *place)] = ea.jvp(f, tuple(args), tuple(tangents))
    return result


def rows(f: Function, args: Sequence[Any], argnum: int) -> np.ndarray:
    """The Jacobian put together from pullbacks of one-hot cotangents."""
    at = np.asarray(args[argnum])
    value, pullback = ea.vjp(f, *args)
    result = np.zeros((*np.shape(value), *at.shape), at.dtype)
    for place in np.ndindex(np.shape(value)):
        cotangent = np.zeros_like(value)
        cotangent[place] = 1
        pulled = pullback(cotangent)
        result[place] = pulled if len(args) == 1 else pulled[argnum]
    return result


def every_second(f: Function, args: Sequence[Any], first: int = 0, second: int = 0) -> dict[str, Any]:
    """The second derivative with respect to two arguments by every mode, and by modes over other modes."""
    if first == second:
        found = {mode: ea.derivative(f, first, order=2, mode=mode)(*args) for mode in MODES}
    else:
        both = (first, second)
        found = {mode: ea.derivative(f, both, order=2, mode=mode)(*args)[0][1] for mode in MODES}
    for inner, outer in (("reverse", "forward"), ("forward", "reverse"), ("cross-country", "cross-country")):
        inside = ea.jacobian(f, first, mode=inner)
        found[f"{outer} over {inner}"] = ea.jacobian(inside, second, mode=outer)(*args)
    return found


def check(f: Function, *args: Any, order: int = 2, tolerance: float = 1e-9) -> None:
    """Value, first and second derivatives in all arguments and every mode, against differences."""
    plain = np.asarray(f(*args))
    np.testing.assert_allclose(ea.compile(f)(*args), plain, rtol=1e-12, atol=1e-12)
    for first in range(len(args)):
        expected = numeric_jacobian(f, args, first)
        for mode, found in every_jacobian(f, args, first).items():
            close(found, expected, tolerance, f"first derivative in argument {first}, {mode}")
        for second in range(first if order > 1 else len(args), len(args)):
            expected = numeric_hessian(f, args, first, second)
            for mode, found in every_second(f, args, first, second).items():
                close(found, expected, tolerance, f"second derivative in {first} and {second}, {mode}")


def close(found: Any, expected: Any, tolerance: float, what: str) -> None:
    """Equal shapes, and values equal up to the tolerance times the largest of them."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape, what
    scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * scale, err_msg=what)


def exactly(f: Function, args: Sequence[Any], expected: Any, argnum: int = 0) -> None:
    """The Jacobian has these values to the last bit, NaN and infinities included, in every mode."""
    for mode, found in every_jacobian(f, args, argnum).items():
        np.testing.assert_array_equal(np.asarray(found), expected, err_msg=mode, strict=True)


def exactly_second(f: Function, args: Sequence[Any], expected: Any, argnum: int = 0) -> None:
    """The second derivative has these values to the last bit in every mode."""
    for mode, found in every_second(f, args, argnum, argnum).items():
        np.testing.assert_array_equal(np.asarray(found), expected, err_msg=mode, strict=True)


def integers(seed: int, *shape: int) -> np.ndarray:
    """Small whole numbers as floats, on which sums of products are exact."""
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(float)


def normal(seed: int, *shape: int) -> np.ndarray:
    """Numbers of a normal distribution."""
    return np.random.default_rng(seed).normal(size=shape)
