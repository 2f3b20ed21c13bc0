"""One record for each content: the table of living nodes and the digests that address it.

Owns the table and the digests. Imports the node kinds. Invariant: two nodes of equal content are the same
object for as long as one of them lives, in every thread.
"""

from __future__ import annotations

import marshal
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar
from weakref import ref

import numpy as np

from einsumad.graph.digests import blake2b
from einsumad.graph.nodes import Leaf, LeafKey, Node, own_fields
from einsumad.locks import module_lock

_LEAVES_IN_ORDER_KEY = 8
_TEXTS = {dtype: dtype.str for dtype in map(np.dtype, ("?", "f", "d", "i", "l"))}
"""The texts of common dtypes, which NumPy makes anew at each look."""
_MARSHAL_VERSION = 2  # the last version without back references, hence a function of the content alone


class _Entry(ref[Node]):
    """A node for as long as it lives, and the digest under which it stands."""

    __slots__ = ("digest",)
    digest: bytes


_table: dict[bytes, _Entry] = {}
_gone: deque[_Entry] = deque()
"""The entries of nodes that have died since a node was entered: only who holds the lock takes entries out."""
# reentrant: a collection that starts inside may run finalisers that build graph
_lock = module_lock()

_made: ContextVar[list[Node] | None] = ContextVar("nodes that were asked for", default=None)

N = TypeVar("N", bound=Node)


def intern_node(kind: type[N], shape: tuple[int, ...], dtype: Any, operands: tuple[Node, ...], *own: Any) -> N:
    """The node of this kind and content, made if none is alive. `own` are the kind's own fields, plain data."""
    content = marshal.dumps((kind.__name__, shape, _TEXTS.get(dtype) or dtype.str, own), _MARSHAL_VERSION)
    digest = _digest(content, [operand.digest for operand in operands])
    found: Any = _living(digest)
    if found is None:
        form = _digest(content, [operand.form for operand in operands])
        found = _enter(kind(shape, dtype, operands, digest, form, _first_leaves(operands), *own))
    made = _made.get()
    if made is not None:
        made.append(found)
    return found  # type: ignore[no-any-return]  # the kind is part of the digest


@contextmanager
def recorded() -> Iterator[list[Node]]:
    """Within this context a list of the nodes that are asked for, in order, leaves left out.

    Those of a context inside are asked for in the outer one too.
    """
    made: list[Node] = []
    outer = _made.get()
    token = _made.set(made)
    try:
        yield made
    finally:
        _made.reset(token)
        if outer is not None:
            outer.extend(made)


class Mould(NamedTuple):
    """What a node has beside its operands: a node of other operands of the same forms can be made of it at once."""

    kind: type[Node]
    shape: tuple[int, ...]
    dtype: Any
    content: bytes
    form: bytes
    fields: tuple[Any, ...]


def mould_of(node: Node) -> Mould:
    """The mould of a node."""
    own = own_fields(node)
    content = marshal.dumps((type(node).__name__, node.shape, node.dtype.str, own), _MARSHAL_VERSION)
    return Mould(type(node), node.shape, node.dtype, content, node.form, own)


def intern_cast(mould: Mould, operands: tuple[Node, ...]) -> Node:
    """The node of a mould and operands whose forms are those of the operands that it was taken from."""
    digest = _digest(mould.content, [operand.digest for operand in operands])
    found = _living(digest)
    if found is None:
        kind, shape, dtype, _, form, own = mould
        found = _enter(kind(shape, dtype, operands, digest, form, _first_leaves(operands), *own))
    made = _made.get()
    if made is not None:
        made.append(found)
    return found


def intern_leaf(shape: tuple[int, ...], dtype: Any, key: LeafKey, name: str | None, facts: tuple[str, ...]) -> Leaf:
    """The leaf of this key and content, made if none is alive."""
    digest, form = leaf_digests(shape, dtype, key, name, facts)
    found = _living(digest)
    if found is not None:
        return found  # type: ignore[return-value]  # the kind is part of the digest
    # numbers are ordered by their text, because NaN has no order
    order = ("number", repr(key[1])) if key[0] == "number" else key
    return _enter(Leaf(shape, dtype, (), digest, form, (order,), key, name, facts))


def content_digests(
    kind: str, shape: tuple[int, ...], dtype: Any, operands: tuple[Node, ...], fields: tuple[Any, ...]
) -> tuple[bytes, bytes]:
    """The digest and form that a node of this kind and content has."""
    content = marshal.dumps((kind, shape, dtype.str, fields), _MARSHAL_VERSION)
    digests, forms = [operand.digest for operand in operands], [operand.form for operand in operands]
    return _digest(content, digests), _digest(content, forms)


def leaf_digests(
    shape: tuple[int, ...], dtype: Any, key: LeafKey, name: str | None, facts: tuple[str, ...]
) -> tuple[bytes, bytes]:
    """The digest and form that a leaf of this content has."""
    form = _leaf_form(shape, dtype.str, facts)
    return _digest(marshal.dumps((key, name), _MARSHAL_VERSION), [form]), form


@lru_cache(maxsize=4096)
def _leaf_form(shape: tuple[int, ...], dtype: str, facts: tuple[str, ...]) -> bytes:
    return _digest(marshal.dumps(("Leaf", shape, dtype, facts), _MARSHAL_VERSION), [])


def apart(node: N, operands: tuple[Node, ...], owner: bytes) -> N:
    """A node that says the same of these operands, for one owner alone: it is the one of no other content or owner."""
    digest = _digest(node.digest + owner, [operand.digest for operand in operands])
    return _enter(type(node)(node.shape, node.dtype, operands, digest, node.form, node.leaf_keys, *own_fields(node)))


def is_interned(node: Node) -> bool:
    """Whether the node is the one that stands for its content."""
    return _living(node.digest) is node


def _digest(content: bytes, operands: list[bytes]) -> bytes:
    """Marshalled data end where they end and digests have one length: no two contents give the same bytes."""
    return blake2b(content + b"".join(operands), digest_size=16).digest()


def _first_leaves(operands: tuple[Node, ...]) -> tuple[LeafKey, ...]:
    if operands and (len(operands) == 1 or len(operands[0].leaf_keys) == _LEAVES_IN_ORDER_KEY):
        return operands[0].leaf_keys
    seen: dict[LeafKey, None] = {}
    for operand in operands:
        seen.update(dict.fromkeys(operand.leaf_keys))
        if len(seen) >= _LEAVES_IN_ORDER_KEY:
            break
    return tuple(seen)[:_LEAVES_IN_ORDER_KEY]


def _living(digest: bytes) -> Node | None:
    entry = _table.get(digest)
    return None if entry is None else entry()


def _enter(made: N) -> N:
    """The node of this digest: the one that was just made, or another that lives."""
    entry = _Entry(made, _gone.append)
    entry.digest = made.digest
    with _lock:
        while _gone:
            dead = _gone.popleft()
            if _table.get(dead.digest) is dead:
                del _table[dead.digest]
        known = _table.setdefault(made.digest, entry)
        living = made if known is entry else known()
        if living is None:
            _table[made.digest] = entry
            return made
    return living  # type: ignore[return-value]  # the kind is part of the digest
