"""Rules that read along a map before a function is applied, and not behind it.

Imports the graph and the catalogue. Invariant: what is not read is not computed, so that it takes no part in any
derivative either, whatever it is there: NaN or infinite, or an eigenvalue equal to others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import prod

from einsumad.functions import call
from einsumad.functions.general.chosen import Chosen, chosen
from einsumad.graph import (
    BOOL,
    Add,
    Affine,
    Einsum,
    Elementwise,
    General,
    Labels,
    Node,
    Selection,
    add,
    affine,
    einsum,
    elementwise,
    selection,
)
from einsumad.rewriting.affine import reads_fewer
from einsumad.rewriting.masks import support
from einsumad.rewriting.product import open_product
from einsumad.rewriting.rules import Context, Rule

_PLACES = {"eigh_values": 1, "eigh_vectors": 1, "svd_values": 0, "svd_left": 0, "svd_right": 0}
"""Functions of which some values or vectors can be had, and where in their params the choice stands."""
_ASCENDING = {"eigh_values": True, "svd_values": False}
"""Whether values grow with their place."""


def read_first(node: Einsum, context: Context) -> Node | None:
    """``Σ_j f(A[j]) B[j] [j = g(i)] = Σ_j f(A[g(i)]) B[j] [j = g(i)]``, for sums as for functions, if i are fewer.

    Where the function has several users they have to read, together, no more entries than there are. Masks, and what
    they select, stay beside each other.
    """
    for k, operand in enumerate(node.operands):
        if not isinstance(operand, Elementwise | Add) or operand.dtype == BOOL or not operand.shape:
            continue
        if context.is_shared(operand) and operand not in context.read_in_parts:
            continue
        found = _map_of(node, k)
        if found is None or support(operand):
            continue
        position, at, places = found
        others = sum(at in labels for labels in node.inputs) > 2
        reading = node.operands[position]
        axis = node.inputs[k].index(at)
        made = _rebuilt(operand, [_read(inner, axis, reading) for inner in operand.operands])
        work = open_product(node)
        work.append(made, (*node.inputs[k][:axis], *places, *node.inputs[k][axis + 1 :]))
        work.drop([k] if others else [k, position])
        return work.build()
    return None


def read_diagonal(node: Einsum, context: Context) -> Node | None:
    """``f(A)[i,i] = f(A[i,i])``, for sums as for functions, where nothing else uses the function."""
    for k, (operand, labels) in enumerate(zip(node.operands, node.inputs, strict=True)):
        if not isinstance(operand, (Elementwise, Add)) or len(set(labels)) == len(labels) or operand.dtype == BOOL:
            continue
        if context.is_shared(operand) or node.operands.count(operand) > 1 or support(operand):
            continue
        distinct = tuple(dict.fromkeys(labels))
        inner: list[Node] = [einsum([part], [labels], distinct, 1, part.dtype) for part in operand.operands]
        work = open_product(node)
        work.drop([k])
        work.append(_rebuilt(operand, inner), distinct)
        return work.build()
    return None


def read_in_parts(nodes: Iterable[Node], users: Counter[Node]) -> set[Node]:
    """Functions and sums that all their users read, together no more entries of them than there are."""
    slots: Counter[Node] = Counter()
    entries: dict[Node, dict[tuple[Node, int], int]] = {}
    for node in nodes:
        if not isinstance(node, Einsum) or not any(
            isinstance(operand, Affine | Selection) for operand in node.operands
        ):
            continue
        for k, operand in enumerate(node.operands):
            found = _map_of(node, k) if isinstance(operand, Elementwise | Add) and users[operand] > 1 else None
            if found is not None:
                position, at, _ = found
                reading = node.operands[position]
                slots[operand] += 1
                size = operand.shape[node.inputs[k].index(at)]
                key = (reading, node.inputs[k].index(at))
                entries.setdefault(operand, {})[key] = prod(operand.shape) * prod(reading.shape) // size**2
    return {
        node
        for node, parts in entries.items()
        if slots[node] == users[node] and sum(parts.values()) <= prod(node.shape)
    }


def _rebuilt(node: Elementwise | Add, operands: list[Node]) -> Node:
    if isinstance(node, Add):
        return add(operands, node.dtype)
    return elementwise(node.function, operands, node.params, node.dtype)


def _map_of(node: Einsum, k: int) -> tuple[int, int, Labels] | None:
    """The one map that reads an axis of an operand at fewer places: its position, the index it gives and the places."""
    rank = len(node.shape)
    for at in node.inputs[k]:
        if at < rank or node.inputs[k].count(at) > 1:
            continue
        pairs = enumerate(zip(node.operands, node.inputs, strict=True))
        maps = [j for j, (other, labels) in pairs if reads_fewer(other, labels, at)]
        if len(maps) == 1:
            (position,) = maps
            labels = node.inputs[position]
            return position, at, labels[1:] if isinstance(node.operands[position], Affine) else labels[:-1]
    return None


def _read(node: Node, axis: int, reading: Node) -> Node:
    """The node read along a map in place of one axis, in its own dtype."""
    rank = len(node.shape)
    own = tuple(range(rank, rank + len(reading.shape) - 1))
    if isinstance(reading, Affine):
        labels = (axis, *own)
        typed = affine(reading.shape[0], reading.shape[1:], reading.strides, reading.offset, node.dtype)
    else:
        labels = (*own, axis)
        typed = selection(reading.operands[0], reading.shape[-1], node.dtype)
    axes = range(rank)
    return einsum([node, typed], [axes, labels], (*axes[:axis], *own, *axes[axis + 1 :]), 1, node.dtype)


def read_eigenvalues(node: Einsum, _: Context) -> Node | None:
    """``Σ_j w[j] [j = a + p i] = w_(a + p i)``: some eigenvalues, eigenvectors or their like by themselves."""
    for k, operand in enumerate(node.operands):
        if not isinstance(operand, General) or operand.function not in _PLACES:
            continue
        at = node.inputs[k][-1]
        found = _map_of(node, k)
        if found is None or found[1] != at or sum(at in labels for labels in node.inputs) > 2:
            continue
        position, places = found[0], found[2]
        reading = node.operands[position]
        if isinstance(reading, Affine) and len(places) == 1:
            number = reading.shape[1]
            work = open_product(node)
            some = _some(operand, Chosen(reading.offset, reading.strides[0] if number > 1 else 1, number))
            work.append(some, (*node.inputs[k][:-1], *places))
            work.drop([k, position])
            return work.build()
    return None


def _some(node: General, places: Chosen) -> Node:
    """Some of the values or vectors that the node has."""
    position = _PLACES[node.function]
    before = chosen(node.params, position, node.shape[-1])
    return call(node.function, *node.operands, params=(*node.params[:position], *places.among(before)))


def extreme_eigenvalue(node: General, _context: Context) -> Node | None:
    """``max_i w[i] = w[n - 1]`` of eigenvalues in ascending order, and so on: the others do not matter."""
    (values,) = node.operands[:1] or (node,)
    if node.function not in ("max_reduce", "min_reduce") or not isinstance(values, General):
        return None
    ascending = _ASCENDING.get(values.function)
    size = values.shape[-1]
    if ascending is None or size < 2:
        return None
    grows = ascending == (chosen(values.params, _PLACES[values.function], size).step > 0)
    place = size - 1 if grows == (node.function == "max_reduce") else 0
    some = _some(values, Chosen(place, 1, 1))
    return einsum([some], [range(len(some.shape))], range(len(node.shape)), 1, node.dtype)


RULES_FOR_PRODUCTS = (
    Rule(
        "read-first",
        Einsum,
        "Σ_j f(A[j]) [j = g(i)] = f(A[g(i)])",
        "entries of operands",
        read_first,
        frozenset([Affine, Selection]),
    ),
    Rule(
        "read-diagonal",
        Einsum,
        "f(A)[i,i] = f(A[i,i])",
        "entries of operands",
        read_diagonal,
        frozenset([Add, Elementwise]),
    ),
    Rule(
        "read-eigenvalues",
        Einsum,
        "Σ_j w[j] [j = a + p i] = w_(a + p i)",
        "entries of operands",
        read_eigenvalues,
        frozenset([Affine]),
    ),
)
RULES_FOR_GENERAL = (
    Rule(
        "extreme-eigenvalue",
        General,
        "max_i w[i] = w_(n - 1)",
        "reductions of eigenvalues",
        extreme_eigenvalue,
        frozenset([General]),
    ),
)
