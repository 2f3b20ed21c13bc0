"""Terms that are tied alike, added into one.

Owns this choice. Imports terms, storing, the graph and rewriting. Invariant: the terms keep their sum. They are added
where that takes no more bytes than to store them apart.

Alike are terms with the same deltas and the same maps: ``A[i,k] δ[i,j] + B[i,k] δ[i,j] = (A + B)[i,k] δ[i,j]``, and
``Σ_o A[o] [i = s[o]] [j = t[o]] + Σ_o B[o] [i = s[o]] [j = t[o]] = Σ_o (A + B)[o] [i = s[o]] [j = t[o]]``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from einsumad.compressed.storing import Stored, best_stored, bytes_of
from einsumad.compressed.terms import Term, total_of, write_over, write_term
from einsumad.graph import Affine, Labels, Node, Structural, Zero, order_key
from einsumad.planning import Factor
from einsumad.records import replace
from einsumad.rewriting import Progress, normalise

Pair: TypeAlias = tuple[Term, Stored]


def merged(pairs: Sequence[Pair], progress: Progress) -> list[Pair]:
    """The terms, those that are alike added where that saves memory."""
    alike: dict[Any, list[Pair]] = {}
    for pair in _collected(pairs):
        moved = _canonical(pair[0])
        alike.setdefault((moved.axes, moved.maps), []).append(pair)
    found: list[Pair] = []
    for same in alike.values():
        found += same if len(same) == 1 else _merged_alike(same, progress)
    return found


def _collected(pairs: Sequence[Pair]) -> list[Pair]:
    """The terms, those that differ in their coefficient alone as one."""
    made_of = [_made_of(term) for term, _ in pairs]
    found: dict[Any, Pair] = {}
    for (term, stored), parts in zip(pairs, made_of, strict=True):
        bare = write_term(replace(term, coefficient=1)) if made_of.count(parts) > 1 else parts
        before = found[bare][0].coefficient if bare in found else 0
        found[bare] = (replace(term, coefficient=before + term.coefficient), stored)
    return [(term, stored) for term, stored in found.values() if term.coefficient]


def _made_of(term: Term) -> frozenset[tuple[Node, int]]:
    """What stands in the term, and how often: another in other terms."""
    return frozenset(Counter([node for node, _ in term.items]).items())


def _canonical(term: Term) -> Term:
    """The term with labels numbered by its axes, then by its maps in canonical order."""
    place = {label: k for k, label in enumerate(dict.fromkeys(term.axes))}

    def key(item: Factor) -> tuple[Any, ...]:
        return order_key(item.node), tuple([place.get(label, -1) for label in item.labels])

    maps = tuple(sorted(term.maps, key=key))
    every = [*term.axes, *[k for _, labels in maps for k in labels], *[k for _, labels in term.factors for k in labels]]
    names = {label: k for k, label in enumerate(dict.fromkeys([*every, *term.sizes]))}
    return replace(term, maps=maps).renamed(names)


def _merged_alike(same: Sequence[Pair], progress: Progress) -> Sequence[Pair]:
    terms = [_canonical(term) for term, _ in same]
    held, reading = _held(terms)
    apart = bytes_of([one for _, one in same])
    if not terms[0].maps and held and terms[0].volume(held) * terms[0].dtype.itemsize > apart:
        return same  # their sum is one tensor over these labels
    added = _added(terms, held, reading, progress)
    if added is None:
        return []
    stored = best_stored(added)
    return same if held and stored.total > apart else [(added, stored)]


def _held(terms: Sequence[Term]) -> tuple[list[int], tuple[Factor, ...]]:
    """The labels that their sum has, and the maps along which factors are read first: what a map gives is not held."""
    maps = terms[0].maps
    skeleton = {*terms[0].axes, *[label for _, labels in maps for label in labels]}
    held = {label for term in terms for _, labels in term.factors for label in labels}.intersection(skeleton)
    reading: list[Factor] = []
    for item in maps:
        target = item.labels[0] if isinstance(item.node, Affine) else item.labels[-1]
        if target in held and item.labels.count(target) == 1:
            reading.append(item)
            held = (held - {target}).union([label for label in item.labels if label != target])
    return sorted(held), tuple(reading)


def _added(terms: Sequence[Term], held: Sequence[int], reading: tuple[Factor, ...], progress: Progress) -> Term | None:
    """The sum of the terms as one of a single factor over these labels; None if it is zero."""
    first = terms[0]
    parts: list[Node] = []
    for term in terms:
        inner = replace(term, maps=reading, axes=tuple(held))
        parts.append(write_over(inner, [(label,) for label in held]))
    total = total_of(parts, [first.sizes[label] for label in held], first.dtype)
    kept = frozenset([inner for part in parts for inner in part.operands if not isinstance(inner, Structural)])
    (core,) = normalise([total], progress, kept)
    if isinstance(core, Zero):
        return None
    labels: Labels = tuple(held)
    dtype = np.result_type(first.dtype)
    sizes = {label: first.sizes[label] for label in {*first.axes, *[k for _, ls in first.maps for k in ls]}}
    return Term(1, (Factor(core, labels),), first.maps, first.axes, sizes, dtype)
