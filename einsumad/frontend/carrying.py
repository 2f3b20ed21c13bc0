"""Which traced values carry a derivative, and which are constant but for jumps.

Owns this question. Imports the calculus and the table of variables. Invariant: a value carries none only if every
path from it to what may be differentiated passes a slot whose local Jacobian is a structural zero; so no derivative is
lost, whatever is made of it. The functions of users are not asked: a value of theirs carries one.
"""

from __future__ import annotations

from weakref import WeakSet

from einsumad.calculus import flows, is_active
from einsumad.frontend.looks import look
from einsumad.frontend.variables import is_constant
from einsumad.functions import is_own
from einsumad.graph import General, Leaf, Node
from einsumad.locks import module_lock

_without: WeakSet[Node] = WeakSet()
_lock = module_lock()


def carries_derivative(node: Node) -> bool:
    """Whether the derivative of the node in something may be more than a structural zero."""
    look()
    seen: set[Node] = set()
    stack = [node]
    while stack:
        current = stack.pop()
        if current in seen or not is_active(current) or _is_known(current):
            continue
        if isinstance(current, Leaf) and not is_constant(current):
            return True
        seen.add(current)
        stack.extend([operand for k, operand in enumerate(current.operands) if _passes(current, k)])
    with _lock:
        _without.update(seen)
    return False


def _is_known(node: Node) -> bool:
    with _lock:
        return node in _without


def _passes(node: Node, position: int) -> bool:
    if not is_active(node.operands[position]):
        return False
    return (isinstance(node, General) and is_own(node.function)) or flows(node, position)
