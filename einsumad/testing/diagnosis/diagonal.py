"""Derivatives of functions that act entry by entry, read along their diagonal.

Owns the reduction. Imports the evidence. Invariant: an axis of the output and one of the argument are joined only if
both the claimed and the expected derivative are 0 wherever their indices differ, so nothing that is wrong gets lost.
"""

from __future__ import annotations

import numpy as np

from einsumad.testing.diagnosis.evidence import Array, Comparison, Evidence, as_double

_LARGEST = 4_000_000


def along_diagonals(c: Comparison) -> Evidence | None:
    """The evidence with equal indices of output and argument written once: a Jacobian of sin becomes its vector cos(x).

    Axes are those of the output that are left, then those of the argument. None if there is nothing to join.
    """
    outputs = output_axes(c)
    if not outputs or not c.same_shape or c.found.size > _LARGEST or not np.any(c.wrong):
        return None
    pairs: dict[int, int] = {}
    for first in range(outputs):
        for second in range(outputs, c.found.ndim):
            if second not in pairs.values() and _is_zero_off(c, first, second):
                pairs[first] = second
                break
    if not pairs:
        return None
    labels = [pairs.get(axis, axis) for axis in range(c.found.ndim)]
    kept = [axis for axis in range(c.found.ndim) if axis not in pairs]
    left = tuple([c.found.shape[axis] for axis in range(outputs) if axis not in pairs])
    return Evidence(
        _joined(np.asarray(c.evidence.found), labels, kept),
        _joined(c.expected, labels, kept),
        _joined(as_double(c.evidence.error), labels, kept),
        left,
        c.evidence.point,
        _value(c, labels, kept, outputs),
        c.evidence.order,
    )


def output_axes(c: Comparison) -> int:
    """The number of axes that belong to the output; of a Hessian those of its first half."""
    outputs, shape = len(c.evidence.output_shape), c.expected.shape
    if outputs:
        return outputs if c.evidence.output_shape == shape[:outputs] and outputs < len(shape) else 0
    half = len(shape) // 2
    is_hessian = c.x.ndim > 0 and shape == c.x.shape * 2
    return half if is_hessian else 0


def _is_zero_off(c: Comparison, first: int, second: int) -> bool:
    length = c.found.shape[first]
    if length < 2 or c.found.shape[second] != length:
        return False
    found, expected, tolerance = (np.moveaxis(a, (first, second), (0, 1)) for a in (c.found, c.expected, c.tolerance))
    off = ~np.eye(length, dtype=bool)
    claimed, right = np.abs(found[off]), np.abs(expected[off])
    with np.errstate(all="ignore"):
        quiet = np.isnan(right) | (right <= tolerance[off])
        return bool(np.all(claimed <= c.floor)) and bool(np.all(quiet))


def _joined(array: Array, labels: list[int], kept: list[int]) -> Array:
    """The diagonal over axes with equal labels; NaN and infinity stay where they are, as nothing is summed."""
    position = {axis: place for place, axis in enumerate(kept)}
    shape = [array.shape[axis] for axis in kept]
    grid = np.indices(shape, sparse=True)
    return np.asarray(array[tuple([grid[position[label]] for label in labels])])


def _value(c: Comparison, labels: list[int], kept: list[int], outputs: int) -> Array | None:
    """The function's value for each entry that is left, if it is known."""
    value = c.evidence.value
    if value is None or np.ndim(value) == 0 or np.shape(value) != c.expected.shape[:outputs]:
        return value
    wide = np.broadcast_to(np.reshape(value, np.shape(value) + (1,) * (c.found.ndim - outputs)), c.found.shape)
    return _joined(wide, labels, kept)
