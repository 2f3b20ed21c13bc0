"""The order in which the axes of registers lie in memory, as far as it can be known beforehand.

Owns the bookkeeping of layouts. Imports the plan and the choice of matrix products. Invariant: a wrong
entry can cost a copy but never a wrong value; inputs are taken to be in C order.
"""

from __future__ import annotations

from math import prod

from einsumad.execution.lowering.columns import goes_by_columns
from einsumad.execution.lowering.contract import product_text
from einsumad.execution.lowering.operands import Registers, register_of
from einsumad.execution.lowering.structural import merged, overlapped, put_in, taken
from einsumad.graph import Labels
from einsumad.planning.kernels import (
    Apply,
    Call,
    Choose,
    Contract,
    Group,
    Layout,
    Merge,
    Overlap,
    Pad,
    Place,
    Put,
    Selected,
    Sum,
    Take,
    Window,
)
from einsumad.planning.steps import Step

Order = tuple[int, ...]

_KEEP_ORDER = frozenset(["max_reduce", "min_reduce"])
"""Functions of the last axes whose values lie as the first axes of their operand do."""


def order_of(step: Step, registers: Registers) -> Order:
    """The axes of the step's result, slowest in memory first."""
    identity = tuple(range(len(step.shape)))
    if len(identity) < 2 or step.stored != step.shape:
        return identity
    kernel = step.kernel
    match kernel:
        case Contract() | Selected():
            return registers.orders.get(step.register) or _of_product(step, kernel, registers)
        case Layout():
            return _carried(step, kernel.labels, 0, registers)
        case Group() if goes_by_columns(step, kernel, registers):
            return identity[::-1]
        case Group() | Choose():
            position = _largest(step, registers)
            return identity if position is None else _carried(step, kernel.inputs[position], position, registers)
        case Window() | Pad() | Take() | Merge() | Overlap() | Put():
            return _of_move(step, kernel, registers)
        case Call() if kernel.function in _KEEP_ORDER and len(step.operands) == 1:
            return _carried(step, tuple(range(len(registers.shapes[register_of(step, 0)]))), 0, registers)
        case Place():
            return _carried(step, identity, 0, registers) if step.takes is not None else identity
        case Sum() | Apply():
            position = _largest(step, registers)
            return identity if position is None else _carried(step, identity, position, registers)
    return identity


def _of_product(step: Step, kernel: Contract | Selected, registers: Registers) -> Order:
    """The order of a product of matrices."""
    contract = kernel.contract if isinstance(kernel, Selected) else kernel
    return product_text(step, contract, registers)[1]


def _of_move(step: Step, kernel: Window | Pad | Take | Merge | Overlap | Put, registers: Registers) -> Order:
    """The order of what is read or written along a map."""
    match kernel:
        case Window():
            return _of_reading(step, kernel, registers)
        case Pad():
            labels = [kernel.place if label == kernel.at else label for label in kernel.labels]
            return _carried(step, tuple(labels), 0, registers)
        case Take():
            return taken(step, kernel, registers)[1]
        case Merge():
            return merged(step, kernel, registers)[1]
        case Overlap():
            return overlapped(step, kernel, registers)[1]
        case Put():
            return put_in(step, kernel, registers)[1]


def _of_reading(step: Step, kernel: Window, registers: Registers) -> Order:
    """The order of a view: places with longer strides first, where the axis was that they read."""
    register, identity = register_of(step, 0), tuple(range(len(step.shape)))
    if registers.stored[register] != registers.shapes[register]:
        return identity
    places = sorted(range(len(kernel.places)), key=lambda k: -abs(kernel.strides[k]))
    memory: list[int] = []
    for axis in registers.orders[register]:
        label = kernel.labels[axis]
        memory += [kernel.places[k] for k in places] if label == kernel.at else [label]
    return tuple(memory) if sorted(memory) == list(identity) else identity


def _largest(step: Step, registers: Registers) -> int | None:
    """The position of the operand whose memory is taken, or of the first with all entries of the result."""
    positions = [
        k
        for k, operand in enumerate(step.operands)
        if isinstance(operand, int) and prod(registers.stored[operand]) == prod(step.shape)
    ]
    return next((k for k in positions if step.operands[k] == step.takes), positions[0] if positions else None)


def _carried(step: Step, labels: Labels, position: int, registers: Registers) -> Order:
    """The order of an operand with these labels, in the labels that the result has."""
    operand = step.operands[position]
    identity = tuple(range(len(step.shape)))
    if not isinstance(operand, int) or registers.stored[operand] != registers.shapes[operand]:
        return identity
    order = dict.fromkeys([labels[axis] for axis in registers.orders[operand]])
    kept = tuple([label for label in order if label < len(identity)])
    return kept if len(kept) == len(identity) else identity
