"""Products as chains of matrices: labels are vertices, matrices edges, vectors weights of vertices.

Owns the reading of paths and loops of that graph. Imports its siblings. Invariant: a path between two output
labels is a matrix product, one that ends in a summed label a matrix times a vector, one between two summed
labels a bilinear form, a loop of summed labels a trace; anything else has no reading.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field
from typing import NamedTuple

from einsumad.graph.display.fragments import ATOM, PRODUCT, Fragment, closed
from einsumad.records import record

_SHORT = re.compile(r".(ᵀ|⁻¹)*")
_PAIR = 2


class Matrix(NamedTuple):
    """A factor and whether it equals its transpose."""

    fragment: Fragment
    symmetric: bool

    def along(self, reverse: bool) -> str:
        """The factor as it stands in a chain, transposed where it is walked against its axes."""
        text = closed(self.fragment, ATOM)
        return f"{text}ᵀ" if reverse and not self.symmetric else text


class _Edge(NamedTuple):
    start: int
    end: int
    matrix: Matrix


class _Chain(NamedTuple):
    """A connected part of a product: its text and its output labels."""

    fragment: Fragment
    axes: tuple[int, ...]
    symmetric: bool = False


@record(frozen=False, eq=True, repr=True)
class Pieces:
    """The factors of a product of `rank` output labels, sorted by what they are."""

    rank: int
    scalars: list[str] = field(default_factory=list)
    vectors: dict[int, list[str]] = field(default_factory=dict)
    edges: list[_Edge] = field(default_factory=list)
    deltas: list[tuple[int, ...]] = field(default_factory=list)
    labels: dict[int, None] = field(default_factory=dict)
    traces: dict[int, str] = field(default_factory=dict)

    def put(self, factor: Matrix, labels: Sequence[int]) -> None:
        """Sort in a factor of at most two axes."""
        self.labels.update(dict.fromkeys(labels))
        if not labels:
            self.scalars.append(closed(factor.fragment, ATOM))
        elif len(labels) == 1:
            self.vectors.setdefault(labels[0], []).append(closed(factor.fragment, ATOM))
        elif labels[0] == labels[1]:
            self.traces[labels[0]] = factor.fragment.text
            self.vectors.setdefault(labels[0], []).append(f"diag({factor.fragment.text})")
        else:
            self.edges.append(_Edge(labels[0], labels[1], factor))

    def weight(self, label: int) -> str | None:
        """The entrywise product of the vectors on a label."""
        found = sorted(self.vectors.get(label, []))
        return None if not found else found[0] if len(found) == 1 else f"({' ⊙ '.join(found)})"


def read_pieces(pieces: Pieces) -> tuple[Fragment, tuple[tuple[int, ...], ...], bool] | None:
    """The text of a product, the axes of its factors where a ⊗ joins them, and whether it is symmetric."""
    chains = _read_deltas(pieces)
    if chains is None:
        return None
    taken = {label for chain in chains for label in chain.axes}
    for component in _components(pieces, [label for label in pieces.labels if label not in taken]):
        chain = _read_component(pieces, component)
        if chain is None:
            return None
        chains.append(chain)
    scalars = sorted([*pieces.scalars, *(closed(chain.fragment, ATOM) for chain in chains if not chain.axes)])
    tensors = sorted((c for c in chains if c.axes), key=lambda c: (c.fragment.text == "δ", c.axes))
    if not tensors:
        alone = len(scalars) == 1 and not pieces.scalars
        text = next(chain.fragment for chain in chains) if alone else _join(scalars)
        return text, (), False
    body, axes, symmetric = _join_tensors(tensors, pieces.rank)
    return (_join([*scalars, closed(body, PRODUCT)], " ") if scalars else body), axes, symmetric


def _join_tensors(tensors: Sequence[_Chain], rank: int) -> tuple[Fragment, tuple[tuple[int, ...], ...], bool]:
    if len(tensors) == 1:
        only = tensors[0]
        if only.fragment.text == "δ" and rank == _PAIR:
            return Fragment("I", ATOM), (), True
        return only.fragment, (() if rank <= _PAIR else (only.axes,)), only.symmetric
    texts = [closed(tensor.fragment, ATOM) for tensor in tensors]
    if rank == _PAIR:
        return Fragment(f"{texts[0]} {texts[1]}ᵀ", PRODUCT), (), texts[0] == texts[1]
    return Fragment(" ⊗ ".join(texts), PRODUCT), tuple(tensor.axes for tensor in tensors), False


def _read_deltas(pieces: Pieces) -> list[_Chain] | None:
    """Deltas that stand alone, or hold one vector on a diagonal."""
    chains: list[_Chain] = []
    taken: set[int] = set()
    for labels in pieces.deltas:
        touched = [label for label in labels if label in pieces.labels]
        joined = any(edge.start in labels or edge.end in labels for edge in pieces.edges)
        if joined or len(touched) > 1 or taken & set(labels) or (touched and len(labels) > _PAIR):
            return None
        taken.update(labels)
        weight = pieces.weight(touched[0]) if touched else None
        text = f"diag({_bare(weight)})" if weight is not None else "δ"
        chains.append(_Chain(Fragment(text, ATOM), tuple(sorted(labels)), symmetric=True))
    return chains


def _components(pieces: Pieces, labels: Sequence[int]) -> list[list[int]]:
    near: dict[int, list[int]] = {label: [] for label in labels}
    for edge in pieces.edges:
        near[edge.start].append(edge.end)
        near[edge.end].append(edge.start)
    found: list[list[int]] = []
    seen: set[int] = set()
    for label in sorted(labels):
        if label in seen:
            continue
        seen.add(label)
        component = [label]
        for member in component:
            fresh = [other for other in dict.fromkeys(near[member]) if other not in seen]
            seen.update(fresh)
            component.extend(fresh)
        found.append(component)
    return found


def _read_component(pieces: Pieces, component: Sequence[int]) -> _Chain | None:
    members = set(component)
    edges = [edge for edge in pieces.edges if edge.start in members]
    if len(component) == 1:
        return _read_vertex(pieces, component[0])
    outputs = tuple(sorted(label for label in component if label < pieces.rank))
    if not outputs and len(edges) == len(component) and _loop_degrees(edges):
        return _read_loop(pieces, edges)
    merged = _merge_parallel(edges)
    degree = {label: sum(label in (edge.start, edge.end) for edge in merged) for label in component}
    ends = sorted(label for label in component if degree[label] == 1)
    if len(merged) != len(component) - 1 or len(ends) != _PAIR or any(label not in ends for label in outputs):
        return None
    if not outputs:
        return _read_form(pieces, merged, ends)
    labels, words = _walk(pieces, merged, ends[0])
    if len(outputs) == _PAIR:
        if len(merged) == 1 and merged[0].start == labels[0] and not any(map(pieces.weight, labels)):
            return _Chain(merged[0].matrix.fragment, outputs, merged[0].matrix.symmetric)
        outer = [pieces.weight(label) for label in (labels[0], labels[-1])]
        words = [f"diag({_bare(w)})" for w in outer[:1] if w] + words + [f"diag({_bare(w)})" for w in outer[1:] if w]
        return _Chain(_chain_text(words), outputs, _is_symmetric(words, merged))
    text = _chain_text([*words, pieces.weight(labels[-1]) or "1"])
    weight = pieces.weight(labels[0])
    if weight is not None:
        text = Fragment(f"{weight} ⊙ {closed(text, ATOM)}", PRODUCT)
    return _Chain(text, outputs)


def _read_vertex(pieces: Pieces, label: int) -> _Chain:
    vectors = sorted(pieces.vectors.get(label, []))
    if label < pieces.rank:
        text = " ⊙ ".join(vectors) if vectors else "1"
        return _Chain(Fragment(text, ATOM if len(vectors) <= 1 else PRODUCT), (label,))
    if len(vectors) == 1 and label in pieces.traces:
        return _Chain(Fragment(f"tr({pieces.traces[label]})", ATOM), ())
    first, rest = (vectors[0], vectors[1:]) if len(vectors) > 1 else ("1", vectors or ["1"])
    right = rest[0] if len(rest) == 1 else f"({' ⊙ '.join(rest)})"
    return _Chain(_chain_text([f"{first}ᵀ", right]), ())


def _read_form(pieces: Pieces, edges: Sequence[_Edge], ends: Sequence[int]) -> _Chain:
    """A bilinear form, walked in the direction with fewer transpositions."""
    readings = []
    for start in ends:
        labels, words = _walk(pieces, edges, start)
        left, right = (pieces.weight(label) or "1" for label in (labels[0], labels[-1]))
        readings.append(_chain_text([f"{left}ᵀ", *words, right]))
    return _Chain(min(readings, key=lambda text: (text.text.count("ᵀ"), text.text)), ())


def _read_loop(pieces: Pieces, edges: Sequence[_Edge]) -> _Chain:
    """A trace, or the inner product of two matrices with the same axes."""
    first, second = edges[0], edges[1]
    weighted = any(pieces.weight(label) for edge in edges for label in (edge.start, edge.end))
    if len(edges) == _PAIR and (first.start == second.start or first.matrix.symmetric) and not weighted:
        texts = sorted(edge.matrix.fragment.text for edge in edges)
        norm = f"‖{texts[0]}‖²" if texts[0] == texts[1] else f"⟨{', '.join(texts)}⟩"
        return _Chain(Fragment(norm, ATOM), ())
    readings = []
    for cut in range(len(edges)):
        opened = [edge for k, edge in enumerate(edges) if k != cut]
        for start in (edges[cut].start, edges[cut].end):
            labels, words = _walk(pieces, opened, start)
            closing = edges[cut].matrix.along(reverse=start == edges[cut].start)
            inner = [f"diag({_bare(w)})" if w else "" for w in (pieces.weight(labels[-1]), pieces.weight(start))]
            readings.append(_chain_text([word for word in (*words, inner[0], closing, inner[1]) if word]).text)
    return _Chain(Fragment(f"tr({min(readings, key=lambda text: (text.count('ᵀ'), text))})", ATOM), ())


def _loop_degrees(edges: Sequence[_Edge]) -> bool:
    count: dict[int, int] = {}
    for edge in edges:
        for label in (edge.start, edge.end):
            count[label] = count.get(label, 0) + 1
    return all(number == _PAIR for number in count.values())


def _merge_parallel(edges: Sequence[_Edge]) -> list[_Edge]:
    """Matrices over the same two labels multiply entrywise first."""
    groups: dict[tuple[int, int], list[_Edge]] = {}
    for edge in edges:
        groups.setdefault((min(edge.start, edge.end), max(edge.start, edge.end)), []).append(edge)
    merged: list[_Edge] = []
    for (start, end), group in groups.items():
        if len(group) == 1:
            merged.append(group[0])
            continue
        text = " ⊙ ".join(sorted(edge.matrix.along(reverse=edge.start != start) for edge in group))
        symmetric = all(edge.matrix.symmetric for edge in group)
        merged.append(_Edge(start, end, Matrix(Fragment(text, PRODUCT), symmetric)))
    return merged


def _walk(pieces: Pieces, edges: Sequence[_Edge], start: int) -> tuple[list[int], list[str]]:
    """The labels of a path from one end, and its factors with the weights of the labels between them."""
    labels: list[int] = [start]
    words: list[str] = []
    left = list(edges)
    while left:
        edge = next(edge for edge in left if labels[-1] in (edge.start, edge.end))
        left.remove(edge)
        if words and (weight := pieces.weight(labels[-1])):
            words.append(f"diag({_bare(weight)})")
        reverse = edge.end == labels[-1]
        words.append(edge.matrix.along(reverse))
        labels.append(edge.start if reverse else edge.end)
    return labels, words


def _is_symmetric(words: Sequence[str], edges: Sequence[_Edge]) -> bool:
    """Whether a chain reads the same backwards: XᵀX, Xᵀ diag(d) X, A of a symmetric leaf."""
    plain = {edge.matrix.along(reverse=False) for edge in edges if edge.matrix.symmetric}
    turned = [
        word if word in plain or word.startswith("diag(") else word[:-1] if word.endswith("ᵀ") else f"{word}ᵀ"
        for word in reversed(words)
    ]
    return turned == list(words)


def _chain_text(words: Sequence[str]) -> Fragment:
    if len(words) == 1:
        return Fragment(words[0], ATOM if _SHORT.fullmatch(words[0]) or "⊙" not in words[0] else PRODUCT)
    return _join(words)


def _join(words: Sequence[str], by: str = "") -> Fragment:
    """Single letters stand close together, longer words apart."""
    if all(_SHORT.fullmatch(word) for word in words):
        return Fragment(by.join(words), PRODUCT if len(words) > 1 else ATOM)
    return Fragment(" ".join(words), PRODUCT if len(words) > 1 else ATOM)


def _bare(weight: str) -> str:
    """A text without the parentheses around the whole of it."""
    if not weight.startswith("(") or not weight.endswith(")"):
        return weight
    depth = 0
    for position, character in enumerate(weight):
        depth += (character == "(") - (character == ")")
        if depth == 0 and position < len(weight) - 1:
            return weight
    return weight[1:-1]
