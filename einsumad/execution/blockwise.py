"""Plans that go through an index part by part, where a plan for the whole takes much more memory than its results.

Owns that choice and the loop. Imports planning and compiled plans. Invariant: the outputs are those of the whole plan
up to rounding; inputs are only read, through views.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import count
from math import prod
from typing import Any, NamedTuple

import numpy as np

from einsumad.errors import ShapeError
from einsumad.execution.compiled import Array, CompiledPlan, compile_plan
from einsumad.graph import Leaf, Node
from einsumad.planning import Cut, Index, Plan, cut, cuttable_indices, make_plan, physical_memory

_LEAST_PEAK = 2**18
"""Plans that take fewer bytes at once are not cut: the calls would cost more than the memory is worth."""
_FEWEST_VALUES = 2
_MOST_INDICES = 3
"""How many indices are tried, those with the largest tensors."""
_PARTS = (4, 8, 16, 32, 64)
_WORTH = 0.75
"""A cut is worth its calls if it takes less than that of the memory."""
_SLOWDOWN = 1.5
"""A cut may take so many times the estimated time of the whole: what does not depend on the index is computed anew."""
_UNLIMITED = 2**62


@dataclass(frozen=True, slots=True, eq=False)
class BlockwisePlan:
    """A plan for a part of an index as a function of the whole arrays; `rest` is for the last part if it is shorter.

    `given` has for each input its shape and the axis that is cut, if any; `parts` says what becomes of the values.
    """

    part: CompiledPlan
    rest: CompiledPlan
    given: tuple[tuple[tuple[int, ...], int | None], ...]
    parts: Cut
    outputs: tuple[Node, ...]
    size: int

    @property
    def plan(self) -> Plan:
        """The plan of one part."""
        return self.part.plan

    @property
    def source(self) -> str:
        """The source for one part."""
        return self.part.source

    @property
    def count(self) -> int:
        """How many parts there are."""
        return -(-self.size // self.parts.size)

    def __call__(self, *arrays: Any) -> tuple[Array, ...]:
        """The outputs for the values of the inputs, in their order."""
        if len(arrays) != len(self.given):
            raise ShapeError(f"the plan has {len(self.given)} inputs, got {len(arrays)}")
        checked = [_checked(array, *given) for array, given in zip(arrays, self.given, strict=True)]
        found: list[Any] = [None] * len(self.parts.axes)
        for start in range(0, self.size, self.parts.size):
            place = slice(start, min(start + self.parts.size, self.size))
            plan = self.rest if place.stop - start < self.parts.size else self.part
            parts = [
                array if axis is None else array[_at(axis, place)]
                for array, (_, axis) in zip(checked, self.given, strict=True)
            ]
            found = [
                self._placed(whole, value, axis, place)
                for whole, value, axis in zip(found, plan(*parts), self.parts.axes, strict=True)
            ]
        return tuple(self._outputs(found))

    def _placed(self, found: Any, value: Any, axis: int | None, place: slice) -> Any:
        """What was found so far with the value of one part."""
        if axis == -1:
            return value
        if axis is None:
            if isinstance(found, np.ndarray):
                return np.add(found, value, out=found)
            return value if found is None else found + value
        if found is None:
            found = np.empty([self.size if k == axis else n for k, n in enumerate(value.shape)], value.dtype)
        found[_at(axis, place)] = value
        return found

    def _outputs(self, found: list[Any]) -> Iterator[Array]:
        """The outputs as sums of what was found for them."""
        for node, terms in zip(self.outputs, self.parts.terms, strict=True):
            total = reduce(np.add, [found[k] for k in terms])
            yield total if total.dtype == node.dtype else total.astype(node.dtype)


def _checked(array: Any, shape: tuple[int, ...], axis: int | None) -> Any:
    """The value of an input as an array of the right shape, if it is cut; the plan of a part checks the others."""
    if axis is None:
        return array
    value = np.asarray(array)
    if value.shape != shape:
        raise ShapeError(f"an input of shape {shape} was given a value of shape {value.shape}")
    return value


def _at(axis: int, place: slice) -> tuple[slice, ...]:
    return (slice(None),) * axis + (place,)


def compile_frugally(
    roots: Sequence[Node], inputs: Sequence[Leaf], memory_limit: int | None = None
) -> CompiledPlan | BlockwisePlan:
    """The plan for the roots; part by part where that keeps the memory near that of inputs and results.

    Raises :class:`MemoryLimitError` if no plan stays within the limit.
    """
    limit = physical_memory() if memory_limit is None else memory_limit
    whole = make_plan(roots, inputs, _UNLIMITED)
    wanted = min(limit, max(_LEAST_PEAK, _bytes(inputs) // 2 + _bytes(roots) * 3 // 2))
    if whole.peak_bytes > wanted:
        slowest = _SLOWDOWN * whole.seconds if whole.peak_bytes <= limit else float("inf")
        chosen = _best_parts(roots, inputs, Bounds(whole.peak_bytes, wanted, slowest))
        if chosen is not None and chosen.plan.peak_bytes + _bytes(roots) <= limit:
            return blockwise(roots, inputs, chosen)
    return compile_plan(whole if whole.peak_bytes <= limit else make_plan(roots, inputs, limit))


class PartPlan(NamedTuple):
    """A cut of roots along an index, and the plan for it."""

    along: Index
    cut: Cut
    plan: Plan


class Bounds(NamedTuple):
    """The bytes of the whole plan, those that are wanted of one in parts, and how long that may take."""

    whole: int
    wanted: int
    seconds: float


def _best_parts(roots: Sequence[Node], inputs: Sequence[Leaf], bounds: Bounds) -> PartPlan | None:
    """As few parts as bring the memory down to what is wanted, or as near as possible; None if that is not near."""
    results = _bytes(roots)
    best, least = None, int(_WORTH * bounds.whole)
    for index in cuttable_indices(roots)[:_MOST_INDICES]:
        for length in lengths_of_parts(index.size, bounds.whole, bounds.wanted - results):
            found = plan_of_part(roots, inputs, index, length)
            needed = found.plan.peak_bytes + results
            if needed >= least or found.plan.seconds * (index.size / length) > bounds.seconds:
                continue
            best, least = found, needed
            if needed <= bounds.wanted:
                return best
    return best


def lengths_of_parts(size: int, peak: int, wanted: int) -> list[int]:
    """The sizes of parts to try: those that may be small enough, and the smallest.

    None leaves a single value for the last part: BLAS skips a vector of one zero, and so a NaN that it multiplies.
    """
    smallest = [-(-size // parts) for parts in _PARTS if size > parts * _FEWEST_VALUES]
    lengths = [next(length for length in count(start) if size % length != 1) for start in smallest]
    return [length for length in lengths if peak * length <= wanted * size or length == lengths[-1]]


def plan_of_part(roots: Sequence[Node], inputs: Sequence[Leaf], index: Index, length: int) -> PartPlan:
    """The cut into parts of so many values."""
    parts = cut(roots, index, length)
    return PartPlan(index, parts, make_plan(parts.roots, _cut_inputs(parts, inputs), _UNLIMITED))


def blockwise(roots: Sequence[Node], inputs: Sequence[Leaf], chosen: PartPlan) -> BlockwisePlan:
    """The plan that goes through the parts of a cut."""
    index = chosen.along
    part = rest = compile_plan(chosen.plan)
    if remainder := index.size % chosen.cut.size:
        rest = compile_plan(plan_of_part(roots, inputs, index, remainder).plan)
    leaves = chosen.cut.leaves
    given = tuple([(node.shape, leaves[node][1] if node in leaves else None) for node in inputs])
    return BlockwisePlan(part, rest, given, chosen.cut, tuple(roots), index.size)


def _cut_inputs(parts: Cut, inputs: Sequence[Leaf]) -> list[Leaf]:
    return [parts.leaves[node][0] if node in parts.leaves else node for node in inputs]


def _bytes(nodes: Sequence[Node]) -> int:
    return sum([prod(node.shape) * node.dtype.itemsize for node in nodes])
