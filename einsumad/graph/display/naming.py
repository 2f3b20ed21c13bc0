"""Names for the leaves, for the intermediate results that get a line of their own, and for what is left out.

Owns the choice of names. Imports the kinds. Invariant: different nodes of one text have different names,
given in order of visit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from einsumad.graph.nodes import General, Leaf, Node


def name_leaves(order: Iterable[Node], given: Mapping[Node, str] | None) -> dict[Node, str]:
    """A name for each leaf: the given one, its own, a number's value, or x0, x1, ... by order of visit.

    A matrix of which something is declared is called like the leaf that it is, if that is used nowhere else.
    """
    order = list(order)
    users = Counter([operand for node in order for operand in node.operands])
    names: dict[Node, str] = dict(given or {})
    taken = set(names.values())
    nameless = 0
    for node in order:
        if isinstance(node, General) and node.function == "declared" and users[node.operands[0]] == 1:
            (leaf,) = node.operands
            if leaf in names:
                names[node] = names[leaf]
        if not isinstance(node, Leaf) or node in names:
            continue
        if node.name is not None:
            name = _unlike(node.name, taken)
        elif node.key[0] == "number":
            name = str(node.key[1])
        else:
            name = _unlike(f"x{nameless}", taken)
            nameless += 1
        names[node] = name
        taken.add(name)
    return names


def name_numbered(nodes: Iterable[Node], letter: str, names: dict[Node, str]) -> None:
    """Add names made of the letter and 1, 2, ... for the nodes, past those that are taken."""
    taken = set(names.values())
    number = 0
    for node in nodes:
        number += 1
        while f"{letter}{number}" in taken:
            number += 1
        names[node] = f"{letter}{number}"


def _unlike(name: str, taken: set[str]) -> str:
    if name not in taken:
        return name
    number = 2
    while f"{name}_{number}" in taken:
        number += 1
    return f"{name}_{number}"
