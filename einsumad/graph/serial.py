"""Graphs as flat tables of plain data: pickling without recursion, and restoring through the constructors.

Owns the table form and its registration with :mod:`copyreg`. Imports the kinds, constructors and traversal.
Invariant: a node pickles as one table of its whole graph, whatever its depth, and comes back interned: in the
process that made it as the same object while that lives.

Identity of traced leaves. A variable, number or slot is told by its key alone. A traced leaf is told by a
serial number that only the process which drew it may interpret: another process has drawn the same number for
another array, and two different arrays must never become one leaf. So a table names the process it comes from
by a random token (renewed in the child of a fork, which goes on counting on its own). Restored at home, the
leaf is the one with that serial number; restored abroad, its key is ``("foreign", "token:serial")``, the same
for every table that mentions this leaf, so that separately pickled pieces still fit together; sent home
again, it is the original leaf. Serial numbers are padded, so the leaves of one process keep their order
abroad. The name of a function that a user defined carries the token likewise: abroad there is no such function.
"""

from __future__ import annotations

import copyreg
import os
from collections.abc import Sequence
from typing import Any

from einsumad.errors import EinsumadError
from einsumad.graph.constructors import (
    add,
    affine,
    einsum,
    elementwise,
    general,
    leaf,
    ones,
    selection,
    unit,
    zero,
)
from einsumad.graph.nodes import (
    OWN,
    Add,
    Affine,
    Einsum,
    Elementwise,
    General,
    Leaf,
    LeafKey,
    Node,
    Ones,
    Selection,
    Unit,
    Zero,
)
from einsumad.graph.traversal import topological

_FORMAT = 1
_FOREIGN = "foreign"
_home = [os.urandom(8).hex()]  # one entry: the token of this process

Record = tuple[Any, ...]
Table = tuple[int, tuple[Record, ...], tuple[int, ...]]


def pack_graph(roots: Sequence[Node]) -> Table:
    """The graph as a table: its format, a record for each node (operands before users), the roots."""
    position: dict[Node, int] = {}
    records: list[Record] = []
    for node in topological(roots):
        operands = tuple([position[operand] for operand in node.operands])
        position[node] = len(records)
        records.append((type(node).__name__, node.shape, node.dtype.str, operands, *_fields(node)))
    return _FORMAT, tuple(records), tuple([position[root] for root in roots])


def unpack_graph(table: Table) -> tuple[Node, ...]:
    """The roots of the graph that a table describes, interned."""
    written, records, roots = table
    if written != _FORMAT:
        raise EinsumadError(
            f"this graph was stored in format {written}, this version reads format {_FORMAT}: store it again"
        )
    nodes: list[Node] = []
    for kind, shape, dtype, operands, *fields in records:
        nodes.append(_restore(kind, shape, dtype, [nodes[position] for position in operands], fields))
    return tuple([nodes[position] for position in roots])


def _fields(node: Node) -> tuple[Any, ...]:
    match node:
        case Leaf():
            return _abroad(node.key), node.name, node.facts
        case Affine():
            return node.strides, node.offset
        case Einsum():
            return node.coefficient, node.inputs
        case General() if OWN in node.function:
            return _own_abroad(node.function), node.params
        case Elementwise() | General():
            return node.function, node.params
    return ()


def _own_abroad(function: str) -> str:
    """The name of a user's function in every process: behind an ``@`` the token of the one that defined it."""
    return function if "@" in function.partition(OWN)[2] else f"{function}@{_home[0]}"


def _own_at_home(function: str) -> str:
    """The name of the function in this process."""
    return function.removesuffix(f"@{_home[0]}") if OWN in function else function


def _abroad(key: LeafKey) -> LeafKey:
    """The key that tells the leaf in every process."""
    return (_FOREIGN, f"{_home[0]}:{int(key[1]):016d}") if key[0] == "traced" else key


def _at_home(key: LeafKey) -> LeafKey:
    """The key that tells the leaf in this process."""
    if key[0] != _FOREIGN:
        return key
    token, _, serial = str(key[1]).partition(":")
    return ("traced", int(serial)) if token == _home[0] else key


def _restore(kind: str, shape: Any, dtype: str, operands: list[Node], fields: Sequence[Any]) -> Node:
    match kind, fields:
        case "Leaf", (key, name, facts):
            return leaf(shape, dtype, _at_home(key), name, facts)
        case "Einsum", (coefficient, inputs):
            return einsum(operands, inputs, range(len(shape)), coefficient, dtype)
        case "Add", ():
            return add(operands, dtype)
        case "Elementwise", (function, params):
            return elementwise(function, operands, params, dtype)
        case "General", (function, params):
            return general(_own_at_home(function), operands, params, shape, dtype)
    return _restore_structural(kind, shape, dtype, operands, fields)


def _restore_structural(kind: str, shape: Any, dtype: str, operands: list[Node], fields: Sequence[Any]) -> Node:
    match kind, fields:
        case "Unit", ():
            return unit(shape[0], len(shape), dtype)
        case "Ones", ():
            return ones(shape, dtype)
        case "Zero", ():
            return zero(shape, dtype)
        case "Affine", (strides, offset):
            return affine(shape[0], shape[1:], strides, offset, dtype)
        case "Selection", ():
            return selection(operands[0], shape[-1], dtype)
    raise EinsumadError(f"a stored graph has a record {kind!r} that this version does not know: store it again")


def _unpack_one(table: Table) -> Node:
    return unpack_graph(table)[0]


def _reduce(node: Node) -> tuple[Any, ...]:
    return _unpack_one, (pack_graph([node]),)


def _leave_home() -> None:
    _home[0] = os.urandom(8).hex()


for _kind in (Leaf, Unit, Ones, Zero, Affine, Selection, Einsum, Add, Elementwise, General):
    copyreg.pickle(_kind, _reduce)
if hasattr(os, "register_at_fork"):  # systems without fork lack it
    os.register_at_fork(after_in_child=_leave_home)
