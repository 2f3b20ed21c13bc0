"""Plans in parts as functions of arrays: one part, parts put together, and the loop.

Owns the running of plans in parts. Imports compiled plans, sums and progress. Invariant: inputs are only read, through
views; what a part gives depends on the inputs and the number of the part alone, and parts are put together in their
order, so that it does not matter where and when each was computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from einsumad.errors import ShapeError
from einsumad.execution.compiled import Array, CompiledPlan, compile_plan
from einsumad.execution.progress import Advance, listening
from einsumad.execution.sums import RunningSum
from einsumad.planning import SplitPlan, SweepPlan
from einsumad.records import record


@record(repr=True)
class CompiledSweep:
    """The plans of one way through the parts, as functions. `size` is that of the index, `length` that of a part."""

    plan: SweepPlan
    before: CompiledPlan
    part: CompiledPlan
    rest: CompiledPlan
    size: int
    length: int

    @property
    def count(self) -> int:
        """How many parts there are."""
        return -(-self.size // self.length)

    def place(self, number: int) -> slice:
        """Where a part lies."""
        start = number * self.length
        return slice(start, min(start + self.length, self.size))

    def held(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """What no part changes, from the values at all positions so far."""
        return self.before(*[values[position] for position in self.plan.before_reads])

    def run_part(self, number: int, values: Sequence[Any], held: Sequence[Any]) -> tuple[Any, ...]:
        """What one part gives."""
        place = self.place(number)
        arrays = [values[at] if axis is None else values[at][_at(axis, place)] for at, axis in self.plan.reads]
        plan = self.part if place.stop - place.start == self.length else self.rest
        return plan(*arrays, *held)

    def put_together(self, parts: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
        """What all parts give together, from what each gives, in their order. Their arrays are kept or overwritten."""
        found: list[Any] = [
            RunningSum(exact=exact) if axis is None else np.empty(leaf.shape, leaf.dtype)
            for leaf, axis, exact in zip(self.plan.results, self.plan.places, self.plan.exact, strict=True)
        ]
        number = 0
        for part in parts:
            for end, axis, value in zip(found, self.plan.places, part, strict=True):
                if axis is None:
                    end.add(value)
                else:
                    end[_at(axis, self.place(number))] = value
                del value  # nothing of a part is alive while the next is computed
            del part
            number += 1
        if number != self.count:
            raise ShapeError(f"there are {self.count} parts to be put together, got {number}")
        return tuple([end.result() if isinstance(end, RunningSum) else end for end in found])

    def run(self, values: Sequence[Any], advance: Advance) -> tuple[Any, ...]:
        """What all parts give together."""
        held = self.held(values)

        def parts() -> Iterator[tuple[Any, ...]]:
            for number in range(self.count):
                yield self.run_part(number, values, held)
                place = self.place(number)
                advance(place.stop - place.start)

        return self.put_together(parts())


@record(repr=True)
class BlockwisePlan:
    """A plan in parts as a function of the whole arrays."""

    plan: SplitPlan
    sweeps: tuple[CompiledSweep, ...]
    after: CompiledPlan

    @property
    def source(self) -> str:
        """The sources for one part of each sweep, and of what is computed before and after."""
        plans = [plan for sweep in self.sweeps for plan in (sweep.before, sweep.part)]
        return "\n".join([plan.source for plan in (*plans, self.after) if plan.plan.outputs])

    def __call__(self, *arrays: Any) -> tuple[Array, ...]:
        """The outputs for the values of the inputs, in their order."""
        values = self.checked(arrays)
        with listening(self.plan.size * len(self.sweeps)) as advance:
            for sweep in self.sweeps:
                values += sweep.run(values, advance)
        return self.finish(values)

    def checked(self, arrays: Sequence[Any]) -> list[Any]:
        """The values of the inputs as arrays of the right shapes; plans of parts look at the dtypes."""
        inputs = self.plan.inputs
        if len(arrays) != len(inputs):
            raise ShapeError(f"the plan has {len(inputs)} inputs, got {len(arrays)}")
        values = [np.asarray(array) for array in arrays]
        for value, leaf in zip(values, inputs, strict=True):
            if value.shape != leaf.shape:
                raise ShapeError(f"an input of shape {leaf.shape} was given a value of shape {value.shape}")
        return values

    def finish(self, values: Sequence[Any]) -> tuple[Array, ...]:
        """The outputs from the values of the inputs and all that the sweeps gave."""
        known = [*values, *self.after(*[values[position] for position in self.plan.after_reads])]
        outputs = self.plan.outputs
        return tuple([known[k] if k not in outputs[:n] else np.copy(known[k])[()] for n, k in enumerate(outputs)])


def compile_split(plan: SplitPlan, *, loops: bool = False) -> BlockwisePlan:
    """The plan as a function; with `loops` Numba compiles its loops."""
    sweeps: list[CompiledSweep] = []
    for sweep in plan.sweeps:
        part = compile_plan(sweep.part, loops=loops)
        rest = part if sweep.rest is sweep.part else compile_plan(sweep.rest, loops=loops)
        before = compile_plan(sweep.before, loops=loops)
        sweeps.append(CompiledSweep(sweep, before, part, rest, plan.size, plan.length))
    return BlockwisePlan(plan, tuple(sweeps), compile_plan(plan.after, loops=loops))


def _at(axis: int, place: slice) -> tuple[slice, ...]:
    return (slice(None),) * axis + (place,)
