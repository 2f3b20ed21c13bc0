"""Concrete values, kept beside the graph and never on it.

Owns the store of values by node. Imports the graph. Invariant: a stored array is private and read-only, or a file that
was mapped for reading alone, so that no later write by the user can change it; an entry lives as long as its node.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from einsumad.errors import InternalError, TracingError
from einsumad.frontend.looks import look
from einsumad.frontend.mapped import check_copy, is_read_only_map
from einsumad.graph import Leaf, Node

_values: WeakKeyDictionary[Node, np.ndarray] = WeakKeyDictionary()
_deferred: WeakKeyDictionary[Node, Callable[[], np.ndarray | None]] = WeakKeyDictionary()
_lock = threading.Lock()


def snapshot(array: Any) -> np.ndarray:
    """A private read-only copy of the array.

    One that is read-only and owns its data is used uncopied, and so is a file that was mapped for reading alone.
    """
    given = np.asarray(array)
    if type(given) is np.ndarray and not given.flags.writeable and (given.flags.owndata or is_read_only_map(given)):
        return given
    check_copy(given)
    copy = np.array(given, order="K", copy=True, subok=False)
    copy.flags.writeable = False
    return copy


def bind(leaf: Leaf, array: Any) -> np.ndarray:
    """Give the leaf its value and return the snapshot that was stored."""
    return remember(leaf, array)


def remember(node: Node, array: Any) -> np.ndarray:
    """Store the value of a leaf or an intermediate result, and return the snapshot that was stored."""
    value = snapshot(array)
    if value.shape != node.shape or value.dtype != node.dtype:
        found, expected = f"{value.dtype}{value.shape}", f"{node.dtype}{node.shape}"
        raise InternalError(f"a value {found} was given to a node {expected}")
    with _lock:
        _values[node] = value
    return value


def value_of(node: Node) -> np.ndarray | None:
    """The stored value of the node, the number of a number leaf, or None where nothing is known."""
    look()
    if isinstance(node, Leaf) and node.key[0] == "number":
        return np.asarray(node.key[1], node.dtype)
    with _lock:
        value = _values.get(node)
        compute = _deferred.get(node) if value is None else None
    if compute is None:
        return value
    late = compute()
    return None if late is None else remember(node, late)


def defer(leaf: Leaf, compute: Callable[[], np.ndarray | None]) -> None:
    """Let the value of a leaf be computed when it is first asked for; None means that it is not known."""
    with _lock:
        _deferred[leaf] = compute


def known_value(leaf: Leaf) -> np.ndarray:
    """The value of a leaf that must have one."""
    value = value_of(leaf)
    if value is None:
        raise TracingError(f"the value of {leaf.name or 'a traced array'} is not known here")
    return value
