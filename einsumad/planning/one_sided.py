"""Maxima and minima against what is not differentiated: the kink is in one operand only.

Owns that step. Imports the graph and the catalogue. Invariant: the roots keep their values, and all derivatives but at
ties.

At a tie of two variables each has half of the derivative; against a constant the derivative at the kink is 0. What is
not differentiated in is a constant: captured, an argument beside those that are asked for, or computed from such.
"""

from __future__ import annotations

from collections.abc import Sequence

from einsumad.functions import apply
from einsumad.graph import Elementwise, Node, dependents, rebuild, topological

_EXTREMA = frozenset(["maximum", "minimum", "fmax", "fmin"])


def one_sided(roots: Sequence[Node], sources: Sequence[Node]) -> tuple[Node, ...]:
    """The roots, whose maxima and minima of one operand that depends on a source are those against a constant."""
    order = topological(roots)
    if not any(isinstance(node, Elementwise) and node.function in _EXTREMA for node in order):
        return tuple(roots)
    varying = dependents(roots, sources)
    memo: dict[Node, Node] = {}
    for node in order:
        new = rebuild(node, [memo[operand] for operand in node.operands])
        if isinstance(node, Elementwise) and node.function in _EXTREMA:
            turns = [k for k, operand in enumerate(node.operands) if operand in varying]
            if len(turns) == 1:
                variable, constant = new.operands[turns[0]], new.operands[1 - turns[0]]
                new = apply(f"{node.function}_constant", variable, constant)
        memo[node] = new
    return tuple([memo[root] for root in roots])
