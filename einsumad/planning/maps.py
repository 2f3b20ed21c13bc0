"""Structural operands of a product: each becomes a reading of other operands, or a writing of the result.

Owns how affine tensors and selections act. Imports readings, their costs, the graph and primitives. Invariant: no
structural operand is left for the contraction, and only those are written out that have an index twice or share it.

An affine tensor or a selection says ``[at = f(places)]``. If `at` is summed, every factor that has it is read at f:

    Σ_at [at = f(places)] F[at, ..] G[at, ..] = F[f(places), ..] G[f(places), ..]

and zero where f leaves the bounds. If `at` is an axis of the result, factors that have it are read in the same way,
and the product over `places` is written to f at the very end:

    C[at, ..] = Σ_places [at = f(places)] P[places, ..]

An affine tensor whose stride is 1 or -1 along a place can be solved for that place too. Two maps that give the same
index, ``[k = f(p)] [k = g(q)]``, meet in it: what has p is written to k first, and then read at g.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from einsumad.graph import BOOL, Einsum, Labels, Node, Ones, Selection, Structural, einsum, ones
from einsumad.planning.map_costs import cheapest_split, reading_cost, writing_cost, written_together
from einsumad.planning.primitives import Factor, always_inside, has_sum, layout
from einsumad.planning.readings import Map, inside, needs_mask, orientations, read, spoils
from einsumad.planning.resolve import Resolved, size_of
from einsumad.records import record


@record
class Writing:
    """A map along which the result is written, and the labels that the result has afterwards."""

    map: Map
    output: Labels


@record
class Applied:
    """Factors and masks without structural operands, the labels of their product and all sizes, how it is written."""

    factors: list[Factor]
    masks: list[Factor]
    output: Labels
    sizes: dict[int, int]
    writings: tuple[Writing, ...]
    count: int
    """How often each term occurs: the sizes of summed places that nothing has any more."""
    zeros: Mapping[Factor, Sequence[Factor]]
    """Masks outside of which a factor is zero, as it was read with padding there."""


def apply_maps(resolved: Resolved, primitive: Callable[[Einsum], Node]) -> Applied:
    """The product with all maps applied, in an order that depends on its structure only.

    `primitive` writes a product inside of it in primitive steps.
    """
    state = _State(resolved, primitive)
    pending: list[Factor] = []
    for factor in resolved.maps:
        if len(set(factor.labels)) == len(factor.labels):
            pending.append(factor)
        else:  # what reads another index may be read in it
            state.write_out(factor)
    while pending:
        found = state.next_reading(pending, within=True) or state.next_meeting(pending)
        if found is None:
            state.split(pending)
            found = (
                state.next_meeting(pending) or state.next_writing(pending) or state.next_reading(pending, within=False)
            )
        if found is None:
            state.write_out(pending.pop(0))
        else:
            position, chosen = found
            pending.pop(position)
            if chosen.at in state.output or not any(chosen.at in other.labels for other in pending):
                state.apply(chosen)
            else:
                state.gather(chosen, pending)
    writings = tuple(reversed(state.writings))
    output = tuple(state.output)
    return Applied(state.factors, state.masks, output, state.sizes, writings, state.count(), state.zeros)


class _State:
    """A product while its maps are applied."""

    def __init__(self, resolved: Resolved, primitive: Callable[[Einsum], Node]) -> None:
        self.factors = list(resolved.factors)
        self.masks = list(resolved.masks)
        self.output = list(resolved.output)
        self.sizes = dict(resolved.sizes)
        self.work = resolved.work
        self.primitive = primitive
        self.writings: list[Writing] = []
        self.places: set[int] = set()
        self.zeros: dict[Factor, list[Factor]] = {}
        self.given: set[int] = set()  # indices that a map gives, or that were summed with one

    def next_reading(self, pending: Sequence[Factor], *, within: bool) -> tuple[int, Map] | None:
        """The map along which factors are read at the least cost, and its position; if asked, it must not pad."""
        candidates = [
            (*self._reading_cost(each), position, each)
            for position, factor in enumerate(pending)
            for each in orientations(factor)
            if each.at not in self.output and self._is_free(each, position, pending)
        ]
        if not candidates:
            return None
        *_, position, chosen = min(candidates, key=lambda candidate: candidate[:3])
        return (position, chosen) if always_inside(chosen.node) or not within else None

    def next_writing(self, pending: Sequence[Factor]) -> tuple[int, Map] | None:
        """The first map along which the result can be written, unless it costs less to read along it."""
        for position, factor in enumerate(pending):
            free = [each for each in orientations(factor) if self._is_free(each, position, pending)]
            written = [(False, self._writing_cost(each), 0, each) for each in free if each.at in self.output]
            if written:
                read = [(*self._reading_cost(each), 1, each) for each in free if each.at not in self.output]
                *_, chosen = min([*written, *read], key=lambda candidate: candidate[:3])
                return position, chosen
        return None

    def split(self, pending: list[Factor]) -> None:
        """Put two maps that meet in the place of one, the first for which that costs least."""
        for position, factor in enumerate(pending):
            others = {label for k, other in enumerate(pending) if k != position for label in other.labels}
            found = cheapest_split(factor, (*self.factors, *self.masks), others.union(self.output), self.sizes)
            free = [each for each in orientations(factor) if self._is_free(each, position, pending)]
            costs = [
                self._writing_cost(each) if each.at in self.output else self._reading_cost(each)[1] for each in free
            ]
            if found is not None and costs and found[0] < min(costs):
                written, read = found[1].written, found[1].read
                self.sizes[read.at] = read.node.shape[0]
                pending[position : position + 1] = [Factor(each.node, each.labels) for each in (written, read)]
                return

    def next_meeting(self, pending: Sequence[Factor]) -> tuple[int, Map] | None:
        """A map that gives an index to another one and depends on indices that nothing else needs.

        A selection may have axes of a batch besides. Of several it is the one along which the least is written.
        """
        best: tuple[int, int, Map] | None = None
        for position, factor in enumerate(pending):
            others = {label for k, other in enumerate(pending) if k != position for label in other.labels}
            for chosen in orientations(factor):
                private = self._private(chosen, others)
                alone = len(private) == len(set(chosen.places)) or isinstance(chosen.node, Selection)
                if chosen.at in others and chosen.at not in self.output and private and alone:
                    written = size_of(self._met(chosen, private) - private, self.sizes)
                    if best is None or written < best[0]:
                        best = written, position, chosen
        return None if best is None else best[1:]

    def _met(self, chosen: Map, private: set[int]) -> set[int]:
        """The labels of a map, and of all factors that have its private places."""
        inner = [f.labels for f in (*self.factors, *self.masks) if private.intersection(f.labels)]
        return set(chosen.labels).union(*inner)

    def _private(self, chosen: Map, others: Iterable[int]) -> set[int]:
        """The places of a map that neither the result nor other maps have; what is left are axes of a batch."""
        return {*chosen.places} - {*self.output, *others, chosen.at}

    def _is_free(self, chosen: Map, position: int, pending: Sequence[Factor]) -> bool:
        """Whether no other map has to be applied before."""
        return not any(chosen.at in factor.labels for k, factor in enumerate(pending) if k != position)

    def _reading_cost(self, chosen: Map) -> tuple[bool, int]:
        """Whether zeros would meet what may be infinite, and the work."""
        return spoils(chosen, self.factors), reading_cost(chosen, self.factors, self.masks, self.sizes)

    def _writing_cost(self, chosen: Map) -> int:
        return writing_cost(chosen, self.factors, self.output, self.sizes)

    def apply(self, chosen: Map) -> None:
        """Read all that has the determined index along the map; write the result along it if that is an axis of it."""
        masked = needs_mask(chosen, (*self.factors, *self.masks))
        self.places.update(chosen.places)
        self.given.add(chosen.at)
        self.factors = [self._read_entries(f, chosen) for f in self.factors]
        self.masks = [self._read(f, chosen) for f in self.masks]
        if chosen.at in self.output:
            self.writings.append(Writing(chosen, tuple(self.output)))
            self.output.remove(chosen.at)
            self.output += [label for label in chosen.places if label not in self.output]
        elif masked:
            self.masks.append(inside(chosen))

    def gather(self, chosen: Map, pending: Sequence[Factor]) -> None:
        """Write the product of all that has the places of a map to the index that it gives."""
        mapped = [label for factor in pending for label in factor.labels]
        places = self._private(chosen, mapped)
        self.given.update(places)
        apart = [f for f in self.masks if not places.intersection(f.labels)]
        needed = {*self.output, *mapped, *[label for f in apart for label in f.labels]}
        own_factors = written_together(self.factors, places, needed, self.sizes)
        inner = [*[self.factors[k] for k in own_factors], *[f for f in self.masks if places.intersection(f.labels)]]
        self.factors = [f for k, f in enumerate(self.factors) if k not in own_factors]
        self.masks = apart
        structural, own = chosen.typed(self.work)
        labels = [*chosen.places, *[label for f in inner for label in f.labels]]
        held = dict.fromkeys([label for label in labels if label not in places])
        if self.work != BOOL:  # what nothing else has is summed before anything is written
            others = [label for f in (*self.factors, *self.masks) for label in f.labels]
            needed = {chosen.at, *self.output, *mapped, *others}
            self.given.update(held.keys() - needed)
            held = dict.fromkeys([label for label in held if label in needed])
        output = (chosen.at, *[label for label in held if label != chosen.at])
        operands = [structural, *[f.node for f in inner]]
        product = einsum(operands, [own, *[f.labels for f in inner]], output, 1, self.work)
        gathered = _unspread(Factor(self.primitive(product), output))
        (self.masks if self.work == BOOL else self.factors).append(gathered)

    def _read_entries(self, factor: Factor, chosen: Map) -> Factor:
        new = self._read(factor, chosen)
        masks = [self._read(mask, chosen) for mask in self.zeros.get(factor, ())]
        if chosen.at in factor.labels and not always_inside(chosen.node):
            masks.append(inside(chosen))
        if masks:
            self.zeros[new] = masks
        return new

    def _read(self, factor: Factor, chosen: Map) -> Factor:
        return read(factor, chosen) if chosen.at in factor.labels else factor

    def count(self) -> int:
        """How often each term occurs."""
        present = {label for f in (*self.factors, *self.masks) for label in f.labels}
        return size_of(self.places - self.given - present - {*self.output}, self.sizes)

    def write_out(self, factor: Factor) -> None:
        """Turn a structural factor that cannot be applied into a mask that is stored."""
        chosen = next(iter(orientations(factor)))
        dense, labels = chosen.typed(BOOL)
        axes = range(len(labels))
        stored = Factor(einsum([dense], [axes], axes, 1, BOOL), labels)
        self.masks.append(layout(stored, tuple(dict.fromkeys(labels))))


def _unspread(factor: Factor) -> Factor:
    """The factor without axes of ones, which are of size 1: masks reach across such axes and lose them."""
    node, labels = factor
    if not isinstance(node, Einsum) or node.coefficient != 1 or has_sum(node):
        return factor
    cores = [pair for pair in zip(node.operands, node.inputs, strict=True) if not isinstance(pair[0], Ones)]
    if len(cores) != 1 or len(node.operands) == 1 or isinstance(cores[0][0], Structural):
        return factor
    core, axes = cores[0]
    if any(node.shape[axis] != 1 for axis in range(len(labels)) if axis not in axes):
        return factor
    return Factor(core, tuple([labels[axis] for axis in axes]))


def written(core: Factor, writing: Writing, sizes: dict[int, int]) -> Factor:
    """``C[at, ..] = Σ_places [at = f(places)] P[places, ..]``; places that the result has too are not summed."""
    chosen, dtype = writing.map, core.node.dtype
    missing = [label for label in chosen.places if label not in core.labels]
    if missing:
        spread = ones([sizes[label] for label in missing], dtype)
        labels = (*missing, *core.labels)
        core = Factor(einsum([core.node, spread], [core.labels, missing], labels, 1, dtype), labels)
    held = {*core.labels, chosen.at}
    output = tuple([label for label in writing.output if label in held])
    for other in orientations(Factor(chosen.node, chosen.labels)):
        if len(other.places) == 1 and other.at not in output:  # a shift: zeros are around the one factor
            return layout(read(core, other), output)
    structural, places = chosen.typed(dtype)
    return Factor(einsum([core.node, structural], [core.labels, places], output, 1, dtype), output)
