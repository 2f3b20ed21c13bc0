"""Plans that go through an index part by part, as frozen data that can be printed.

Owns that record and how it is made. Imports plans, cuts, sweeps and what is taken out of them. Invariant: outputs are
sums of what the parts give, or these side by side, or are computed from such; the planned bytes are those of all that
is held at once.

A value is known by its position: inputs come first, then what the sweeps give, in their order. So a part can be
computed wherever its inputs are, and what the parts give can be put together anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import NamedTuple

from einsumad.graph import Leaf, Node, leaf, leaves, substitute
from einsumad.planning.contraction import binarise
from einsumad.planning.cost import Cost
from einsumad.planning.expansion import expand
from einsumad.planning.guards import guarded
from einsumad.planning.hoisting import unchanging
from einsumad.planning.plan import Plan, make_plan
from einsumad.planning.splitting import Cut, cut
from einsumad.planning.sweeps import Sweeps
from einsumad.planning.text import readable_bytes
from einsumad.records import record

UNLIMITED = 2**62
ADDED_AT_ONCE = 2**13
"""So many entries of a running sum are added at once, or those of one line along its longest axis if these are more."""
_ADDING = 3
"""How many arrays of so many entries the addition takes."""
_FEW = 64
"""Adding so many parts in turn rounds about as often as NumPy's own sum of a long array."""
_DOUBLE = 8


@record(repr=True)
class SweepPlan:
    """The plans of one way through the parts.

    `before` computes what no part changes, from the values at the positions `before_reads`. `part`, and `rest` for the
    last part, take the values at the positions of `reads`, each cut along an axis or whole, and then what `before`
    gave. `places` has for each value that they give the axis along which the parts lie side by side, or None where they
    are added up; `results` are leaves of its shape and dtype then, and `exact` says for which of them what rounding
    lost is kept.
    """

    before: Plan
    before_reads: tuple[int, ...]
    part: Plan
    rest: Plan
    reads: tuple[tuple[int, int | None], ...]
    places: tuple[int | None, ...]
    results: tuple[Leaf, ...]
    exact: tuple[bool, ...]

    @property
    def peak_bytes(self) -> int:
        """The bytes that are allocated at once, results included."""
        sums = [node for node, exact in zip(self.results, self.exact, strict=True) if exact]
        held = sum([_bytes(node) for node in (*self.results, *sums)])
        adding = max([_bytes_to_add(node) for node in sums], default=0)
        kept = sum([_bytes(node) for node in self.part.inputs[len(self.reads) :]])
        return max(self.before.peak_bytes, kept + held + adding + max(self.part.peak_bytes, self.rest.peak_bytes))

    def __str__(self) -> str:
        """Return what is made before, the plan for one part, and what becomes of its outputs."""
        pairs = zip(self.part.outputs, self.places, strict=True)
        ends = [f"t{k} is added up" if place is None else f"t{k} is laid along axis {place}" for k, place in pairs]
        lines = ["before all parts:", str(self.before)] if self.before.steps else []
        return "\n".join([*lines, "for each part:", str(self.part), ", ".join(ends)])


@record(repr=True)
class SplitPlan:
    """Sweeps through an index of a size in parts of a length, and what is computed after them.

    `after` takes the values at the positions `after_reads`, and what it gives follows behind the values of all sweeps.
    `outputs` are the positions of the outputs.
    """

    inputs: tuple[Leaf, ...]
    size: int
    length: int
    sweeps: tuple[SweepPlan, ...]
    after: Plan
    after_reads: tuple[int, ...]
    outputs: tuple[int, ...]

    @property
    def count(self) -> int:
        """How many parts there are."""
        return -(-self.size // self.length)

    @property
    def peak_bytes(self) -> int:
        """The bytes that are allocated at once, results included; inputs are not."""
        peak = done = 0
        for sweep in self.sweeps:
            peak = max(peak, done + sweep.peak_bytes)
            done += sum([_bytes(node) for node in sweep.results])
        twice = [k for n, k in enumerate(self.outputs) if k in self.outputs[:n]]
        values = [node for sweep in self.sweeps for node in sweep.results]
        copies = sum([_bytes(values[k - len(self.inputs)]) for k in twice if k < len(self.inputs) + len(values)])
        return max(peak, done + copies + self.after.peak_bytes)

    @property
    def cost(self) -> Cost:
        """The work of all parts."""
        total = self.after.cost
        for sweep in self.sweeps:
            total += sweep.before.cost + sweep.rest.cost
            total += sweep.part.cost.repeated(self.count - 1)
        return total

    @property
    def flops(self) -> int:
        """Floating-point operations of all parts."""
        return self.cost.flops

    @property
    def seconds(self) -> float:
        """The estimated time."""
        return self.cost.seconds()

    @property
    def note(self) -> str:
        """How it is split, in a line."""
        often = f", {len(self.sweeps)} times" if len(self.sweeps) > 1 else ""
        return (
            f"in {self.count} parts of an index of {self.size}{often}, each of {self.length}, to save memory: "
            f"peak {readable_bytes(self.peak_bytes)}"
        )

    def __str__(self) -> str:
        """Return the plans of all sweeps, and what is computed after them."""
        lines = [self.note, *map(str, self.sweeps)]
        if self.after.outputs:
            lines += ["after all parts:", str(self.after)]
        return "\n".join(lines)


def split_plan(sweeps: Sweeps, inputs: Sequence[Leaf], length: int, *, hoisted: bool = True) -> SplitPlan:
    """The plan in parts of a length; what no part changes is computed anew in each unless it is hoisted."""
    return _split(sweeps, inputs, length, lambda cuts, values: _sweep(cuts, values, hoisted=hoisted))


def draft_of_split(sweeps: Sweeps, inputs: Sequence[Leaf], length: int) -> SplitPlan:
    """The same for its bytes alone: nothing is hoisted, and the last part is as long as the others."""
    return _split(sweeps, inputs, length, _draft)


class _Cuts(NamedTuple):
    """What cuts a part of so many values off what is to be computed, and how many the last one has."""

    of_length: Callable[[int], Cut]
    length: int
    remainder: int


class _Parts(NamedTuple):
    """The plans of a sweep."""

    before: Plan
    before_reads: tuple[int, ...]
    part: Plan
    rest: Plan
    reads: tuple[tuple[int, int | None], ...]
    places: tuple[int | None, ...]


def _split(
    sweeps: Sweeps, inputs: Sequence[Leaf], length: int, planned: Callable[[_Cuts, Sequence[Leaf]], _Parts]
) -> SplitPlan:
    values = list(inputs)
    known: dict[Node, Node] = {}
    position: dict[Node, int] = {}
    made: list[SweepPlan] = []
    size = sweeps.index.size
    for ends in sweeps.ends:
        of_length = partial(cut, ends, sweeps.index, known=dict(known))
        parts = planned(_Cuts(of_length, length, size % length), values)
        results = tuple([_result(end, len(values) + k) for k, end in enumerate(ends)])
        exact = tuple([_kept_exact(end, place, size // length) for end, place in zip(ends, parts.places, strict=True)])
        made.append(SweepPlan(*parts, results, exact))
        position.update({end: len(values) + k for k, end in enumerate(ends)})
        known.update({end: result for end, result in zip(ends, results, strict=True) if end not in sweeps.index.axes})
        values += results
    late = [root for root in dict.fromkeys(sweeps.roots) if root not in position]
    position.update({root: len(values) + k for k, root in enumerate(late)})
    plan, reads = _plan(substitute(late, known), values)
    outputs = tuple([position[root] for root in sweeps.roots])
    return SplitPlan(tuple(inputs), size, length, tuple(made), plan, reads, outputs)


def _result(end: Node, position: int) -> Leaf:
    return leaf(end.shape, end.dtype, ("given", position), "of all parts")


def _kept_exact(end: Node, place: int | None, parts: int) -> bool:
    """Whether what rounding loses is added up beside a sum: where there are many parts, or few digits."""
    return place is None and end.dtype.kind == "f" and (parts > _FEW or end.dtype.itemsize < _DOUBLE)


def _sweep(cuts: _Cuts, values: Sequence[Leaf], *, hoisted: bool) -> _Parts:
    part, rest = cuts.of_length(cuts.length), cuts.of_length(cuts.remainder or cuts.length + 1)
    one, other = [binarise(guarded(expand(found.roots))) for found in (part, rest)]
    alike = not cuts.remainder or 2 * cuts.remainder >= cuts.length
    held = unchanging(one, other if alike else _beside(cuts)) if hoisted else ()
    before, before_reads = _plan(held, values)
    stand = {node: leaf(node.shape, node.dtype, ("held", k), "made before") for k, node in enumerate(held)}
    one, other = [substitute(found, stand) for found in (one, other)] if held else (part.roots, rest.roots)
    reached = {*leaves(one), *leaves(other)}
    read = [not reached.isdisjoint([_or_part(node, found) for found in (part, rest)]) for node in values]
    places = [k for k in range(len(values)) if read[k]]
    inputs = [[_or_part(values[k], found) for k in places] for found in (part, rest)]
    plan = make_plan(one, [*inputs[0], *stand.values()], UNLIMITED)
    last = make_plan(other, [*inputs[1], *stand.values()], UNLIMITED) if cuts.remainder else plan
    reads = tuple([(k, part.leaves[values[k]][1] if values[k] in part.leaves else None) for k in places])
    return _Parts(before, before_reads, plan, last, reads, part.axes)


def _beside(cuts: _Cuts) -> tuple[Node, ...]:
    """What is computed for a part of nearly the same length, whose factors meet in the same order."""
    return binarise(guarded(expand(cuts.of_length(cuts.length + 1).roots)))


def _draft(cuts: _Cuts, values: Sequence[Leaf]) -> _Parts:
    part = cuts.of_length(cuts.length)
    plan = make_plan(part.roots, [_or_part(node, part) for node in values], UNLIMITED)
    reads = tuple([(k, part.leaves[node][1] if node in part.leaves else None) for k, node in enumerate(values)])
    return _Parts(make_plan((), (), UNLIMITED), (), plan, plan, reads, part.axes)


def _or_part(node: Leaf, found: Cut) -> Leaf:
    """The leaf that stands for a part of a leaf, or the leaf if it is not cut."""
    return found.leaves[node][0] if node in found.leaves else node


def _plan(nodes: Sequence[Node], values: Sequence[Leaf]) -> tuple[Plan, tuple[int, ...]]:
    """The plan for nodes, and the positions of the values that it reads."""
    reached = set(leaves(nodes))
    reads = tuple([k for k, node in enumerate(values) if node in reached])
    return make_plan(nodes, [values[k] for k in reads], UNLIMITED), reads


def _bytes(node: Leaf) -> int:
    return prod(node.shape) * node.dtype.itemsize


def _bytes_to_add(node: Leaf) -> int:
    """What adding a part takes beside the sum and what it lacks."""
    entries = prod(node.shape)
    line = entries // max([1, *node.shape])
    return _ADDING * min(entries, max(ADDED_AT_ONCE, line)) * node.dtype.itemsize
