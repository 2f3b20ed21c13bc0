"""Where ``x - logsumexp(x)`` is formed the largest entry of x is subtracted first: no digit is lost to a common offset.

Owns that step, which comes after all differentiation. Imports the graph, the catalogue and rewriting. Invariant: the
roots keep value, shape and dtype, also at infinities and NaN. For ``L = logsumexp(x)`` a sum with terms ``A(x)`` and
``B(L)``, whatever multiplies, permutes or selects x and L there, is ``A(x - m) + B(L - m)`` for any m of each row that
cancels in ``A(m) + B(m)``. So it is ``A(log_softmax(x))``; and where L is needed by itself too, m is a whole number
next to the maximum, and ``L - m = logsumexp(x - m)`` is shared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import product
from types import MappingProxyType
from typing import TypeAlias

from einsumad.functions import apply, call, is_lowered
from einsumad.graph import (
    Add,
    Einsum,
    General,
    Labels,
    Node,
    add,
    broadcast,
    einsum,
    leaf,
    rebuild,
    topological,
    total,
    zero,
)
from einsumad.planning.held import progress_of_plans
from einsumad.records import record
from einsumad.rewriting import normalise

_Place: TypeAlias = tuple[Node, frozenset[Node]]
_MOST_PAIRS = 16
_LEVEL = ("variable", "level of a logsumexp")


@record
class _Logarithm:
    """A logsumexp, the tensor whose entries it is of, and which of its axes are those of the logarithm's operand."""

    node: General
    entries: Node
    axes: Labels

    def spread(self, level: Node) -> Node:
        """A level of each row over the shape of the entries."""
        return broadcast(level, self.axes[:-1], self.entries.shape)


def shifted(roots: Sequence[Node]) -> tuple[Node, ...]:
    """The roots with the level taken out of each logsumexp that its own operand stands beside in a sum."""
    order = topological(roots)
    logarithms: dict[Node, _Logarithm] = {}
    for node in order:
        known = _known(node) if isinstance(node, General) and node.function == "logsumexp" else None
        if known is not None:
            logarithms[node] = known
    places: dict[Node, _Place] = {}
    for node in order if logarithms else ():
        place = _place(node, logarithms) if isinstance(node, Add) else None
        if place is not None:
            places[node] = place
    if not places:
        return tuple(roots)
    used = {logarithm for logarithm, _ in places.values()}
    found, memo = _rewritten(roots, order, logarithms, places, set())
    reached = set(topological(found))
    kept = {logarithm for logarithm in used if memo[logarithm] in reached}
    found = _rewritten(roots, order, logarithms, places, kept)[0] if kept else found
    return normalise(found, progress_of_plans())


def _rewritten(
    roots: Sequence[Node],
    order: Sequence[Node],
    logarithms: Mapping[Node, _Logarithm],
    places: Mapping[Node, _Place],
    kept: AbstractSet[Node],
) -> tuple[tuple[Node, ...], Mapping[Node, Node]]:
    """The roots with the sums shifted, by a level that is shared with those logarithms that are kept beside them."""
    memo: dict[Node, Node] = {}
    lower: dict[Node, Mapping[Node, Node]] = {}
    for node in order:
        new = rebuild(node, [memo[operand] for operand in node.operands])
        if node in kept:
            level, lower[node] = _lowered(logarithms[node], memo)
            new = total(level, lower[node][node])
        elif node in places:
            logarithm, terms = places[node]
            if logarithm not in lower:
                lower[logarithm] = _log_softmax(logarithms[logarithm], memo)
            below = lower[logarithm]
            parts = [_with(term, below, memo) if term in terms else memo[term] for term in node.operands]
            if logarithm not in kept:
                dropped = {term for term in terms if logarithm in _factors(term)}
                parts = [part for part, term in zip(parts, node.operands, strict=True) if term not in dropped]
            new = total(*parts)
        memo[node] = new
    return tuple([memo[root] for root in roots]), memo


def _known(node: General) -> _Logarithm | None:
    """What the logsumexp is of: its operand, or what is transposed there."""
    (x,) = node.operands
    axes = tuple(range(len(x.shape)))
    if not x.shape[-1]:
        return None
    entries = x
    if isinstance(x, Einsum) and len(x.operands) == 1 and x.coefficient == 1 and x.operands[0].dtype == x.dtype:
        (labels,) = x.inputs
        if sorted(labels) == list(axes):
            entries, axes = x.operands[0], tuple([labels.index(axis) for axis in axes])
    return None if is_lowered(entries) else _Logarithm(node, entries, axes)


def _place(node: Add, logarithms: Mapping[Node, _Logarithm]) -> _Place | None:
    """A logarithm in the sum, and the terms with it or its entries in which a level would cancel."""
    for logarithm in dict.fromkeys([held for term in node.operands for held in _factors(term) if held in logarithms]):
        known = logarithms[logarithm]
        of_logarithm = [term for term in node.operands if _holds_one(term, logarithm, known.entries)]
        of_entries = [term for term in node.operands if _holds_one(term, known.entries, logarithm)]
        level = leaf(logarithm.shape, logarithm.dtype, _LEVEL)
        levels = {logarithm: level, known.entries: known.spread(level)}
        for terms in _groups(of_logarithm, of_entries):
            rest = add([_with(term, levels) for term in terms], node.dtype)
            left, nothing = normalise([rest, zero(node.shape, node.dtype)], progress_of_plans())
            if left is nothing:
                return logarithm, frozenset(terms)
    return None


def _groups(of_logarithm: Sequence[Node], of_entries: Sequence[Node]) -> Iterator[Sequence[Node]]:
    """All terms together, then each pair."""
    if of_logarithm and of_entries:
        yield [*of_logarithm, *of_entries]
        if len(of_logarithm) + len(of_entries) > 2 and len(of_logarithm) * len(of_entries) <= _MOST_PAIRS:
            yield from product(of_logarithm, of_entries)


def _factors(term: Node) -> Sequence[Node]:
    """What the term is linear in: itself, and the factors of a product."""
    return (term, *term.operands) if isinstance(term, Einsum) else (term,)


def _holds_one(term: Node, factor: Node, other: Node) -> bool:
    """Whether the term is linear in the factor and free of the other."""
    held = _factors(term)
    return held.count(factor) == 1 and other not in held and term.dtype == factor.dtype


def _with(term: Node, replaced: Mapping[Node, Node], memo: Mapping[Node, Node] = MappingProxyType({})) -> Node:
    """The term, or the product that it is, with factors replaced; others by what they have become."""
    if term in replaced:
        return replaced[term]
    assert isinstance(term, Einsum)
    return rebuild(term, [replaced.get(factor, memo.get(factor, factor)) for factor in term.operands])


def _log_softmax(known: _Logarithm, memo: Mapping[Node, Node]) -> Mapping[Node, Node]:
    """What stands for the entries where the logarithm itself is their level, and leaves nothing of itself."""
    (x,) = known.node.operands
    row = call("log_softmax", memo[x])
    axes = range(len(known.axes))
    entries = row if known.axes == tuple(axes) else einsum([row], [known.axes], axes, 1, row.dtype)
    return {known.node: zero(known.node.shape, known.node.dtype), known.entries: entries}


def _lowered(known: _Logarithm, memo: Mapping[Node, Node]) -> tuple[Node, Mapping[Node, Node]]:
    """The level of a logarithm, and what stands for logarithm and entries where it is taken out of both."""
    (x,) = known.node.operands
    level = apply("finite_level", call("max_reduce", memo[x]))
    spread = known.spread(level)
    assert isinstance(spread, Einsum)
    axes = range(len(spread.shape))
    entries = total(memo[known.entries], einsum(spread.operands, spread.inputs, axes, -1, spread.dtype))
    return level, {known.node: call("logsumexp", _with(x, {known.entries: entries}, memo)), known.entries: entries}
