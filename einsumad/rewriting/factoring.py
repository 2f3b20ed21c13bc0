"""Factoring common operands out of sums, shared summation indices included.

Imports the graph and the working form. Invariant: a factored sum has the same value, and the planned work of the
factored form is not larger by the count made here, unless a delta or a mask was pulled out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from einsumad.graph import Add, Labels, Node, Ones, Unit, add, ones
from einsumad.rewriting.product import Product, as_product, is_mask, volume
from einsumad.rewriting.rules import Context, Rule

MOST_TERMS = 40


@dataclass(frozen=True, slots=True)
class Match:
    """Operand positions of one term that stand in another, where, and how the labels of the other are called here."""

    here: tuple[int, ...]
    there: tuple[int, ...]
    names: Mapping[int, int]


def factor(node: Add, _: Context) -> Node | None:
    """``A[..] B[..] + A[..] C[..] = A[..] (B[..] + C[..])``, under any renaming of the summed indices."""
    if len(node.operands) > MOST_TERMS:
        return None
    terms = [as_product(term) for term in node.operands]
    if any(term.dtype != node.dtype for term in terms):
        return None
    best: tuple[int, Node] | None = None
    for k, term in enumerate(terms):
        matches = {j: match_operands(term, other) for j, other in enumerate(terms) if j != k}
        for common in sorted({match.here for match in matches.values() if match.here}):
            group = {j: match for j, match in matches.items() if set(common) <= set(match.here)}
            if k != min(k, *group):
                continue
            gain = _gain(term, common, [(terms[j], match) for j, match in group.items()])
            if gain is not None and (best is None or gain > best[0]):
                pulled = _pull_out(term, common, [(terms[j], match) for j, match in group.items()])
                rest = [held for j, held in enumerate(node.operands) if j != k and j not in group]
                best = gain, (add([pulled, *rest], node.dtype) if rest else pulled)
    return None if best is None else best[1]


def match_operands(here: Product, there: Product) -> Match:
    """A largest common part found greedily: operands whose labels are already tied come first."""
    names = {label: label for label in range(here.rank)}
    taken: dict[int, int] = {}
    while True:
        found = _next_match(here, there, names, taken)
        if found is None:
            break
        k, j = found
        names.update(zip(there.inputs[j], here.inputs[k], strict=True))
        taken[k] = j
    order = sorted(taken)
    return Match(tuple(order), tuple([taken[k] for k in order]), names)


def _next_match(
    here: Product, there: Product, names: Mapping[int, int], taken: Mapping[int, int]
) -> tuple[int, int] | None:
    best: tuple[int, int, int] | None = None
    used, reverse = set(taken.values()), {new: old for old, new in names.items()}
    for k, operand in enumerate(here.operands):
        if k in taken or isinstance(operand, Ones):
            continue
        for j, other in enumerate(there.operands):
            if j in used or other is not operand or not _compatible(here.inputs[k], there.inputs[j], names, reverse):
                continue
            untied = sum(label not in names for label in there.inputs[j])
            if best is None or untied < best[0]:
                best = untied, k, j
    return None if best is None else best[1:]


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


def _rests(term: Product, common: Sequence[int], group: Sequence[tuple[Product, Match]]) -> list[Product]:
    """What is left of every term of the group, in the labels of the first."""
    fresh = term.fresh_label()
    mine = Product(term.coefficient, list(term.operands), list(term.inputs), term.rank, term.shape, term.dtype)
    mine.drop(common)
    rests = [mine]
    for other, match in group:
        positions = [match.there[match.here.index(k)] for k in common]
        names = dict(match.names)
        for label in chain(*other.inputs):
            if label not in names:
                names[label] = fresh
                fresh += 1
        rest = Product(other.coefficient, list(other.operands), list(other.inputs), other.rank, other.shape, other.dtype)
        rest.drop(positions)
        rest.rename(names)
        rests.append(rest)
    return rests


def _inner_labels(term: Product, common: Sequence[int], rests: Sequence[Product]) -> list[int]:
    """The index set of the inner sum: labels of any rest that the common factors or the output also have."""
    outside = set(range(term.rank)).union(*[term.inputs[k] for k in common])
    return sorted({label for rest in rests for label in chain(*rest.inputs)} & outside)


def _gain(term: Product, common: Sequence[int], group: Sequence[tuple[Product, Match]]) -> int | None:
    """Entries of work saved by factoring, or None where it does not pay. A delta or mask pulled out always pays."""
    rests = _rests(term, common, group)
    inner = _inner_labels(term, common, rests)
    sizes = term.sizes()
    for other, match in group:
        sizes.update({match.names[label]: size for label, size in other.sizes().items() if label in match.names})
    every = [term, *[other for other, _ in group]]
    before = sum(volume(chain(*t.inputs), t.sizes()) for t in every) + len(group) * volume(range(term.rank), sizes)
    after = volume(chain(inner, *(term.inputs[k] for k in common)), sizes)
    after += (2 if len(common) < len(inner) else 1) * len(group) * volume(inner, sizes)
    for rest, whole in zip(rests, every, strict=True):
        if len(rest.operands) > 1:
            after += _rest_volume(rest, whole, sizes)
    if any(isinstance(term.operands[k], Unit) or is_mask(term.operands[k], term.dtype) for k in common):
        return max(1, before - after)
    return before - after if before >= after else None


def _rest_volume(rest: Product, whole: Product, sizes: Mapping[int, int]) -> int:
    known = dict(sizes)
    for operand, labels in zip(rest.operands, rest.inputs, strict=True):
        known.update(zip(labels, operand.shape, strict=True))
    return volume(chain(*rest.inputs), known)


def _pull_out(term: Product, common: Sequence[int], group: Sequence[tuple[Product, Match]]) -> Node:
    rests = _rests(term, common, group)
    inner = _inner_labels(term, common, rests)
    sizes = term.sizes()
    for rest in rests:
        for operand, labels in zip(rest.operands, rest.inputs, strict=True):
            sizes.update(zip(labels, operand.shape, strict=True))
    names = {label: position for position, label in enumerate(inner)}
    offset = max(chain([term.rank], *term.inputs, *(labels for rest in rests for labels in rest.inputs))) + 1
    terms: list[Node] = []
    for rest in rests:
        rest.rename({label: names.get(label, label + offset) for label in chain(*rest.inputs)})
        rest.rank, rest.shape = len(inner), tuple([sizes[label] for label in inner])
        if not rest.operands and not inner:
            rest.append(ones((), term.dtype), ())
        terms.append(rest.build())
    outer = Product(1, [term.operands[k] for k in common], [term.inputs[k] for k in common], term.rank, term.shape, term.dtype)
    outer.append(add(terms, term.dtype), inner)
    return outer.build()


RULES = (
    Rule("factor", Add, "A B + A C = A (B + C)", "products in sums", factor),
)
