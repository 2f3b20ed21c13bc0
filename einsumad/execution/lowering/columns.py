"""Outer products of many short rows, which are made along columns.

Owns this choice. Imports registers and kernels. Invariant: only the order in memory depends on it. NumPy's loops go
along the last axis, and one of three entries costs as much as its start; what is made along columns stays so in the
steps that follow.
"""

from __future__ import annotations

from math import prod

from einsumad.execution.lowering.operands import Registers
from einsumad.planning.kernels import Group
from einsumad.planning.steps import Step

_MOST_ENTRIES, _LEAST_ROWS = 16, 64


def goes_by_columns(step: Step, kernel: Group, registers: Registers) -> bool:
    """Whether two operands, neither of which has all entries, are multiplied for many first indices and few others.

    Only where the result is added up by index in the end: matrix products want rows.
    """
    if step.register not in registers.added_up or step.takes is not None or len(step.shape) < 2:
        return False
    if len(step.operands) != 2 or kernel.masks or kernel.divisors:
        return False
    if step.stored != step.shape or step.shape[0] < _LEAST_ROWS or prod(step.shape[1:]) > _MOST_ENTRIES:
        return False
    stored = [registers.stored[operand] for operand in step.operands if isinstance(operand, int)]
    return len(stored) == 2 and all(step.shape[0] < prod(shape) < prod(step.shape) for shape in stored)
