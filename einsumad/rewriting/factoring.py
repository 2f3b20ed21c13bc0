"""Factoring common operands out of sums, shared summation indices included.

Imports the graph and the working form. Invariant: a factored sum has the same value, and the planned work of the
factored form is not larger by the estimate of :mod:`einsumad.rewriting.work`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import chain, combinations
from typing import TypeAlias

from einsumad.graph import Add, Affine, Labels, Node, Ones, Selection, Structural, Unit, add, fresh_leaf
from einsumad.records import record, replace
from einsumad.rewriting.affine import reads_fewer
from einsumad.rewriting.flatten import are_maps, meets_maps
from einsumad.rewriting.product import Product, as_product, is_mask, of_one_factor
from einsumad.rewriting.rules import Context, Rule
from einsumad.rewriting.work import product_work, sum_work

MOST_TERMS = 40
MOST_SUBSETS = 8
MOST_EFFORT = 4000


@record
class Match:
    """Operand positions of one term that stand in another, where, and how the labels of the other are called here."""

    here: tuple[int, ...]
    there: tuple[int, ...]
    names: Mapping[int, int]


Group: TypeAlias = tuple[tuple[Product, Match], ...]
_STAND_IN: Node = fresh_leaf((), float)  # for the inner sum, of which only the labels matter


@record
class Split:
    """Operands of a term to pull out of it and of a group of others, and the work saved; `members` are the terms."""

    gain: int
    term: Product
    common: tuple[int, ...]
    group: Group
    members: tuple[int, ...] = ()


def factor(node: Add, _: Context) -> Node | None:
    """``A[..] B[..] + A[..] C[..] = A[..] (B[..] + C[..])``, under any renaming of the summed indices."""
    if len(node.operands) > MOST_TERMS:
        return None
    inside = {operand for term in node.operands for operand in term.operands}
    terms = [of_one_factor(term) if term in inside else as_product(term) for term in node.operands]
    if any(term.dtype != node.dtype for term in terms) or not 0 < _search_effort(terms) <= MOST_EFFORT:
        return None
    best: Split | None = None
    for k, term in enumerate(terms[:-1]):
        matches = {j: match_operands(term, other) for j, other in enumerate(terms) if j != k}
        for common in sorted({match.here for match in matches.values() if match.here}):
            group = {j: match for j, match in matches.items() if set(common) <= set(match.here)}
            if k < min(group):
                split = _best_split(term, common, tuple([(terms[j], group[j]) for j in group]))
                if split is not None and (best is None or split.gain > best.gain):
                    best = replace(split, members=(k, *group))
    if best is None:
        return None
    rest = [operand for j, operand in enumerate(node.operands) if j not in best.members]
    return add([_pull_out(best), *rest], node.dtype) if rest else _pull_out(best)


def _search_effort(terms: Sequence[Product]) -> int:
    """Terms times the most pairs of equal operands that two of them have.

    0 in most sums, which have nothing in common; very many in a product of one matrix with itself, again and again.
    """
    counts = [Counter([operand for operand in term.operands if not isinstance(operand, Ones)]) for term in terms]
    pairs = [sum([a[o] * b[o] for o in a.keys() & b.keys()]) for a, b in combinations(counts, 2)]
    return len(terms) * max(pairs, default=0)


def _best_split(term: Product, common: tuple[int, ...], group: Group) -> Split | None:
    """The subset of the common operands that saves most when pulled out, or None where none saves anything.

    All of them are tried first; then, index by index, what is left without those operands that make the inner sum carry
    a summed index. Where none of these can be pulled out, deltas alone are: inside they make every term larger.
    """
    best: Split | None = None
    output = range(term.rank)
    given = [term, *[other for other, _ in group]]
    before = sum_work([(whole.operands, whole.inputs, whole.sizes()) for whole in given], output, term.sizes())
    every = _in_the_same_labels(term, group)
    sizes = _all_sizes(every)
    tried: dict[tuple[int, ...], None] = {}
    waiting = [common]
    while waiting and len(tried) < MOST_SUBSETS:
        chosen = waiting.pop(0)
        if (
            not chosen
            or chosen in tried
            or all(is_mask(term.operands[k], term.dtype) or _reads(term, k) for k in chosen)
        ):
            continue
        tried[chosen] = None
        gain, inner = _gain(every, chosen, group, sizes, before)
        if gain >= 0 and (best is None or gain > best.gain):
            best = Split(gain, term, chosen, group)
        carried = [label for label in inner if label >= term.rank]
        waiting += [tuple([k for k in chosen if label not in term.inputs[k]]) for label in carried]
        if not waiting and best is None:
            waiting = [tuple([k for k in common if isinstance(term.operands[k], Unit)])]
            if waiting[0] in tried or not waiting[0]:
                break
    return best


def _reads(term: Product, k: int) -> bool:
    """Whether an operand is a map that reads at fewer places: terms are read before they are added."""
    operand, labels = term.operands[k], term.inputs[k]
    return any(label >= term.rank and reads_fewer(operand, labels, label) for label in labels)


def match_operands(here: Product, there: Product) -> Match:
    """A largest common part found greedily: operands whose labels are already tied come first."""
    names = {label: label for label in range(here.rank)}
    reverse = dict(names)
    pairs = _equal_operands(here, there)
    untied = [sum([label not in names for label in there.inputs[j]]) for _, j in pairs]
    holders: dict[int, list[int]] = {}
    for place, (_, j) in enumerate(pairs):
        for label in there.inputs[j]:
            holders.setdefault(label, []).append(place)
    waiting = [(count, place) for place, count in enumerate(untied)]
    heapify(waiting)
    taken: dict[int, int] = {}
    given: set[int] = set()
    while waiting:
        count, place = heappop(waiting)
        k, j = pairs[place]
        if count > untied[place] or k in taken or j in given:
            continue
        if _compatible(here.inputs[k], there.inputs[j], names, reverse):
            taken[k] = j
            given.add(j)
            for mine, theirs in zip(here.inputs[k], there.inputs[j], strict=True):
                if theirs not in names:
                    names[theirs], reverse[mine] = mine, theirs
                    for other in holders[theirs]:
                        untied[other] -= 1
                        heappush(waiting, (untied[other], other))
    order = sorted(taken)
    return Match(tuple(order), tuple([taken[k] for k in order]), names)


def _equal_operands(here: Product, there: Product) -> list[tuple[int, int]]:
    """The positions of operands that both products have."""
    places: dict[Node, list[int]] = {}
    for j, operand in enumerate(there.operands):
        if not isinstance(operand, Ones):
            places.setdefault(operand, []).append(j)
    return [(k, j) for k, operand in enumerate(here.operands) for j in places.get(operand, ())]


def _compatible(here: Labels, there: Labels, names: Mapping[int, int], reverse: Mapping[int, int]) -> bool:
    new: dict[int, int] = {}
    back: dict[int, int] = {}
    for mine, theirs in zip(here, there, strict=True):
        known, held = names.get(theirs, new.get(theirs)), reverse.get(mine, back.get(mine))
        if known is None and held is None:
            new[theirs], back[mine] = mine, theirs
        elif known != mine or held != theirs:
            return False
    return True


def _open(every: Sequence[Product], common: Sequence[int], group: Group) -> tuple[list[Product], list[int]]:
    """What is left of every term in the labels of the first, and the index set of their sum.

    That index set holds the labels of any rest that the common factors or the output also have. A mask that is pulled
    out stays inside too where the index set allows it: selecting twice is selecting once, and beside a delta it is
    only the masks inside that tell where the sum is zero (:mod:`einsumad.rewriting.masks`).
    """
    term, rests = every[0], _rests(every, common, group)
    outside = set(range(term.rank)).union(*[term.inputs[k] for k in common])
    inner = {label for rest in rests for label in chain(*rest.inputs)} & outside
    for k in _staying(term, common, inner):
        for rest in rests:
            rest.append(term.operands[k], term.inputs[k])
    return rests, sorted(inner)


def _staying(term: Product, common: Sequence[int], inner: Iterable[int]) -> list[int]:
    """The masks among the common operands that stay inside as well."""
    held = set(inner)
    return [k for k in common if is_mask(term.operands[k], term.dtype) and held.issuperset(term.inputs[k])]


def _in_the_same_labels(term: Product, group: Group) -> list[Product]:
    """The term, and those of the group with its labels, others where they have none of it."""
    fresh = term.fresh_label()
    every = [term]
    for other, match in group:
        names = dict(match.names)
        for label in chain(*other.inputs):
            if label not in names:
                names[label] = fresh
                fresh += 1
        renamed = _copied(other)
        renamed.rename(names)
        every.append(renamed)
    return every


def _copied(term: Product) -> Product:
    return Product(term.coefficient, list(term.operands), list(term.inputs), term.rank, term.shape, term.dtype)


def _rests(every: Sequence[Product], common: Sequence[int], group: Group) -> list[Product]:
    """The terms without their common operands."""
    rests = [_copied(term) for term in every]
    rests[0].drop(common)
    for rest, (_, match) in zip(rests[1:], group, strict=True):
        there = dict(zip(match.here, match.there, strict=True))
        rest.drop([there[k] for k in common])
    return rests


def _gain(
    every: Sequence[Product], common: tuple[int, ...], group: Group, sizes: Mapping[int, int], before: int
) -> tuple[int, list[int]]:
    """What pulling out these operands would save of the work `before`, and the indices of the inner sum."""
    term = every[0]
    rests, inner = _open(every, common, group)
    if _escapes(term, common, rests, inner):
        return -1, inner
    operands, inputs = [term.operands[k] for k in common], [term.inputs[k] for k in common]
    output = range(term.rank)
    after = sum_work([(rest.operands, rest.inputs, sizes) for rest in rests], inner, sizes)
    after += product_work([*operands, _STAND_IN], [*inputs, tuple(inner)], output, sizes)
    return before - after, inner


def _escapes(term: Product, common: Sequence[int], rests: Sequence[Product], inner: Iterable[int]) -> bool:
    """Whether a factor would leave the reach of what selects it: x in ``Σ_k A[i,k] x[i] [m[i,k]]``.

    A mask over an index that is summed inside cannot follow. Where it selects nothing the inner sum is zero, and times
    an infinite x no longer zero. An affine tensor or a selection, which reads or writes all that has one of its
    indices, would besides become a stored matrix of zeros and ones; and products are opened over sums of such tensors.
    """
    held = set(inner)
    outside = [(term.operands[k], term.inputs[k]) for k in common]
    if are_maps([operand for rest in rests for operand in rest.operands]) and meets_maps(outside, held):
        return True
    pulled = [_long(term, k) for k in common if not _selects(term.operands[k], term)]
    near = [set(term.inputs[k]) for k in common if not isinstance(term.operands[k], Unit | Ones)]
    for rest in rests:
        for operand, labels in zip(rest.operands, rest.inputs, strict=True):
            if isinstance(operand, Affine | Selection):
                acting = _tied(labels, rest)
                if any(not own.isdisjoint(acting) for own in near):
                    return True
            if is_mask(operand, rest.dtype) and not held.issuperset(labels) and any(own <= {*labels} for own in pulled):
                return True
    return False


def _long(term: Product, k: int) -> set[int]:
    """The labels of an operand but for those of size 1, across which masks reach."""
    return {label for label, size in zip(term.inputs[k], term.operands[k].shape, strict=True) if size != 1}


def _tied(labels: Labels, rest: Product) -> set[int]:
    """The labels and those that deltas make equal to them."""
    found = set(labels)
    units = [held for operand, held in zip(rest.operands, rest.inputs, strict=True) if isinstance(operand, Unit)]
    while more := [held for held in units if not found.isdisjoint(held) and not found.issuperset(held)]:
        found.update(*more)
    return found


def _selects(operand: Node, term: Product) -> bool:
    return isinstance(operand, Structural) or is_mask(operand, term.dtype)


def _all_sizes(every: Sequence[Product]) -> dict[int, int]:
    sizes: dict[int, int] = {}
    for term in every:
        sizes.update(term.sizes())
    return sizes


def _pull_out(split: Split) -> Node:
    term, common = split.term, split.common
    every = _in_the_same_labels(term, split.group)
    rests, inner = _open(every, common, split.group)
    sizes = _all_sizes(every)
    names = {label: position for position, label in enumerate(inner)}
    offset = max(chain([term.rank], *term.inputs, *(labels for rest in rests for labels in rest.inputs))) + 1
    terms: list[Node] = []
    for rest in rests:
        rest.rename({label: names.get(label, label + offset) for label in chain(*rest.inputs)})
        rest.rank, rest.shape = len(inner), tuple([sizes[label] for label in inner])
        terms.append(rest.build())
    outer = Product(
        1,
        [term.operands[k] for k in common],
        [term.inputs[k] for k in common],
        term.rank,
        term.shape,
        term.dtype,
    )
    outer.append(add(terms, term.dtype), inner)
    return outer.build()


RULES = (Rule("factor", Add, "A B + A C = A (B + C)", "products in sums", factor),)
