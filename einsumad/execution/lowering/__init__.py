"""Lowering: each step of a plan as straight-line NumPy statements.

Owns the table from kernels to statements. Imports the plan and the files beside it. Invariant: every kernel
has an entry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

from einsumad.errors import InternalError
from einsumad.execution.lowering.contract import lower_contract
from einsumad.execution.lowering.elementwise import lower_apply, lower_choose, lower_group, lower_sum
from einsumad.execution.lowering.general import kernel_name, lower_affine, lower_call, lower_one_hot
from einsumad.execution.lowering.joined import lower_joined
from einsumad.execution.lowering.layout import lower_embed, lower_fill, lower_layout, lower_place
from einsumad.execution.lowering.memory_order import order_of
from einsumad.execution.lowering.numbers import with_named_numbers
from einsumad.execution.lowering.operands import Registers, registers_of
from einsumad.execution.lowering.patched import lower_patched
from einsumad.execution.lowering.selected import lower_selected
from einsumad.execution.lowering.slices import lower_sliced
from einsumad.execution.lowering.structural import (
    lower_inside,
    lower_merge,
    lower_overlap,
    lower_pad,
    lower_put,
    lower_take,
    lower_window,
)
from einsumad.execution.lowering.tiled import Run, is_tiled, lower_run, runs_of
from einsumad.execution.source import Written, assemble, register_name, shape_text
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
from einsumad.planning.memory import is_view
from einsumad.planning.plan import Plan
from einsumad.planning.steps import Step

if TYPE_CHECKING:
    from einsumad.execution.loops import Region

Regions: TypeAlias = "list[tuple[Run, Region | None]]"

_BIG = 2**9
"""Bytes from which a dead tensor is let go at once rather than when the function returns."""


def lower(plan: Plan, *, loops: bool = False) -> str:
    """The source of a function ``plan`` of the plan's inputs that returns a tuple of its outputs.

    With `loops` it has functions of loops, under a decorator ``loop`` that compiles them.
    """
    registers = registers_of(plan)
    held = dict.fromkeys(range(len(plan.inputs)), 0)  # bytes that the variable of a register keeps alive
    last = {register: step.register for step in plan.steps for register in step.operands if isinstance(register, int)}
    last.update(dict.fromkeys(plan.outputs, len(plan.inputs) + len(plan.steps)))
    body: list[Written] = []
    regions = _regions(plan, registers, last) if loops else []
    for steps, region in regions or [(plan.steps, None)]:
        if region is None:
            body += _in_calls(steps, last, registers, held)
            continue
        for step in steps:
            _entered(step, registers, held)
            registers.orders[step.register] = tuple(range(len(step.shape)))
        body.append(_written(steps, region.made, region.lines, held))
    functions = [region.function for _, region in regions if region is not None]
    results = [_result(register, copied, registers) for register, copied in zip(plan.outputs, plan.copied, strict=True)]
    numbers = [f"{name} = {made}" for made, name in registers.numbers.items()]
    text = assemble(len(plan.inputs), body, results, plan.outputs)
    return "\n".join([*numbers, *([""] if numbers else []), *functions, text])


def _regions(plan: Plan, registers: Registers, last: Mapping[int, int]) -> Regions:
    loops = import_module("einsumad.execution.loops")
    arrays = loops.Arrays(registers.shapes, registers.stored, registers.dtypes)
    found: Regions = loops.regions_of(plan.steps, arrays, last)
    return found


def _in_calls(
    steps: Sequence[Step], last: Mapping[int, int], registers: Registers, held: dict[int, int]
) -> list[Written]:
    """The statements of steps as calls into NumPy, in blocks where that is worth it."""
    body: list[Written] = []
    for run in runs_of(steps):
        if is_tiled(run, registers):
            needed = {step.register for step in run if last[step.register] > run[-1].register}
            lowered = lower_run(run, needed, registers)
            made, lines = lowered.made, lowered.lines
            for step in run:
                _entered(step, registers, held)
            body.append(_written(run, made, lines, held))
            continue
        for step in run:
            lines = statements(step, registers)
            _entered(step, registers, held)
            registers.orders[step.register] = order_of(step, registers)
            body.append(_written((step,), (step.register,), lines, held))
    return body


def _entered(step: Step, registers: Registers, held: dict[int, int]) -> None:
    """Note whose memory a step's value has, and how many bytes that is."""
    source = step.takes
    if _shares_memory(step, registers):
        source = next(operand for operand in step.operands if isinstance(operand, int))
    registers.buffers[step.register] = step.register if source is None else registers.buffers[source]
    held[step.register] = prod(step.stored) * step.dtype.itemsize if source is None else held[source]


def _written(run: Run, made: tuple[int, ...], lines: list[str], held: Mapping[int, int]) -> Written:
    """The statements with the end of large tensors that nothing reads any more."""
    inside = {step.register for step in run}
    reads = tuple(dict.fromkeys([o for step in run for o in step.operands if isinstance(o, int) and o not in inside]))
    frees = tuple([r for step in run for r in step.frees if r not in inside or r in made])
    dropped = [register_name(r) for r in frees if held[r] >= _BIG]
    if dropped:
        lines.append(f"del {', '.join(dropped)}")
    return Written(made, reads, tuple(lines), frees)


def _shares_memory(step: Step, registers: Registers) -> bool:
    dtypes = [registers.dtypes[operand] for operand in step.operands if isinstance(operand, int)]
    return is_view(step.kernel, dtypes, len(step.shape), step.dtype)


def _result(register: int, copied: bool, registers: Registers) -> str:
    """The register as it is returned: whole, and a copy where it would share memory."""
    name = register_name(register)
    if registers.stored[register] != registers.shapes[register]:
        return f"np.broadcast_to({name}, {shape_text(registers.shapes[register])}).copy()"
    return f"{name}.copy()" if copied else name


def statements(step: Step, registers: Registers) -> list[str]:
    """The statements of one step."""
    lowering = _LOWERINGS.get(type(step.kernel))
    if lowering is None:
        raise InternalError(f"no lowering for {type(step.kernel).__name__}")
    return with_named_numbers(lowering(step, step.kernel, registers), step, registers)


_LOWERINGS: dict[type, Callable[[Step, Any, Registers], list[str]]] = {
    AffineMap: lower_affine,
    Apply: lower_apply,
    Call: lower_call,
    Choose: lower_choose,
    Contract: lower_contract,
    Embed: lower_embed,
    Fill: lower_fill,
    Group: lower_group,
    Inside: lower_inside,
    Joined: lower_joined,
    Layout: lower_layout,
    Merge: lower_merge,
    OneHot: lower_one_hot,
    Overlap: lower_overlap,
    Pad: lower_pad,
    Patched: lower_patched,
    Place: lower_place,
    Put: lower_put,
    Selected: lower_selected,
    Sliced: lower_sliced,
    Sum: lower_sum,
    Take: lower_take,
    Window: lower_window,
}

__all__ = ["kernel_name", "lower", "statements"]
