"""Hypotheses on right numbers in wrong places: transposed, reversed, shifted, permuted, summed along another axis.

Owns these rules. Imports the evidence and the wording. Invariant: a rearrangement is named only if it changes the
expected derivative, and then brings it onto the claimed one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, permutations

import numpy as np

from einsumad.testing.diagnosis.evidence import Array, Cause, Comparison, Sample, explains, explains_moved, sample_of
from einsumad.testing.diagnosis.factors import Factor
from einsumad.testing.diagnosis.wording import number

_MOST_AXES = 6
_EVERY_SHIFT = 32
_FEWEST = 3


def transposed(c: Comparison) -> Cause | None:
    """``found`` is expected with its axes exchanged."""
    sample = sample_of(c, c.compared)
    for order in _orders(c.expected.shape):
        if explains_moved(c, _transposing(order), sample):
            return Cause("transposed", f"{_exchange(c, order)}: likely a transpose is missing, or one too many")
    return None


def transposed_and_scaled(c: Comparison) -> Cause | None:
    """``found`` is a multiple of expected with its axes exchanged."""
    sample = sample_of(c, c.compared)
    for order in _orders(c.expected.shape):
        moved, tolerance = c.expected.transpose(order), c.tolerance.transpose(order)
        if not _may_be_proportional(sample, moved[sample.at], tolerance[sample.at]):
            continue
        factor = _proportion(c, moved, np.maximum(tolerance, c.floor))
        if factor is not None:
            return Cause(
                "transposed",
                f"{_exchange(c, order)} and every entry is {number(factor.value)} times what it should be: likely a "
                "transpose is missing, or one too many, and a constant is wrong too",
            )
    return None


def _may_be_proportional(sample: Sample, predicted: Array, tolerance: Array) -> bool:
    """Whether a sample is a multiple of its prediction, where that is known."""
    known = np.isfinite(predicted)
    if not np.any(known):
        return True
    at = int(np.argmax(np.where(known, np.abs(predicted), -1.0)))
    value = sample.found[at] / predicted[at]
    margin = max(abs(value), 1.0) * tolerance + sample.tolerance
    return not np.any((np.abs(sample.found - value * predicted) > margin)[known])


def _proportion(c: Comparison, predicted: Array, tolerance: Array) -> Factor | None:
    """The factor between the claimed entries and a prediction of at least three entries that are not 0."""
    part = c.compared & np.isfinite(predicted) & np.isfinite(c.found) & (np.abs(predicted) > tolerance)
    count = int(np.sum(part))
    if count < _FEWEST or not np.any(c.wrong):
        return None
    at = np.unravel_index(int(np.argmax(np.where(part, np.abs(predicted), -1.0))), part.shape)
    value = complex(c.found[at] / predicted[at])
    if not abs(value) > 1e-12 or not explains(c, value * predicted, max(abs(value), 1.0) * tolerance):
        return None
    return Factor(value, c.relative * abs(value), count)


def _orders(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The orders of axes that keep the shape and move something, exchanges of two first."""
    own = tuple(range(len(shape)))
    if not 2 <= len(shape) <= _MOST_AXES:
        return
    orders = [order for order in permutations(own) if order != own and tuple([shape[k] for k in order]) == shape]
    yield from sorted(orders, key=_moved_axes)


def _moved_axes(order: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    """How many axes move; of those with two the last axes first."""
    return sum([k != place for place, k in enumerate(order)]), tuple([-k for k in order])


def _transposing(order: tuple[int, ...]) -> Callable[[Array], Array]:
    def move(array: Array) -> Array:
        return array.transpose(order)

    return move


def _exchange(c: Comparison, order: tuple[int, ...]) -> str:
    moved = [axis for place, axis in enumerate(order) if axis != place]
    if len(order) == 2:
        return "the claimed derivative is the transpose of what it should be"
    outputs = len(c.evidence.output_shape)
    if outputs and tuple(order) == (*range(len(order) - outputs, len(order)), *range(len(order) - outputs)):
        return "the axes of the output and those of the argument are exchanged"
    return f"axes {', '.join(map(str, sorted(moved)))} of the claimed derivative are in the wrong order"


def reversed_axis(c: Comparison) -> Cause | None:
    """``found`` is expected, flipped along some axes."""
    ndim = c.expected.ndim
    if ndim > _MOST_AXES or int(np.sum(c.nonzero)) < 2:
        return None
    sample = sample_of(c, c.compared)
    for count in range(1, ndim + 1):
        for axes in combinations(range(ndim), count):
            if explains_moved(c, _flipping(axes), sample):
                along = f"axis {axes[0]}" if count == 1 else f"axes {', '.join(map(str, axes))}"
                return Cause(
                    "reversed",
                    f"the claimed derivative is right but runs backwards along {along}: likely a flip, a convolution "
                    "or a cumulative sum was not turned round",
                )
    return None


def _flipping(axes: tuple[int, ...]) -> Callable[[Array], Array]:
    def move(array: Array) -> Array:
        return np.flip(array, axes)

    return move


def shifted(c: Comparison) -> Cause | None:
    """``found`` is expected, moved along an axis: around its end, or with other entries where nothing came from."""
    if int(np.sum(c.nonzero)) < 2:
        return None
    sample = sample_of(c, c.compared)
    for axis, length in enumerate(c.expected.shape):
        for places in _shifts(length):
            if not _may_be_shifted(c, sample, places, axis):
                continue
            if length > 2 and explains_moved(c, _rolling(places, axis), sample):
                return _shift_cause(axis, places, "round the end")
            if _moves_over_the_end(c, places, axis):
                return _shift_cause(axis, places, "over the end")
    return None


def _may_be_shifted(c: Comparison, sample: Sample, places: int, axis: int) -> bool:
    """Whether the entries of a sample fit that have a source within the array."""
    source = sample.at[axis] - places
    inside = (source >= 0) & (source < c.expected.shape[axis])
    at = tuple([(source if k == axis else own)[inside] for k, own in enumerate(sample.at)])
    gap = np.abs(sample.found[inside] - c.expected[at])
    return not np.any(gap > np.maximum(np.maximum(c.tolerance[at], sample.tolerance[inside]), c.floor))


def _shift_cause(axis: int, places: int, how: str) -> Cause:
    forward = f"{abs(places)} place{'' if abs(places) == 1 else 's'} too far {'on' if places > 0 else 'back'}"
    return Cause(
        "shifted",
        f"the claimed derivative is right but {forward} along axis {axis}, {how}: likely an offset, a roll in the "
        "wrong direction or a boundary that is off by one",
    )


def _shifts(length: int) -> list[int]:
    """The shifts to try: small ones first, both directions."""
    most = length // 2 if length <= _EVERY_SHIFT else _EVERY_SHIFT // 4
    return [signed for places in range(1, most + 1) for signed in (places, -places)]


def _rolling(places: int, axis: int) -> Callable[[Array], Array]:
    def move(array: Array) -> Array:
        return np.roll(array, places, axis)

    return move


def _moves_over_the_end(c: Comparison, places: int, axis: int) -> bool:
    """Whether the entries that have a source fit, and these are varied enough to tell."""
    predicted = np.roll(c.expected, places, axis)
    fresh = [slice(None)] * c.expected.ndim
    fresh[axis] = slice(0, places) if places > 0 else slice(places, None)
    predicted[tuple(fresh)] = np.nan
    known = c.compared & np.isfinite(predicted)
    telling = known & (np.abs(predicted) > c.floor) & c.wrong
    count = int(np.sum(telling))
    if count < 2 or (count < 2 * _FEWEST and np.ptp(np.abs(predicted[telling])) <= 4 * np.max(c.tolerance[telling])):
        return False
    if not np.any(c.wrong & known):
        return False
    margin = np.maximum(np.roll(c.tolerance, places, axis), c.floor)
    return bool(np.all((np.abs(c.found - predicted) <= margin)[known])) and _most_are_known(c, known)


def _most_are_known(c: Comparison, known: Array) -> bool:
    return 2 * int(np.sum(c.wrong & known)) >= int(np.sum(c.wrong))


def moved_in_order(c: Comparison) -> Cause | None:
    """The entries that are not 0 are right and in order, but in other places."""
    if not np.any(c.wrong) or not np.all(c.compared):
        return None
    source, target = c.nonzero, c.given
    values, claimed = c.expected[source], c.found[target]
    if values.size != claimed.size or values.size < 2 or np.array_equal(source, target):
        return None
    if np.any(np.abs(claimed - values) > c.tolerance[source]) or np.ptp(np.abs(values)) <= c.relative * c.scale:
        return None
    return Cause(
        "shifted",
        "the entries that are not 0 are right and in the right order, but in other places: likely a stride, an offset "
        "or an index was lost when they were put back",
    )


def other_inputs(c: Comparison) -> Cause | None:
    """Every output of a Jacobian has the right contributions, in order, but from other inputs than it should."""
    outputs = len(c.evidence.output_shape)
    if not outputs or not np.any(c.wrong) or not np.all(c.compared) or c.expected.ndim <= outputs:
        return None
    rows = (int(np.prod(c.expected.shape[:outputs])), -1)
    source, target = c.nonzero.reshape(rows), c.given.reshape(rows)
    if not np.array_equal(np.sum(source, 1), np.sum(target, 1)) or int(np.sum(np.any(source, 1))) < 2:
        return None
    values, claimed = c.expected.reshape(rows)[source], c.found.reshape(rows)[target]
    if np.any(np.abs(claimed - values) > c.tolerance.reshape(rows)[source]):
        return None
    if np.array_equal(np.sum(source, 0), np.sum(target, 0)):
        return None
    return Cause(
        "shifted",
        "every output has the right contributions, but from other inputs: likely a stride, an offset or an index is "
        "wrong",
    )


def permuted(c: Comparison) -> Cause | None:
    """``found`` has the entries of expected in another order."""
    if not np.all(c.compared) or int(np.sum(c.wrong)) < _FEWEST or np.iscomplexobj(c.found):
        return None
    by_found, by_expected = np.argsort(c.found, axis=None), np.argsort(c.expected, axis=None)
    found, expected = c.found.reshape(-1)[by_found], c.expected.reshape(-1)[by_expected]
    if np.iscomplexobj(c.expected) or np.any(np.abs(found - expected) > c.tolerance.reshape(-1)[by_expected]):
        return None
    if np.unique(np.round(expected / max(c.scale, 1e-300), 6)).size < _FEWEST:
        return None
    if c.found.ndim == 2 and _same_sums(c, 0) and _same_sums(c, 1):
        return Cause(
            "wrong axis",
            "the claimed derivative has the right rows and columns in the wrong places: likely an index was applied "
            "along another axis",
        )
    return Cause(
        "transposed operand",
        "the claimed derivative has the right entries in another order: likely a permutation (an argsort, an index, a "
        "reshape) was applied where its inverse is needed",
    )


def _same_sums(c: Comparison, axis: int) -> bool:
    found, expected = np.sort(np.sum(c.found, axis)), np.sort(np.sum(c.expected, axis))
    return bool(np.all(np.abs(found - expected) <= np.sum(np.abs(c.expected), axis).max() * c.relative))


def wrong_axis(c: Comparison) -> Cause | None:
    """``expected`` is constant along one axis, found along another one."""
    if not np.any(c.wrong) or not np.all(c.compared):
        return None
    for axis, length in enumerate(c.expected.shape):
        if length < 2 or not _constant(c, c.expected, axis) or _constant(c, c.found, axis):
            continue
        for other, width in enumerate(c.found.shape):
            if width > 1 and _constant(c, c.found, other) and not _constant(c, c.expected, other):
                return Cause(
                    "wrong axis",
                    f"the derivative should be constant along axis {axis}, and the claimed one is constant along axis "
                    f"{other}: likely a sum or mean was taken along another axis",
                )
    return None


def _constant(c: Comparison, array: Array, axis: int) -> bool:
    first = np.take(array, [0], axis)
    return bool(np.all(np.abs(array - first) <= np.maximum(c.tolerance, c.floor)))


def same_total(c: Comparison) -> Cause | None:
    """``found`` and expected have the same sum, which is not 0."""
    if not np.any(c.wrong) or not np.all(c.compared) or c.found.size < _FEWEST or not np.all(np.isfinite(c.found)):
        return None
    found, expected = complex(np.sum(c.found)), complex(np.sum(c.expected))
    size = float(np.sum(np.abs(c.found) + np.abs(c.expected)))
    if abs(expected) < max(1e-2, 1e3 * c.relative) * size or abs(found - expected) > c.relative * size:
        return None
    return Cause(
        "wrong axis",
        "the entries are wrong, but their sum is right: likely contributions were added up in the wrong entries, along "
        "another axis or in another order",
    )
