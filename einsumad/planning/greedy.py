"""The greedy order of pairwise contractions.

Owns that search. Imports nothing. Invariant: the order is that of opt_einsum's ``greedy``, ties included. Sets of
indices are the bits of numbers, and what a pair takes follows from what its operands take, so it is found sooner.

Each step contracts the pair whose result takes the fewest entries more than its two operands. (D. G. A. Smith, J. Gray,
opt_einsum, Journal of Open Source Software 3, 2018.)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from heapq import heapify, heappop, heappush, heappushpop
from operator import and_
from typing import TypeAlias

Candidate: TypeAlias = tuple[int, int, int, int, int, int]
"""Entries more than before, the later and the earlier of the operands, the set of each, and that of the result."""


def greedy_pairs(
    inputs: Sequence[Iterable[int]], output: Iterable[int], sizes: Mapping[int, int]
) -> list[tuple[int, int]]:
    """The pairs in order, two inputs or more; results are numbered on from the inputs. No size is 0.

    >>> greedy_pairs([(0, 1), (1, 2), (2,)], (0,), {0: 9, 1: 9, 2: 9})
    [(0, 1), (2, 3)]
    """
    sets = [_as_bits(labels) for labels in inputs]
    search = _Search(sets, _as_bits(output) | reduce(and_, sets), {1 << label: size for label, size in sizes.items()})
    search.contract()
    search.multiply()
    return search.pairs


def fewest_operations(
    inputs: Sequence[Iterable[int]], output: Iterable[int], sizes: Mapping[int, int], most: int
) -> int:
    """The multiplications and additions of the best order of pairs, or `most` where none takes fewer.

    Each set of inputs is contracted from two parts, each in its best order. (Dynamic programming; the time grows with
    three to the number of inputs.) An index that is summed is in two inputs or more.

    >>> fewest_operations([(0, 1), (1, 2), (2,)], (0,), {0: 9, 1: 9, 2: 9}, 10**6)
    324
    """
    sets, kept_last = [_as_bits(labels) for labels in inputs], _as_bits(output)
    search = _Search([], 0, {1 << label: size for label, size in sizes.items()})
    entries = search.entries
    every = (1 << len(sets)) - 1
    labels = [0] * (every + 1)
    for group in range(1, every + 1):
        lowest = group & -group
        labels[group] = labels[group ^ lowest] | sets[lowest.bit_length() - 1]
    kept = [labels[group] & (kept_last | labels[every ^ group]) for group in range(every + 1)]
    best = [0 if group & (group - 1) == 0 else most for group in range(every + 1)]
    for group in range(1, every + 1):
        others = group & (group - 1)
        part = others
        while part:  # the parts without the first input
            before = best[part] + best[group ^ part]
            if before < best[group]:
                taken = kept[part] | kept[group ^ part]
                own = entries.get(taken) or search.volume(taken)
                total = before + (own if kept[group] == taken else 2 * own)
                best[group] = min(best[group], total)
            part = (part - 1) & others
    return best[every]


class _Search:
    """Sets that are left, the number of each, and which of them hold a label that is summed. Labels are bits too."""

    def __init__(self, sets: Sequence[int], output: int, sizes: Mapping[int, int]) -> None:
        self.output, self.sizes = output, sizes
        self.entries: dict[int, int] = {}
        self.pairs: list[tuple[int, int]] = []
        self.left: dict[int, int] = {}
        self.next = len(sets)
        for number, bits in enumerate(sets):
            self._keep(bits, number)
        self.holders: dict[int, set[int]] = {}
        for bits in self.left:
            for label in _members(bits & ~output):
                self.holders.setdefault(label, set()).add(bits)
        self.twice = sum([label for label, held in self.holders.items() if len(held) > 1])
        self.thrice = sum([label for label, held in self.holders.items() if len(held) > 2])
        self.queue: list[Candidate] = []

    def contract(self) -> None:
        """Contract pairs that share a label until none do."""
        for held in self.holders.values():
            near = sorted(held, key=self.left.__getitem__)
            for k, bits in enumerate(near[:-1]):
                self._propose(bits, near[k + 1 :])
        while self.queue:
            _, _, _, first, second, result = heappop(self.queue)
            if first in self.left and second in self.left:
                self._contract(first, second, result)

    def multiply(self) -> None:
        """Multiply what is left, small results first."""
        waiting = [(self.volume(bits & self.output), number, bits) for bits, number in self.left.items()]
        heapify(waiting)
        _, number, bits = heappop(waiting)
        while waiting:
            _, other, more = heappop(waiting)
            self.pairs.append((min(number, other), max(number, other)))
            bits = (bits | more) & self.output
            _, number, bits = heappushpop(waiting, (self.volume(bits), self._number(), bits))

    def volume(self, bits: int) -> int:
        """The number of entries over a set of labels."""
        found = self.entries.get(bits)
        if found is None:
            found = 1
            for label in _members(bits):
                found *= self.sizes[label]
            self.entries[bits] = found
        return found

    def _number(self) -> int:
        self.next += 1
        return self.next - 1

    def _keep(self, bits: int, number: int) -> None:
        """Enter a set; where it is there already, the two are multiplied entry by entry."""
        if bits in self.left:
            self.pairs.append(_ordered(self.left[bits], number))
            number = self._number()
        self.left[bits] = number
        self.volume(bits)

    def _propose(self, bits: int, others: Iterable[int]) -> None:
        """Enter the best pair of a set with one of some others into the queue."""
        output, twice, thrice, left, entries = self.output, self.twice, self.thrice, self.left, self.entries
        found: list[Candidate] = []
        own, size = left[bits], entries[bits]
        for other in others:
            both, either, number, more = bits & other, bits | other, left[other], entries[other]
            result = (either & output) | (both & thrice) | ((bits ^ other) & twice)
            summed = either & ~result
            shared = (entries.get(both) or self.volume(both)) * (entries.get(summed) or self.volume(summed))
            cost = size * more // shared - size - more
            if own > number:
                found.append((cost, own, number, other, bits, result))
            else:
                found.append((cost, number, own, bits, other, result))
        heappush(self.queue, min(found))

    def _contract(self, first: int, second: int, result: int) -> None:
        self.pairs.append(_ordered(self.left.pop(first), self.left.pop(second)))
        for bits in (first, second):
            for label in _members(bits & ~self.output):
                self.holders[label].remove(bits)
        number = self._number()
        if result not in self.left:
            for label in _members(result & ~self.output):
                self.holders[label].add(result)
        self._keep(result, number)
        near: set[int] = set()
        for label in _members((first | second) & ~self.output):
            held = self.holders[label]
            self.twice = self.twice | label if len(held) > 1 else self.twice & ~label
            self.thrice = self.thrice | label if len(held) > 2 else self.thrice & ~label
            if result & label:
                near |= held
        near.discard(result)
        if near:
            self._propose(result, near)


def _ordered(first: int, second: int) -> tuple[int, int]:
    return (first, second) if first < second else (second, first)


def _as_bits(labels: Iterable[int]) -> int:
    """A set of labels as a number."""
    return sum({1 << label for label in labels})


def _members(bits: int) -> list[int]:
    """The sets of one label each that make up a set."""
    found: list[int] = []
    while bits:
        lowest = bits & -bits
        found.append(lowest)
        bits ^= lowest
    return found
