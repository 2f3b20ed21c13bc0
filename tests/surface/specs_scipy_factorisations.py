"""einsumad.scipy.linalg: factorisations, eigenvalues, pseudo-inverses, least squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from einsumad.scipy import linalg
from tests.surface.drawing import Drawer, Operand
from tests.surface.specs import Call, spec


def _matrix(d: Drawer, kind: Any) -> Operand:
    size = d.size(1)
    return d.operand((size, size), kind=kind)


def _tall(d: Drawer) -> Operand:
    rows = d.size(1)
    return d.operand((rows, d.integer(1, rows)), kind="spread")


def _projectors(vectors: Any) -> Any:
    """Products of each vector with itself, which do not depend on its sign."""
    return vectors[:, None, :] * vectors[None, :, :]


@spec("scipy.linalg.cholesky", "f")
def _cholesky(d: Drawer) -> Call:
    lower = bool(d.integer(0, 1))
    return lambda a: linalg.cholesky(a, lower), (_matrix(d, "positive"),)


@spec("scipy.linalg.cho_factor", "f")
def _cho_factor(d: Drawer) -> Call:
    lower = bool(d.integer(0, 1))

    def f(a: Any) -> Any:
        factor, side = linalg.cho_factor(a, lower)
        return np.tril(factor) if side else np.triu(factor)

    return f, (_matrix(d, "positive"),)


@spec("scipy.linalg.eigh", "f")
def _eigh(d: Drawer) -> Call:
    lower = bool(d.integer(0, 1))

    def f(a: Any) -> Any:
        values, vectors = linalg.eigh(a, lower=lower)
        return values, _projectors(vectors)

    return f, (_matrix(d, "symmetric"),)


@spec("scipy.linalg.eigh, general", "f")
def _eigh_general(d: Drawer) -> Call:
    lower = bool(d.integer(0, 1))

    def f(a: Any, b: Any) -> Any:
        values, vectors = linalg.eigh(3 * a, b, lower=lower)
        return values, _projectors(vectors)

    return f, (d.operand((2, 2), kind="symmetric"), d.operand((2, 2), kind="positive"))


@spec("scipy.linalg.eigvalsh", "f")
def _eigvalsh(d: Drawer) -> Call:
    subset = d.choice(None, (0, 0))
    return lambda a: linalg.eigvalsh(a, subset_by_index=subset), (_matrix(d, "symmetric"),)


@spec("scipy.linalg.eigh_tridiagonal", "f")
def _eigh_tridiagonal(d: Drawer) -> Call:
    def f(a: Any, b: Any) -> Any:
        values, vectors = linalg.eigh_tridiagonal(a, b)
        return values, _projectors(vectors)

    return f, (d.operand((3,), 0, 3, "increasing"), d.operand((2,), 0.2, 0.4))


@spec("scipy.linalg.eigvalsh_tridiagonal", "f")
def _eigvalsh_tridiagonal(d: Drawer) -> Call:
    return linalg.eigvalsh_tridiagonal, (d.operand((3,), 0, 3, "increasing"), d.operand((2,), 0.2, 0.4))


@spec("scipy.linalg.svd", "f")
def _svd(d: Drawer) -> Call:
    def f(a: Any) -> Any:
        left, values, right = linalg.svd(a, full_matrices=False)
        return values, left[:, None, :] * right.T[None, :, :]

    return f, (_tall(d),)


@spec("scipy.linalg.svdvals", "f")
def _svdvals(d: Drawer) -> Call:
    return linalg.svdvals, (_tall(d),)


@spec("scipy.linalg.diagsvd", "f")
def _diagsvd(d: Drawer) -> Call:
    size, more = d.size(1), d.integer(0, 2)
    shape = d.choice((size, size + more), (size + more, size))
    return lambda s: linalg.diagsvd(s, *shape), (d.operand((size,)),)


@spec("scipy.linalg.qr", "f")
def _qr(d: Drawer) -> Call:
    mode = d.choice("economic", "r")
    return lambda a: linalg.qr(a, mode=mode), (_tall(d),)


@spec("scipy.linalg.qr, square", "f")
def _qr_square(d: Drawer) -> Call:
    return linalg.qr, (_matrix(d, "invertible"),)


@spec("scipy.linalg.rq", "f")
def _rq(d: Drawer) -> Call:
    mode = d.choice("economic", "r")

    def f(a: Any) -> Any:
        found = linalg.rq(np.swapaxes(a, -1, -2), mode=mode)
        return found if mode == "r" else tuple(found)

    return f, (_tall(d),)


@spec("scipy.linalg.rq, not wide", "f")
def _rq_full(d: Drawer) -> Call:
    mode = d.choice("full", "economic", "r")
    size, more = d.size(1), d.integer(0, 2)
    a = d.operand((*d.shape(0, 1, smallest=1), size, size), kind="invertible")

    def f(a: Any) -> Any:
        found = linalg.rq(np.concatenate([a[..., :more, :], a], -2), mode=mode)
        return found if mode == "r" else tuple(found)

    return f, (a,)


def _exchanged(d: Drawer) -> Operand:
    """Matrices of which elimination exchanges rows, each by a clear choice."""
    return d.operand((*d.shape(0, 1, smallest=1), d.size(1), d.size(1)), kind="spread")


def _reversed(a: Any) -> Any:
    return a[..., ::-1, :]


@spec("scipy.linalg.lu", "f")
def _lu(d: Drawer) -> Call:
    options = {"permute_l": bool(d.integer(0, 1)), "p_indices": bool(d.integer(0, 1))}
    return lambda a: tuple(linalg.lu(_reversed(a), **options)), (_exchanged(d),)


@spec("scipy.linalg.lu_factor", "f")
def _lu_factor(d: Drawer) -> Call:
    return lambda a: tuple(linalg.lu_factor(_reversed(a))), (_exchanged(d),)


@spec("scipy.linalg.lu_solve", "f")
def _lu_solve(d: Drawer) -> Call:
    size, trans = d.size(1), d.integer(0, 2)
    a = d.operand((*d.shape(0, 1, smallest=1), size, size), kind="spread")
    right = d.operand(d.choice((size,), (size, 2), (*a.shape[:-1], 1)))
    return lambda a, b: linalg.lu_solve(linalg.lu_factor(_reversed(a)), b, trans), (a, right)


@spec("scipy.linalg.pinv", "f")
def _pinv(d: Drawer) -> Call:
    return linalg.pinv, (_tall(d),)


@spec("scipy.linalg.pinvh", "f")
def _pinvh(d: Drawer) -> Call:
    lower = bool(d.integer(0, 1))
    return lambda a: linalg.pinvh(a, lower=lower), (_matrix(d, "positive"),)


@spec("scipy.linalg.lstsq", "f")
def _lstsq(d: Drawer) -> Call:
    rows, columns = d.integer(2, 4), d.integer(1, 2)
    right = d.choice((rows,), (rows, 2))
    return lambda a, b: linalg.lstsq(a, b)[0], (d.operand((rows, columns), kind="spread"), d.operand(right))


@spec("scipy.linalg.polar", "f")
def _polar(d: Drawer) -> Call:
    side = d.choice("right", "left")
    return lambda a: tuple(linalg.polar(a, side)), (_matrix(d, "invertible"),)


@spec("scipy.linalg.orthogonal_procrustes", "f")
def _procrustes(d: Drawer) -> Call:
    return linalg.orthogonal_procrustes, (d.operand((3, 2), kind="spread"), d.operand((3, 2), kind="spread"))
