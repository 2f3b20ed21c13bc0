"""The normal form: rules applied from the leaves up until none fires.

Owns the order of application. Imports the rules. Invariant: the result has the value, shape and dtype of the input; no
recursion; work for each node is bounded, passes are repeated only for what changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from einsumad.errors import InternalError
from einsumad.graph import Node, count_users, rebuild, topological
from einsumad.rewriting.catalogue import rules_for
from einsumad.rewriting.rules import Context

_MOST_PASSES = 40
_MOST_STEPS = 1000


def normalise(roots: Sequence[Node], fired: Counter[str] | None = None) -> tuple[Node, ...]:
    """The roots in normal form. `fired` counts the rules by name."""
    current = tuple(roots)
    stable: dict[Node, tuple[bool, ...]] = {}
    for _ in range(_MOST_PASSES):
        users = Counter(count_users(current))
        following = _one_pass(current, Context(users, Counter() if fired is None else fired), stable)
        if following == current:
            return current
        current = following
    raise InternalError(f"no normal form after {_MOST_PASSES} passes over {len(topological(current))} nodes")


def _one_pass(roots: Sequence[Node], context: Context, stable: dict[Node, tuple[bool, ...]]) -> tuple[Node, ...]:
    memo: dict[Node, Node] = {}
    for node in topological(roots):
        if not node.operands:
            memo[node] = node
            continue
        operands = [memo[operand] for operand in node.operands]
        for old, new in zip(node.operands, operands, strict=True):
            if new is not old:
                context.users[new] = max(context.users[new], context.users[old])
        memo[node] = _rewrite(rebuild(node, operands), context, stable)
    return tuple([memo[root] for root in roots])


def _rewrite(node: Node, context: Context, stable: dict[Node, tuple[bool, ...]]) -> Node:
    """The node after rules were applied to it until none fires."""
    for _ in range(_MOST_STEPS):
        surroundings = tuple([context.is_shared(operand) for operand in node.operands])
        if stable.get(node) == surroundings:
            return node
        following = _first_applied(node, context)
        if following is None:
            stable[node] = surroundings
            return node
        context.users[following] = max(1, context.users[following])
        node = following
    raise InternalError(f"rules do not come to an end on a node of shape {node.shape}")


def _first_applied(node: Node, context: Context) -> Node | None:
    for rule in rules_for(node):
        following = rule.apply(node, context)
        if following is not None and following is not node:
            if following.shape != node.shape or following.dtype != node.dtype:
                raise InternalError(
                    f"rule {rule.name} changed {node.shape} {node.dtype} to {following.shape} {following.dtype}"
                )
            context.fired[rule.name] += 1
            return following
    return None
