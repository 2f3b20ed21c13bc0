"""What the reported rows are checked with: derivatives against oracles, and against exact values to the last bit.

For `check` and `check_whole` the expected derivatives come from the values of the function alone, by way of
``einsumad.testing``. `exactly` and `exactly_second` take them from the test: for kinks, infinities and NaN, where no
oracle can tell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

import einsumad as ea
from einsumad.testing import Report, check_derivatives

MODES = ("auto", "forward", "reverse", "cross-country")
NESTED = (("reverse", "forward"), ("forward", "reverse"), ("cross-country", "cross-country"))
PROPERTIES = ("shapes and dtypes", "mode agreement", "symmetry", "jvp is J v", "vjp is u J", "hvp is H v")

Function = Callable[..., Any]


def check(f: Function, *args: Any, order: int = 2) -> None:
    """Value, first and second derivatives in all arguments and every mode, against the oracles in every entry."""
    np.testing.assert_allclose(ea.compile(f)(*args), np.asarray(f(*args)), rtol=1e-12, atol=1e-12)
    decided(check_derivatives(f, *args, order=order, properties=PROPERTIES))
    for first, second in pairs(args) if order > 1 else ():
        expected = second_derivative(f, args, first, second, "auto")
        for mode, found in nested_second(f, args, first, second).items():
            close(found, expected, 1e-12, f"second derivative in {first} and {second}, {mode}")


def check_whole(f: Function, *args: Any, order: int = 2) -> None:
    """The same for a polynomial with whole coefficients at whole numbers, where all is exact to the last bit.

    An entry that the oracles find right is off by much less than a half, so it is exact if it is whole; and all other
    modes have to have the same bits.
    """
    np.testing.assert_array_equal(ea.compile(f)(*args), f(*args))
    decided(check_derivatives(f, *args, order=order, modes=("auto",), properties=()))
    levels = [every_jacobian(f, args, argnum) for argnum in range(len(args))]
    levels += [every_second(f, args, first, second) for first, second in pairs(args)] if order > 1 else []
    for found in levels:
        same_bits(found, np.rint(found["auto"]))


def decided(report: Report) -> None:
    """All is right about the derivatives, and no entry was left out of the comparison with the oracles.

    Along random lines, compared on top, a second derivative that vanishes may stay undecided.
    """
    report.raise_if_wrong(undecided=True)
    for finding in report.findings:
        if finding.claim != "derivative along lines":
            assert finding.verdict == "right", finding
            assert finding.identity or not finding.undecided, finding


def pairs(args: Sequence[Any]) -> list[tuple[int, int]]:
    """The pairs of arguments of a second derivative."""
    return list(combinations_with_replacement(range(len(args)), 2))


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
    found = {mode: second_derivative(f, args, first, second, mode) for mode in MODES}
    return found | nested_second(f, args, first, second)


def second_derivative(f: Function, args: Sequence[Any], first: int, second: int, mode: str) -> Any:
    """The second derivative with respect to two arguments by one mode."""
    if first == second:
        return ea.derivative(f, first, order=2, mode=mode)(*args)
    return ea.derivative(f, (first, second), order=2, mode=mode)(*args)[0][1]


def nested_second(f: Function, args: Sequence[Any], first: int, second: int) -> dict[str, Any]:
    """The second derivative with respect to two arguments by modes over other modes."""
    found = {}
    for inner, outer in NESTED:
        inside = ea.jacobian(f, first, mode=inner)
        found[f"{outer} over {inner}"] = ea.jacobian(inside, second, mode=outer)(*args)
    return found


def close(found: Any, expected: Any, tolerance: float, what: str) -> None:
    """Equal shapes, and values equal up to the tolerance times the largest of them."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape, what
    scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * scale, err_msg=what)


def same_bits(found: dict[str, Any], expected: Any) -> None:
    """All have the expected values to the last bit, NaN and infinities included, shape and dtype."""
    for mode, value in found.items():
        np.testing.assert_array_equal(np.asarray(value), expected, err_msg=mode, strict=True)


def exactly(f: Function, args: Sequence[Any], expected: Any, argnum: int = 0) -> None:
    """The Jacobian has these values to the last bit in every mode."""
    same_bits(every_jacobian(f, args, argnum), expected)


def exactly_second(f: Function, args: Sequence[Any], expected: Any, argnum: int = 0) -> None:
    """The second derivative has these values to the last bit in every mode."""
    same_bits(every_second(f, args, argnum, argnum), expected)


def integers(seed: int, *shape: int) -> np.ndarray:
    """Small whole numbers as floats, on which sums of products are exact."""
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(float)


def normal(seed: int, *shape: int) -> np.ndarray:
    """Numbers of a normal distribution."""
    return np.random.default_rng(seed).normal(size=shape)
