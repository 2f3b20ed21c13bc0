"""The value of a node whose leaves all have one.

Owns the way from a node to its value, and the error where there is none. Imports the graph, the value store and the
cache of plans. Invariant: a value is returned only if it follows from stored values; nothing is guessed, and what is
returned is read-only.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from einsumad.errors import TracingError
from einsumad.execution.backends import library_of
from einsumad.frontend.cache import Derivation, find_or_derive, run
from einsumad.frontend.values import home_among, remember, value_of
from einsumad.graph import Leaf, Node, fresh_leaf, structural_key, substitute, with_slots
from einsumad.planning import progress_of_functions
from einsumad.rewriting import normalise

_BY_TRANSFORMS = (
    "it depends on symbols, or the function is traced once for all values by ea.compile",
    "trace without ea.compile; symbols are evaluated by ea.evaluate",
)
_why: ContextVar[tuple[str, str]] = ContextVar("why values are not known, and what to do", default=_BY_TRANSFORMS)


@contextmanager
def without_values(reason: str, remedy: str) -> Iterator[None]:
    """Within this context values are not known for another reason than usual, which errors tell."""
    token = _why.set((reason, remedy))
    try:
        yield
    finally:
        _why.reset(token)


def unknown_value(what: str, instead: str = "use np.where instead of Python's if") -> TracingError:
    """The error where what is done needs a value that is not known."""
    reason, remedy = _why.get()
    return TracingError(f"{what}, which is not known here: {reason}; {instead}, or {remedy}")


def concrete(node: Node) -> np.ndarray | None:
    """The value of the node as a NumPy array, or None where the value of some leaf it depends on is not known.

    Raises :class:`TracingError` for arrays on a device, but for single numbers.
    """
    value = evaluated(node)
    library = library_of(value)
    if value is None or library is None:
        return value
    if value.shape and not library.home_of(value).on_host:
        raise TracingError(
            f"what is done needs the values of an array of {library.home_of(value).name} of shape "
            f"{tuple(value.shape)} in NumPy, and nothing is moved from a device behind your back: compute what depends "
            "on values before the call, or move the array to the host yourself"
        )
    return np.asarray(library.to_numpy(value), node.dtype)


def evaluated(node: Node) -> np.ndarray | None:
    """The value of the node in the library that it is computed in; None where that of some leaf is not known."""
    known = known_values(node)
    if known is None:
        return None
    if node in known:
        return known[node]
    places = {inner: inner if isinstance(inner, Leaf) else fresh_leaf(inner.shape, inner.dtype) for inner in known}
    by_leaf = {places[inner]: value for inner, value in known.items()}
    roots = substitute([node], places)
    structure, found = structural_key(roots)

    def build() -> Derivation:
        over_slots, slots = with_slots(roots, found)
        return Derivation(slots, normalise(over_slots, progress_of_functions()))

    derivation, _ = find_or_derive(("evaluate", structure), build)
    home = home_among(known)
    (value,) = run(derivation, found, lambda leaf: by_leaf.get(leaf, value_of(leaf)), None, home=home)
    return remember(node, np.asarray(value, node.dtype) if home is None else value)


def known_values(root: Node) -> dict[Node, np.ndarray] | None:
    """Stored values that together determine the root, those nearest to it; None where they do not suffice."""
    found: dict[Node, np.ndarray] = {}
    seen = {root}
    stack = [root]
    while stack:
        node = stack.pop()
        value = value_of(node)
        if value is not None:
            found[node] = value
            continue
        if isinstance(node, Leaf):
            return None
        for operand in node.operands:
            if operand not in seen:
                seen.add(operand)
                stack.append(operand)
    return found
