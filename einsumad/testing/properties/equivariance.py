"""Equivariance: derivatives of a function whose input is permuted or scaled.

Owns these laws. Imports agreement. Invariant: the inner function sees the bits of the case, as permutations and powers
of two are exact.

``D(f∘P)(P⁻¹x) = Df(x) P`` for a permutation P of the entries, ``D(f∘C)(C⁻¹x) = Df(x) C`` for a scaling C, and the same
on each axis of higher derivatives.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from einsumad.testing.point import Array
from einsumad.testing.properties.agreement import Claim, Equation, agree
from einsumad.testing.properties.place import Place, flat
from einsumad.testing.properties.probe import Probe
from einsumad.testing.report import Finding

PERMUTED, SCALED = "permuted input", "scaled input"

_FACTORS = (2.0, 0.5, 4.0)
_HIGHEST = 2


def permuted_input(probe: Probe) -> Iterator[Finding]:
    """Derivatives of f after a permutation of the entries of each array: axes are swapped, rows shuffled."""
    orders = [_permutation(probe, array) for array in probe.arrays]
    places = _positions(probe, orders)
    if np.array_equal(places, np.arange(probe.size)):
        return

    def shuffled(*ys: Any) -> Any:
        return probe.case.function(*[_apply(y, order) for y, order in zip(ys, orders, strict=True)])

    def inverse(place: Place) -> Place:
        pairs = zip(place.arrays, orders, strict=True)
        return replace(place, arrays=tuple([_undo(array, order) for array, order in pairs]))

    for order in range(1, min(probe.case.order, _HIGHEST) + 1):
        claim = Claim(PERMUTED, order, probe.modes[0], "the derivative with its entries permuted")
        yield agree(probe, claim, _permuted(probe, shuffled, inverse, places, order), probe.entries.of_tensor(order))


def _permuted(probe: Probe, shuffled: Any, inverse: Any, places: Array, order: int) -> Equation:
    def found(place: Place) -> Array:
        tensor = inverse(place).derivative(order, probe.modes[0], shuffled, probe.value.shape)
        for axis in range(1, order + 1):
            tensor = np.take(tensor, places, axis=axis)
        return np.asarray(tensor)

    return Equation(found, lambda place: probe.tensor(place, order))


def _permutation(probe: Probe, array: Array) -> Array:
    """How the rows of an array, which are along its last axis but one, are shuffled; not at all if there is one."""
    length = array.shape[max(array.ndim - 2, 0)] if array.ndim else 0
    order = probe.rng.permutation(length)
    return np.roll(order, 1) if np.array_equal(order, np.arange(length)) else order


def _apply(y: Any, order: Array) -> Any:
    """The array with its first and last axes swapped if it has two, and then its rows shuffled."""
    if y.ndim == 0:
        return y
    swapped = y.swapaxes(0, -1) if y.ndim > 1 else y
    try:
        return swapped[order] if y.ndim == 1 else swapped[..., order, :]
    except TypeError:
        return np.eye(len(order), dtype=y.dtype)[order] @ swapped


def _undo(array: Array, order: Array) -> Array:
    """The array of which :func:`_apply` makes the given one."""
    if array.ndim == 0:
        return array
    rows = np.empty_like(array)
    rows[(..., order, slice(None)) if array.ndim > 1 else order] = array
    return rows.swapaxes(0, -1) if array.ndim > 1 else rows


def _positions(probe: Probe, orders: list[Array]) -> Array:
    """Where each entry of the point is among the entries of the permuted one."""
    found, start = [], 0
    for array, order in zip(probe.arrays, orders, strict=True):
        numbered = np.arange(start, start + array.size).reshape(_undo(array, order).shape)
        found.append(flat((_apply(numbered, order),)).astype(np.int64))
        start += array.size
    return np.concatenate([np.zeros(0, np.int64), *found])


def scaled_input(probe: Probe) -> Iterator[Finding]:
    """Derivatives of f after a multiplication of each array by a power of two."""
    factors = [_FACTORS[k % len(_FACTORS)] for k in range(len(probe.arrays))]
    each = np.concatenate([np.zeros(0), *[np.full(a.size, c) for a, c in zip(probe.arrays, factors, strict=True)]])

    def scaled(*ys: Any) -> Any:
        return probe.case.function(*[y * c for y, c in zip(ys, factors, strict=True)])

    def shrunk(place: Place) -> Place:
        pairs = zip(place.arrays, factors, strict=True)
        return replace(place, arrays=tuple([np.asarray(array / c, array.dtype) for array, c in pairs]))

    for order in range(1, min(probe.case.order, _HIGHEST) + 1):
        weights = each if order == 1 else each[:, None] * each
        claim = Claim(SCALED, order, probe.modes[0], "the derivative times powers of two")
        yield agree(probe, claim, _scaled(probe, scaled, shrunk, weights, order), probe.entries.of_tensor(order))


def _scaled(probe: Probe, scaled: Any, shrunk: Any, weights: Array, order: int) -> Equation:
    return Equation(
        lambda place: shrunk(place).derivative(order, probe.modes[0], scaled, probe.value.shape),
        lambda place: probe.tensor(place, order) * weights,
    )
