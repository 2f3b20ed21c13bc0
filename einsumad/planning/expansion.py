"""Functions of the catalogue replaced by the expressions that compute them, once nothing is differentiated any more.

Owns that step. Imports the graph, the catalogue and rewriting. Invariant: the roots keep value, shape and dtype. A
tensor larger than the function's operand is never formed where it is multiplied: its factors join the products that use
it, also through sums, and are contracted with what these hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from einsumad.functions import general_function
from einsumad.graph import Add, Einsum, General, Node, Structural, add, einsum, rebuild, topological
from einsumad.planning.divisions import with_counts
from einsumad.planning.held import once, progress_of_plans
from einsumad.planning.shifting import shifted
from einsumad.rewriting import inline, normalise

_MOST_TERMS = 64


@once
def expand(roots: Sequence[Node]) -> tuple[Node, ...]:
    """The roots with logsumexp shifted and expansions in the place of functions; unchanged where there are none."""
    roots = shifted(with_counts(roots))
    order = topological(roots)
    beside: dict[Node, set[str]] = {}
    for node in order:
        if isinstance(node, General) and general_function(node.function).expansion is not None:
            beside.setdefault(node.operands[0], set()).add(node.function)
    if not beside:
        return tuple(roots)
    memo: dict[Node, Node] = {}
    large: dict[Node, int] = {}
    for node in order:
        new = rebuild(node, [memo[operand] for operand in node.operands])
        limits = [large[operand] for operand in new.operands if operand in large]
        if isinstance(new, Einsum) and limits:
            new = _opened(new, large)
        elif isinstance(node, General) and isinstance(new, General):
            expansion = general_function(node.function).expansion
            found = None if expansion is None else expansion(new, beside[node.operands[0]])
            limits = [] if found is None else [len(new.operands[0].shape)]
            new = new if found is None else found
        if limits and isinstance(new, Einsum | Add) and len(new.shape) > min(limits):
            parts = [part for part in new.operands if isinstance(part, Einsum)] if isinstance(new, Add) else []
            large.update(dict.fromkeys([new, *parts], min(limits)))
        memo[node] = new
    return normalise([memo[root] for root in roots], progress_of_plans())


def _opened(node: Einsum, large: Mapping[Node, int]) -> Node:
    """The product with large products among its operands opened and large sums distributed over."""
    done: list[Node] = []
    pending: list[Node] = [node]
    while pending:
        product = pending.pop()
        place = _place_of_large(product, large) if len(done) + len(pending) < _MOST_TERMS else None
        if place is None or not isinstance(product, Einsum):
            done.append(product)
            continue
        operand = product.operands[place]
        if isinstance(operand, Einsum):
            pending.append(inline(product, [place]))
        else:
            pending.extend([_with_operand(product, place, term) for term in operand.operands])
    return done[0] if len(done) == 1 else add(done, node.dtype)


def _place_of_large(node: Node, large: Mapping[Node, int]) -> int | None:
    """The first large operand of a product that multiplies it with something stored."""
    if not isinstance(node, Einsum) or sum(not isinstance(operand, Structural) for operand in node.operands) < 2:
        return None
    places = [k for k, operand in enumerate(node.operands) if operand in large and operand.dtype == node.dtype]
    return places[0] if places else None


def _with_operand(node: Einsum, place: int, operand: Node) -> Node:
    operands = [*node.operands[:place], operand, *node.operands[place + 1 :]]
    return einsum(operands, node.inputs, range(len(node.shape)), node.coefficient, node.dtype)
