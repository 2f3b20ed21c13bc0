"""Axes moved, added, dropped and spread; diagonals; where; stacking; constants and facts."""

from typing import Any

import numpy as np
import pytest

import einsumad.numpy as enp
from einsumad.errors import ShapeError, TracingError
from einsumad.frontend.tensor import Tensor
from tests.frontend.surface import check, data, same, traced, value

LAYOUT = [
    np.transpose,
    lambda a: a.T,
    lambda a: a.transpose(),
    lambda a: a.transpose(2, 0, 1),
    lambda a: a.transpose((1, 0, 2)),
    lambda a: np.transpose(a, (-1, 0, 1)),
    lambda a: a.mT,
    np.matrix_transpose,
    lambda a: np.swapaxes(a, 0, -1),
    lambda a: a.swapaxes(0, 1),
    lambda a: np.moveaxis(a, 0, -1),
    lambda a: np.moveaxis(a, (0, 2), (2, 1)),
    lambda a: np.expand_dims(a, 0),
    lambda a: np.expand_dims(a, (0, -1)),
    lambda a: np.expand_dims(a, (1, 3)),
    np.squeeze,
    lambda a: a.squeeze(1),
    lambda a: np.squeeze(a, axis=(-2,)),
    np.atleast_1d,
    lambda a: np.broadcast_to(a, (5, 2, 4, 3)),
    lambda a: np.broadcast_arrays(a, np.ones(3))[0],
    np.copy,
    lambda a: a.copy(),
    lambda a: a.real,
    lambda a: np.real(a.conj()),
    lambda a: np.reshape(a, (2, 3)),
    lambda a: a.reshape(1, 2, -1, 1),
    np.diagonal,
    lambda a: a.diagonal(0, 0, 2),
    lambda a: np.diagonal(a, 1, 2, 0),
    lambda a: np.diagonal(a, -1, axis1=-1, axis2=0),
]


@pytest.mark.parametrize("f", LAYOUT)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "?"])
def test_layout(f: Any, dtype: str) -> None:
    check(f, data((2, 1, 3), dtype))


def test_layout_of_scalars_and_empty_arrays() -> None:
    check(np.atleast_1d, data(()))
    check(np.transpose, data(()))
    check(np.squeeze, data((1, 1)))
    check(lambda a: np.broadcast_to(a, 3), data(()))
    check(lambda a: np.broadcast_to(a, (0, 3)), data((3,)))
    check(lambda a: np.broadcast_to(a, (2, 0)), data((1,)))
    check(np.transpose, data((0, 2)))
    assert len(np.atleast_1d(traced(data(())), traced(data((2,))))) == 2


@pytest.mark.parametrize("k", [0, 1, -1, 2, -3, 7])
def test_diag(k: int) -> None:
    with np.errstate(all="ignore"):
        check(lambda a: np.diag(a, k), np.array([1.0, np.inf, np.nan]))
    check(lambda a: np.diag(a, k), data((3, 4)))
    check(lambda a: np.diag(a, k), data((1,)))
    check(lambda a: np.diag(a, k), data((3,), "?"))
    check(lambda a: np.diag(a, k), data((3, 3), "?"))
    check(lambda a: np.diag(a, k), data((0,)))


def test_errors_of_layout() -> None:
    x = traced(data((2, 3)))
    for f in [
        lambda: np.transpose(x, (0,)),
        lambda: np.squeeze(x, 0),
        lambda: np.diagonal(x, 0, 1, 1),
        lambda: np.diagonal(traced(data((3,)))),
        lambda: np.diag(traced(data((2, 2, 2)))),
        lambda: np.matrix_transpose(traced(data((3,)))),
        lambda: np.broadcast_to(x, (3, 2)),
        lambda: np.moveaxis(x, (0, 1), 0),
    ]:
        with pytest.raises(ShapeError):
            f()
    with pytest.raises(np.exceptions.AxisError):
        np.swapaxes(x, 0, 2)
    with pytest.raises(ValueError, match="reshape"):
        np.reshape(x, (4, 2))


CONDITION = np.array([True, False, True])


def test_where() -> None:
    x = np.array([1.0, np.inf, np.nan])
    for f in [
        lambda a: np.where(a > 0.5, a, 0),
        lambda a: np.where(CONDITION, 0.0, a),
        lambda a: np.where(a, a, -1),
        lambda a: np.where(CONDITION[:, None], a, 2 * a),
        lambda a: np.where(True, a, 0),
        lambda a: np.where(False, a, np.zeros((2, 3))),
        lambda a: np.where(np.isnan(a), True, a > 0),
        lambda a: np.where(np.isfinite(a), np.arange(3), a),
    ]:
        check(f, x)
    for dtype in ("f4", "i8", "?"):
        check(lambda a: np.where(CONDITION, a, 1), data((3,), dtype))
        check(lambda a: np.where(a, 1, 2.5), data((3,), dtype))
        check(lambda a: np.where(CONDITION, a, np.float64(2)), data((3,), dtype))
    with pytest.raises(TracingError, match="positions"):
        np.where(traced(x))


def test_clip() -> None:
    x = data((4,), low=-1, high=2)
    for f in [
        lambda a: np.clip(a, 0, 1),
        lambda a: a.clip(0, 1),
        lambda a: np.clip(a, None, 1),
        lambda a: np.clip(a, 0.5, None),
        lambda a: np.clip(a, min=0.2, max=np.array([0.3, 0.4, 0.5, 0.6])),
        lambda a: np.clip(a, -a, a / 2),
    ]:
        check(f, x)
        check(f, x.astype("f4"))


def test_astype() -> None:
    x = data((3,))
    check(lambda a: a.astype("f4"), x)
    check(lambda a: a.astype(bool), np.array([0.0, 1.5, -0.0, np.nan]))
    check(lambda a: a.astype(float), data((3,), "i8"))
    check(lambda a: a.astype(float), data((3,), "?"))
    check(lambda a: a.astype("i8"), data((3,), "?"))
    check(lambda a: np.astype(a, np.float32), x)
    for refused in (int, complex, object, str):
        with pytest.raises(TracingError):
            traced(x).astype(refused)


def test_constants_like_a_traced_value() -> None:
    x = data((2, 3), "f4")
    for f in [
        np.ones_like,
        np.zeros_like,
        lambda a: np.ones_like(a, dtype="f8"),
        lambda a: np.zeros_like(a, shape=(4,)),
        lambda a: np.full_like(a, 2.5),
        lambda a: np.full_like(a, np.arange(3.0)),
        lambda a: np.full_like(a, 3, dtype=int, shape=2),
    ]:
        check(f, x)
    filled = np.empty_like(traced(x), "f4", shape=(4,))
    filled[...] = 2
    assert filled.dtype == np.float32
    np.testing.assert_array_equal(filled.numpy(), np.full(4, 2))


def test_facts() -> None:
    x = traced(data((2, 3), "f4"))
    assert (np.shape(x), np.ndim(x), np.size(x), np.size(x, 1), len(x)) == ((2, 3), 2, 6, 3, 2)
    assert (x.shape, x.ndim, x.size, x.dtype) == ((2, 3), 2, 6, np.float32)
    assert np.result_type(x, 1.0) == np.float32
    assert np.result_type(x, np.float64) == np.float64
    assert np.can_cast(x, "f8")
    assert not np.iscomplexobj(x)
    assert np.isrealobj(x)
    assert np.array_equal(x, x) is True
    assert np.allclose(x, data((2, 3), "f4")) is True


def test_arrays_of_traced_entries() -> None:
    x, y = data((3,)), data((3,), "f4", 1)
    with np.errstate(all="ignore"):
        for f in [
            lambda a, b: enp.array([a, b]),
            lambda a, b: enp.array([[a, a], [b, np.zeros(3)]]),
            lambda a, b: enp.array([a, [1, 2, 3], b, (4.0, 5.0, 6.0)]),
            lambda a, b: enp.asarray([np.sum(a), 1, np.inf * np.sum(b)]),
            lambda a, b: enp.array([[np.sum(a)], [2]], dtype="f4") + b,
            lambda a, b: enp.array([a > 0.5, b > 0.5]),
            lambda a, b: enp.array((a,)) * b,
        ]:
            expected = f(x, y)
            same(f(traced(x), traced(y)), expected)
            same(f(traced(x), y) if f is not None else None, expected)


def test_arrays_of_plain_entries_are_numpys() -> None:
    assert type(enp.array([1, 2])) is np.ndarray
    assert enp.asarray([1.0], dtype="f4").dtype == np.float32
    assert enp.array([1.0], ndmin=2).shape == (1, 1)
    assert enp.sum is np.sum
    x = traced(data((3,)))
    assert enp.asarray(x) is x
    assert enp.array(x, "f4").dtype == np.float32
    with pytest.raises(ShapeError):
        enp.array([x, [1.0]])
    with pytest.raises(ShapeError):
        enp.array([[x], [x, x]])
    with pytest.raises(TracingError, match="ndmin"):
        enp.array([x, x], ndmin=3)
    with pytest.raises(AttributeError):
        _ = enp.no_such_name
    assert isinstance(enp.array([x]), Tensor)
    assert value(enp.array([x])).shape == (1, 3)
