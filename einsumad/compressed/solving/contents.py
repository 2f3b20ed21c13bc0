"""Terms as Kronecker products: which rows and columns belong together, and what each group holds.

Owns this analysis. Imports forms and terms. Invariant: what is taken apart is a product over groups of positions; a
position is an axis of the rows with the axis of the columns in the same place.
"""

from __future__ import annotations

from collections.abc import Sequence

from einsumad.compressed.forms import Form, make_form
from einsumad.compressed.terms import Term, write_term
from einsumad.graph import Node, Number
from einsumad.planning import Factor
from einsumad.records import record, replace

Positions = tuple[int, ...]


@record
class Product:
    """``front · ⊗ contents``: a number, which may be a sum, and a sum of terms for each group of positions."""

    front: Term
    contents: tuple[tuple[Term, ...], ...]

    @property
    def keys(self) -> tuple[tuple[Node, ...], ...]:
        """What identifies the contents."""
        return tuple([tuple([write_term(term) for term in terms]) for terms in self.contents])

    def weighted(self, group: int) -> tuple[Term, ...]:
        """The contents of one group, with the number in front of the product."""
        return tuple(
            [
                replace(
                    term,
                    coefficient=self.front.coefficient * term.coefficient,
                    factors=(*term.factors, *self.front.factors),
                    maps=(*term.maps, *self.front.maps),
                    sizes={**term.sizes, **self.front.sizes},
                )
                for term in self.contents[group]
            ]
        )


def groups_of(form: Form) -> tuple[Positions, ...]:
    """The finest groups of positions such that every term is a product over them."""
    parent = list(range(form.rows))

    def root(position: int) -> int:
        while parent[position] != position:
            position = parent[position]
        return position

    for term in form.terms:
        holders: dict[int, int] = {}
        for item in _linked(term, form.rows):
            positions = sorted(item)
            for position in positions[1:]:
                parent[root(position)] = root(positions[0])
            holders.update(dict.fromkeys(positions, positions[0]))
    found: dict[int, list[int]] = {}
    for position in range(form.rows):
        found.setdefault(root(position), []).append(position)
    return tuple([tuple(group) for group in found.values()])


def _linked(term: Term, rows: int) -> list[set[int]]:
    """The positions whose labels meet in a factor, a map or a delta, directly or through summed labels."""
    found: list[tuple[set[int], set[int]]] = []
    labels = [{term.axes[p], term.axes[rows + p]} for p in range(rows)]
    links = [({p}, labels[p]) for p in range(rows)] + [(set[int](), set(held)) for _, held in term.items if held]
    for positions, held in links:
        meeting = [group for group in found if not group[1].isdisjoint(held)]
        found = [group for group in found if group not in meeting]
        found.append((positions.union(*[p for p, _ in meeting]), held.union(*[h for _, h in meeting])))
    return [positions for positions, _ in found if positions]


def products_of(form: Form, groups: Sequence[Positions]) -> list[Product]:
    """The form as Kronecker products over the groups; products that differ in one group only are added there."""
    waiting = [_product_of(term, form.rows, groups) for term in form.terms]
    found: list[Product] = []
    while waiting:
        product = waiting.pop(0)
        other = next((k for k, held in enumerate(found) if _differing(product, held) is not None), None)
        if other is None:
            found.append(product)
        else:
            waiting.append(_added(found.pop(other), product))
    return found


def _product_of(term: Term, rows: int, groups: Sequence[Positions]) -> Product:
    contents: list[tuple[Term, ...]] = []
    apart = set(term.sizes)
    for group in groups:
        axes = tuple([term.axes[side + p] for side in (0, rows) for p in group])
        reached = set(axes)
        while more := [held for _, held in term.items if not reached.isdisjoint(held) and not reached.issuperset(held)]:
            reached.update(*more)
        factors = tuple([item for item in term.factors if item.labels and reached.issuperset(item.labels)])
        maps = tuple([item for item in term.maps if reached.issuperset(item.labels)])
        sizes = {label: term.sizes[label] for label in reached}
        contents.append((Term(1, factors, maps, axes, sizes, term.dtype),))
        apart -= reached
    factors, maps = (tuple([f for f in items if apart.issuperset(f.labels)]) for items in (term.factors, term.maps))
    front = Term(term.coefficient, factors, maps, (), {label: term.sizes[label] for label in apart}, term.dtype)
    return Product(front, tuple(contents))


def _differing(one: Product, other: Product) -> int | None:
    """The only group in which two products differ; the last group if they differ in their numbers alone."""
    groups = [k for k, pair in enumerate(zip(one.keys, other.keys, strict=True)) if pair[0] != pair[1]]
    if not groups:
        return len(one.contents) - 1
    return groups[0] if len(groups) == 1 else None


def _added(one: Product, other: Product) -> Product:
    group = _differing(one, other)
    contents = list(one.contents)
    for k in range(len(contents)):
        if k == group:
            contents[k] = (*one.weighted(k), *other.weighted(k))
    return Product(Term(1, (), (), (), {}, one.front.dtype), tuple(contents))


def joined(choice: Sequence[Term], groups: Sequence[Positions]) -> Term:
    """One term of each group as a term over the positions of all groups, in their order."""
    positions = sorted([p for group in groups for p in group])
    place = {p: k for k, p in enumerate(positions)}
    axes = [0] * (2 * len(positions))
    factors: list[Factor] = []
    maps: list[Factor] = []
    sizes: dict[int, int] = {}
    coefficient: Number = 1
    for term, group in zip(choice, groups, strict=True):
        start = max(sizes, default=-1) + 1
        moved = term.renamed({label: start + k for k, label in enumerate(term.sizes)})
        sizes.update(moved.sizes)
        factors += moved.factors
        maps += moved.maps
        coefficient *= moved.coefficient
        for k, p in enumerate(group):
            axes[place[p]] = moved.axes[k]
            axes[len(positions) + place[p]] = moved.axes[len(group) + k]
    return Term(coefficient, tuple(factors), tuple(maps), tuple(axes), sizes, choice[0].dtype)


def part_form(form: Form, terms: Sequence[Term], group: Positions, symmetric: bool = False) -> Form:
    """The square form over the positions of a group."""
    shape = tuple([form.shape[p] for p in group])
    return make_form(terms, (*shape, *shape), form.dtype, len(group), symmetric)
