"""Traced calls made again give what a first call gives, whatever was called before with arguments of the same forms."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import special

import einsumad as ea
from tests.frontend.walks import forget

A, B = np.array([0.5, 1.5, 0.25]), np.array([1.5, 0.5, 0.75])
M, N = (
    np.array([[2.0, 0.5, 0.1], [0.5, 3.0, 0.2], [0.1, 0.2, 1.5]]),
    np.array([[1.0, 0, 0], [0, 2.0, 0], [0.5, 0, 4.0]]),
)
KNOTS = (np.array([0.0, 1.0, 2.0]), np.array([0.0, 0.5, 3.0]))
COEFFICIENTS = (np.array([0.0, 1.0, 2.0]), np.array([3.0, 0.0, 2.0]), np.array([0.0, 0.0, 1.0]))

ZEROS = np.zeros(3)
VECTORS = (A, B, ZEROS, np.ones(3), np.full(3, 2.0))
BOTH: dict[str, Callable[..., Any]] = {
    **{
        name: getattr(np, name)
        for name in (
            *(
                "add",
                "subtract",
                "multiply",
                "divide",
                "maximum",
                "minimum",
                "fmax",
                "fmin",
                "hypot",
                "arctan2",
                "power",
            ),
            *("float_power", "logaddexp", "logaddexp2", "fmod", "remainder", "copysign", "heaviside", "floor_divide"),
            *(
                "dot",
                "matmul",
                "inner",
                "outer",
                "vdot",
                "kron",
                "cross",
                "convolve",
                "correlate",
                "polyval",
                "polyadd",
            ),
            *("less", "greater_equal", "equal", "polymul"),
        )
    },
    **{name: getattr(special, name) for name in ("xlogy", "xlog1py", "betaln", "kl_div", "rel_entr", "huber")},
    "where": lambda x, y: np.where(x > y, x * x, y),
    "where-constant": lambda x, y: np.where(np.array([True, False, True]), x, y),
    "clip": lambda x, y: np.clip(x, y - 0.2, y + 0.1),
    "average": lambda x, y: np.average(x, weights=y + 0.5),
    "tensordot": lambda x, y: np.tensordot(x, y, 0),
    "einsum": lambda x, y: np.einsum("i,j->ij", x, y),
    "trapezoid": np.trapezoid,
    "concatenate": lambda x, y: np.concatenate([x, y]),
    "stack": lambda x, y: np.stack([x, y, x]),
}
INDICES: tuple[Any, ...] = (
    *(slice(1, None), slice(None, 2), slice(None, None, -1), [0, 2], [1, 1], np.array([0, 2]), 0, -1, 1, np.int64(1)),
    *(Ellipsis, None, (slice(1, 3), None), [True, False, True], (Ellipsis, 1), [[0, 1], [2, 2]]),
)
ONE: dict[str, tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]] = {
    "transpose": (np.transpose, (M, N), (np.array([0, 1]), np.array([1, 0]))),
    "sum": (lambda x, axis: np.sum(x, axis=axis), (M, N), (np.array(0), np.array(1), 0, 1, None)),
    "roll": (np.roll, (A, B), (np.array(1), np.array(2), 1, 2)),
    "reshape": (np.reshape, (np.arange(6.0),), (np.array([2, 3]), np.array([3, 2]))),
    "tile": (np.tile, (A, B), (np.array([1, 2]), np.array([2, 1]))),
    "repeat": (np.repeat, (A, B), (np.array([1, 2, 1]), np.array([2, 1, 1]))),
    "take": (np.take, (A, B), (np.array([0, 2]), np.array([1, 1]))),
    "power": (np.power, (A, B), (np.array(2), np.array(3), 2, 3, 2.0, 3.0, np.float64(0.5))),
    "interp": (lambda x, knots: np.interp(x, knots, COEFFICIENTS[1]), (A, B), KNOTS),
    "quantile": (np.quantile, (A, B), (np.array([0.25, 0.5]), np.array([0.75, 0.1]))),
    "polyval": (lambda x, p: np.polyval(p, x), (A, B), COEFFICIENTS),
    "vander": (np.vander, (A, B), (2, 3)),
    "jv": (lambda x, order: special.jv(order, x), (A, B), (np.array([0.0, 1, 2]), np.array([2.0, 0.5, 1]))),
    "gammainc": (lambda x, a: special.gammainc(a, x), (A, B), VECTORS[:2]),
    "pad": (np.pad, (A, B), (np.array([1, 2]), np.array([2, 1]))),
    "diff": (np.diff, (A, B), (1, 2)),
    "solve": (lambda b, matrix: np.linalg.solve(matrix, b), (A, B), (M, N)),
    "matmul": (lambda b, matrix: matrix @ b, (A, B), (M, N)),
    "linalg.norm": (np.linalg.norm, (A, B), (1, 2, 3, np.inf)),
    "getitem": (lambda x, index: x[index], (A, B), INDICES),
    "take of a list": (np.take, (A, B), ([0, 2], [1, 1], [[0], [1]])),
    "repeat of a list": (np.repeat, (A, B), ([1, 2, 1], [2, 1, 1], [2])),
    "pad of a list": (np.pad, (A, B), ([1, 2], [2, 1], (1, 2), 1)),
    "polyval of a list": (lambda x, p: np.polyval(p, x), (A, B), ([0, 1, 2.0], [3.0, 0, 2], [0, 1.0, 2], [True, 0, 1])),
    "interp of lists": (lambda x, knots: np.interp(x, knots, [1.0, 0.0, 2.0]), (A, B), ([0.0, 1, 2], [0.0, 0.5, 3])),
    "multiply by a list": (np.multiply, (A, B), ([1.0, 2, 3], [1, 2, 3], [2.0], [3.0, 2, 1], [-0.0], [0.0])),
    "maximum of a list": (np.maximum, (A, B), ([0.5, 1, 2], [0.5, 1.5, 0.25], [1.0])),
    "quantile of a list": (np.quantile, (A, B), ([0.25, 0.5], [0.75, 0.1], 0.5)),
    "transpose of a list": (np.transpose, (M, N), ([0, 1], [1, 0], (1, 0), None)),
    "einsum with a list": (lambda x, w: np.einsum("i,i->i", x, w), (A, B), ([1.0, 2, 3], [3, 2, 1], A, B)),
    "interleaved einsum": (lambda x, to: np.einsum(x, [0, 1], to), (M, N), ([0, 1], [1, 0], [0], [1], [])),
    "select": (lambda x, c: np.select([x > c, x > 0], [x * x, x], 3.0), (A, B), (0.3, 1, True, np.float64(0.3))),
    "concatenate": (lambda x, k: np.concatenate([*[x, x * 2][:k], x]), (A, B), (0, 1, 2)),
    "astype": (lambda x, t: x.astype(t) * 2, (A, B), (np.float32, np.float64, float, np.dtype("f4"), "f4")),
    "numbers of NumPy": (
        np.multiply,
        (A, B),
        (2, 2.0, np.float32(2), np.int8(2), np.True_, True, np.float64(-0.0), -0.0),
    ),
    "arctan2": (np.arctan2, (A, np.zeros(3)), (0.0, -0.0, np.float64(0.0), np.float64(-0.0), 0, False)),
    "where": (lambda x, y: np.where(x > 1, x, y), (A, B), (0, 0.0, -0.0, True, A, B, [1.0, 2, 3])),
}


def _kinds(f: Callable[..., Any]) -> tuple[Callable[..., Any], ...]:
    """Ways to call it, in which one argument is traced, the other, or both; with or without their values."""

    def weighed(x: Any, y: Any) -> Any:
        found = f(x, y)
        return np.sum(found * np.arange(1.0, 1 + found.size).reshape(found.shape))

    return (
        ea.grad(weighed, 0),
        ea.grad(weighed, 1),
        ea.grad(weighed, (0, 1)),
        _compiled_anew(ea.grad(weighed)),
        _compiled_anew(ea.grad(weighed, 1)),
        _compiled_anew(weighed),
    )


def _compiled_anew(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function, traced and compiled at every call."""

    def call(x: Any, y: Any) -> Any:
        return ea.compile(f)(x, y)

    return call


def _outcome(call: Callable[..., Any], *args: Any) -> Any:
    """What a call gives, or the kind of its error."""
    try:
        with np.errstate(all="ignore"):
            found = call(*args)
    except Exception as error:  # noqa: BLE001 (a refusal is an outcome like another)
        return type(error).__name__
    return [np.asarray(part) for part in (found if isinstance(found, tuple) else (found,))]


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return isinstance(one, str) and isinstance(other, str) and one == other
    return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(one, other, strict=True))


def _check(calls: list[tuple[Callable[..., Any], Any, Any]]) -> None:
    expected = []
    for call in calls:
        forget()
        expected.append(_outcome(*call))
    order = list(range(len(calls)))
    for places in (order, order[::-1]):
        forget()
        for _ in range(3):  # a call that was missed twice is known, so the last ones go by the ways of the first
            wrong = [k for k in places if not _same(_outcome(*calls[k]), expected[k])]
            assert not wrong, f"calls {wrong} of {len(calls)} differ after others"


def _pairs() -> Iterator[tuple[np.ndarray, np.ndarray]]:
    return ((x, y) for x, y in product((A, ZEROS), VECTORS) if x is not y)


@pytest.mark.parametrize("name", BOTH)
def test_functions_of_two_arrays(name: str) -> None:
    _check([(kind, x, y) for x, y in _pairs() for kind in _kinds(BOTH[name])])


@pytest.mark.parametrize("name", ONE)
def test_functions_of_an_array_and_an_option(name: str) -> None:
    f, arrays, options = ONE[name]
    calls = []
    for x, option in product(arrays, options):

        def bound(x: Any, option: Any = option) -> Any:
            found = f(x, option)
            return np.sum(found * np.arange(1.0, 1 + found.size).reshape(found.shape))

        calls += [(lambda x, _, b=bound: ea.grad(b)(x), x, None), (lambda x, _, b=bound: ea.hessian(b)(x), x, None)]
    _check(calls)


@pytest.mark.parametrize("first", [1.5, 0.25])
def test_an_operand_made_of_numbers_is_no_other_number_that_happens_to_be_equal(first: float) -> None:
    x = np.array([0.5, 2.0])
    added = ea.grad(lambda x, s: np.sum(x * (np.full_like(x, s) + 1.5)))
    bounded = ea.grad(lambda x, s: np.sum(x * np.maximum(s * np.ones_like(x), 1.5)))
    for s in (first, 1.5, 0.25, 4.0, 1.5):
        np.testing.assert_allclose(added(x, s), np.full(2, s + 1.5), rtol=1e-15)
        np.testing.assert_allclose(bounded(x, s), np.full(2, max(s, 1.5)), rtol=1e-15)


def test_what_is_written_first_is_not_what_is_written_last() -> None:
    def written(first: float) -> Callable[[Any], Any]:
        def f(x: Any) -> Any:
            y = x * 1.0
            y[...] = first
            y[...] = 1.5
            return np.sum(x * y)

        return f

    for first in (1.5, 0.25, 1.5, 3.0):
        np.testing.assert_array_equal(ea.grad(written(first))(A), np.full(3, 1.5))
        np.testing.assert_array_equal(ea.compile(ea.grad(written(first)))(A), np.full(3, 1.5))


def test_an_operand_that_is_a_multiple_of_another_is_made_again() -> None:
    def f(x: Any, s: float, t: float) -> Any:
        return np.sum(np.isclose(x * s, x, rtol=0.0, atol=10.0) * np.linspace(x * s, x * t, 3)[1] * (x * s - x * t))

    for s, t in ((2.0, 2.0), (2.0, 3.0), (3.0, 2.0), (2.0, 2.0), (3.0, 3.0)):
        expected = (s + t) / 2 * (s - t) * 2 * A
        np.testing.assert_allclose(ea.grad(f)(A, s, t), expected, rtol=1e-14, atol=1e-14)


def test_masks_that_are_taken_apart() -> None:
    def f(x: Any, other: Any) -> Any:
        mask = x[:, :1] > 0.4
        beside = mask if other is None else other
        return np.sum(np.where(~mask, x, 2 * x) * np.where(beside, x, 3.0))

    x = np.array([[0.5, 2.0], [0.25, 1.0]])
    masks = [None, x[:, :1] > 0.3, None, x[:, :1] > 0.9]
    for _ in range(3):
        for other in masks:
            mask = x[:, :1] > 0.4
            beside = mask if other is None else other
            scale = np.where(mask, 2, 1)
            expected = np.where(beside, 2 * scale * x, 3 * scale)
            np.testing.assert_allclose(ea.grad(f)(x, other), expected, rtol=1e-14)
