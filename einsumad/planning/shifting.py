"""Where ``x - logsumexp(x)`` is formed, the largest entry of x is subtracted before: no digit is lost to its size.

Owns that step, which comes after all differentiation. Imports the graph, the catalogue and rewriting. Invariant: the
roots keep value, shape and dtype, also at infinities and NaN. ``x - L(x) = (x - m) - L(x - m)`` and
``L(x) = m + L(x - m)`` for any m, whatever multiplies, permutes or selects x and L in a sum: it is shifted where m
cancels in it. m is the whole number next to the maximum, so that x - m is exact where x is near m.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from types import MappingProxyType

from einsumad.functions import apply, call, is_lowered
from einsumad.graph import (
    Add,
    Einsum,
    General,
    Labels,
    Node,
    Structural,
    add,
    broadcast,
    einsum,
    leaf,
    ones,
    rebuild,
    topological,
    total,
    zero,
)
from einsumad.planning.options import progress_of_jacobians
from einsumad.records import record
from einsumad.rewriting import normalise

_MOST_PAIRS = 16


@record
class _Logarithm:
    """A logsumexp, the tensor whose entries it is of, and which of its axes are the logarithm's."""

    node: General
    entries: Node
    axes: Labels

    def spread(self, level: Node) -> Node:
        """A level of each row over the shape of the entries."""
        return broadcast(level, self.axes, self.entries.shape)


def shifted(roots: Sequence[Node]) -> tuple[Node, ...]:
    """The roots with the level taken out of each logsumexp that its own operand stands beside in a sum."""
    order = topological(roots)
    found = [node for node in order if isinstance(node, General) and node.function == "logsumexp"]
    logarithms = {node: known for node in found if (known := _known(node)) is not None}
    places: dict[Node, tuple[Node, frozenset[Node]]] = {}
    for node in order if logarithms else ():
        place = _place(node, logarithms) if isinstance(node, Add) else None
        if place is not None:
            places[node] = place
    if not places:
        return tuple(roots)
    used = {logarithm for logarithm, _ in places.values()}
    memo: dict[Node, Node] = {}
    lower: dict[Node, Mapping[Node, Node]] = {}
    for node in order:
        new = rebuild(node, [memo[operand] for operand in node.operands])
        if node in used:
            level, lower[node] = _lowered(logarithms[node], memo)
            new = total(level, lower[node][node])
        elif node in places:
            logarithm, terms = places[node]
            below = lower[logarithm]
            parts = [_with(term, below, memo) if term in terms else memo[term] for term in node.operands]
            new = add(parts, node.dtype)
        memo[node] = new
    return tuple([memo[root] for root in roots])


def _known(node: General) -> _Logarithm | None:
    """What the logsumexp is of: its operand, or what that lays out in other axes."""
    (x,) = node.operands
    rank = len(node.shape)
    if not x.shape[-1] or is_lowered(x):
        return None
    if isinstance(x, Einsum) and x.coefficient == 1:
        held = [k for k, operand in enumerate(x.operands) if not isinstance(operand, Structural)]
        labels = x.inputs[held[0]] if len(held) == 1 else ()
        if labels and set(labels).issuperset(range(rank)) and x.operands[held[0]].dtype == x.dtype:
            return _laid_out(node, x, held[0], labels)
    return _Logarithm(node, x, tuple(range(rank)))


def _laid_out(node: General, x: Einsum, place: int, labels: Labels) -> _Logarithm | None:
    """The same for a product of one tensor and what lays it out, if a level of each row is one of the rows there."""
    entries = x.operands[place]
    found = _Logarithm(node, entries, tuple([labels.index(label) for label in range(len(node.shape))]))
    if is_lowered(entries):
        return None
    level = ones(node.shape, x.dtype)
    there, here = normalise(
        [_with(x, {entries: found.spread(level)}), broadcast(level, range(len(node.shape)), x.shape)],
        progress_of_jacobians(),
    )
    return found if there is here else _Logarithm(node, x, tuple(range(len(node.shape))))


def _place(node: Add, logarithms: Mapping[Node, _Logarithm]) -> tuple[Node, frozenset[Node]] | None:
    """A logarithm in the sum, and the terms with it or its entries in which a level would cancel."""
    for logarithm in dict.fromkeys([held for term in node.operands for held in _factors(term) if held in logarithms]):
        known = logarithms[logarithm]
        of_logarithm = [term for term in node.operands if _holds_one(term, logarithm, known.entries)]
        of_entries = [term for term in node.operands if _holds_one(term, known.entries, logarithm)]
        level = leaf(logarithm.shape, logarithm.dtype, ("slot", 0))
        levels = {logarithm: level, known.entries: known.spread(level)}
        for terms in _groups(of_logarithm, of_entries):
            rest = add([_with(term, levels) for term in terms], node.dtype)
            left, nothing = normalise([rest, zero(node.shape, node.dtype)], progress_of_jacobians())
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


def _lowered(known: _Logarithm, memo: Mapping[Node, Node]) -> tuple[Node, Mapping[Node, Node]]:
    """The level of a logarithm, and what stands for logarithm and entries where it is taken out of both."""
    (x,) = known.node.operands
    level = apply("finite_level", call("max_reduce", memo[x]))
    spread = known.spread(level)
    assert isinstance(spread, Einsum)
    axes = range(len(spread.shape))
    entries = total(memo[known.entries], einsum(spread.operands, spread.inputs, axes, -1, spread.dtype))
    return level, {known.node: call("logsumexp", _with(x, {known.entries: entries}, memo)), known.entries: entries}
