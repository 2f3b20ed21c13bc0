"""The order of the steps of a plan: operands first, and with little memory in use.

Owns that order. Imports the kernels, the graph and the life of tensors. Invariant: each node that is needed has one
step; the order depends on structure and sizes only.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from math import prod
from typing import TypeAlias

from einsumad.graph import Leaf, Node, count_users, topological
from einsumad.planning.kernels import Apply, Choose, Group, Kernel, Sum
from einsumad.planning.memory import is_view
from einsumad.planning.primitives import constant_value
from einsumad.planning.slices import kernel_in_slices

Scheduled: TypeAlias = list[tuple[Node, tuple[Kernel, tuple[Node, ...]]]]

TAKES_NUMBERS = (Sum, Apply, Group, Choose)
"""Kernels whose operands may be numbers and may lack axes along which they do not vary."""

_CALLER = -1
"""Who reads the outputs, besides steps."""


def schedule(roots: Sequence[Node]) -> Scheduled:
    """The nodes that need a step, operands first, each with its kernel and what the kernel reads."""
    users = count_users(roots)
    order = topological(roots)
    needed = {root for root in roots if not isinstance(root, Leaf)}
    found: Scheduled = []
    for node in reversed(order):
        if node in needed:
            kernel, operands = kernel_in_slices(node, users.__getitem__)
            found.append((node, (kernel, operands)))
            numbers = isinstance(kernel, TAKES_NUMBERS)
            needed.update(
                [o for o in operands if not isinstance(o, Leaf) and not (numbers and constant_value(o) is not None)]
            )
    found.reverse()
    return found


def thrifty(scheduled: Scheduled, roots: Sequence[Node]) -> Scheduled:
    """The steps in another order: of those that can be taken always one that leaves the least memory in use.

    This is list scheduling by the bytes that a step allocates less those that it is the last to read.
    """
    ready = _Ready(scheduled, roots)
    found: Scheduled = []
    while (chosen := ready.take()) >= 0:
        found.append(scheduled[chosen])
    return found


class _Ready:
    """The steps that can be taken, and what each would do to the memory in use. A view shares that of its operand.

    A step gets better only: when it becomes the last that reads some memory. Then it is entered once more.
    """

    def __init__(self, scheduled: Scheduled, roots: Sequence[Node]) -> None:
        place = {node: k for k, (node, _) in enumerate(scheduled)}
        self.reads = [list(dict.fromkeys([place[o] for o in operands if o in place])) for _, (_, operands) in scheduled]
        self.users: list[list[int]] = [[] for _ in scheduled]
        self.open = [len(read) for read in self.reads]
        self.buffer = list(range(len(scheduled)))
        self.bytes: list[int] = []
        self.readers: list[set[int]] = [set() for _ in scheduled]
        for k, (node, (kernel, operands)) in enumerate(scheduled):
            view = is_view(kernel, [o.dtype for o in operands], len(node.shape), node.dtype) and operands[0] in place
            if view:
                self.buffer[k] = self.buffer[place[operands[0]]]
            self.bytes.append(0 if view else prod(node.shape) * node.dtype.itemsize)
            for read in self.reads[k]:
                self.users[read].append(k)
                self.readers[self.buffer[read]].add(k)
        for root in roots:
            if root in place:
                self.readers[self.buffer[place[root]]].add(_CALLER)
        self.taken = [False] * len(scheduled)
        self.waiting = [(self._change(k), k) for k, count in enumerate(self.open) if not count]
        heapify(self.waiting)

    def take(self) -> int:
        """The step to take next, of those that leave the least memory in use the first; -1 if all are taken."""
        while self.waiting:
            _, chosen = heappop(self.waiting)
            if not self.taken[chosen]:
                self._enter(chosen)
                return chosen
        return -1

    def _enter(self, chosen: int) -> None:
        """Enter the steps that can be taken, or have become the last to read some memory, once this one is taken."""
        self.taken[chosen] = True
        better: set[int] = set()
        for buffer in {self.buffer[read] for read in self.reads[chosen]}:
            self.readers[buffer].discard(chosen)
            if len(self.readers[buffer]) == 1:
                better |= self.readers[buffer] - {_CALLER}
        for user in self.users[chosen]:
            self.open[user] -= 1
            better.add(user)
        for k in better:
            if not self.open[k]:
                heappush(self.waiting, (self._change(k), k))

    def _change(self, k: int) -> int:
        """The bytes that are in use after the step beside those before it."""
        freed = {self.buffer[read] for read in self.reads[k]} - {self.buffer[k]}
        return self.bytes[k] - sum([self.bytes[b] for b in freed if len(self.readers[b]) == 1])
