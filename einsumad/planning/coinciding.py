"""Parts of one product that are the same contraction twice, as the two Jacobian chains of ``K S Kᵀ``.

Owns the search for them. Imports the graph's labels. Invariant: the parts have no tensor in common; by renaming its
indices the first becomes the second. Contracted in the same order they are one node, and are computed once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from einsumad.graph import Labels
from einsumad.records import record

_FEWEST = 2
"""Tensors of a part from which there is something to contract in it."""


@record
class Twins:
    """Positions of the tensors of a part, of those of its copy in the same order, and the renaming of labels."""

    first: tuple[int, ...]
    second: tuple[int, ...]
    renamed: Mapping[int, int]


def twins(leaves: Sequence[Labels], colours: Sequence[int]) -> Twins | None:
    """The largest part of a product that stands in it twice; equal tensors have equal colours.

    A part grows from one pair of equal tensors along the indices that the renaming changes.
    """
    places: dict[int, list[int]] = {}
    for k, colour in enumerate(colours):
        places.setdefault(colour, []).append(k)
    holders: dict[int, list[int]] = {}
    for k, labels in enumerate(leaves):
        for label in labels:
            holders.setdefault(label, []).append(k)
    best: Twins | None = None
    seen: set[int] = set()
    for same in places.values():
        if len(same) < 2 or same[0] in seen:
            continue
        for other in same[1:]:
            found = _grown(leaves, colours, holders, same[0], other)
            seen.update(found.first, found.second)
            if len(found.first) >= _FEWEST and (best is None or len(found.first) > len(best.first)):
                best = found
    return best


def _grown(
    leaves: Sequence[Labels], colours: Sequence[int], holders: Mapping[int, Sequence[int]], start: int, copy: int
) -> Twins:
    """The part that grows from one tensor and its copy."""
    first, second = [start], [copy]
    renamed: dict[int, int] = {}
    taken = {start, copy}
    _extended(renamed, leaves[start], leaves[copy])
    for k, other in zip(first, second, strict=True):  # both grow
        for label, place in zip(leaves[k], leaves[other], strict=True):
            if label == place:
                continue
            for near in holders[label]:
                if near in taken:
                    continue
                match = next(
                    (
                        far
                        for far in holders[place]
                        if far not in taken
                        and far != near
                        and colours[far] == colours[near]
                        and _fits(renamed, leaves[near], leaves[far])
                    ),
                    None,
                )
                if match is not None:
                    _extended(renamed, leaves[near], leaves[match])
                    first.append(near)
                    second.append(match)
                    taken.update((near, match))
    return Twins(tuple(first), tuple(second), renamed)


def _fits(renamed: Mapping[int, int], labels: Labels, places: Labels) -> bool:
    """Whether the labels can have these new names beside those that were given."""
    given = set(renamed.values())
    return all(
        renamed[label] == place if label in renamed else place not in given
        for label, place in zip(labels, places, strict=True)
    )


def _extended(renamed: dict[int, int], labels: Labels, places: Labels) -> None:
    renamed.update(zip(labels, places, strict=True))
