"""Outer products along a long last axis, for which operands that lie crosswise in memory are copied first.

Owns this choice and the operands. Imports registers and kernels. Invariant: only the order in memory depends on it.
NumPy's loops follow the memory of the operands: where a short axis is the last of theirs, loops would be as short, and
each costs as much as its start. A copy of an operand is small beside the product.
"""

from __future__ import annotations

from math import prod

from einsumad.execution.lowering.operands import Registers, Term, lined_up, permuted
from einsumad.execution.source import register_name
from einsumad.graph import Labels
from einsumad.planning.kernels import Group
from einsumad.planning.steps import Operand, Step

_LEAST_LENGTH = 16
"""Entries of the last axis from which its loops are worth a copy."""
_LEAST_GROWTH = 3
"""So many times the entries of an operand the product has, where the operand is copied."""


def outer_operands(step: Step, kernel: Group, registers: Registers) -> tuple[list[str], list[Term]] | None:
    """The two operands, with copies of those that lie crosswise, and the statement of one that both share.

    None if there are none of them, or the product is no outer product.
    """
    if len(step.operands) != 2 or kernel.masks or kernel.divisors or step.takes is not None or step.dtype.kind != "f":
        return None
    if step.stored != step.shape or not step.shape or step.shape[-1] < _LEAST_LENGTH:
        return None
    copies = [_copy(o, labels, step, registers) for o, labels in zip(step.operands, kernel.inputs, strict=True)]
    if None in copies or not any(copies):
        return None
    name, first = register_name(step.register), copies[0]
    lines = [f"{name} = {first}"] if first and first == copies[1] else []
    terms: list[Term] = []
    for operand, labels, copy in zip(step.operands, kernel.inputs, copies, strict=True):
        assert isinstance(operand, int)
        shape = registers.stored[operand]
        held = labels[len(labels) - len(shape) :]
        text = name if lines else copy or register_name(operand)
        if copy:
            shape, held = tuple([shape[axis] for axis in _places(held)]), tuple(sorted(held))
        terms.append(lined_up(text, shape, held, len(step.shape)))
    return lines, terms


def _copy(operand: Operand, labels: Labels, step: Step, registers: Registers) -> str | None:
    """The text of a copy in the order of the result, empty if the operand has that order; None if it is too large."""
    if not isinstance(operand, int):
        return None
    if _LEAST_GROWTH * prod(registers.stored[operand]) > prod(step.shape) or len(set(labels)) < len(labels):
        return None
    memory = [labels[axis] for axis in registers.orders.get(operand, ())]
    whole = registers.stored[operand] == registers.shapes[operand]
    if not whole or memory == sorted(memory) or len(step.shape) - 1 not in labels:
        return ""
    return f"{permuted(register_name(operand), _places(labels))}.copy()"


def _places(labels: Labels) -> list[int]:
    return sorted(range(len(labels)), key=labels.__getitem__)
