"""numpy.linalg: matrices of the kind that each function is for, in batches, empty and of size 1."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tests.surface.drawing import Drawer, Kind, Operand
from tests.surface.specs import Call, each, spec


def _square(kind: Kind, function: Any, d: Drawer) -> Call:
    return function, (d.square(kind),)


each(np.linalg, ("inv",), "f")(partial(_square, "invertible"))
each(np.linalg, ("det",), "f")(partial(_square, "real"))
each(np.linalg, ("slogdet",), "f")(partial(_square, "positive"))


@spec("numpy.linalg.solve", "f")
def _solve(d: Drawer) -> Call:
    size, batch = d.size(), d.shape(0, 1)
    left = d.operand((*batch, size, size), kind="invertible")
    return np.linalg.solve, (left, d.operand(d.choice((size,), (size, d.size()), (*batch, size, d.size()))))


@spec("numpy.linalg.cholesky", "f")
def _cholesky(d: Drawer) -> Call:
    upper = bool(d.integer(0, 1))
    return lambda a: np.linalg.cholesky(a, upper=upper), (d.square("positive"),)


@spec("numpy.linalg.eigvalsh", "f")
def _eigvalsh(d: Drawer) -> Call:
    side = d.choice("L", "U")
    return lambda a: np.linalg.eigvalsh(a, side), (d.square("symmetric"),)


def _projectors(vectors: Any) -> Any:
    """Products of each vector with itself, which do not depend on its sign."""
    return vectors[..., :, None, :] * vectors[..., None, :, :]


@spec("numpy.linalg.eigh", "f")
def _eigh(d: Drawer) -> Call:
    def f(a: Any) -> Any:
        values, vectors = np.linalg.eigh(a)
        return values, _projectors(vectors)

    return f, (d.square("symmetric"),)


@spec("numpy.linalg.eigh, a function of the matrix", "f")
def _spectral(d: Drawer) -> Call:
    def f(a: Any) -> Any:
        values, vectors = np.linalg.eigh(a)
        return (vectors * np.sin(values)[..., None, :]) @ np.swapaxes(vectors, -1, -2)

    return f, (d.square("symmetric"),)


def _tall(d: Drawer) -> Operand:
    rows = d.size(1)
    return d.operand((*d.shape(0, 1), rows, d.integer(1, rows)), kind="spread")


@each(np.linalg, ("svdvals",), "f")
def _svdvals(function: Any, d: Drawer) -> Call:
    wide = bool(d.integer(0, 1))
    return lambda a: function(np.swapaxes(a, -1, -2) if wide else a), (_tall(d),)


@spec("numpy.linalg.svd", "f")
def _svd(d: Drawer) -> Call:
    def f(a: Any) -> Any:
        left, values, right = np.linalg.svd(a, full_matrices=False)
        return values, left[..., :, None, :] * np.swapaxes(right, -1, -2)[..., None, :, :]

    return f, (_tall(d),)


@spec("numpy.linalg.svd, values", "f")
def _singular_values(d: Drawer) -> Call:
    return lambda a: np.linalg.svd(a, compute_uv=False), (_tall(d),)


@spec("numpy.linalg.qr", "f")
def _qr(d: Drawer) -> Call:
    mode = d.choice("reduced", "r")
    wide = bool(d.integer(0, 1))

    def f(a: Any) -> Any:
        found = np.linalg.qr(np.swapaxes(a, -1, -2) if wide else a, mode)
        return found if mode == "r" else tuple(found)

    return f, (_tall(d),)


@spec("numpy.linalg.pinv", "f")
def _pinv(d: Drawer) -> Call:
    return lambda a: np.linalg.pinv(a, rcond=1e-6), (_tall(d),)


@spec("numpy.linalg.pinv, of low rank", "f")
def _pinv_of_low_rank(d: Drawer) -> Call:
    return lambda a, b: np.linalg.pinv(np.outer(a, b), rcond=1e-6), (d.operand((3,), 0.5, 2), d.operand((2,), 0.5, 2))


@spec("numpy.linalg.lstsq", "f")
def _lstsq(d: Drawer) -> Call:
    rows, columns = d.integer(2, 4), d.integer(1, 2)
    right = d.choice((rows,), (rows, 2))
    return lambda a, b: np.linalg.lstsq(a, b, rcond=1e-6)[0], (
        d.operand((rows, columns), kind="spread"),
        d.operand(right),
    )


@spec("numpy.linalg.norm", "f")
def _norm(d: Drawer) -> Call:
    shape = d.shape(1, 2, smallest=1)
    keep = bool(d.integer(0, 1))
    return lambda x: np.linalg.norm(x, keepdims=keep), (d.operand(shape),)


@spec("numpy.linalg.norm, of vectors", "f")
def _vector_norm(d: Drawer) -> Call:
    shape = d.shape(1, 2, smallest=1)
    order, axis = d.choice(None, 1, 2, 3, 0.5, -1, 0, np.inf, -np.inf), d.axis(shape)
    return lambda x: np.linalg.norm(x, order, axis), (d.operand(shape, 0.3, 2, "distinct"),)


@spec("numpy.linalg.norm, of matrices", "f")
def _matrix_norm(d: Drawer) -> Call:
    order = d.choice(None, "fro", "nuc", 1, 2, np.inf, -1, -2, -np.inf)
    return lambda x: np.linalg.norm(x, order, (-2, -1)), (_tall(d),)


@each(np.linalg, ("vector_norm", "matrix_norm"), "f")
def _norm_of(function: Any, d: Drawer) -> Call:
    keep = bool(d.integer(0, 1))
    return lambda x: function(x, keepdims=keep), (_tall(d),)


@spec("numpy.linalg.cond", "f")
def _cond(d: Drawer) -> Call:
    order = d.choice(None, "fro", 1, 2, np.inf)
    return lambda a: np.linalg.cond(a, order), (d.square("positive", smallest=1),)


@spec("numpy.linalg.matrix_power", "f")
def _matrix_power(d: Drawer) -> Call:
    power = d.integer(-2, 3)
    return lambda a: np.linalg.matrix_power(a, power), (d.square("invertible"),)


@spec("numpy.linalg.matrix_rank", "f", order=0)
def _matrix_rank(d: Drawer) -> Call:
    return np.linalg.matrix_rank, (_tall(d),)


@spec("numpy.linalg.multi_dot", "f")
def _multi_dot(d: Drawer) -> Call:
    a, b, c, e = d.size(1), d.size(1), d.size(1), d.size(1)
    first, last = d.choice((a, b), (b,)), d.choice((c, e), (c,))
    return lambda x, y, z: np.linalg.multi_dot([x, y, z]), (d.operand(first), d.operand((b, c)), d.operand(last))


@each(np.linalg, ("trace", "diagonal"), "f")
def _diagonal(function: Any, d: Drawer) -> Call:
    offset = d.integer(-1, 1)
    return lambda a: function(a, offset=offset) * 1, (d.operand(d.shape(2, 3)),)


@each(np.linalg, ("matrix_transpose",))
def _matrix_transpose(function: Any, d: Drawer) -> Call:
    return function, (d.operand(d.shape(2, 3)),)


@each(np.linalg, ("outer",))
def _outer(function: Any, d: Drawer) -> Call:
    return function, (d.operand((d.size(),)), d.operand((d.size(),)))


@each(np.linalg, ("cross",), "f")
def _cross(function: Any, d: Drawer) -> Call:
    batch = d.shape(0, 1)
    return function, (d.operand((*batch, 3)), d.operand((3,)))


@each(np.linalg, ("vecdot",), "f")
def _vecdot(function: Any, d: Drawer) -> Call:
    shape = d.shape(1, 2)
    return function, (d.operand(shape), d.operand(shape))


@each(np.linalg, ("matmul",))
def _matmul(function: Any, d: Drawer) -> Call:
    batch, a, b, c = d.shape(0, 1), d.size(), d.size(), d.size()
    return function, (d.operand((*batch, a, b)), d.operand((b, c)))


@each(np.linalg, ("tensordot",))
def _tensordot(function: Any, d: Drawer) -> Call:
    a, b, c = d.size(), d.size(), d.size()
    return lambda x, y: function(x, y, axes=1), (d.operand((a, b)), d.operand((b, c)))


@spec("numpy.linalg.tensorsolve", "f")
def _tensorsolve(d: Drawer) -> Call:
    def f(a: Any, b: Any) -> Any:
        return np.linalg.tensorsolve(np.reshape(a, (2, 2, 4)), b)

    return f, (d.operand((4, 4), kind="invertible"), d.operand((2, 2)))


@spec("numpy.linalg.tensorinv", "f")
def _tensorinv(d: Drawer) -> Call:
    return lambda a: np.linalg.tensorinv(np.reshape(a, (4, 2, 2)), ind=1), (d.operand((4, 4), kind="invertible"),)
