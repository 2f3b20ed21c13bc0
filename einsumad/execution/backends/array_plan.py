"""A plan as a function of the arrays of a library.

Owns the table from kernels to operations, and the run. Imports the plan and the files beside it. Invariant: every
kernel has an entry; what comes in is checked and never written; what goes out is of the same library, on the same
device, and shares no memory with what came in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from einsumad.errors import ShapeError, TracingError
from einsumad.execution.backends.context import Context, Operation, context_of
from einsumad.execution.backends.contractions import contract, sliced
from einsumad.execution.backends.elementwise_rows import apply
from einsumad.execution.backends.entrywise import choose, group, sum_of
from einsumad.execution.backends.general_rows import call
from einsumad.execution.backends.layouts import affine_map, embed, fill, inside, layout, one_hot
from einsumad.execution.backends.library import Array, Home
from einsumad.execution.backends.moves import merge, overlap, pad, put, take, window
from einsumad.execution.backends.recognition import library_of
from einsumad.graph import BOOL
from einsumad.planning.kernels import (
    AffineMap,
    Apply,
    Call,
    Choose,
    Contract,
    Embed,
    Fill,
    Group,
    Inside,
    Layout,
    Merge,
    OneHot,
    Overlap,
    Pad,
    Put,
    Sliced,
    Sum,
    Take,
    Window,
)
from einsumad.planning.plan import Plan
from einsumad.planning.steps import Constant, Step

OPERATIONS: dict[type, Callable[[Step, Any, Context], Operation]] = {
    AffineMap: affine_map,
    Apply: apply,
    Call: call,
    Choose: choose,
    Contract: contract,
    Embed: embed,
    Fill: fill,
    Group: group,
    Inside: inside,
    Layout: layout,
    Merge: merge,
    OneHot: one_hot,
    Overlap: overlap,
    Pad: pad,
    Put: put,
    Sliced: sliced,
    Sum: sum_of,
    Take: take,
    Window: window,
}
"""For each kernel what makes its steps ready for a place."""

_NEW = (Contract, Sliced, Call, Fill, AffineMap, OneHot, Inside, Put)
"""Kernels whose results share memory with no operand, in any library."""


@dataclass(frozen=True, slots=True, eq=False)
class ArrayPlan:
    """A plan made ready for a place: for each step its operation and what it reads, numbers as they are."""

    plan: Plan
    home: Home
    operations: tuple[tuple[Operation, tuple[int, ...], tuple[Any, ...] | None, tuple[int, ...]], ...] = field(
        repr=False
    )
    shared: tuple[bool, ...] = field(repr=False)

    def __call__(self, *values: Any) -> tuple[Array, ...]:
        """The outputs for the values of the inputs, in their order: arrays at the place, or numbers.

        NumPy arrays are constants, which only a plan on the host takes.
        """
        inputs = self.plan.inputs
        if len(values) != len(inputs):
            raise ShapeError(f"the plan has {len(inputs)} inputs, got {len(values)}")
        given = [received(self.home, x, leaf.shape, leaf.dtype) for x, leaf in zip(values, inputs, strict=True)]
        registers: list[Any] = [*given, *[None] * len(self.operations)]
        register = len(given)
        with self.home.library.quiet():
            for operation, reads, numbers, frees in self.operations:
                if numbers is None:
                    registers[register] = operation(*[registers[k] for k in reads])
                else:
                    arrays = iter([registers[k] for k in reads])
                    registers[register] = operation(*[next(arrays) if x is None else x for x in numbers])
                register += 1
                for k in frees:
                    registers[k] = None
            found = [self.home.whole(registers[k], self._shape(k)) for k in self.plan.outputs]
            return self.home.library.apart(found, given, self.shared)

    def _shape(self, register: int) -> tuple[int, ...]:
        count = len(self.plan.inputs)
        return self.plan.inputs[register].shape if register < count else self.plan.steps[register - count].shape


def ready_for(plan: Plan, home: Home) -> ArrayPlan:
    """The plan for a place. Raises :class:`TracingError` for functions that the library has not."""
    context = context_of(plan, home)
    operations = []
    for step in plan.steps:
        operation = OPERATIONS[type(step.kernel)](step, step.kernel, context)
        reads = tuple([operand for operand in step.operands if isinstance(operand, int)])
        numbers = tuple([_number(operand) if isinstance(operand, Constant) else None for operand in step.operands])
        frees = tuple([k for k in step.frees if k not in plan.outputs])
        operations.append((operation, reads, None if len(reads) == len(numbers) else numbers, frees))
    return ArrayPlan(plan, home, tuple(operations), _shared(plan, context))


def _number(constant: Constant) -> bool | int | float:
    value, dtype = constant.value, constant.dtype
    return bool(value) if dtype == BOOL else int(value) if dtype.kind in "iu" else float(value)


def _shared(plan: Plan, context: Context) -> tuple[bool, ...]:
    """For each output whether its memory may be that of an input, of another output, or smaller than its shape."""
    count = len(plan.inputs)
    found = []
    for place, register in enumerate(plan.outputs):
        new = register >= count and isinstance(plan.steps[register - count].kernel, _NEW)
        new = new and context.stored[register] == context.shapes[register]
        found.append(not new or register in plan.outputs[:place])
    return tuple(found)


def received(home: Home, x: Any, shape: tuple[int, ...], dtype: np.dtype) -> Array:
    """An input at a place, in its dtype. Raises :class:`TracingError` for what would have to be moved there."""
    library = library_of(x)
    if library is None:
        array = np.asarray(x)
        found_shape, found_dtype = array.shape, array.dtype
    else:
        if library is not home.library or (home.device is not None and library.home_of(x) != home):
            raise TracingError(f"an array of {library.home_of(x).name} was given where those of {home.name} are")
        library.check(x)
        found_shape, found_dtype = tuple(x.shape), library.dtype_of(x)
    if found_shape != shape:
        raise ShapeError(f"an input of shape {shape} was given a value of shape {found_shape}")
    if not np.can_cast(found_dtype, dtype, "same_kind"):
        raise ShapeError(f"an input of dtype {dtype} was given a value of dtype {found_dtype}: convert it first")
    if library is None:
        return _moved(home, array, dtype)
    return home.cast(x, dtype)


def _moved(home: Home, array: np.ndarray, dtype: np.dtype) -> Array:
    """A NumPy array at a place: a number anywhere, others on the host only."""
    if not array.ndim:
        return home.full((), array.astype(dtype).item(), dtype)
    return home.cast(home.brought(array), dtype)
