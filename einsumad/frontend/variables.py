"""Which leaves are variables or constants, which want a gradient, and the gradients left on them.

Owns these four tables. Imports the graph. Invariant: entries live as long as their leaf; a leaf that is in no table
is an array that a user made a tensor of: it has its value for good, and may be differentiated by name. A variable of a
call stands for something in that call alone.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary, WeakSet

import numpy as np

from einsumad.errors import DifferentiationError, TracingError
from einsumad.frontend.looks import look
from einsumad.graph import Leaf, Node
from einsumad.locks import module_lock

_constants: WeakSet[Node] = WeakSet()
_requiring: WeakSet[Node] = WeakSet()
_gradients: WeakKeyDictionary[Node, np.ndarray] = WeakKeyDictionary()
_lock = module_lock()


class Lifetime:
    """A call of a traced function, as a context: after it the variables of the call stand for nothing any more."""

    __slots__ = ("over",)

    def __init__(self) -> None:
        self.over = False

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        self.over = True


_variables: WeakKeyDictionary[Node, Lifetime | None] = WeakKeyDictionary()


def mark_variable(leaf: Leaf, lifetime: Lifetime | None = None) -> Leaf:
    """Treat the leaf as a variable from now on, of a call if one is given."""
    with _lock:
        _variables[leaf] = lifetime
    return leaf


def check_in_use(leaf: Leaf) -> None:
    """Refuse a variable of a call that is over: there is no derivative in it any more."""
    lifetime = _variables.get(leaf)
    if lifetime is not None and lifetime.over:
        raise TracingError(
            "a traced value of an earlier call, which is over, was used in this one: it depends on "
            f"{leaf.name or 'an argument'} of shape {leaf.shape} there, and has no derivative here. Is it kept in a "
            "dictionary, a global, an attribute or by functools.cache? Compute it anew in each call, or keep arrays "
            "that were computed outside of traced functions"
        )


def is_variable(leaf: Leaf) -> bool:
    """Whether the leaf stands for something that may be differentiated or bound later, not for a constant array."""
    look()
    return leaf.key[0] == "variable" or leaf in _variables


def mark_constant(leaf: Leaf) -> Leaf:
    """Note that the leaf is an array of the caller which nothing is differentiated in."""
    with _lock:
        _constants.add(leaf)
    return leaf


def is_constant(leaf: Leaf) -> bool:
    """Whether the leaf is a number, or an array of which no tensor was made: it is never differentiated in."""
    look()
    return leaf.key[0] == "number" or leaf in _constants


def require_gradient(leaf: Leaf) -> None:
    """Let backward leave gradients on this leaf."""
    with _lock:
        _variables[leaf] = None
        _requiring.add(leaf)


def requires_gradient(node: Node) -> bool:
    """Whether backward leaves a gradient on this node."""
    look()
    return node in _requiring


def gradient(node: Node) -> np.ndarray | None:
    """The gradient accumulated on a node, or None."""
    with _lock:
        return _gradients.get(node)


def set_gradient(node: Node, value: np.ndarray | None) -> None:
    """Replace the accumulated gradient, or forget it."""
    if not requires_gradient(node):
        raise DifferentiationError("this tensor was not made with requires_grad=True, so it has no gradient to set")
    with _lock:
        if value is None:
            _gradients.pop(node, None)
            return
    array = np.array(value, node.dtype)
    if array.shape != node.shape:
        raise ValueError(f"the gradient has shape {array.shape}, the tensor has shape {node.shape}")
    with _lock:
        _gradients[node] = array


def add_to_gradient(node: Node, value: np.ndarray) -> None:
    """Add to the accumulated gradient. What was read before keeps its value: the sum is a new array."""
    with _lock:
        before = _gradients.get(node)
        _gradients[node] = value if before is None else before + value
