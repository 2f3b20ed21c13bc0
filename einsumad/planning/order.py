"""The order of pairwise contractions, and the order of axes of what they produce.

Owns the path search. Imports the primitives. Invariant: the same label sets, sizes and equal tensors give the same
order, whatever the hash seed; searches are cached by that structure alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any, TypeAlias

from einsumad.graph import Labels
from einsumad.planning.coinciding import Twins, twins
from einsumad.planning.resolve import size_of
from einsumad.records import record

_COMPARED = 8
"""Tensors up to which the greedy order is compared with that of dynamic programming."""
_WITH_OUTER = 5
"""Tensors up to which that tries products of tensors that share no index."""

Sets: TypeAlias = tuple[Labels, ...]
Steps: TypeAlias = tuple[tuple[int, int], ...]


@record
class Pair:
    """One contraction: its operands by position among leaves and earlier results, and what it keeps."""

    left: int
    right: int
    labels: Labels


def contraction_pairs(
    leaves: Sequence[Labels], output: Labels, sizes: dict[int, int], colours: Sequence[int] = ()
) -> list[Pair]:
    """The pairs in which tensors with these labels are contracted, each with its labels in a good order.

    Results are numbered on from the leaves. An index is summed as soon as no other tensor and not the
    output has it. Equal tensors have equal colours; where a part of the product stands in it twice, it is contracted
    once if that takes less work.
    """
    sets = tuple([tuple(sorted(labels)) for labels in leaves])
    steps = _searched(sets, output, sizes)
    if len(set(colours)) < len(colours) and (part := twins(leaves, colours)) is not None:
        halved = _halved(part, sets, output, sizes)
        if halved is not None and _work(halved, sets, output, sizes, part) < _work(steps, sets, output, sizes, None):
            pairs = [Pair(left, right, ()) for left, right in halved]
            return _with_axis_order(pairs, leaves, output, sizes, part)
    pairs = [Pair(left, right, ()) for left, right in steps]
    return _with_axis_order(pairs, leaves, output, sizes, None)


def _searched(sets: Sets, output: Iterable[int], sizes: dict[int, int]) -> Steps:
    used = sorted({label for labels in sets for label in labels})
    return _path(sets, tuple(sorted(output)), tuple([(label, sizes[label]) for label in used]))


def _halved(part: Twins, sets: Sets, output: Labels, sizes: dict[int, int]) -> Steps | None:
    """The pairs of a part, the same of its copy, then those of what is left; None if the two are used differently."""
    count, inner = len(sets), len(part.first)
    kept = _open(part.first, sets, output)
    if {part.renamed[label] for label in kept} != _open(part.second, sets, output):
        return None
    inside = _searched(tuple([sets[k] for k in part.first]), kept, sizes)
    halves: list[tuple[int, int]] = []
    for half in (part.first, part.second):
        start = count + len(halves) - inner
        halves += [(_moved(left, half, start), _moved(right, half, start)) for left, right in inside]
    ends = (count + inner - 2, count + 2 * inner - 3)
    rest = [k for k in range(count) if k not in part.first and k not in part.second]
    copied = tuple(sorted([part.renamed[label] for label in kept]))
    left = _searched((*[sets[k] for k in rest], tuple(sorted(kept)), copied), output, sizes)
    places = (*rest, *ends)
    start = count + 2 * (inner - 1) - len(places)
    return (*halves, *[(_moved(a, places, start), _moved(b, places, start)) for a, b in left])


def _open(part: Sequence[int], sets: Sets, output: Labels) -> set[int]:
    """The labels of a part that the output or another tensor has."""
    inside = set(part)
    elsewhere = set(output).union(*[labels for k, labels in enumerate(sets) if k not in inside])
    return {label for k in part for label in sets[k]} & elsewhere


def _moved(number: int, places: Sequence[int], start: int) -> int:
    """The number of a leaf or a result of some pairs, among all."""
    return places[number] if number < len(places) else start + number


def _work(steps: Steps, sets: Sets, output: Labels, sizes: dict[int, int], part: Twins | None) -> int:
    """Entries multiplied, and twice those written; what is there twice counts once."""
    pairs = [Pair(left, right, ()) for left, right in steps]
    kept = _kept_sets(pairs, sets, output)
    again = range(len(part.first) - 1, 2 * (len(part.first) - 1)) if part else range(0)
    return sum(
        [
            2 * size_of(kept[pair.left] | kept[pair.right], sizes) + 2 * size_of(kept[len(sets) + k], sizes)
            for k, pair in enumerate(pairs)
            if k not in again
        ]
    )


@lru_cache(maxsize=4096)
def _path(sets: Sets, output: Labels, sizes: tuple[tuple[int, int], ...]) -> Steps:
    """Pairs of positions in order; integers as labels keep set order independent of the hash seed."""
    count = len(sets)
    if count < 2:
        return ()
    if count == 2:
        return ((0, 1),)
    paths = import_module("opt_einsum.paths")
    inputs = [frozenset(labels) for labels in sets]
    kept, known = frozenset(output), dict(sizes)
    found = paths.greedy(inputs, kept, known)
    if count <= _COMPARED:  # over sets that are connected by few indices this finds the best in no more time
        other = paths.DynamicProgramming(minimize="flops", search_outer=count <= _WITH_OUTER)(inputs, kept, known)
        found = min(found, other, key=lambda path: _flops(path, inputs, kept, known))
    numbers = list(range(count))
    pairs: list[tuple[int, int]] = []
    for step in found:
        taken = [numbers[position] for position in sorted(step)]
        numbers = [n for position, n in enumerate(numbers) if position not in set(step)]
        while len(taken) > 1:  # a step of more than two operands is done pair by pair
            pairs.append((taken[0], taken[1]))
            taken = [count + len(pairs) - 1, *taken[2:]]
        numbers.append(taken[0])
    return tuple(pairs)


def _flops(path: Sequence[Sequence[int]], inputs: Sequence[frozenset[int]], output: frozenset[int], sizes: Any) -> int:
    """The arithmetic of a path whose steps name positions among what is left, results last."""
    left, total = list(inputs), 0
    for step in path:
        taken = frozenset().union(*[left[position] for position in step])
        left = [labels for position, labels in enumerate(left) if position not in set(step)]
        result = taken & output.union(*left)
        left.append(result)
        total += size_of(taken, sizes) * (1 if result == taken else 2)
    return total


def _with_axis_order(
    pairs: Sequence[Pair], leaves: Sequence[Labels], output: Labels, sizes: dict[int, int], part: Twins | None
) -> list[Pair]:
    """The pairs with the labels that each keeps, ordered from the last to the first so that views suffice.

    A part that is there twice has one order for both.
    """
    everything: list[Labels] = [*leaves, *[pair.labels for pair in pairs]]
    kept = _kept_sets(pairs, leaves, output)
    count = len(leaves)
    for k in reversed(range(len(pairs))):
        pair = pairs[k]
        if part is not None and k < len(part.first) - 1:
            back = {place: label for label, place in part.renamed.items()}
            everything[count + k] = tuple([back[label] for label in everything[count + k + len(part.first) - 1]])
        wanted = output if k == len(pairs) - 1 else everything[count + k]
        if k < len(pairs) - 1 and kept[pair.left] | kept[pair.right] == kept[count + k]:
            # nothing is summed: the axes of the largest operand are read and written in order
            both = sorted((pair.left, pair.right), key=lambda p: -size_of(kept[p], sizes))
            for p in both:
                if p < count and kept[p] == kept[count + k]:
                    wanted = leaves[p]
                    break
        everything[count + k] = wanted
        _order_operands(pair, wanted, kept, everything, count)
    return [Pair(pair.left, pair.right, everything[count + k]) for k, pair in enumerate(pairs)]


def _kept_sets(pairs: Sequence[Pair], leaves: Sequence[Labels], output: Labels) -> list[frozenset[int]]:
    """The labels of leaves and results."""
    kept = [frozenset(labels) for labels in leaves]
    users: dict[int, int] = {}
    for labels in [*leaves, output]:
        for label in labels:
            users[label] = users.get(label, 0) + 1
    for pair in pairs:
        first, second = kept[pair.left], kept[pair.right]
        for label in first & second:
            users[label] -= 1
        result = frozenset([label for label in first | second if users[label] > 1])
        kept.append(result)
    return kept


def _order_operands(
    pair: Pair, wanted: Labels, kept: Sequence[frozenset[int]], everything: list[Labels], count: int
) -> None:
    """Axis orders for operands that are results: batch, then free, then summed as in the other operand."""
    for mine, other in ((pair.left, pair.right), (pair.right, pair.left)):
        if mine < count:
            continue
        if kept[mine] == frozenset(wanted):
            everything[mine] = wanted
            continue
        shared = kept[mine] & kept[other]
        batch = [label for label in wanted if label in shared]
        free = [label for label in wanted if label in kept[mine] - shared]
        summed = shared - set(wanted)
        pattern = everything[other] or tuple(sorted(kept[other]))
        everything[mine] = (*batch, *free, *[label for label in pattern if label in summed])
