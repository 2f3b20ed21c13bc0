"""Which factors of a term meet where some of its labels are summed, and what their products take at least.

Owns these questions. Imports terms and the graph. Invariant: no way to store the term with these labels summed takes
fewer entries than is said here.

Sets of labels are the bits of numbers; the label that meets most others has the lowest bit, so that what takes too much
is seen after few steps.
"""

from __future__ import annotations

from collections.abc import Iterable

from einsumad.compressed.terms import Term
from einsumad.graph import Structural
from einsumad.planning import Factor


class Meeting:
    """`spans` has the labels of each factor and map, `reach` for each label those of all that hold it.

    `stored` is the set of the labels that factors hold which are no 0/1 tensors.
    """

    def __init__(self, term: Term) -> None:
        self.items: tuple[Factor, ...] = term.items
        near: dict[int, set[int]] = {}
        for _, labels in self.items:
            for label in labels:
                near.setdefault(label, set()).update(labels)
        order = sorted(near, key=lambda label: (-len(near[label]), label))
        self.bits = {label: 1 << place for place, label in enumerate(order)}
        self.sizes = {bit: term.sizes[label] for label, bit in self.bits.items()}
        self.reach = {self.bits[label]: self.set_of(labels) for label, labels in near.items()}
        self.spans = [self.set_of(set(labels)) for _, labels in self.items]
        self.stored = 0
        for (node, _), span in zip(self.items, self.spans, strict=True):
            if not isinstance(node, Structural):
                self.stored |= span
        self.volumes: dict[int, int] = {0: 0}

    def set_of(self, labels: Iterable[int]) -> int:
        """Different labels as a set."""
        return sum([self.bits[label] for label in labels])

    def groups(self, summed: int, most: int) -> list[list[Factor]] | None:
        """Factors and maps that share a label of a set, directly or through others, by the place of the last of each.

        None where their products take more than the most entries together; what may be one product counts once.
        """
        parts = self._parts(summed, most)
        if parts is None:
            return None
        held: list[list[int]] = [[] for _ in parts]
        alone: list[list[int]] = []
        for place, span in enumerate(self.spans):
            here = span & summed
            if not here:
                alone.append([place])
                continue
            for part, (met, _) in enumerate(parts):
                if met & here:
                    held[part].append(place)
                    break
        least: dict[frozenset[int], int] = {}
        for places, (_, kept) in zip(held, parts, strict=True):
            if len(places) > 1:
                least[frozenset([id(self.items[place].node) for place in places])] = self._volume(kept)
        if sum(least.values()) > most:
            return None
        ordered = sorted([*held, *alone], key=lambda places: places[-1])
        return [[self.items[place] for place in places] for places in ordered]

    def _parts(self, summed: int, most: int) -> list[tuple[int, int]] | None:
        """The labels of a set that meet, and what labels are kept there; None where a product takes too much."""
        waiting, found = summed, []
        while waiting:
            following = waiting & -waiting
            met = reached = kept = 0
            while following:
                label = following & -following
                met |= label
                reached |= self.reach[label]
                following = reached & summed & ~met
                if reached & ~summed != kept:
                    kept = reached & ~summed
                    if met & self.stored and self._volume(kept) > most:
                        return None
            if met & self.stored and self._volume(kept) > most:
                return None
            waiting &= ~met
            found.append((met, kept))
        return found

    def _volume(self, labels: int) -> int:
        """The entries of a tensor with these labels; a number counts none."""
        found = self.volumes.get(labels)
        if found is None:
            found, rest = 1, labels
            while rest:
                label = rest & -rest
                found *= self.sizes[label]
                rest ^= label
            self.volumes[labels] = found
        return found
