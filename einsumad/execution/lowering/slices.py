"""Contractions by slices of a large product: a loop over one axis of the result.

Owns that loop. Imports the lowering of groups and contractions. Invariant: only the result and memory of its own is
written; the registers that stand for slices are numbered behind all others of the plan.
"""

from __future__ import annotations

import numpy as np

from einsumad.execution.lowering.contract import lower_contract
from einsumad.execution.lowering.elementwise import lower_group
from einsumad.execution.lowering.operands import Registers, register_of, whole
from einsumad.execution.source import dtype_text, register_name, shape_text
from einsumad.graph import Labels, Shape
from einsumad.planning.cost import Cost
from einsumad.planning.kernels import Contract, Group, Sliced
from einsumad.planning.steps import Step
from einsumad.records import record


def lower_sliced(step: Step, kernel: Sliced, registers: Registers) -> list[str]:
    """The result allocated; then for each index the slices of what has its axis, the product, and the contraction."""
    local = _Local(registers)
    sides = [kernel.contract.left, kernel.contract.right]
    product, other = sides[kernel.position], sides[1 - kernel.position]
    index = f"k{step.register}"
    sizes: dict[int, int] = {}
    read: list[int] = []
    before, inside = [], []
    for position, held in enumerate((*[[product[axis] for axis in axes] for axes in kernel.group.inputs], other)):
        register = register_of(step, position)
        sizes.update(zip(held, registers.shapes[register], strict=True))
        if kernel.at in held:
            register, line = local.slice_of(register, list(held).index(kernel.at), index)
            inside.append(line)
        else:
            register, statement = local.whole_of(register)
            before += statement
        read.append(register)
    group = Group(
        tuple([_without(axes, product.index(kernel.at)) for axes in kernel.group.inputs]),
        kernel.group.masks,
        kernel.group.divisors,
    )
    weighted = local.step(
        group, read[:-1], tuple([sizes[label] for label in product if label != kernel.at]), step.dtype
    )
    inside += lower_group(weighted, group, local.registers)
    pair = [weighted.register, read[-1]] if kernel.position == 0 else [read[-1], weighted.register]
    contract = Contract(_without(sides[0], kernel.at), _without(sides[1], kernel.at))
    kept = tuple([size for axis, size in enumerate(step.shape) if axis != kernel.at])
    part = local.step(contract, pair, kept, step.dtype)
    inside += lower_contract(part, contract, local.registers)
    name = register_name(step.register)
    inside.append(f"{name}[{':, ' * kernel.at}{index}] = {register_name(part.register)}")
    return [
        *before,
        f"{name} = np.empty({shape_text(step.shape)}, {dtype_text(step.dtype)})",
        f"for {index} in range({step.shape[kernel.at]}):",
        *[f"    {line}" for line in inside],
    ]


def _without(labels: Labels, gone: int) -> Labels:
    """The labels but for one, those above it moved down."""
    return tuple([label - (label > gone) for label in labels if label != gone])


@record(frozen=False, eq=True, repr=True)
class _Local:
    """The registers of a plan, and those that stand for slices."""

    registers: Registers
    wholes: dict[int, int]

    def __init__(self, registers: Registers) -> None:
        orders = dict(registers.orders)
        self.registers = Registers(list(registers.shapes), list(registers.stored), list(registers.dtypes), orders)
        self.wholes = {}

    def add(self, shape: Shape, dtype: np.dtype, order: tuple[int, ...]) -> int:
        """A register more."""
        self.registers.shapes.append(shape)
        self.registers.stored.append(shape)
        self.registers.dtypes.append(dtype)
        new = len(self.registers.shapes) - 1
        self.registers.orders[new] = order
        return new

    def slice_of(self, register: int, axis: int, index: str) -> tuple[int, str]:
        """A register for one index of an axis, and its statement."""
        shape, order = self.registers.shapes[register], self.registers.orders[register]
        text = f"{whole(register, self.registers)}[{':, ' * axis}{index}]"
        kept = (*shape[:axis], *shape[axis + 1 :])
        new = self.add(kept, self.registers.dtypes[register], _without(order, axis))
        return new, f"{register_name(new)} = {text}"

    def whole_of(self, register: int) -> tuple[int, list[str]]:
        """A register that all slices meet, in one piece, so that no slice has to copy it; and its statement, once."""
        if register in self.wholes:
            return self.wholes[register], []
        shape, order = self.registers.shapes[register], self.registers.orders[register]
        text = whole(register, self.registers)
        if shape and self.registers.stored[register] == shape and order == tuple(range(len(shape))):
            text = f"np.ascontiguousarray({text})"
        self.wholes[register] = new = self.add(shape, self.registers.dtypes[register], order)
        return new, [f"{register_name(new)} = {text}"]

    def step(self, kernel: Group | Contract, operands: list[int], shape: Shape, dtype: np.dtype) -> Step:
        """A step of its own, which writes a register more."""
        new = self.add(shape, dtype, tuple(range(len(shape))))
        return Step(new, kernel, tuple(operands), shape, shape, dtype, Cost(), None, ())
