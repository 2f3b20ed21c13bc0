"""Functions of the catalogue replaced by the expressions that compute them, once nothing is differentiated any more.

Owns that step. Imports the graph, the catalogue and rewriting. Invariant: the roots keep value, shape and dtype; an
expansion that is a product joins the products that use it, so that it is contracted with what they hold and not formed.
"""

from __future__ import annotations

from collections.abc import Sequence

from einsumad.functions import general_function
from einsumad.graph import Einsum, General, Node, rebuild, topological
from einsumad.rewriting import inline, normalise


def expand(roots: Sequence[Node]) -> tuple[Node, ...]:
    """The roots with every function that has an expansion expanded, in normal form; unchanged where none has."""
    order = topological(roots)
    beside: dict[Node, set[str]] = {}
    for node in order:
        if isinstance(node, General) and general_function(node.function).expansion is not None:
            beside.setdefault(node.operands[0], set()).add(node.function)
    if not beside:
        return tuple(roots)
    memo: dict[Node, Node] = {}
    expanded: set[Node] = set()
    for node in order:
        new = rebuild(node, [memo[operand] for operand in node.operands])
        if isinstance(new, Einsum):
            places = [k for k, operand in enumerate(new.operands) if operand in expanded and operand.dtype == new.dtype]
            new = inline(new, places) if places else new
        elif isinstance(node, General) and isinstance(new, General):
            expansion = general_function(node.function).expansion
            found = None if expansion is None else expansion(new, beside[node.operands[0]])
            if found is not None:
                new = found
                expanded.update([found] if isinstance(found, Einsum) else [])
        memo[node] = new
    return normalise([memo[root] for root in roots])
