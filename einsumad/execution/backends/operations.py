"""The operations of the kernels, and plans made ready for a place.

Owns the table from kernels to operations. Imports the plan and the files beside it. Invariant: every kernel has an
entry.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from einsumad.execution.backends.array_library import Home
from einsumad.execution.backends.array_plan import ArrayPlan, Ready
from einsumad.execution.backends.context import Context, Operation, context_of
from einsumad.execution.backends.contractions import contract, selected, sliced
from einsumad.execution.backends.diagonals import patched, place
from einsumad.execution.backends.elementwise_rows import apply
from einsumad.execution.backends.entrywise import choose, group, sum_of
from einsumad.execution.backends.general_rows import call
from einsumad.execution.backends.joined import joined
from einsumad.execution.backends.layouts import affine_map, embed, fill, inside, layout, one_hot
from einsumad.execution.backends.moves import merge, overlap, pad, put, take, window
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
    Joined,
    Layout,
    Merge,
    OneHot,
    Overlap,
    Pad,
    Patched,
    Place,
    Put,
    Selected,
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
    Joined: joined,
    Layout: layout,
    Merge: merge,
    OneHot: one_hot,
    Overlap: overlap,
    Pad: pad,
    Patched: patched,
    Place: place,
    Put: put,
    Selected: selected,
    Sliced: sliced,
    Sum: sum_of,
    Take: take,
    Window: window,
}
"""For each kernel what makes its steps ready for a place."""

_NEW = (Contract, Selected, Sliced, Call, Fill, AffineMap, OneHot, Inside, Put)
"""Kernels whose results share memory with no operand, in any library."""


def ready_for(plan: Plan, home: Home) -> ArrayPlan:
    """The plan for a place. Raises :class:`TracingError` for functions that the library has not."""
    context = context_of(plan, home)
    steps = []
    for step in plan.steps:
        operation = OPERATIONS[type(step.kernel)](step, step.kernel, context)
        reads = tuple([operand for operand in step.operands if isinstance(operand, int)])
        numbers = tuple([_number(operand) if isinstance(operand, Constant) else None for operand in step.operands])
        steps.append(Ready(operation, reads, None if len(reads) == len(numbers) else numbers, step.frees))
    return ArrayPlan(plan, home, tuple(steps), _shared(plan, context))


def _number(constant: Constant) -> bool | int | float:
    value, dtype = constant.value, constant.dtype
    return bool(value) if dtype == BOOL else int(value) if dtype.kind in "iu" else float(value)


def _shared(plan: Plan, context: Context) -> tuple[bool, ...]:
    """For each output whether its memory may be that of an input, of another output, or smaller than its shape."""
    count = len(plan.inputs)
    found = []
    for before, register in enumerate(plan.outputs):
        new = register >= count and isinstance(plan.steps[register - count].kernel, _NEW)
        new = new and context.stored[register] == context.shapes[register]
        found.append(not new or register in plan.outputs[:before])
    return tuple(found)
