"""Products distributed over sums whose terms are larger than what they are made of, as those written along an index.

Owns this choice. Imports the graph, rewriting and the cost of a plan. Invariant: the roots keep value, shape and dtype.

    Σ_m (A[m] [k = s[m]] - B[m] [k = t[m]]) [i = s[m]] = Σ_m A[m] [i = s[m]] [k = s[m]] - Σ_m B[m] [i = s[m]] [k = t[m]]

Stored, the sum in brackets has an entry for every m and k, of which one for each m and term is not zero. Opened, each
term is added up at pairs of indices. Terms of one sum that are written along the same maps are added before, so what
is multiplied meets no terms that could cancel but where maps lead to the same place. A sum over a sum is opened too,
where every term can be summed before it is multiplied.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import NamedTuple, TypeAlias

from einsumad.graph import (
    Add,
    Affine,
    Einsum,
    Labels,
    Node,
    Number,
    Ones,
    Selection,
    Structural,
    Unit,
    add,
    einsum,
    rebuild,
    scale,
    topological,
)
from einsumad.planning.contraction import binarise
from einsumad.planning.cost import total_cost
from einsumad.planning.held import once, progress_of_plans
from einsumad.planning.primitives import is_mask
from einsumad.rewriting import normalise

_MOST_TERMS = 64

Placed: TypeAlias = tuple[Node, Labels]


class Written(NamedTuple):
    """A term ``coefficient core[labels] maps``: every label is an axis of the term."""

    coefficient: Number
    core: Node
    labels: Labels
    maps: tuple[Placed, ...]


@once
def distribute(roots: Sequence[Node]) -> tuple[Node, ...]:
    """The roots with such products opened, in normal form, where the plan of that is estimated to be faster."""
    sums: dict[Node, tuple[Written, ...]] = {}
    memo: dict[Node, Node] = {}
    for node in topological(roots):
        new = rebuild(node, [memo[operand] for operand in node.operands])
        if isinstance(new, Einsum) and new.dtype.kind == "f":
            inside = _summed_inside(new)
            new = _product(new, sums) if inside is None else inside
        elif isinstance(new, Add) and all(operand in sums for operand in new.operands):
            _enter(new, [term for operand in new.operands for term in sums[operand]], sums)
        memo[node] = new
    opened = tuple([memo[root] for root in roots])
    if opened == tuple(roots):
        return opened
    opened = normalise(opened, progress_of_plans())
    seconds = [total_cost(binarise(nodes)).seconds() for nodes in (roots, opened)]
    return opened if seconds[1] < seconds[0] else tuple(roots)


def _summed_inside(node: Einsum) -> Node | None:
    """``Σ_k (A B[k] + C D[k]) = A Σ_k B[k] + C Σ_k D[k]``, where one factor of each term has what is summed."""
    if len(node.operands) != 1:
        return None
    (total,), (labels,) = node.operands, node.inputs
    rank = len(node.shape)
    gone = {axis for axis, label in enumerate(labels) if label >= rank}
    if not gone or not isinstance(total, Add) or total.dtype != node.dtype or len(set(labels)) < len(labels):
        return None
    output = [labels.index(label) for label in range(rank)]
    terms: list[Node] = []
    for term in total.operands:
        whole = [(term, tuple(range(len(labels))))]
        pairs = list(zip(term.operands, term.inputs, strict=True)) if isinstance(term, Einsum) else whole
        holding = [pair for pair in pairs if not gone.isdisjoint(pair[1])]
        held = [label for _, own in holding for label in gone.intersection(own)]
        if len(held) != len(gone) or any(isinstance(o, Structural) or o.dtype != node.dtype for o, _ in holding):
            return None
        less = [_without(pair, gone, node) if pair in holding else pair for pair in pairs]
        coefficient = node.coefficient * (term.coefficient if isinstance(term, Einsum) else 1)
        terms.append(einsum([o for o, _ in less], [own for _, own in less], output, coefficient, node.dtype))
    return add(terms, node.dtype)


def _without(pair: Placed, gone: set[int], node: Einsum) -> Placed:
    """A factor summed over labels that nothing else has."""
    operand, labels = pair
    kept = tuple(dict.fromkeys([label for label in labels if label not in gone]))
    return einsum([operand], [labels], kept, 1, node.dtype), kept


def _product(node: Einsum, sums: dict[Node, tuple[Written, ...]]) -> Node:
    """The product, opened where that is less work; as it is if it is written along maps itself, which is noted."""
    count = prod([len(sums.get(operand, ())) or 1 for operand in node.operands])
    if count > _MOST_TERMS or any(operand.dtype != node.dtype for operand in node.operands if operand in sums):
        return node
    opens = any(operand in sums for operand in node.operands)
    terms = list(_terms(node, sums)) if opens else [node]
    written = [found for term in terms if (found := _written(term)) is not None]
    if len(written) == len(terms):
        _enter(node, written, sums)
        return node
    if not opens or not _is_less(node, terms, sums):
        return node
    return add(terms, node.dtype)


def _terms(node: Einsum, sums: Mapping[Node, tuple[Written, ...]]) -> Iterator[Einsum]:
    """The product with one term of every such sum at a time."""
    held = [sums.get(operand, (None,)) for operand in node.operands]
    for chosen in product(*held):
        coefficient, operands, inputs = node.coefficient, [], []
        for operand, labels, term in zip(node.operands, node.inputs, chosen, strict=True):
            if term is None:
                operands.append(operand)
                inputs.append(labels)
                continue
            coefficient *= term.coefficient
            for inner, own in ((term.core, term.labels), *term.maps):
                operands.append(inner)
                inputs.append(tuple([labels[axis] for axis in own]))
        found = einsum(operands, inputs, range(len(node.shape)), coefficient, node.dtype)
        if isinstance(found, Einsum):
            yield found


def _enter(node: Node, terms: Iterable[Written], sums: dict[Node, tuple[Written, ...]]) -> None:
    """Note that the node is the sum of these terms, if there are few and their cores are small beside it."""
    groups: dict[tuple[Labels, tuple[Placed, ...]], list[Written]] = {}
    for term in terms:
        groups.setdefault((term.labels, term.maps), []).append(term)
    found = tuple([_together(group) for group in groups.values()])
    if len(found) <= _MOST_TERMS and 2 * sum([prod(term.core.shape) for term in found]) <= prod(node.shape):
        sums[node] = found


def _together(group: Sequence[Written]) -> Written:
    """Terms along the same maps as one; its sign is outside, so that terms of opposite sign have one core."""
    first = group[0]
    if len(group) == 1:
        return first
    outer = 1 if first.coefficient > 0 else -1
    cores = [scale(outer * term.coefficient, term.core) for term in group]
    return first._replace(coefficient=outer, core=add(cores, first.core.dtype))


def _written(node: Einsum) -> Written | None:
    """The product as a term that is written along maps over its own axes; None where it is not larger for that."""
    rank = len(node.shape)
    pairs = list(zip(node.operands, node.inputs, strict=True))
    maps = [
        pair
        for pair in pairs
        if isinstance(pair[0], Affine | Selection | Unit | Ones) and max(pair[1], default=-1) < rank
    ]
    kept = [pair for pair in pairs if pair not in maps]
    held = {label for _, labels in kept for label in labels}
    if not any(isinstance(m, Affine | Selection) and not held.issuperset(labels) for m, labels in maps):
        return None
    if not kept or all(isinstance(operand, Structural) or is_mask(operand) for operand, _ in kept):
        return None
    labels = tuple(sorted(label for label in held if label < rank))
    core, coefficient = kept[0][0], node.coefficient
    if len(kept) > 1 or kept[0][1] != labels:
        core = einsum([operand for operand, _ in kept], [own for _, own in kept], labels, 1, node.dtype)
    if 2 * prod(core.shape) > prod(node.shape):
        return None
    return Written(coefficient, core, labels, tuple(sorted(maps, key=lambda pair: (pair[0].digest, pair[1]))))


def _is_less(node: Einsum, terms: Sequence[Einsum], sums: Mapping[Node, tuple[Written, ...]]) -> bool:
    """Whether the terms take less work than storing the sums and multiplying with them."""
    stored = sum([prod(operand.shape) * len(sums[operand]) for operand in node.operands if operand in sums])
    return sum([_work(term) + prod(term.shape) for term in terms]) < stored + _work(node)


def _work(node: Einsum) -> int:
    """The entries that are multiplied: of all indices but those that maps give."""
    sizes: dict[int, int] = {}
    given: set[int] = set()
    for operand, labels in zip(node.operands, node.inputs, strict=True):
        sizes.update(zip(labels, operand.shape, strict=True))
        if isinstance(operand, Affine | Selection):
            given.add(labels[0] if isinstance(operand, Affine) else labels[-1])
    return prod([size for label, size in sizes.items() if label not in given])
