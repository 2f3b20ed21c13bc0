"""Functions that choose, search, and multiply vectors; constants; what is unique: values as NumPy's, derivatives."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad.errors import ShapeError, TracingError
from tests.frontend.slopes import check_slopes
from tests.frontend.surface import check, data, same, traced

SHAPE = (3, 4)
B = data((3, 2), seed=5)
FUNCTIONS = {
    "select": lambda x: np.select([x > 0.7, x > 0.4], [x**2, x[0]], x.dtype.type(3)),
    "select, numbers": lambda x: np.select([x > 0.5, x > 0.3], [x, 2]),
    "choose": lambda x: np.choose([[0, 1, 2, 1]] * 3, [x, 2 * x[0], x[1, 1]]),
    "choose, wrap": lambda x: np.choose(np.arange(4) - 1, [x[0], x[1]], mode="wrap"),
    "choose, by a place": lambda x: np.choose(np.argmax(x, 0), x),
    "choose, clip": lambda x: np.choose(np.arange(4), [x[0], x[1]], mode="clip"),
    "piecewise": lambda x: np.piecewise(x, [x < 0.4, x > 0.7], [lambda v: v**2, 3, lambda v, a=2: a * v]),
    "piecewise of a sum": lambda x: np.piecewise(x, [x > 0.5], [lambda v: v - v[::-1] ** 2, -1]),
    "apply_along_axis": lambda x: np.apply_along_axis(lambda v: v[:2] * v[2], 1, x),
    "apply_along_axis, first": lambda x: np.apply_along_axis(np.sum, 0, x),
    "apply_along_axis, matrices": lambda x: np.apply_along_axis(lambda v: np.multiply.outer(v, v[:2]), 0, x),
    "apply_along_axis, numbers": lambda x: np.apply_along_axis(lambda v: v * v[0] if np.all(v == x[0]) else v[1], 1, x),
    "apply_over_axes": lambda x: np.apply_over_axes(np.sum, x, [0, 1]),
    "searchsorted": lambda x: x * np.searchsorted(np.sort(x[0]), x),
    "searchsorted, right": lambda x: x[0] * np.searchsorted(x[1], [0.1, 0.5, 0.4, 2], "right", np.argsort(x[1])),
    "digitize": lambda x: x * np.digitize(x, [0.3, 0.5, 0.7]),
    "digitize, falling": lambda x: x * np.digitize(x, [0.7, 0.5, 0.3], right=True),
    "argpartition": lambda x: np.sort(np.take_along_axis(x, np.argpartition(x, 2), 1)[:, :2]),
    "unique": np.unique,
    "unique, inverse": lambda x: np.unique(np.round(x), return_inverse=True)[1] * x,
    "unique_values": lambda x: np.sort(np.unique_values(x)),
    "unique_counts": lambda x: np.unique_counts(x).values,
    "unique_all": lambda x: np.unique_all(x)[0][np.unique_all(x)[2]],
    "unique_inverse": lambda x: np.unique_inverse(x)[0],
    "union1d": lambda x: np.union1d(x[0], x[:, 0]),
    "setdiff1d": lambda x: np.setdiff1d(x, x[0]),
    "setxor1d": lambda x: np.setxor1d(x[0], x[:, 0]),
    "trim_zeros": lambda x: np.trim_zeros(np.where(x[0] > 0.5, x[0], 0)),
    "trim_zeros, front": lambda x: np.trim_zeros(np.concatenate([[0, 0], x[0], [0]]), "f"),
    "extract": lambda x: np.extract(x > 0.5, x**2),
    "nonzero": lambda x: x[np.nonzero(x > 0.5)],
    "flatnonzero": lambda x: x.ravel()[np.flatnonzero(x > 0.5)],
    "argwhere": lambda x: np.argwhere(x > 0.5) * x.sum(),
    "isin": lambda x: np.isin(x, x[0]) * x,
    "count_nonzero": lambda x: np.count_nonzero(x > 0.5, 0) * x,
    "isclose": lambda x: np.isclose(x, x[0]) * x,
    "lexsort": lambda x: x[0][np.lexsort((x[1], np.round(x[0])))],
    "cross": lambda x: np.cross(x[:, :3], x[0, 1:]),
    "cross, axes": lambda x: np.cross(x, x[:, :1] ** 2, axisa=0, axisb=0, axisc=0),
    "kron": lambda x: np.kron(x[:2], x[1]),
    "kron of a matrix": lambda x: np.kron(B.astype(x.dtype), x[:2]),
    "block": lambda x: np.block([[x, x[:, :1]], [x[0], np.ones(1, x.dtype)]]),
    "block of one": np.block,
    "resize": lambda x: np.resize(x, (5, 4)),
    "resize, fewer": lambda x: np.resize(x, 3),
    "diagflat": lambda x: np.diagflat(x[:2, :2], 1),
    "angle": lambda x: np.angle(x - 0.5) * x,
    "angle in degrees": lambda x: np.angle(-x, deg=True),
    "fix": lambda x: np.fix(9 * x) * x,
    "imag": lambda x: np.imag(x) + x.imag,
    "real_if_close": np.real_if_close,
    "signbit": lambda x: np.signbit(x - 0.5) * x,
    "kinds": lambda x: x * (np.isreal(x) & ~np.iscomplex(x) & ~np.isposinf(x) & ~np.isneginf(x)),
    "indices": lambda x: x[:3, :3][np.tril_indices_from(x[:3, :3])] + x[np.ix_([0], range(3))].sum(),
    "diag_indices": lambda x: x[:3, :3][np.diag_indices_from(x[:3, :3])],
    "triu_indices": lambda x: x[np.triu_indices_from(x)],
    "places": lambda x: x[np.unravel_index(np.argmax(x), x.shape)] * x,
}
if hasattr(np, "vecdot"):
    FUNCTIONS["vecdot"] = lambda x: np.vecdot(x, x[0])
if hasattr(np, "matvec"):
    FUNCTIONS["matvec"] = lambda x: np.matvec(np.stack([x, x**2]), x[0])
    FUNCTIONS["vecmat"] = lambda x: np.vecmat(x[:, :3], np.stack([x] * 3))


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8"])
def test_values(name: str, dtype: str) -> None:
    if dtype == "i8" and (name in ("fix", "angle in degrees") or "piecewise" in name):
        pytest.skip("floats in an array of whole numbers")
    check(FUNCTIONS[name], data(SHAPE, dtype))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(name: str) -> None:
    check_slopes(FUNCTIONS[name], data(SHAPE), twice=False)


def test_what_is_not_chosen_contributes_nothing() -> None:
    x = np.array([0.0, 1.0])
    for f in (
        lambda v: np.select([v > 0], [np.log(v)], v),
        lambda v: np.choose([1, 0], [np.log(v), v]),
        lambda v: np.piecewise(v, [v > 0], [np.log, lambda u: u]),
    ):
        np.testing.assert_array_equal(ea.jacobian(f)(x), np.eye(2))


def test_equal_entries_are_one_and_share() -> None:
    x = np.array([3.0, 1.0, 3.0, np.nan, np.nan])
    check(np.unique, x)
    check(lambda v: np.unique(v, equal_nan=False), x)
    np.testing.assert_array_equal(ea.jacobian(np.unique)(x[:3]), [[0, 1, 0], [0.5, 0, 0.5]][:2])
    same(np.unique(traced(x), return_index=True), np.unique(x, return_index=True))


def test_vectors_of_two_entries() -> None:
    x, y = data((3, 2)), data((3, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for a, b in ((x, x[0]), (x, y), (y, x)):
            check(np.cross, a, b)


def test_edges() -> None:
    x = np.array([0.0, -0.0, 1.0, np.nan, np.inf, -np.inf, -2.0])
    for f in (np.signbit, np.angle, np.isposinf, np.isneginf, np.fix, np.i0, np.isreal, np.trim_zeros):
        check(f, x)
    check(lambda v: np.isclose(v, v[::-1], equal_nan=True), x)
    check(lambda v: np.isclose(v, 1), x)
    check(lambda v: np.trim_zeros(v * 0), x[:3])
    check(lambda v: np.resize(v, (2, 0)), x)
    check(lambda v: np.searchsorted(v, [0.5, np.nan]), np.sort(x))
    check(lambda v: np.digitize(v, [0.0, 1.0]), x)
    check(lambda v: np.ldexp(v, [1, 2, 2000, 0, 3, 3, -1]), x)
    check(lambda v: np.ldexp(v, 1020), np.array([1e-300, 5e-324]))
    for f in (np.signbit, np.angle, np.fix):
        assert (ea.jacobian(f)(x[:3]) == 0).all() if f is not np.signbit else True
    if hasattr(np, "trim_zeros"):
        check(np.trim_zeros, np.array([[0.0, 0, 0], [0, 1, 2], [0, 0, 0]]))


def test_facts_are_plain() -> None:
    x = traced(data((2, 3)))
    assert np.count_nonzero(x) == 6
    assert np.array_equiv(x[:1], x[0])
    assert np.array_str(x) == np.array_str(x.numpy())
    assert np.array_repr(x) == np.array_repr(x.numpy())
    assert np.array2string(x, precision=2) == np.array2string(x.numpy(), precision=2)
    assert np.common_type(x, np.arange(3)) is np.float64
    assert np.einsum_path("ij,jk->ik", x, np.ones((3, 2)))[0][0] == "einsum_path"
    assert np.min_scalar_type(traced(np.array(3))) == np.uint8
    assert isinstance(np.nonzero(x)[0], np.ndarray)


def test_positions_need_values() -> None:
    for f in (np.unique, np.trim_zeros, lambda x: x[np.nonzero(x)], lambda x: np.extract(x > 0, x)):
        with pytest.raises(TracingError, match="not known"):
            ea.compile(lambda x, f=f: np.sum(f(x)))(data((3,)))


def test_bad_input() -> None:
    x = traced(data((2, 3)))
    for call, error in (
        (lambda: np.select([x > 0], []), ValueError),
        (lambda: np.select([x], [x]), TypeError),
        (lambda: np.choose([3], [x, x]), ValueError),
        (lambda: np.piecewise(x, [x > 0], [1, 2, 3]), ValueError),
        (lambda: np.apply_along_axis(np.sum, 0, x[:, :0]), ValueError),
        (lambda: np.searchsorted(x, x), ValueError),
        (lambda: np.digitize(x, [0, 2, 1]), ValueError),
        (lambda: np.unique(x, axis=0), TracingError),
        (lambda: np.intersect1d(x, x), TracingError),
        (lambda: np.cross(x[:, :1], x), ValueError),
        (lambda: np.block([x, [x]]), ValueError),
        (lambda: np.shares_memory(x, x), TracingError),
        (lambda: np.save("x", x), TracingError),
        (lambda: np.vecdot(x, x[0, 0]), (ShapeError, AttributeError)),
    ):
        with pytest.raises(error):
            call()


def test_functions_of_the_caller_see_traced_values() -> None:
    seen: list[Any] = []
    np.piecewise(traced(data((3,))), [[True, False, True]], [lambda v: seen.append(v.shape) or v, 0])
    assert seen == [(2,)]
