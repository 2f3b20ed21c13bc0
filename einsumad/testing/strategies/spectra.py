"""Matrices with given singular values or eigenvalues.

Owns orthogonal matrices and what is made with them. Imports NumPy and Hypothesis only. Invariant: spectra are what was
asked for up to rounding; a repeated eigenvalue of :func:`degenerate_spectrum` is repeated exactly; symmetric matrices
are symmetric to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from hypothesis import strategies as st

from einsumad.testing.strategies.arrays import array_of
from einsumad.testing.strategies.drawing import Array, Shape, Sides
from einsumad.testing.strategies.matrices import SIZES, SMALL_WHOLE, WHOLE, Size, matrices
from einsumad.testing.strategies.tables import special_names, table_of

_FLOAT64 = np.dtype(np.float64)
_SIGNS = table_of(_FLOAT64, special_names((1.0, -1.0)))
_LEVELS = table_of(_FLOAT64, special_names((1.0, 2.0, -1.0, -2.0, 3.0, -3.0, 0.0)))


def orthogonal(
    n: Size = SIZES, *, rotation: bool = False, batch: Sides = (), dtype: Any = np.float64, xp: Any | None = None
) -> st.SearchStrategy[Any]:
    """Orthogonal matrices: products of n reflections ``I - 2 v vᵀ / vᵀv`` with vectors v of small whole numbers.

    Every orthogonal matrix is such a product for some real v (A. S. Householder, J. ACM 5, 1958). ``rotation`` makes
    the determinant 1. Shrinks to the identity.
    """

    def build(draw: st.DrawFn, size: int, lead: Shape) -> Array:
        return _orthogonal(draw, size, lead, rotation=rotation)

    return matrices(build, n, batch=batch, dtype=dtype, xp=xp)


def conditioned(
    n: Size = SIZES,
    cond: float = 100.0,
    kind: Literal["general", "symmetric", "spd"] = "general",
    *,
    batch: Sides = (),
    dtype: Any = np.float64,
    xp: Any | None = None,
) -> st.SearchStrategy[Any]:
    """Matrices with singular values from 1 down to 1 / `cond` in equal ratios, so of condition number `cond`.

    ``kind`` "symmetric" gives them as the magnitudes of eigenvalues of either sign, "spd" as eigenvalues.

    >>> from hypothesis import find
    >>> find(conditioned(3, 100), lambda A: True)
    array([[1.  , 0.  , 0.  ],
           [0.  , 0.1 , 0.  ],
           [0.  , 0.  , 0.01]])
    """
    if cond < 1:
        raise ValueError(f"cond={cond}: a condition number is 1 or more")
    if kind not in ("general", "symmetric", "spd"):
        raise ValueError(f"kind={kind!r}: give 'general', 'symmetric' or 'spd'")

    def build(draw: st.DrawFn, size: int, lead: Shape) -> Array:
        values = np.broadcast_to(float(cond) ** -np.linspace(0, 1, size), (*lead, size))
        if kind == "symmetric":
            values = values * array_of(draw, _SIGNS, (*lead, size))
        left = _orthogonal(draw, size, lead)
        if kind == "general":
            return (left * values[..., None, :]) @ np.swapaxes(_orthogonal(draw, size, lead), -1, -2)
        return _with_eigenvectors(left, values)

    return matrices(build, n, batch=batch, dtype=dtype, xp=xp)


def with_spectrum(
    eigenvalues: Sequence[float], *, batch: Sides = (), dtype: Any = np.float64, xp: Any | None = None
) -> st.SearchStrategy[Any]:
    """Symmetric matrices ``Q diag(eigenvalues) Qᵀ`` with any eigenvectors.

    >>> from hypothesis import find
    >>> find(with_spectrum([3, 1]), lambda A: True)
    array([[3., 0.],
           [0., 1.]])
    """
    values = np.asarray(eigenvalues, np.float64)
    if values.ndim != 1 or not np.all(np.isfinite(values)):
        raise ValueError(f"eigenvalues={eigenvalues!r}: give a flat list of finite numbers")

    def build(draw: st.DrawFn, size: int, lead: Shape) -> Array:
        return _with_eigenvectors(_orthogonal(draw, size, lead), np.broadcast_to(values, (*lead, size)))

    return matrices(build, len(values), batch=batch, dtype=dtype, xp=xp)


def degenerate_spectrum(
    n: Size = st.integers(2, 4),  # noqa: B008  a strategy is immutable
    multiplicity: int = 2,
    *,
    batch: Sides = (),
    dtype: Any = np.float64,
    xp: Any | None = None,
) -> st.SearchStrategy[Any]:
    """Symmetric matrices of whole numbers with an eigenvalue of the given multiplicity, or a higher one.

    They are ``λI + B S Bᵀ`` with n - multiplicity columns in B, which vanishes but for λI on the complement of the span
    of B; all numbers are whole, so the eigenvalue is repeated exactly. A multiplicity outside 1 to n raises
    ``ValueError``.

    >>> from hypothesis import find
    >>> find(degenerate_spectrum(3), lambda A: A[0, 1])
    array([[2., 1., 0.],
           [1., 2., 0.],
           [0., 0., 1.]])
    """

    def build(draw: st.DrawFn, size: int, lead: Shape) -> Array:
        if not 1 <= multiplicity <= size:
            raise ValueError(f"multiplicity={multiplicity} of an eigenvalue is impossible for n={size}: give 1 to n")
        level = array_of(draw, _LEVELS, lead)
        signs = array_of(draw, _SIGNS, (*lead, size - multiplicity))
        B = array_of(draw, SMALL_WHOLE, (*lead, size, size - multiplicity))
        return np.asarray(level[..., None, None] * np.eye(size) + (B * signs[..., None, :]) @ np.swapaxes(B, -1, -2))

    return matrices(build, n, batch=batch, dtype=dtype, xp=xp)


def _orthogonal(draw: st.DrawFn, size: int, lead: Shape, *, rotation: bool = False) -> Array:
    vectors = array_of(draw, WHOLE, (size, *lead, size))
    norms = np.sum(vectors**2, axis=-1)[..., None, None]
    Q = np.broadcast_to(np.eye(size), (*lead, size, size))
    for vector, norm in zip(vectors, np.where(norms > 0, norms, 1.0), strict=True):
        Q = Q - (2 / norm) * (Q @ vector[..., :, None]) * vector[..., None, :]
    if rotation and size:
        Q = Q.copy()
        Q[..., :, 0] *= np.sign(np.linalg.det(Q))[..., None]
    return Q


def _with_eigenvectors(Q: Array, values: Array) -> Array:
    matrix = (Q * values[..., None, :]) @ np.swapaxes(Q, -1, -2)
    return np.asarray((matrix + np.swapaxes(matrix, -1, -2)) / 2)
