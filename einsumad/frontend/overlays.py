"""Which entries of an array were written, and by which writes: what an array filled in a loop is made of.

Owns the table of such arrays. Imports broadcasting. Invariant: an array in the table is the entries of its base that
nothing was written over, plus one term for each write, and no two of them stand at one place. So a loop of writes is
one sum, with one mask or none, and no chain of masks; entries that are written over are in it no more. What is read at
the very index of a write is what was written there.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import field
from weakref import WeakKeyDictionary

import numpy as np

from einsumad.frontend.axes import insert_axes
from einsumad.frontend.broadcasting import product
from einsumad.frontend.lifting import as_node
from einsumad.frontend.looks import look
from einsumad.graph import Node, Zero, add
from einsumad.locks import module_lock
from einsumad.records import record


@record
class Overlay:
    """Terms over a base: `owner` says of each entry which term it comes from, -1 of those from the base.

    `written` has what stands at an index, and which term that is.
    """

    base: Node
    owner: np.ndarray
    terms: tuple[Node | None, ...] = ()
    total: Node | None = None
    written: Mapping[Hashable, tuple[int, Node]] = field(default_factory=dict)


@record
class Write:
    """New entries at an index, if it is one by which they may be asked for; as an array with zeros elsewhere."""

    index: Hashable | None
    entries: Node
    placed: Node


_overlays: WeakKeyDictionary[Node, Overlay] = WeakKeyDictionary()
_lock = module_lock()


def overlaid(node: Node, places: np.ndarray, write: Write) -> Node:
    """The numbers of a node with new ones at places, some at least."""
    if places.all():
        return write.placed
    before = _found(node) or _fresh(node)
    gone = _written_over(before, places)
    if gone is None:
        before, gone = _fresh(node), []
    after = _with_term(before, places, write, gone)
    held = None if isinstance(after.base, Zero) else _held(after.base, after.owner < 0)
    terms = [term for term in (held, after.total) if term is not None]
    result = add(terms, node.dtype)
    look()  # a node that is made again is in no table
    with _lock:
        _overlays[result] = after
    return result


def is_overlaid(node: Node) -> bool:
    """Whether the node is known as an array that was written to: what is read of it is not told by its form."""
    return node in _overlays


def last_written(node: Node, index: Hashable) -> Node | None:
    """What was written at the index, if nothing was written over it since."""
    overlay = _found(node)
    found = None if overlay is None else overlay.written.get(index)
    return None if found is None else found[1]


def _found(node: Node) -> Overlay | None:
    with _lock:
        return _overlays.get(node)


def _fresh(node: Node) -> Overlay:
    return Overlay(node, np.full(node.shape, -1, np.int32))


def _written_over(before: Overlay, places: np.ndarray) -> list[int] | None:
    """The terms of which a write at these places leaves nothing; None if it leaves a part of one."""
    touched = np.unique(before.owner[places])
    touched = touched[touched >= 0]
    if touched.size and np.isin(before.owner[~places], touched).any():
        return None
    return [int(k) for k in touched]


def _with_term(before: Overlay, places: np.ndarray, write: Write, gone: Sequence[int]) -> Overlay:
    number = gone[0] if gone else len(before.terms)
    owner = before.owner.copy()
    owner[places] = number
    terms = [None if k in gone else term for k, term in enumerate((*before.terms, None))]
    terms[number] = write.placed
    if gone or before.total is None:
        total = _sum([term for term in terms if term is not None])
    else:
        total = _sum([before.total, write.placed])
    written = (
        {index: found for index, found in before.written.items() if found[0] not in gone} if gone else before.written
    )
    if write.index is not None:
        written = {**written, write.index: (number, write.entries)}
    return Overlay(before.base, owner, tuple(terms[:-1] if gone else terms), total, written)


def _sum(terms: Sequence[Node]) -> Node:
    return terms[0] if len(terms) == 1 else add(terms, terms[0].dtype)


def _held(base: Node, kept: np.ndarray) -> Node | None:
    """The base where it is kept; None where that is nowhere. The mask has the axes that it needs."""
    if not kept.any():
        return None
    same = [axis for axis in range(kept.ndim) if (kept == kept.take([0], axis)).all()]
    narrow = kept[tuple([0 if axis in same else slice(None) for axis in range(kept.ndim)])]
    return product([insert_axes(as_node(narrow), same), base], base.dtype, shape=base.shape)
