"""Hypotheses on derivatives that are right in some entries: branches, repeated indices, single entries.

Owns these rules. Imports the evidence and the wording. Invariant: each sentence says in which entries the derivative is
wrong, and only `some_entries`, the last resort, speaks of nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from einsumad.testing.diagnosis.evidence import Array, Cause, Comparison
from einsumad.testing.diagnosis.wording import common_place, entries

_LARGEST_MULTIPLE = 64
_MOST_GROUPS = 64
_FEWEST = 3
_FEWEST_FOR_THRESHOLD = 6


def overwritten_multiples(c: Comparison) -> Cause | None:
    """Right in some entries; in the others a whole number of equal contributions was counted once."""
    if not np.any(c.wrong) or not np.any(c.right) or not np.all(np.isfinite(c.found[c.compared])):
        return None
    if np.any(c.wrong & ~c.given):
        return None
    ratio = c.expected[c.wrong] / c.found[c.wrong]
    whole = np.round(ratio.real)
    near = np.abs(ratio - whole) <= c.tolerance[c.wrong] / np.abs(c.found[c.wrong])
    if not np.all(near & (whole >= 2) & (whole <= _LARGEST_MULTIPLE)):
        return None
    times = sorted({int(n) for n in whole})
    shown = ", ".join(map(str, times[:4]))
    return Cause(
        "overwritten duplicate",
        f"right but for {entries(c.wrong)}, where {shown} times as much is expected: likely contributions at repeated "
        "indices overwrite each other, add them up with np.add.at or np.bincount",
    )


def one_contribution_kept(c: Comparison) -> Cause | None:
    """A Jacobian in which some inputs keep one of their outputs and lose the others, or outputs their inputs."""
    outputs = len(c.evidence.output_shape)
    if not outputs or not np.any(c.wrong) or np.any(c.wrong & c.given) or c.expected.ndim <= outputs:
        return None
    matrix = (int(np.prod(c.evidence.output_shape)), -1)
    if c.expected.size == 0 or c.evidence.output_shape != c.expected.shape[:outputs]:
        return None
    wrong, right = c.wrong.reshape(matrix), c.right.reshape(matrix)
    for axis, lost, kept, one, other in (
        (0, wrong, right, "input", "output"),
        (1, wrong.T, right.T, "output", "input"),
    ):
        affected = np.any(lost, axis=0)
        if not np.array_equal(np.sum(kept, axis=0)[affected], np.ones(int(np.sum(affected)))):
            continue
        if not _alike(c.expected.reshape(matrix) if axis == 0 else c.expected.reshape(matrix).T, lost | kept, c):
            continue
        last = _position(lost, affected, last=True) < _position(kept, affected, last=True)
        first = _position(lost, affected, last=False) > _position(kept, affected, last=False)
        if not np.all(last) and not np.all(first):
            continue
        everywhere = axis == 0 and np.all(affected[np.any(kept, axis=0)]) and _same_slice(c, outputs)
        if everywhere:
            return Cause(
                "missing sum over a broadcast axis",
                "every input should contribute to several slices of the output, and only one slice is there: likely "
                "the sum over an axis along which the input is broadcast was replaced by its first or last entry",
            )
        return Cause(
            "overwritten duplicate",
            f"some {one}s should belong to several {other}s, and only the {'last' if np.all(last) else 'first'} one is "
            "there: likely contributions at repeated indices overwrite each other, add them up with np.add.at",
        )
    return None


def _alike(matrix: Array, mask: Array, c: Comparison) -> bool:
    """Whether the marked entries of each column that has several are equal, as the copies that a gather makes are."""
    columns = np.sum(mask, axis=0) > 1
    low = np.min(np.where(mask, matrix.real, np.inf), axis=0)[columns]
    high = np.max(np.where(mask, matrix.real, -np.inf), axis=0)[columns]
    return bool(np.all(high - low <= np.maximum(c.relative * np.maximum(np.abs(low), np.abs(high)), c.floor)))


def _position(mask: Array, columns: Array, *, last: bool) -> Array:
    """The last or first marked row of each of these columns."""
    chosen = mask[:, columns]
    rows: Array = np.argmax(chosen[::-1] if last else chosen, axis=0)
    return chosen.shape[0] - 1 - rows if last else rows


def _same_slice(c: Comparison, outputs: int) -> bool:
    """Whether what is left lies in one slice along an axis of the output, or in one block of it."""
    for axis in range(outputs):
        others = tuple([k for k in range(c.expected.ndim) if k != axis])
        left = np.flatnonzero(np.any(c.right, axis=others))
        lost = np.flatnonzero(np.any(c.wrong, axis=others))
        if left.size and lost.size and (left.max() < lost.min() or left.min() > lost.max()):
            return True
    return False


def equal_entries_lost(c: Comparison) -> Cause | None:
    """Of entries that should be equal, one is right and the others are zero."""
    if not np.any(c.wrong) or np.any(c.wrong & c.given) or not np.any(c.right):
        return None
    for at in np.argwhere(c.wrong)[:_MOST_GROUPS]:
        expected = c.expected[tuple(at)]
        equal = np.abs(c.expected - expected) <= 2 * np.minimum(c.tolerance, c.tolerance[tuple(at)])
        if int(np.sum(equal & c.right)) != 1:
            return None
    return Cause(
        "overwritten duplicate",
        f"the claimed derivative is 0 in {entries(c.wrong)}, and each time one entry that should be equal is right: "
        "likely of several entries with the same index only one was kept",
    )


def complementary(c: Comparison) -> Cause | None:
    """``found`` is zero exactly where expected is not, and the other way round."""
    given = c.given | (c.compared & ~np.isfinite(c.found))
    if not np.any(c.wrong) or np.any(c.right) or np.any(given & c.nonzero):
        return None
    if not np.any(given) or not np.any(c.nonzero) or c.found.size < _FEWEST:
        return None
    side = _side(c, c.nonzero, given)
    where = f", which is where {side}" if side else ""
    return Cause(
        "wrong branch",
        f"the claimed derivative is 0 in {entries(c.nonzero)}{where}, and differs from 0 just where 0 is expected: "
        "likely a mask or comparison is inverted",
    )


def wrong_side(c: Comparison) -> Cause | None:
    """Right on one side of a threshold of the argument, and wrong on the other."""
    informative = c.compared & (c.nonzero | c.given | c.wrong)
    right = informative & ~c.wrong
    if not np.any(c.wrong) or not np.any(right):
        return None
    spurious = not np.any(c.wrong & c.nonzero)
    dead = not np.any(c.wrong & c.given)
    if int(np.sum(informative)) < (_FEWEST if spurious or dead else _FEWEST_FOR_THRESHOLD):
        return None
    if not (spurious or dead) and c.found.ndim > 1 and (common_place(c.wrong) or common_place(right)):
        return None
    side = _side(c, c.wrong, right, any_threshold=spurious or dead)
    if spurious and (side or not common_place(c.wrong)):
        where = f" (there {side})" if side else ""
        return Cause(
            "wrong branch",
            f"right but for {entries(c.wrong)}{where}, where 0 is expected: likely a mask, clip or comparison is "
            "missing",
        )
    if not side:
        return None
    what = "it is 0" if dead else "it is wrong"
    return Cause(
        "wrong branch",
        f"the claimed derivative is right except where {side}, and there {what} ({entries(c.wrong)}): likely the other "
        "branch of a comparison is missing or wrong",
    )


def _side(c: Comparison, one: Array, other: Array, *, any_threshold: bool = True) -> str:
    """The comparison that holds in the one set of entries and not in the other; "" if none separates them."""
    shape = c.expected.shape
    if c.x.ndim == 0 or c.x.shape != shape[len(shape) - c.x.ndim :] or np.iscomplexobj(c.x):
        return ""
    x = np.broadcast_to(c.x, shape)
    for name, values in (("x", x), ("abs(x)", np.abs(x))):
        low, high = values[one], values[other]
        for text, holds in _thresholds(low, high, free=any_threshold):
            natural = name == "x" and text in ("< 0", "> 0") and any_threshold
            enough = low.size + high.size >= _FEWEST_FOR_THRESHOLD
            if holds and (natural or (enough and (any_threshold or min(low.size, high.size) > 1))):
                return f"{name} {text}"
    return ""


def _thresholds(one: Array, other: Array, *, free: bool) -> Iterator[tuple[str, bool]]:
    """Texts of comparisons with natural numbers, if `free` also with a number between, and whether they separate."""
    for level in (0, 1, -1, 0.5, 2):
        yield f"< {level}", bool(np.max(one) < level < np.min(other))
        yield f"> {level}", bool(np.min(one) > level > np.max(other))
    if free:
        yield f"< {(np.max(one) + np.min(other)) / 2:.3g}", bool(np.max(one) < np.min(other))
        yield f"> {(np.min(one) + np.max(other)) / 2:.3g}", bool(np.min(one) > np.max(other))


def signs_in_places(c: Comparison) -> Cause | None:
    """``found`` has the expected sizes, but some entries have the wrong sign."""
    if not np.any(c.right) or not np.any(c.wrong) or np.iscomplexobj(c.found):
        return None
    if int(np.sum(c.wrong)) < 1 or np.any((np.abs(c.found + c.expected) > c.tolerance)[c.wrong]):
        return None
    return Cause(
        "sign",
        f"the sizes are right, but {entries(c.wrong)} {'has' if int(np.sum(c.wrong)) == 1 else 'have'} the wrong sign: "
        "likely a minus is missing in one of several terms, or an absolute value was not differentiated",
    )


def lost_contributions(c: Comparison) -> Cause | None:
    """Right in most entries; in the others something is there, but too little."""
    if not _few_are_wrong(c) or int(np.sum(c.right)) < 2 or np.any(c.wrong & ~c.given):
        return None
    if not np.all(np.isfinite(c.found[c.wrong])):
        return None
    if np.linalg.norm(c.found[c.wrong]) >= np.linalg.norm(c.expected[c.wrong]):
        return None
    if c.found.ndim > 1 and not common_place(c.wrong):
        return None
    return Cause(
        "overwritten duplicate",
        f"right except in {entries(c.wrong)}, where it is too small: likely some contributions are lost there, as when "
        "values that are written to repeated indices overwrite each other instead of being added up",
    )


def _few_are_wrong(c: Comparison) -> bool:
    informative = int(np.sum(c.nonzero | c.given | c.wrong))
    return 0 < 2 * int(np.sum(c.wrong)) <= informative


def some_entries(c: Comparison) -> Cause | None:
    """Right in at least half of the entries."""
    dead = bool(np.any(c.wrong)) and not np.any(c.wrong & c.given) and bool(np.any(c.right))
    if not _few_are_wrong(c) and not dead:
        return None
    place = _edge(c.wrong)
    what = ", where it is 0" if dead else ""
    guess = (
        "likely the boundary is treated differently"
        if place
        else "likely these entries take a path of their own (an index, a mask, a special case)"
    )
    return Cause("some entries", f"right except in {entries(c.wrong)}{place}{what}: {guess}")


def _edge(mask: Array) -> str:
    """Whether the marked entries are the first or last ones along an axis, as text."""
    for axis, length in enumerate(mask.shape):
        places = np.flatnonzero(np.any(mask, axis=tuple([k for k in range(mask.ndim) if k != axis])))
        if length > 2 and places.size and set(places.tolist()) <= {0, length - 1}:
            which = "first and last" if places.size == 2 else "first" if places[0] == 0 else "last"
            return f" (the {which} along axis {axis})" if mask.ndim > 1 else f" (the {which} of all)"
    return ""
