"""What is checked of a drawn call: NumPy's values, and derivatives of every order in every mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import einsumad as ea
from einsumad.errors import EinsumadError, InternalError
from tests.surface.drawing import Operand
from tests.surface.oracle import along

MODES = ("forward", "reverse", "cross-country")
REFUSALS = (ValueError, TypeError, IndexError, ZeroDivisionError)
TOLERANCE = {"f": 3e-6, "d": 1e-11}


def arguments(operands: Sequence[Operand], numbers: Any) -> list[Any]:
    """The operands made of one vector of numbers, one after the other."""
    made, start = [], 0
    for operand in operands:
        made.append(operand.made_of(numbers[start : start + operand.size]))
        start += operand.size
    return made


def numbers_for(operands: Sequence[Operand], rng: np.random.Generator) -> np.ndarray:
    return rng.uniform(-0.9, 0.9, sum(operand.size for operand in operands))


def parts(result: Any) -> list[Any]:
    """The arrays of a result that may be a tuple or a list of them."""
    if isinstance(result, (tuple, list)):
        return [part for inner in result for part in parts(inner)]
    return [result]


def same_values(f: Callable[..., Any], args: Sequence[np.ndarray], accuracy: float = 0.0) -> None:
    """With all arrays traced the function gives NumPy's values, shapes and dtypes; what NumPy refuses is refused."""
    refusals: tuple[type[Exception], ...] = (EinsumadError, np.linalg.LinAlgError)
    with np.errstate(all="ignore"):
        try:
            expected = parts(f(*[arg.copy() for arg in args]))
        except Exception as error:  # noqa: BLE001 - whatever NumPy thinks of the arguments
            expected, refusals = None, (*refusals, *[kind for kind in type(error).__mro__ if kind in REFUSALS])
        try:
            found = parts(f(*[ea.tensor(arg) for arg in args]))
        except InternalError:
            raise
        except refusals:
            found = None
    if expected is None or found is None:
        assert found is None, "traced values are taken where NumPy refuses the arguments"
        assert expected is None, "traced values are refused where NumPy has a value"
        return
    assert len(found) == len(expected)
    coarsest = max([TOLERANCE[arg.dtype.char] for arg in args if arg.dtype.kind == "f"], default=0)
    for ours, theirs in zip(found, expected, strict=True):
        same(ours, np.asarray(theirs), max(coarsest, accuracy))


def same(ours: Any, theirs: np.ndarray, accuracy: float = 0.0) -> None:
    """With the precision of the result, or the given accuracy if that is worse."""
    value = np.asarray(ours.numpy() if isinstance(ours, ea.Tensor) else ours)
    assert value.shape == theirs.shape, f"shape {value.shape}, expected {theirs.shape}"
    assert value.dtype == theirs.dtype, f"dtype {value.dtype}, expected {theirs.dtype}"
    if theirs.dtype.kind != "f":
        np.testing.assert_array_equal(value, theirs)
        return
    tolerance = max(TOLERANCE.get(theirs.dtype.char, 1e-2), accuracy)
    finite = np.abs(theirs[np.isfinite(theirs)])
    scale = max(1.0, float(finite.max())) if finite.size else 1.0
    np.testing.assert_allclose(value, theirs, rtol=10 * tolerance, atol=tolerance * scale)


def summed(f: Callable[..., Any], operands: Sequence[Operand], weights: Sequence[np.ndarray]) -> Callable[[Any], Any]:
    """The weighted sum of all floating results as a function of the numbers that the operands are made of."""

    def g(numbers: Any) -> Any:
        total = 0.0 * np.sum(numbers)
        results = [part for part in parts(f(*arguments(operands, numbers))) if part.dtype.kind == "f"]
        for part, weight in zip(results, weights, strict=True):
            total = total + np.sum(weight * part)
        return total

    return g


def right_derivatives(
    f: Callable[..., Any],
    operands: Sequence[Operand],
    rng: np.random.Generator,
    orders: dict[str, int],
    numbers: np.ndarray | None = None,
    *,
    accuracy: float = 0.0,
) -> bool:
    """Compare derivatives along a line, to the given order in each mode; whether differences decided the first one.

    Where a value is NaN, as the variance of one entry with one degree of freedom, there is nothing to compare.
    """
    numbers = numbers_for(operands, rng) if numbers is None else numbers
    with np.errstate(all="ignore"):
        values = [np.asarray(part) for part in parts(f(*arguments(operands, numbers)))]
    values = [value for value in values if value.dtype.kind == "f"]
    if any(np.isnan(value).any() for value in values):
        return False
    weights = [rng.uniform(-1, 1, value.shape) for value in values]
    direction = rng.uniform(-1, 1, numbers.shape)
    g = summed(f, operands, weights)
    magnitude = sum(float(np.sum(np.abs(w * v))) for w, v in zip(weights, values, strict=True)) + 1.0
    decided = False
    for order in range(1, max(orders.values()) + 1):
        expected, error = along(lambda t: float(g(numbers + t * direction)), order, magnitude, accuracy)
        decided |= order == 1 and error < 1e-4 * magnitude
        for mode, highest in orders.items():
            if order <= highest:
                found = ea.derivative(g, order=order, mode=mode)(numbers)
                assert found.shape == (numbers.size,) * order
                for _ in range(order):
                    found = found @ direction
                limit = error + 1e-9 * (magnitude + abs(expected))
                assert abs(found - expected) <= limit, f"order {order}, {mode}: {found}, expected {expected} ± {error}"
    return decided


def single_precision(f: Callable[..., Any], operands: Sequence[Operand], rng: np.random.Generator) -> None:
    """The gradient in float32 is that in float64 to single precision, and is float32."""
    numbers = numbers_for(operands, rng).astype(np.float32)
    values = [np.asarray(part) for part in parts(f(*arguments(operands, numbers.astype(float))))]
    weights = [rng.uniform(-1, 1, value.shape).astype(np.float32) for value in values if value.dtype.kind == "f"]
    g = summed(f, operands, weights)
    narrow, wide = ea.grad(g)(numbers), ea.grad(g)(numbers.astype(float))
    assert narrow.dtype == np.float32
    scale = max(1.0, float(np.max(np.abs(wide), initial=0)))
    np.testing.assert_allclose(narrow, wide, rtol=0, atol=3e-4 * scale)
