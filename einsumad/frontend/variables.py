"""Which leaves are variables or constants, which want a gradient, and the gradients left on them.

Owns these four tables. Imports the graph. Invariant: entries live as long as their leaf; a leaf that is in no table
is an array that a user made a tensor of: it has its value for good, and may be differentiated by name.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary, WeakSet

import numpy as np

from einsumad.errors import DifferentiationError
from einsumad.frontend.looks import look
from einsumad.graph import Leaf, Node
from einsumad.locks import module_lock

_variables: WeakSet[Node] = WeakSet()
_constants: WeakSet[Node] = WeakSet()
_requiring: WeakSet[Node] = WeakSet()
_gradients: WeakKeyDictionary[Node, np.ndarray] = WeakKeyDictionary()
_lock = module_lock()


def mark_variable(leaf: Leaf) -> Leaf:
    """Treat the leaf as a variable from now on."""
    with _lock:
        _variables.add(leaf)
    return leaf


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
        _variables.add(leaf)
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
