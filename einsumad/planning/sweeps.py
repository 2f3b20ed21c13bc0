"""How often an index has to be gone through part by part until expressions are known, and what each time gives.

Owns that order. Imports the indices and the graph. Invariant: what a sweep gives depends on leaves, on what sweeps
before it gave, and on nothing else.

A sum over the index is known when a sweep through all parts has ended. A tensor with the index that depends on such a
sum can only be computed part by part in a sweep after it: standardised samples need the mean of all. Tensors with the
index are made again in each sweep that needs them, and never kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from einsumad.graph import Add, Node, add, count_users, rebuild, topological
from einsumad.planning.indices import Index
from einsumad.planning.separating import with_late_factors_outside
from einsumad.records import record

_MOST = 8
"""So many sweeps at most: each makes anew what the others made."""


@record(repr=True)
class Sweeps:
    """Roots, the index to go through, and for each sweep the sums and the roots with the index that it gives."""

    roots: tuple[Node, ...]
    index: Index
    ends: tuple[tuple[Node, ...], ...]

    @property
    def adds_only(self) -> bool:
        """Whether all sums are roots, or summands of roots, that nothing else reads."""
        users = count_users(self.roots)
        final = {root for root in self.roots if users[root] == 1}
        final |= {operand for root in final if isinstance(root, Add) for operand in root.operands}
        sums = [end for ends in self.ends for end in ends if end not in self.index.axes]
        return all(end in final and users[end] == 1 for end in sums)


def sweeps_through(roots: Sequence[Node], index: Index) -> Sweeps | None:
    """The sweeps through an index; None if they are too many."""
    roots, index = with_late_factors_outside(roots, index)
    known = _sweeps_before(roots, index)
    grouped = _Grouped(roots, index, known)
    ends: dict[int, dict[Node, None]] = {}
    for node in topological(grouped.roots):
        if node in grouped.sums:
            ends.setdefault(grouped.sums[node] - 1, {})[node] = None
    for root, new in zip(roots, grouped.roots, strict=True):
        if root in index.axes:
            ends.setdefault(known[root], {})[new] = None
    if len(ends) > _MOST:
        return None
    return Sweeps(grouped.roots, grouped.index, tuple([tuple(ends[sweep]) for sweep in sorted(ends)]))


def _sweeps_before(roots: Sequence[Node], index: Index) -> dict[Node, int]:
    """For each node how many sweeps have to end before it is known, or a part of it if it has the index."""
    known: dict[Node, int] = {}
    for node in topological(roots):
        known[node] = max([known[operand] for operand in node.operands], default=0) + (node in index.summed)
    return known


class _Grouped:
    """Roots in which sums that one sweep gives and only one addition reads are added up by an addition of their own.

    Then one tensor is kept for them while parts are added up. `sums` has for each group, and for each other sum, how
    many sweeps have ended when it is known.
    """

    def __init__(self, roots: Sequence[Node], index: Index, known: Mapping[Node, int]) -> None:
        self.sums: dict[Node, int] = {}
        users = count_users(roots)
        memo: dict[Node, Node] = {}
        for node in topological(roots):
            new = rebuild(node, [memo[operand] for operand in node.operands])
            if node in index.summed:
                self.sums[new] = known[node]
            elif isinstance(node, Add):
                alone = [o for o in node.operands if o in index.summed and users[o] == 1 and o.dtype == node.dtype]
                new = self._with_groups(node, alone, known, memo)
            memo[node] = new
        self.roots = tuple([memo[root] for root in roots])
        axes = {memo[node]: axis for node, axis in index.axes.items()}
        self.index = Index(axes, frozenset([memo[node] for node in index.summed]), index.size)

    def _with_groups(
        self, node: Add, alone: Sequence[Node], known: Mapping[Node, int], memo: Mapping[Node, Node]
    ) -> Node:
        operands = [memo[operand] for operand in node.operands if operand not in alone]
        for sweep in sorted({known[operand] for operand in alone}):
            together = [memo[operand] for operand in alone if known[operand] == sweep]
            if len(together) > 1:
                for operand in together:
                    self.sums.pop(operand, None)
                together = [add(together, node.dtype)]
                self.sums[together[0]] = sweep
            operands += together
        return operands[0] if len(operands) == 1 and operands[0].dtype == node.dtype else add(operands, node.dtype)
