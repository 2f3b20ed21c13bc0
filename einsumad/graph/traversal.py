"""The one way to walk a graph: iterative, memoised, children first.

Owns order of visit, rebuilding and substitution. Imports the kinds and constructors. Invariant: no recursion,
so that depth is bounded by memory alone; the order of visit depends on structure only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from einsumad.graph.constructors import add, elementwise, general, selection, with_operands
from einsumad.graph.nodes import Add, Einsum, Elementwise, General, Leaf, Node, Selection


def topological(roots: Iterable[Node], closed: AbstractSet[Node] = frozenset()) -> list[Node]:
    """Every node reachable from the roots once, operands before users; what is closed is met but not opened."""
    found: dict[Node, None] = {}
    opened: list[Node] = []
    waiting = [iter(roots)]
    while waiting:
        for node in waiting[-1]:
            if node in found:
                continue
            if node.operands and node not in closed:
                opened.append(node)
                waiting.append(iter(node.operands))
                break
            found[node] = None
        else:
            waiting.pop()
            if opened:
                found[opened.pop()] = None
    return list(found)


def leaves(roots: Iterable[Node]) -> list[Leaf]:
    """The leaves reachable from the roots in order of visit."""
    return [node for node in topological(roots) if isinstance(node, Leaf)]


def count_users(roots: Sequence[Node]) -> dict[Node, int]:
    """How many operand slots (and root positions) hold each node."""
    users: dict[Node, int] = {}
    for root in roots:
        users[root] = users.get(root, 0) + 1
    for node in topological(roots):
        for operand in node.operands:
            users[operand] = users.get(operand, 0) + 1
    return users


def dependents(roots: Iterable[Node], sources: Iterable[Node]) -> set[Node]:
    """The nodes reachable from the roots that depend on (or are) one of the sources."""
    found = set(sources)
    for node in topological(roots):
        if any(operand in found for operand in node.operands):
            found.add(node)
    return found


def rebuild(node: Node, operands: Sequence[Node]) -> Node:
    """The node with other operands of the same shapes."""
    if node.operands == tuple(operands):
        return node
    match node:
        case Einsum():
            return with_operands(node, operands)
        case Add():
            return add(operands, node.dtype)
        case Elementwise():
            return elementwise(node.function, operands, node.params, node.dtype)
        case General():
            return general(node.function, operands, node.params, node.shape, node.dtype)
        case Selection():
            return selection(operands[0], node.shape[-1], node.dtype)
    return node


def transform(roots: Sequence[Node], step: Callable[[Node], Node]) -> tuple[Node, ...]:
    """The roots after `step` was applied to every node, operands first; `step` sees rebuilt nodes."""
    memo: dict[Node, Node] = {}
    for node in topological(roots):
        memo[node] = step(rebuild(node, [memo[operand] for operand in node.operands]))
    return tuple([memo[root] for root in roots])


def substitute(roots: Sequence[Node], replacements: Mapping[Node, Node]) -> tuple[Node, ...]:
    """The roots with nodes replaced by others of equal shape and dtype, which are not searched again."""
    memo: dict[Node, Node] = dict(replacements)
    for node in topological(roots):
        if node not in memo:
            memo[node] = rebuild(node, [memo[operand] for operand in node.operands])
    return tuple([memo[root] for root in roots])
