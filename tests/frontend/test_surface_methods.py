"""Methods of ufuncs: values as NumPy's, derivatives, ties and NaN in running extrema, writes by at."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad.errors import TracingError
from tests.frontend.slopes import MODES, check_slopes
from tests.frontend.surface import check, data, same, traced

SHAPE = (3, 4)
FUNCTIONS = {
    **{f"{u.__name__}.outer": lambda x, u=u: u.outer(x[0], x[1:]) for u in (np.add, np.arctan2, np.power, np.maximum)},
    "divmod.outer": lambda x: np.divmod.outer(x[0] * 7, x[1])[1],
    "subtract.outer, a number": lambda x: np.subtract.outer(1.0, x),
    "subtract.reduce": np.subtract.reduce,
    "divide.reduce": lambda x: np.divide.reduce(x, 1, keepdims=True),
    "power.reduce": lambda x: np.power.reduce(x, 0),
    "hypot.reduce": lambda x: np.hypot.reduce(x, 0),
    "logaddexp.reduce": lambda x: np.logaddexp.reduce(x, (0, 1), keepdims=True),
    "logaddexp2.reduce": lambda x: np.logaddexp2.reduce(x, 1),
    "fmax.reduce": lambda x: np.fmax.reduce(np.where(x > 0.6, np.nan, x), 1),
    "fmin.reduce": lambda x: np.fmin.reduce(x, None),
    "maximum.accumulate": np.maximum.accumulate,
    "minimum.accumulate": lambda x: np.minimum.accumulate(x, 1),
    "fmax.accumulate": lambda x: np.fmax.accumulate(np.where(x > 0.6, np.nan, x), 1),
    "fmin.accumulate": lambda x: np.fmin.accumulate(np.where(x > 0.6, np.nan, x), 1),
    "logaddexp.accumulate": lambda x: np.logaddexp.accumulate(x, 1),
    "hypot.accumulate": np.hypot.accumulate,
    "divide.accumulate": lambda x: np.divide.accumulate(x, -1),
    "subtract.accumulate": np.subtract.accumulate,
    "add.reduceat": lambda x: np.add.reduceat(x, [0, 3, 1, 2], 1),
    "multiply.reduceat": lambda x: np.multiply.reduceat(x, [2, 0]),
    "maximum.reduceat": lambda x: np.maximum.reduceat(x, [0, 2], axis=-1),
}
TWICE = ("hypot.accumulate", "power.outer", "logaddexp2.reduce", "maximum.accumulate", "divide.reduce")
CHANGES = {
    "add": lambda x, v: np.add.at(x, [0, 2, 0], v),
    "add, a matrix": lambda x, v: np.add.at(x, (slice(None), [1, 1]), v[:2]),
    "add, a number": lambda x, v: np.add.at(x, 1, 2),  # noqa: ARG005
    "subtract, a mask": lambda x, v: np.subtract.at(x, np.arange(12).reshape(3, 4) % 2 == 0, v[0]),
    "multiply": lambda x, v: np.multiply.at(x, ([0, 1], [2, 3]), v[:2]),
    "maximum": lambda x, v: np.maximum.at(x, 1, v),
    "square": lambda x, v: np.square.at(x, [2, 0]),  # noqa: ARG005
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8"])
def test_values(name: str, dtype: str) -> None:
    x = data(SHAPE, dtype)
    if dtype == "i8" and "power" in name:
        pytest.skip("whole numbers to an array of exponents are refused")
    check(FUNCTIONS[name], x)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(name: str) -> None:
    check_slopes(FUNCTIONS[name], data(SHAPE), twice=name in TWICE)


@pytest.mark.parametrize("name", CHANGES)
def test_places_changed_by_at(name: str) -> None:
    def f(x: Any, v: Any) -> Any:
        y = x * 1
        row = y[0]
        assert CHANGES[name](y, v) is None
        return np.concatenate([y.ravel(), row])

    x, v = data(SHAPE), data((4,), seed=2)
    for dtype in ("f8", "f4"):
        a, b = x.astype(dtype), v.astype(dtype)
        same(f(traced(a), traced(b)), f(a, b))
        same(f(traced(a), b), f(a, b))
    check_slopes(lambda w: f(w, w[1]), x, twice=False)


def test_at_writes_into_traced_arrays_only() -> None:
    x = traced(data((4,)))
    with pytest.raises(TracingError, match="plain array"):
        np.add.at(np.zeros(4), [1], x[:1])
    with pytest.raises(TracingError, match="twice"):
        np.multiply.at(x * 1, [1, 1], 2.0)
    with pytest.raises(TypeError):
        np.add.at(traced(np.arange(4)), [1], 0.5)


@pytest.mark.parametrize("ufunc", [np.maximum, np.minimum, np.fmax, np.fmin], ids=lambda u: u.__name__)
def test_equal_entries_share_a_running_extremum(ufunc: Any) -> None:
    x = np.array([1.0, 3.0, 3.0, 2.0, 3.0, 5.0, 5.0, -1.0, -1.0, np.inf, np.inf, -np.inf])
    check(ufunc.accumulate, x)
    best = ufunc.accumulate(x)
    expected = np.tril(x == best[:, None]).astype(float)
    expected /= expected.sum(1, keepdims=True)
    for mode in MODES if ufunc is np.maximum else MODES[1:2]:
        np.testing.assert_allclose(ea.jacobian(ufunc.accumulate, mode=mode)(x), expected, rtol=1e-15)
    ones = np.ones(7)
    np.testing.assert_allclose(ea.jacobian(ufunc.accumulate)(ones), np.tri(7) / np.arange(1, 8)[:, None], rtol=1e-15)


def test_running_extrema_at_nan() -> None:
    x = np.array([[np.nan, 2.0, np.nan, 3.0, 3.0], [-np.inf, np.nan, -np.inf, np.nan, 1.0]])
    for ufunc in (np.maximum, np.fmax, np.fmin):
        check(lambda v, u=ufunc: u.accumulate(v, 1), x)
        check(lambda v, u=ufunc: u.reduce(v, 1), x)
    found = ea.jacobian(np.fmax.accumulate)(x[1])
    np.testing.assert_allclose(found[2:], [[0.5, 0, 0.5, 0, 0], [0.5, 0, 0.5, 0, 0], [0, 0, 0, 0, 1]])
    assert (ea.jacobian(np.fmax.accumulate)(x[0])[0] == 0).all()


@pytest.mark.parametrize("size", [1, 2, 3, 8, 9])
def test_running_extrema_of_any_length(size: int) -> None:
    x = np.random.default_rng(size).integers(0, 3, (2, size)).astype(float)
    for ufunc in (np.maximum, np.minimum):
        check(lambda v, u=ufunc: u.accumulate(v, 1), x)
        check(lambda v, u=ufunc: u.accumulate(v, 1), x.astype(int))
        check(lambda v, u=ufunc: u.accumulate(v, 1), x > 0)
    check(lambda v: np.maximum.accumulate(np.ones_like(v) * 2), x[0].astype("f4"))


def test_a_million_entries_have_running_maxima_without_a_matrix() -> None:
    x = np.random.default_rng(0).normal(size=10**5)
    found = ea.grad(lambda v: np.sum(np.maximum.accumulate(v)))(x)
    records = np.flatnonzero(np.diff(np.maximum.accumulate(x), prepend=-np.inf))
    np.testing.assert_array_equal(found[records], np.diff(records, append=x.size))


def test_truth() -> None:
    x = data((3, 4), "?")
    for ufunc in (np.logical_and, np.logical_or, np.logical_xor, np.bitwise_or, np.add):
        check(ufunc.reduce, x)
        check(lambda v, u=ufunc: u.accumulate(v, 1), x)
        check(lambda v, u=ufunc: u.reduceat(v, [0, 2, 1]), x)
    check(np.logical_xor.reduce, data((3, 4)))
    check(lambda v: np.logical_xor.reduce(v, None), data((0,)))
    check(np.logaddexp.reduce, data((0, 2)))


def test_bad_input() -> None:
    x = traced(data((2, 3)))
    for call, error in (
        (lambda: np.subtract.reduce(x, None), ValueError),
        (lambda: np.subtract.reduce(x[:0]), ValueError),
        (lambda: np.exp.outer(x, x), ValueError),
        (lambda: np.greater.reduce(x), TracingError),
        (lambda: np.add.reduceat(x, [0, 7]), IndexError),
        (lambda: np.maximum.accumulate(x[0, 0]), TypeError),
        (lambda: np.add.outer(x, x, dtype="f4"), TracingError),
        (lambda: np.gcd.outer(x, x), TracingError),
        (lambda: np.add.reduce(x, where=[True, True, False]), TracingError),
    ):
        with pytest.raises(error):
            call()
    same(np.add.outer(2, x), 2 + x.numpy())
