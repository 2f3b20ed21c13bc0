"""Constraint maps: sets of structured arrays, the directions that stay on them, and a way to move along these.

Owns the record, the sets of this toolkit and their names. Imports the errors. Invariant: a projection is orthogonal in
the Frobenius inner product, so it is idempotent and self-adjoint; a move is exact to first order, and never
changes its arguments.

Source: P.-A. Absil, R. Mahony, R. Sepulchre, *Optimization Algorithms on Matrix Manifolds*, Princeton 2008: tangent
spaces and projections in sections 3.5 and 3.6, retractions in section 4.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

import numpy as np

from einsumad.errors import ShapeError

Array = np.ndarray[Any, Any]
Projection = Callable[[Array, Array], Array]


@dataclass(frozen=True, slots=True)
class Manifold:
    """A set of arrays of one shape on which a derivative is tested.

    - `project(x, v)`: the tangent at x nearest to a direction v, of the same shape and dtype
    - `move(x, t)`: the point on the set that x + t is to first order, for a tangent t (a retraction)
    - `distance(x)`: how far x is from the set, relative to its size; 0 on it, infinite for a shape that never is on it
    - `flat`: whether moves are ``x + t`` and the projection is the same at every x; derivatives above the first order
      are tested on flat sets only

    Arrays have leading batch axes and, for sets of matrices, the matrix in their last two. A set of your own is a
    record of your own:

    >>> import numpy as np
    >>> even = Manifold(
    ...     "even",
    ...     lambda x, v: (v + v[::-1]) / 2,
    ...     lambda x, t: x + t,
    ...     lambda x: float(np.max(np.abs(x - x[::-1]))),
    ...     True,
    ... )
    >>> even.project(np.zeros(3), np.array([1.0, 2.0, 3.0]))
    array([2., 2., 2.])
    """

    name: str
    project: Projection
    move: Callable[[Array, Array], Array]
    distance: Callable[[Array], float]
    flat: bool


Which = str | Manifold | tuple[str | Manifold | None, ...] | None


def manifold(which: str | Manifold) -> Manifold:
    """The set of this name, or the set itself.

    Raises ``ValueError`` with near names for a name that is not in :data:`MANIFOLDS`.

    >>> manifold("symmetric").project(np.zeros((2, 2)), np.array([[1.0, 2.0], [0.0, 3.0]]))
    array([[1., 1.],
           [1., 3.]])
    """
    if isinstance(which, Manifold):
        return which
    if which in MANIFOLDS:
        return MANIFOLDS[which]
    near = get_close_matches(str(which), MANIFOLDS, n=3)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"there are {', '.join(MANIFOLDS)}."
    raise ValueError(f"unknown manifold {which!r}: {hint} A set of your own is a Manifold record")


def transposed(x: Array) -> Array:
    """The conjugate transposes of matrices."""
    return np.conj(np.swapaxes(x, -1, -2))


def largest(x: Array) -> float:
    """The largest magnitude, 0 of nothing."""
    return float(np.max(np.abs(x), initial=0.0))


def relative(gap: Array, x: Array) -> float:
    """How large a gap is against an array."""
    size = largest(x)
    return largest(gap) / size if size else largest(gap)


def _shift(x: Array, t: Array) -> Array:
    moved: Array = x + t
    return moved


def _itself(_: Array, v: Array) -> Array:
    return v


def _nowhere(_: Array) -> float:
    return 0.0


FREE = Manifold("free", _itself, _shift, _nowhere, True)
"""All arrays: no constraint."""


def manifolds_of(which: Which, count: int) -> tuple[Manifold, ...]:
    """The sets that `count` arrays belong to: one set for all of them, or a tuple with one, or None, for each.

    Raises ``ValueError`` for a tuple of another length.

    >>> [each.name for each in manifolds_of(("spd", None), 2)]
    ['spd', 'free']
    """
    if which is None:
        return (FREE,) * count
    if not isinstance(which, tuple):
        return (manifold(which),) * count
    if len(which) != count:
        raise ValueError(
            f"manifold names {len(which)} sets for {count} differentiated arrays: give one for each, None for no set"
        )
    return tuple([FREE if each is None else manifold(each) for each in which])


def _linear(name: str, projection: Callable[[Array], Array], inside: Callable[[Array], bool] | None = None) -> Manifold:
    """A linear space of matrices, or an open part of one."""

    def project(x: Array, v: Array) -> Array:
        _matrices(x, name)
        return projection(v)

    def distance(x: Array) -> float:
        if not _fits(x, name):
            return float("inf")
        gap = relative(x - projection(x), x)
        return gap if inside is None or inside(x) else max(gap, 1.0)

    return Manifold(name, project, _shift, distance, True)


_ANY_SHAPE = ("lower", "upper", "strictly lower", "strictly upper", "diagonal", "toeplitz")


def _fits(x: Array, name: str) -> bool:
    return x.ndim >= 2 and (name in _ANY_SHAPE or x.shape[-1] == x.shape[-2])


def _matrices(x: Array, name: str) -> None:
    """Refuse arrays that are no matrices of the right shape."""
    if not _fits(x, name):
        kind = "matrices" if name in _ANY_SHAPE else "square matrices"
        raise ShapeError(f"the manifold {name!r} consists of {kind} in the last two axes, got the shape {x.shape}")


def _symmetric(v: Array) -> Array:
    half: Array = (v + np.swapaxes(v, -1, -2)) / 2
    return half


def _skew(v: Array) -> Array:
    half: Array = (v - np.swapaxes(v, -1, -2)) / 2
    return half


def _hermitian(v: Array) -> Array:
    half: Array = (v + transposed(v)) / 2
    return half


def _lower(v: Array) -> Array:
    return np.tril(v)


def _upper(v: Array) -> Array:
    return np.triu(v)


def _strictly_lower(v: Array) -> Array:
    return np.tril(v, -1)


def _strictly_upper(v: Array) -> Array:
    return np.triu(v, 1)


def _on_diagonal(v: Array) -> Array:
    """True where the two indices of a matrix are equal."""
    rows, columns = v.shape[-2:]
    equal: Array = np.arange(rows)[:, None] == np.arange(columns)
    return equal


def _diagonal(v: Array) -> Array:
    kept: Array = v * _on_diagonal(v)
    return kept


def _hollow_symmetric(v: Array) -> Array:
    kept: Array = _symmetric(v) * ~_on_diagonal(v)
    return kept


def _averaged(v: Array, group: Array, groups: int) -> Array:
    """Each entry replaced by the mean of its group; `group` has the shape of one matrix."""
    member = np.eye(groups, dtype=v.real.dtype)[group.reshape(-1)]
    flat = v.reshape(*v.shape[:-2], group.size)
    means = (flat @ member) / np.maximum(member.sum(axis=0), 1)
    averaged: Array = (means @ member.T).reshape(v.shape)
    return averaged


def _toeplitz(v: Array) -> Array:
    rows, columns = v.shape[-2:]
    offset = np.arange(rows)[:, None] - np.arange(columns)
    return _averaged(v, offset + max(columns - 1, 0), max(rows + columns - 1, 0))


def _circulant(v: Array) -> Array:
    size = v.shape[-1]
    return _averaged(v, (np.arange(size)[:, None] - np.arange(size)) % max(size, 1), size)


def _positive_definite(x: Array) -> bool:
    return bool(np.all(np.linalg.eigvalsh((x + transposed(x)) / 2) > 0))


def _positive_diagonal(x: Array) -> bool:
    return bool(np.all(np.diagonal(x, axis1=-2, axis2=-1) > 0))


def _correlation() -> Manifold:
    """Positive definite matrices with ones on the diagonal: their tangents are symmetric with a zero diagonal."""

    def project(x: Array, v: Array) -> Array:
        _matrices(x, "correlation")
        return _hollow_symmetric(v)

    def distance(x: Array) -> float:
        if not _fits(x, "correlation"):
            return float("inf")
        gap = max(relative(x - _symmetric(x), x), largest(np.diagonal(x, axis1=-2, axis2=-1) - 1))
        return gap if _positive_definite(x) else max(gap, 1.0)

    return Manifold("correlation", project, _shift, distance, True)


def _fixed_sum(name: str, total: float | None) -> Manifold:
    """Rows, along the last axis, whose sum stays: zero, or one with no negative entry."""

    def project(x: Array, v: Array) -> Array:
        _rows(x, name)
        centred: Array = v - v.sum(axis=-1, keepdims=True) / max(v.shape[-1], 1)
        return centred

    def distance(x: Array) -> float:
        if x.ndim == 0 or (total and x.shape[-1] == 0):
            return float("inf")
        excess = largest(x.sum(axis=-1) - (total or 0.0))
        if total is None:
            return excess / (largest(np.abs(x).sum(axis=-1)) or 1.0)
        return max(excess, largest(np.minimum(x, 0)))

    return Manifold(name, project, _shift, distance, True)


def _rows(x: Array, name: str) -> None:
    if x.ndim == 0:
        raise ShapeError(f"the manifold {name!r} needs at least one axis, got a scalar")


def _norm(x: Array, *, rows: bool) -> Array:
    square: Array = np.sum(np.abs(x) ** 2, axis=-1 if rows else None, keepdims=True)
    return np.sqrt(square)


def _unit_norm(name: str, *, rows: bool) -> Manifold:
    """Arrays of Euclidean norm one, as a whole or in each row; moves are followed by a division by the norm.

    Absil et al., examples 3.5.1, 3.6.1 and 4.1.1 (sphere); the oblique manifold with its rows in the last axis.
    """

    def project(x: Array, v: Array) -> Array:
        _rows(x, name)
        along = np.sum((np.conj(x) * v).real, axis=-1 if rows else None, keepdims=True)
        tangent: Array = v - x * along
        return tangent

    def move(x: Array, t: Array) -> Array:
        moved = x + t
        normed: Array = moved / _norm(moved, rows=rows)
        return normed

    def distance(x: Array) -> float:
        return float("inf") if x.ndim == 0 else largest(_norm(x, rows=rows) - 1)

    return Manifold(name, project, move, distance, False)


def _orthonormal(name: str, *, square: bool) -> Manifold:
    """Matrices with orthonormal columns; moves take the orthogonal factor of the polar decomposition.

    Projection ``V - X sym(X* V)`` and retraction ``(X + V)(I + V* V)**(-1/2)``: Absil et al., examples 3.6.2 and 4.1.3.
    """

    def fits(x: Array) -> bool:
        return x.ndim >= 2 and (x.shape[-1] == x.shape[-2] if square else x.shape[-1] <= x.shape[-2])

    def project(x: Array, v: Array) -> Array:
        if not fits(x):
            kind = "square matrices" if square else "matrices with no more columns than rows"
            raise ShapeError(f"the manifold {name!r} consists of {kind} in the last two axes, got the shape {x.shape}")
        tangent: Array = v - x @ _hermitian(transposed(x) @ v)
        return tangent

    def move(x: Array, t: Array) -> Array:
        left, _, right = np.linalg.svd(x + t, full_matrices=False)
        nearest: Array = left @ right
        return nearest

    def distance(x: Array) -> float:
        return largest(transposed(x) @ x - np.eye(x.shape[-1], dtype=x.dtype)) if fits(x) else float("inf")

    return Manifold(name, project, move, distance, False)


_ALL = (
    _linear("symmetric", _symmetric),
    _linear("skew", _skew),
    _linear("hermitian", _hermitian),
    _linear("lower", _lower),
    _linear("upper", _upper),
    _linear("strictly lower", _strictly_lower),
    _linear("strictly upper", _strictly_upper),
    _linear("diagonal", _diagonal),
    _linear("toeplitz", _toeplitz),
    _linear("circulant", _circulant),
    _linear("spd", _hermitian, _positive_definite),
    _linear("positive lower", _lower, _positive_diagonal),
    _correlation(),
    _fixed_sum("simplex", 1.0),
    _fixed_sum("centred", None),
    _unit_norm("sphere", rows=False),
    _unit_norm("oblique", rows=True),
    _orthonormal("stiefel", square=False),
    _orthonormal("orthogonal", square=True),
)

MANIFOLDS: Mapping[str, Manifold] = MappingProxyType({each.name: each for each in _ALL})
"""The sets by name.

Linear spaces of matrices (flat): "symmetric", "skew", "hermitian" (complex), "lower", "upper", "strictly lower",
"strictly upper", "diagonal", "toeplitz", "circulant". Open parts of them (flat; a long step may leave them): "spd",
symmetric or Hermitian positive definite, and "positive lower", triangular with a positive diagonal. "correlation": spd
with a diagonal of ones (flat). Along the last axis: "simplex", not negative with the sum one, and "centred", with the
sum zero (flat). Curved: "sphere", the whole array has norm one; "oblique", each row (last axis) has; "stiefel",
orthonormal columns; "orthogonal", orthogonal or unitary matrices.
"""
