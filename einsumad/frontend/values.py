"""Concrete values, kept beside the graph and never on it.

Owns the store of values by node, and where they are. Imports the graph and the libraries of arrays. Invariant: a stored
array is private and read-only, or lies in memory that cannot change, so that no later write by the user can change it;
an entry lives as long as its node. The flag of an array says nothing of that: others may write to the same memory.

An array of another library than NumPy is stored as such, on its device; this is where it is told from NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from einsumad.errors import InternalError, TracingError
from einsumad.execution.backends import Home, common_home, library_of, shape_and_dtype
from einsumad.frontend.looks import look
from einsumad.frontend.mapped import check_copy, is_unchangeable
from einsumad.graph import Leaf, Node
from einsumad.locks import module_lock

_values: WeakKeyDictionary[Node, np.ndarray] = WeakKeyDictionary()
_homes: WeakKeyDictionary[Node, Home] = WeakKeyDictionary()
_deferred: WeakKeyDictionary[Node, Callable[[], np.ndarray | None]] = WeakKeyDictionary()
_lock = module_lock()


def snapshot(array: Any) -> np.ndarray:
    """A private copy of the array, read-only if it is NumPy's.

    What lies in memory that cannot change is used uncopied, by a view, so that its base tells it from a copy.
    """
    if type(array) is np.ndarray:
        base = array.base
        if base is None or (type(base) is np.ndarray and base.base is None):  # its memory is NumPy's, and not mapped
            copy = array.copy("K")
            copy.setflags(False)  # type: ignore[call-arg]  # by its name it takes a tenth of the time of a snapshot
            return copy
    library = library_of(array)
    if library is not None:
        return library.private(array)  # type: ignore[no-any-return]  # an array of any library
    given = np.asarray(array)
    if type(given) is np.ndarray and is_unchangeable(given):
        return given.view()
    check_copy(given)
    copy = np.array(given, order="K", copy=True, subok=False)
    copy.setflags(write=False)
    return copy


def bind(leaf: Leaf, array: Any) -> np.ndarray:
    """Give the leaf its value and return the snapshot that was stored."""
    return remember(leaf, array)


def remember(node: Node, array: Any) -> np.ndarray:
    """Store the value of a leaf or an intermediate result, and return the snapshot that was stored."""
    return share(node, snapshot(array))


def share(node: Node, value: Any) -> np.ndarray:
    """Store a snapshot, or the stored value of another node, as the value of a node, uncopied."""
    library = library_of(value)
    shape, dtype = (value.shape, value.dtype) if library is None else shape_and_dtype(value)
    if shape != node.shape or (dtype != node.dtype and (library is None or value.dtype != library.native(node.dtype))):
        raise InternalError(f"a value {dtype}{shape} was given to a node {node.dtype}{node.shape}")
    with _lock:
        _values[node] = value
        if library is not None:
            _homes[node] = library.home_of(value)
    return value  # type: ignore[no-any-return]  # an array of any library


def give_home(node: Node, home: Home | None) -> None:
    """Say where the value of a node will be, before it is known."""
    if home is not None:
        with _lock:
            _homes[node] = home


def home_among(nodes: Iterable[Node]) -> Home | None:
    """Where the values of the nodes are that are not NumPy's. Raises :class:`TracingError` for two places."""
    if not _homes:
        return None
    with _lock:
        found = [_homes.get(node) for node in nodes]
    return common_home(found)


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
    return None if late is None else share(node, late)


def defer(leaf: Leaf, compute: Callable[[], np.ndarray | None]) -> None:
    """Let the value of a leaf be found when it is first asked for: a stored one, or None, which is not known."""
    with _lock:
        _deferred[leaf] = compute


def known_value(leaf: Leaf) -> np.ndarray:
    """The value of a leaf that must have one."""
    value = value_of(leaf)
    if value is None:
        raise TracingError(f"the value of {leaf.name or 'a traced array'} is not known here")
    return value
