"""An estimate of the work a product takes when its pairs are contracted in a good order.

Owns that estimate, by which factoring decides. Imports the working form; the path search is opt_einsum's. Invariant: it
depends on labels and sizes only, deltas and maps of one index counted as the renaming they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from itertools import chain
from math import prod
from typing import TypeAlias

from einsumad.graph import BOOL, Affine, Labels, Node, Ones, Selection, Unit

_MOST_FOR_OPTIMAL = 4
_MOVED = 2  # entries written count twice the work of one multiplication: they are written and read again
LabelSet: TypeAlias = frozenset[int]


def volume(labels: Iterable[int], sizes: Mapping[int, int]) -> int:
    """The number of entries over a set of labels."""
    return prod([sizes[label] for label in set(labels)])


def product_work(
    operands: Sequence[Node], inputs: Sequence[Labels], output: Iterable[int], sizes: Mapping[int, int]
) -> int:
    """Entries multiplied and moved by the product of the operands, its output written once. Masks count nothing."""
    kept = set(output)
    names = _tied_names(operands, inputs, kept)
    sets = [
        frozenset([names.get(label, label) for label in labels])
        for operand, labels in zip(operands, inputs, strict=True)
        if not isinstance(operand, Ones) and not _renames(operand) and operand.dtype != BOOL
    ]
    core_output = {names.get(label, label) for label in kept} & set(chain.from_iterable(sets))
    embedded = _MOVED * volume(kept, sizes) if len(core_output) < len(kept) else 0
    present = sorted(set(chain.from_iterable(sets)))
    key = tuple(sorted([tuple(sorted(labels)) for labels in sets]))
    return embedded + _contraction_work(key, tuple(sorted(core_output)), tuple([(k, sizes[k]) for k in present]))


def sum_work(terms: int, labels: Iterable[int], sizes: Mapping[int, int]) -> int:
    """Entries added and moved by a sum of so many terms over the labels."""
    return (1 + _MOVED) * (terms - 1) * volume(labels, sizes)


def _renames(operand: Node) -> bool:
    """Whether the operand gives one index for another: a delta, or a map from one index to another."""
    return isinstance(operand, Unit) or (isinstance(operand, Affine | Selection) and len(operand.shape) == 2)


def _tied_names(operands: Sequence[Node], inputs: Sequence[Labels], kept: set[int]) -> dict[int, int]:
    names: dict[int, int] = {}
    for operand, labels in zip(operands, inputs, strict=True):
        if _renames(operand):
            roots = sorted({names.get(label, label) for label in labels}, key=lambda label: (label not in kept, label))
            tied = {label for label in names if names[label] in roots} | set(labels)
            names.update(dict.fromkeys(tied, roots[0]))
    return names


@lru_cache(maxsize=4096)
def _contraction_work(sets: tuple[Labels, ...], output: Labels, sizes: tuple[tuple[int, int], ...]) -> int:
    known = dict(sizes)
    merged = list(dict.fromkeys(frozenset(labels) for labels in sets))
    work = sum((1 + _MOVED) * volume(labels, known) for labels in sets) - sum(
        (1 + _MOVED) * volume(m, known) for m in merged
    )
    remaining = merged
    kept = frozenset(output)
    for pair in _path(tuple(merged), kept, sizes):
        taken = [remaining[k] for k in pair]
        remaining = [labels for k, labels in enumerate(remaining) if k not in pair]
        union = frozenset().union(*taken)
        result = union & kept.union(*remaining)
        work += 2 * volume(union, known) + _MOVED * volume(result, known)
        remaining.append(result)
    return work


def _path(sets: tuple[LabelSet, ...], output: LabelSet, sizes: tuple[tuple[int, int], ...]) -> Sequence[Sequence[int]]:
    if len(sets) <= 1:
        return [(0,)] if sets and sets[0] != output else []
    if len(sets) == 2:
        return [(0, 1)]
    paths = import_module("opt_einsum.paths")  # when it is needed: it takes a tenth of the package's own time to load
    search = paths.optimal if len(sets) <= _MOST_FOR_OPTIMAL else paths.greedy
    found: list[tuple[int, ...]] = search(list(sets), output, {label: max(1, size) for label, size in sizes})
    return found
