"""Sums and products inside a product, opened where that shows structure and costs no memory.

Owns that choice. Imports terms, storing, the graph and rewriting. Invariant: the terms add up to the node.

``A (S + T) = A S + A T`` where the two terms take no more bytes than the one: so ``X[b,i] X[b,j] (p[b,k] δ[k,l] -
p[b,k] p[b,l])`` becomes a term with a delta and a term of low rank, unless both together are larger than the tensor.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from einsumad.compressed.merging import Pair, merged
from einsumad.compressed.places import entry_count
from einsumad.compressed.storing import best_stored, bytes_of
from einsumad.compressed.terms import read_term
from einsumad.graph import BOOL, Add, Affine, Einsum, Node, Ones, Structural, cast, topological
from einsumad.planning import progress_of_functions
from einsumad.rewriting import inline, normalise, put_in

_MOST_TERMS = 64
_MOST_OPENED = 128
_CLEARLY = 0.5
_SPARSE = 0.1
_DEEPEST = 4
_MOST_BYTES = 1.1
"""How much larger than the dense tensor its structure may be."""
_FEW_TERMS = 16
_BYTES_A_TERM = 2**14
"""What each term beyond a few counts as: the bytes that are moved in the time of its calls."""


def opened_terms(node: Node) -> list[Pair]:
    """The terms of the node, and how each is stored best."""
    found = _Opening().all_of(node)
    held = bytes_of([stored for _, stored in found]) + _BYTES_A_TERM * max(0, len(found) - _FEW_TERMS)
    if held <= _MOST_BYTES * prod(node.shape) * node.dtype.itemsize:
        return found
    term = read_term(node)
    return [] if term is None else [(term, best_stored(term))]


def _summands(node: Node) -> list[Node]:
    """The terms of a sum; sums inside of it, also under a transpose or a number, are taken apart."""
    found: list[Node] = []
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Add) and len(found) + len(waiting) + len(part.operands) <= _MOST_TERMS:
            waiting += [cast(operand, part.dtype) for operand in reversed(part.operands)]
        elif isinstance(part, Einsum) and len(part.operands) == 1 and isinstance(part.operands[0], Add):
            waiting += reversed(_distributed(part, 0))
        else:
            found.append(part)
    return found


class _Opening:
    """The choice for one tensor: what is known of the normal form is shared, and how much may be opened is bounded."""

    def __init__(self) -> None:
        self.progress = progress_of_functions()
        self.opened = 0

    def all_of(self, node: Node) -> list[Pair]:
        """The terms of a sum."""
        parts = [part for product in _summands(node) for part in _summands(self.settled(product))]
        return merged([pair for part in parts for pair in self.best(part)], self.progress)

    def best(self, product: Node) -> list[Pair]:
        """The terms of a product, opened as long as that takes no more bytes."""
        term = read_term(product)
        if term is None:
            return []
        found = [(term, best_stored(term))]
        if not isinstance(product, Einsum):
            return found
        for place in self.places(product):
            if self.opened >= _MOST_OPENED:
                break
            self.opened += 1
            parts = [inner for part in _opened(product, place) for inner in _summands(self.settled(part))]
            if len(parts) > _MOST_TERMS:
                continue
            other = merged([pair for part in parts for pair in self.best(part)], self.progress)
            if _is_better(other, found) or (_is_sparse(product.operands[place]) and _is_as_small(other, found)):
                return other
        return found

    def places(self, product: Einsum) -> Iterator[int]:
        """The operands that can be opened: sums first, then products."""
        openable = _openable(product)
        for kind in (Add, Einsum):
            for place, operand in enumerate(product.operands):
                if isinstance(operand, kind) and operand.dtype == product.dtype != BOOL and operand in openable:
                    yield place

    def settled(self, product: Node) -> Node:
        """The product in normal form, its operands as they are."""
        if not isinstance(product, Einsum):
            return product
        kept = {operand for operand in product.operands if not isinstance(operand, Structural)}
        return normalise([product], self.progress, frozenset(kept))[0]


def _openable(node: Node) -> set[Node]:
    """The sums and products below a node that show something when they are opened.

    That is what ties two of its own axes by 0/1 tensors, and a product with factors of fewer axes or with an operand
    that shows something. In a sum the terms that tie nothing cannot cancel the others; differences of numbers, such as
    ``(a[i] - b[j])**2``, would lose all their digits.
    """
    tied: dict[Node, list[set[int]]] = {}
    found: set[Node] = set()
    for inner in topological([node]):
        tied[inner] = _tied_axes(inner, tied)
        if any(len(group) > 1 for group in tied[inner]):
            found.add(inner)
        elif isinstance(inner, Einsum):
            stored = [f for f in inner.operands if not isinstance(f, Structural)]
            if all(len(f.shape) < len(inner.shape) for f in stored) or not found.isdisjoint(stored):
                found.add(inner)
    return found


def _tied_axes(node: Node, known: Mapping[Node, list[set[int]]]) -> list[set[int]]:
    """The axes that 0/1 tensors relate to each other, directly or through summed labels, inside of operands too."""
    match node:
        case Structural():
            return [] if isinstance(node, Ones) else [set(range(len(node.shape)))]
        case Add():
            groups = [group for term in node.operands for group in known[term]]
            return [set(group) for group in {frozenset(group) for group in groups}]
        case Einsum():
            found: list[set[int]] = []
            for operand, labels in zip(node.operands, node.inputs, strict=True):
                if isinstance(operand, Affine) and len(labels) > 2 and labels[0] >= len(node.shape):
                    continue  # what is read along it does not relate the places, such as rows and columns of a reshape
                for group in known[operand]:
                    tied = {labels[axis] for axis in group}
                    meeting = [other for other in found if not other.isdisjoint(tied)]
                    found = [other for other in found if other not in meeting] + [tied.union(*meeting)]
            return [kept for group in found if len(kept := group.intersection(range(len(node.shape)))) > 1]
    return []


def _opened(product: Einsum, place: int) -> list[Node]:
    operand = product.operands[place]
    if isinstance(operand, Add):
        return _distributed(product, place)
    return [inline(product, [place])]


def _distributed(product: Einsum, place: int) -> list[Node]:
    """``A (S + T)`` as ``A S`` and ``A T``."""
    inner = product.operands[place]
    return [put_in(product, place, cast(term, inner.dtype)) for term in inner.operands]


def _is_better(other: Sequence[Pair], found: Sequence[Pair]) -> bool:
    """Whether these terms take clearly fewer bytes, or no more and more of their indices are tied, by deltas alone."""
    mine, theirs = (bytes_of([stored for _, stored in terms]) for terms in (other, found))
    tied = mine <= theirs and _entries(other) < _entries(found) and _maps(other) <= _maps(found)
    return tied or mine < _CLEARLY * theirs


def _is_as_small(other: Sequence[Pair], found: Sequence[Pair]) -> bool:
    mine, theirs = (bytes_of([stored for _, stored in terms]) for terms in (other, found))
    return mine <= _MOST_BYTES * theirs


def _is_sparse(node: Node, depth: int = _DEEPEST) -> bool:
    """Whether a sum, or one in a product, has few entries beside the tensor that it is: what opening it saves."""
    if isinstance(node, Einsum) and depth:
        return any(_is_sparse(operand, depth - 1) for operand in node.operands)
    if not isinstance(node, Add):
        return False
    terms = [term for part in node.operands if (term := read_term(part)) is not None]
    return sum([entry_count(term) for term in terms]) <= _SPARSE * prod(node.shape)


def _maps(terms: Sequence[Pair]) -> int:
    """How many affine tensors and selections the terms have."""
    return sum([len(term.maps) for term, _ in terms])


def _entries(terms: Sequence[Pair]) -> int:
    """The fewest indices that one of the terms leaves free."""
    return min([len(set(term.axes)) for term, _ in terms], default=0)
