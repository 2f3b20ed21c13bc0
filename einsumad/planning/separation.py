"""Products that share nothing with each other: what sharing gives is seen by planning without it.

Owns that step. Imports the graph. Invariant: values stay; nodes that stood in the graph before its products were taken
apart are shared as before.
"""

from __future__ import annotations

from einsumad.graph import Node, apart, topological


def separate(result: Node, settled: set[Node], owner: bytes) -> Node:
    """What a node became, with all products on the way to it of its own; `settled` are those of nodes before it.

    The result is entered among them.
    """
    own: dict[Node, Node] = {}
    for node in topological([result], settled):
        if node not in settled and node.operands:
            own[node] = apart(node, tuple([own.get(operand, operand) for operand in node.operands]), owner)
    found = own.get(result, result)
    settled.update([*own.values(), found])
    return found
