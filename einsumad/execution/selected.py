"""Sums of products of which terms are left out, as a plan's source and the libraries of arrays call for them.

Owns these functions. Imports NumPy; for other libraries their namespace is given, of which they use what the Array API
has. Invariant: the result is ``sum over k of where(p[i,k] & q[k,j], a[i,k] * b[k,j], 0)``, infinities and NaN included,
with no array larger than a few of the operands or of the result.

The finite entries make one product of matrices. Of the terms with an infinite or undefined factor it only matters
whether there is one that is infinite, of either sign, or undefined: products of matrices of zeros and ones count them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple, TypeAlias

import numpy as np

Array: TypeAlias = Any
Labels: TypeAlias = tuple[int, ...]


def selected_product(arrays: Sequence[Any], labels: Sequence[Labels], rank: int) -> Any:
    """The products of the first two arrays where all others hold, summed over the labels from `rank` on.

    >>> a, b, mask = np.array([[1.0], [0.0]]), np.array([[np.inf]]), np.array([[True], [False]])
    >>> selected_product([a, b, mask], [(0, 2), (2, 1), (0, 2)], 2)
    array([[inf],
           [ 0.]])
    """
    axes = _axes_of(arrays, labels, rank)
    left, right = _sides(np, arrays, labels, axes)
    finite = np.isfinite(left.entries).all(axis=(0, 1)) & np.isfinite(right.entries).all(axis=(0, 2))
    few = np.flatnonzero(~finite)
    others = _Side(*[x[:, :, few] for x in left]), _Side(*[x[:, few, :] for x in right])
    return _in_order(np, _finite(np, left, right) + _infinite(np, *others), axes)[()]


def selected_product_in(xp: Any, arrays: Sequence[Array], labels: Sequence[Labels], rank: int) -> Array:
    """The same for arrays of another library, with its namespace; no shape depends on values."""
    axes = _axes_of(arrays, labels, rank)
    left, right = _sides(xp, arrays, labels, axes)
    return _in_order(xp, _finite(xp, left, right) + _infinite(xp, left, right), axes)


class _Axes(NamedTuple):
    """The labels that make a stack of matrices, its rows and columns, and the inner axis; and the size of each."""

    stack: Labels
    rows: Labels
    inner: Labels
    columns: Labels
    sizes: dict[int, int]


class _Side(NamedTuple):
    """A stack of matrices, and which of their entries count."""

    entries: Array
    held: Array


def _axes_of(arrays: Sequence[Array], labels: Sequence[Labels], rank: int) -> _Axes:
    first, second = labels[:2]
    sizes = {label: size for k in (0, 1) for label, size in zip(labels[k], arrays[k].shape, strict=True)}
    return _Axes(
        tuple([label for label in first if label in second and label < rank]),
        tuple([label for label in first if label not in second]),
        tuple([label for label in first if label >= rank]),
        tuple([label for label in second if label not in first]),
        sizes,
    )


def _sides(xp: Any, arrays: Sequence[Array], labels: Sequence[Labels], axes: _Axes) -> tuple[_Side, _Side]:
    """Both operands, with the masks that lie on the labels of each."""
    sides = []
    for k, groups in enumerate([(axes.stack, axes.rows, axes.inner), (axes.stack, axes.inner, axes.columns)]):
        entries = _matrices(xp, arrays[k], labels[k], groups, axes.sizes)
        held = xp.ones_like(entries, dtype=xp.bool)
        for mask, places in zip(arrays[2:], labels[2:], strict=True):
            if set(labels[k]).issuperset(places):
                held = held & _matrices(xp, mask, places, groups, axes.sizes)
        sides.append(_Side(entries, held))
    return sides[0], sides[1]


def _matrices(xp: Any, x: Array, labels: Labels, groups: Sequence[Labels], sizes: dict[int, int]) -> Array:
    """The array with an axis for each group of labels, spread over those that it has not."""
    places = [label for group in groups for label in group]
    turned = xp.permute_dims(x, tuple([labels.index(label) for label in places if label in labels]))
    lined_up = xp.reshape(turned, tuple([sizes[label] if label in labels else 1 for label in places]))
    whole = xp.broadcast_to(lined_up, tuple([sizes[label] for label in places]))
    return xp.reshape(whole, tuple([prod([sizes[label] for label in group]) for group in groups]))


def _in_order(xp: Any, product: Array, axes: _Axes) -> Array:
    """The stack of products with an axis for each label, in order."""
    labels = (*axes.stack, *axes.rows, *axes.columns)
    apart = xp.reshape(product, tuple([axes.sizes[label] for label in labels]))
    return xp.permute_dims(apart, tuple([labels.index(axis) for axis in range(len(labels))]))


def _finite(xp: Any, left: _Side, right: _Side) -> Array:
    """The sum of the terms of two finite factors."""
    first, second = (
        xp.where(x.held & xp.isfinite(x.entries), x.entries, xp.zeros_like(x.entries)) for x in (left, right)
    )
    return xp.matmul(first, second)


def _infinite(xp: Any, left: _Side, right: _Side) -> Array:
    """The sum of the terms with an infinite or undefined factor: 0 where there are none, else infinite or NaN."""
    a, b = _kinds(xp, left), _kinds(xp, right)

    def met(*pairs: tuple[Array, Array]) -> Array:
        return xp.matmul(xp.concat([x for x, _ in pairs], axis=-1), xp.concat([y for _, y in pairs], axis=-2))

    rises = met((a.above, b.up), (a.below, b.down), (a.up, b.above), (a.down, b.below))
    falls = met((a.above, b.down), (a.below, b.up), (a.up, b.below), (a.down, b.above))
    fails = met((a.undefined, b.held), (a.held, b.undefined), (a.zero, b.up + b.down), (a.up + a.down, b.zero))
    none = xp.zeros_like(rises)
    up = xp.where(rises > 0, xp.full_like(none, xp.inf), none)
    down = xp.where(falls > 0, xp.full_like(none, -xp.inf), none)
    return xp.where(fails > 0, xp.full_like(none, xp.nan), up + down)


class _Kinds(NamedTuple):
    """The entries of some matrices that count by their kind: one where an entry is of it, else zero."""

    held: Array
    above: Array
    below: Array
    zero: Array
    up: Array
    down: Array
    undefined: Array


def _kinds(xp: Any, side: _Side) -> _Kinds:
    x, held = side
    tests = (held, x > 0, x < 0, x == 0, x == xp.inf, x == -xp.inf, xp.isnan(x))
    return _Kinds(*[xp.where(held & test, xp.ones_like(x), xp.zeros_like(x)) for test in tests])
