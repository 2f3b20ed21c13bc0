"""Sums with terms on diagonals, alone and within entrywise products.

Owns these operations. Imports the plan, groups and embeddings. Invariant: zeros beside a diagonal are chosen, not
multiplied, so that infinities and NaN on it stay where they are.
"""

from __future__ import annotations

from typing import Any

from einsumad.execution.backends.array_library import Array
from einsumad.execution.backends.context import Context, Operation, lined_up
from einsumad.execution.backends.entrywise import group
from einsumad.execution.backends.layouts import embed
from einsumad.planning.kernels import Embed, Patched, Place
from einsumad.planning.steps import Constant, Operand, Step
from einsumad.records import replace


def place(step: Step, kernel: Place, context: Context) -> Operation:
    """The first operand, and what is added to it on diagonals."""
    home, whole = context.home, context.whole(step, 0)
    added = _on_diagonals(step, step.operands[1:], kernel, context)

    def run(x: Array, *core: Array) -> Array:
        return home.whole(whole(x) + added(*core), step.shape)

    return run


def _on_diagonals(step: Step, core: tuple[Operand, ...], kernel: Place, context: Context) -> Operation:
    """What is added, zero beside the diagonals, over the axes of the result."""
    number = 1 if core else kernel.coefficient
    placed = Embed(kernel.labels, kernel.deltas, number)
    operation = embed(replace(step, operands=core, kernel=placed), placed, context)
    if not core or kernel.coefficient == 1:
        return operation
    return lambda *values: operation(*values) * kernel.coefficient


def patched(step: Step, kernel: Patched, context: Context) -> Operation:
    """The product of a sum with terms on diagonals."""
    home, ndim, count, at = context.home, len(step.shape), len(kernel.group.inputs), kernel.position
    whole: Any = step.operands[at]
    line = lined_up(home, kernel.group.inputs[at], context.shape_of(whole), ndim)
    added = _on_diagonals(step, step.operands[count:], kernel.place, context)
    register = len(context.shapes)
    local = Context(
        home,
        (*context.shapes, step.shape),
        (*context.stored, step.shape),
        (*context.dtypes, step.dtype),
    )
    inputs = list(kernel.group.inputs)
    inputs[at] = tuple(range(ndim))
    product = kernel.group._replace(inputs=tuple(inputs))
    operands = (*step.operands[:at], register, *step.operands[at + 1 : count])
    multiply = group(replace(step, operands=operands, kernel=product), product, local)
    is_number = isinstance(whole, Constant)

    def run(*given: Any) -> Array:
        rest = given[at] if is_number else line(given[at])
        total = home.whole(rest + added(*given[count:]), step.shape)
        return multiply(*given[:at], total, *given[at + 1 : count])

    return run
