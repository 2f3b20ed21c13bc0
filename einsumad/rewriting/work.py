"""An estimate of the work a product takes when it is contracted in a good order.

Owns that estimate, by which factoring decides. Imports the graph. Invariant: it depends on labels and sizes only,
deltas and maps of one index counted as the renaming they are; its time is nearly linear in the number of factors.

One summed index after the other is eliminated, always one whose factors have the smallest product; what is left are
factors over indices of the result. (R. Dechter, Bucket elimination, Artificial Intelligence 113, 1999.)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from heapq import heapify, heappop, heappush
from math import prod
from typing import TypeAlias

from einsumad.graph import BOOL, Affine, Labels, Node, Ones, Selection, Unit

_MAPS = (Affine, Selection)
_MOST_KNOWN = 2**13
_MOVED = 2  # entries written count twice the work of one multiplication: they are written and read again


def volume(labels: Iterable[int], sizes: Mapping[int, int]) -> int:
    """The number of entries over a set of labels."""
    return prod([sizes[label] for label in set(labels)])


def product_work(
    operands: Sequence[Node], inputs: Sequence[Labels], output: Iterable[int], sizes: Mapping[int, int]
) -> int:
    """Entries multiplied and moved by the product of the operands, its output written once. Masks count nothing."""
    work, core = _core_work(operands, inputs, set(output), sizes)
    return work + (_MOVED * volume(output, sizes) if core else 0)


Term: TypeAlias = tuple[Sequence[Node], Sequence[Labels], Mapping[int, int]]
"""Operands of a product, their labels, and the sizes of these."""


def sum_work(terms: Iterable[Term], output: Iterable[int], sizes: Mapping[int, int]) -> int:
    """Entries multiplied and moved by a sum of products; one that lies on diagonals is added there alone."""
    kept = set(output)
    whole = volume(kept, sizes)
    total = dense = spread = 0
    for operands, inputs, own in terms:
        work, core = _core_work(operands, inputs, kept, own)
        total += work
        placed = _placed_entries(operands, inputs, kept, sizes)
        if core and placed < whole:
            total += (1 + _MOVED) * placed
        elif core:
            spread += 1
        else:
            dense += 1
    total += (1 + _MOVED) * max(dense + spread - 1, 0) * whole
    return total if dense else total + _MOVED * whole


def _placed_entries(
    operands: Sequence[Node], inputs: Sequence[Labels], kept: set[int], sizes: Mapping[int, int]
) -> int:
    """The entries of a result that deltas over its indices leave; all of them where there are none."""
    tied: set[int] = set()
    for operand, labels in zip(operands, inputs, strict=True):
        if isinstance(operand, Unit):
            tied.update([label for label in labels if label in kept][1:])
    return volume(kept - tied, sizes)


def _core_work(
    operands: Sequence[Node], inputs: Sequence[Labels], kept: set[int], sizes: Mapping[int, int]
) -> tuple[int, int]:
    """The work of what is stored of a product; and its entries where they are to be spread or placed on diagonals."""
    names = _tied_names(operands, inputs, kept)
    sets: list[int] = []
    every = 0
    for operand, labels in zip(operands, inputs, strict=True):
        if isinstance(operand, Ones) or operand.dtype == BOOL or _renames(operand):
            continue
        bits = _as_bits([names.get(label, label) for label in labels] if names else labels)
        sets.append(bits)
        every |= bits
    core = _as_bits([names.get(label, label) for label in kept]) & every
    work, volume = _contracted(tuple(sets), core, tuple([sizes[x.bit_length() - 1] for x in _members(every)]))
    return work, volume if core.bit_count() < len(kept) else 0


@lru_cache(maxsize=_MOST_KNOWN)
def _contracted(sets: tuple[int, ...], kept: int, sizes: tuple[int, ...]) -> tuple[int, int]:
    """The work of a contraction to the labels that are kept, and their entries. The sizes are those of all labels."""
    every = 0
    for bits in sets:
        every |= bits
    contraction = _Contraction(sets, kept, dict(zip(_members(every), sizes, strict=True)))
    return contraction.work(), contraction.volume(kept)


def _renames(operand: Node) -> bool:
    """Whether the operand gives one index for another: a delta, or a map from one index to another."""
    return isinstance(operand, Unit) or (isinstance(operand, _MAPS) and len(operand.shape) == 2)


def _tied_names(operands: Sequence[Node], inputs: Sequence[Labels], kept: set[int]) -> dict[int, int]:
    names: dict[int, int] = {}
    for operand, labels in zip(operands, inputs, strict=True):
        if _renames(operand):
            roots = {names.get(label, label) for label in labels}
            tied = [label for label, root in names.items() if root in roots]
            names.update(dict.fromkeys([*tied, *labels], min(roots & kept or roots)))
    return names


def _as_bits(labels: Iterable[int]) -> int:
    """A set of labels as a number."""
    bits = 0
    for label in labels:
        bits |= 1 << label
    return bits


def _members(bits: int) -> list[int]:
    """The sets of one label each that make up a set."""
    found: list[int] = []
    while bits:
        lowest = bits & -bits
        found.append(lowest)
        bits ^= lowest
    return found


class _Contraction:
    """A product while its summed labels are eliminated. Sets of labels are the bits of numbers, and so are labels."""

    def __init__(self, sets: Sequence[int], kept: int, sizes: Mapping[int, int]) -> None:
        self.sizes = sizes
        self.kept = kept
        self.volumes: dict[int, int] = {0: 1}
        distinct = list(dict.fromkeys(sets))
        self.factors = dict(enumerate(distinct))
        merged = sum(map(self.volume, sets)) - sum(map(self.volume, distinct)) if len(distinct) < len(sets) else 0
        self.done = (1 + _MOVED) * merged
        self.holders: dict[int, set[int]] = {}
        for k, bits in enumerate(distinct):
            rest = bits
            while rest:
                label = rest & -rest
                rest ^= label
                if label in self.holders:
                    self.holders[label].add(k)
                else:
                    self.holders[label] = {k}

    def volume(self, bits: int) -> int:
        """The number of entries over a set of labels."""
        found = self.volumes.get(bits)
        if found is None:
            found, rest, sizes = 1, bits, self.sizes
            while rest:
                label = rest & -rest
                found *= sizes[label]
                rest ^= label
            self.volumes[bits] = found
        return found

    def together(self, label: int) -> int:
        """The labels of the product of all factors with this label."""
        bits = 0
        for k in self.holders[label]:
            bits |= self.factors[k]
        return bits

    def work(self) -> int:
        """Entries multiplied and moved until nothing is left to be summed, and in the product of what remains."""
        waiting = [(self.volume(self.together(x)), x) for x in self.holders if not self.kept & x]
        heapify(waiting)
        while waiting:
            size, label = heappop(waiting)
            if label in self.holders and size == self.volume(self.together(label)):
                for other in _members(self._eliminate(label) & ~self.kept):
                    heappush(waiting, (self.volume(self.together(other)), other))
        left = sorted(set(self.factors.values()))
        left.sort(key=self.volume)
        while len(left) > 1:  # with the smallest factor the one that makes least of it
            first = left.pop(0)
            volumes = [self.volume(first | bits) for bits in left]
            other = volumes.index(min(volumes))
            union = first | left.pop(other)
            self.done += (2 + _MOVED) * self.volume(union)
            left.insert(0, union)
        return self.done

    def _eliminate(self, label: int) -> int:
        """Multiply the factors with the label, sum over it and what only they have; the labels of the result."""
        held = sorted(self.holders.pop(label))
        held.sort(key=lambda k: self.volume(self.factors[k]))
        union = self.factors.pop(held[0])
        for k in held[1:]:
            union |= self.factors.pop(k)
            self.done += 2 * self.volume(union)
        if len(held) == 1:
            self.done += 2 * self.volume(union)
        result = union & ~label
        inside = set(held)
        for other in _members(result):
            if not self.kept & other and self.holders[other] <= inside:
                result &= ~other
                del self.holders[other]
            else:
                self.holders[other] -= inside
                self.holders[other].add(held[0])
        self.factors[held[0]] = result
        self.done += _MOVED * self.volume(result)
        return result
