"""Lowering: each step of a plan as straight-line NumPy statements.

Owns the table from kernels to statements. Imports the plan and the files beside it. Invariant: every kernel
has an entry.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from einsumad.errors import InternalError
from einsumad.execution.lowering.contract import lower_contract
from einsumad.execution.lowering.elementwise import lower_apply, lower_choose, lower_group, lower_sum
from einsumad.execution.lowering.general import kernel_name, lower_affine, lower_call, lower_one_hot
from einsumad.execution.lowering.layout import lower_embed, lower_fill, lower_layout
from einsumad.execution.lowering.memory_order import order_of
from einsumad.execution.lowering.operands import Registers, registers_of
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
from einsumad.planning.memory import is_view
from einsumad.planning.plan import Plan
from einsumad.planning.steps import Step

_BIG = 2**14
"""Bytes from which a dead tensor is let go at once rather than when the function returns."""


def lower(plan: Plan) -> str:
    """The source of a function ``plan`` of the plan's inputs that returns a tuple of its outputs."""
    registers = registers_of(plan)
    held = [0] * len(plan.inputs)  # bytes that the variable of a register keeps alive
    body: list[Written] = []
    for step in plan.steps:
        reads = tuple([operand for operand in step.operands if isinstance(operand, int)])
        shared = _shares_memory(step, registers)
        held.append(
            held[reads[0]]
            if shared
            else held[step.takes]
            if step.takes is not None
            else prod(step.stored) * step.dtype.itemsize
        )
        lines = statements(step, registers)
        registers.orders.append(order_of(step, registers))
        dropped = [register_name(r) for r in step.frees if held[r] >= _BIG]
        if dropped:
            lines.append(f"del {', '.join(dropped)}")
        body.append(Written(step.register, reads, tuple(lines), step.frees))
    results = [_result(register, copied, registers) for register, copied in zip(plan.outputs, plan.copied, strict=True)]
    return assemble(len(plan.inputs), body, results, plan.outputs)


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
    return lowering(step, step.kernel, registers)


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
    Layout: lower_layout,
    Merge: lower_merge,
    OneHot: lower_one_hot,
    Overlap: lower_overlap,
    Pad: lower_pad,
    Put: lower_put,
    Sliced: lower_sliced,
    Sum: lower_sum,
    Take: lower_take,
    Window: lower_window,
}

__all__ = ["kernel_name", "lower", "statements"]
