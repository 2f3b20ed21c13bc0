"""Operands as NumPy expressions: whole, or lined up with the axes of a result.

Owns views. Imports the plan's records and source text. Invariant: no expression made here copies or computes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from math import prod

import numpy as np

from einsumad.errors import InternalError
from einsumad.execution.source import number_text, register_name, shape_text
from einsumad.graph import Labels, Shape
from einsumad.planning.kernels import Apply, Choose, Group, Layout, Patched, Place, Put, Sum, Window
from einsumad.planning.plan import Plan
from einsumad.planning.steps import Constant, Operand, Step
from einsumad.records import record

LONG = 16
"""Entries of an axis from which it is worth having last in memory."""

_ENTRYWISE = (Apply, Choose, Group, Layout, Patched, Place, Sum)


@record
class Registers:
    """The registers of a plan: shape, shape that is stored, dtype, and order in memory.

    `orders` has the axes of a register, slowest first, and `buffers` the register that allocated its memory; both grow
    as steps are lowered. `into` has names of memory that values are to be written to; who does so takes the name out.
    `added_up` has the registers that are only added up by index in the end, which goes column by column, and `windows`
    views of windows that overlap. `numbers` has names for the text of numbers that are made once, `turned` those of
    copies in another order, which is the one in `orders` then.
    """

    shapes: list[Shape]
    stored: list[Shape]
    dtypes: list[np.dtype]
    orders: dict[int, tuple[int, ...]]
    buffers: dict[int, int] = field(default_factory=dict)
    into: dict[int, str] = field(default_factory=dict)
    added_up: frozenset[int] = frozenset()
    windows: frozenset[int] = frozenset()
    numbers: dict[str, str] = field(default_factory=dict)
    turned: dict[int, str] = field(default_factory=dict)


def registers_of(plan: Plan) -> Registers:
    """The shapes and dtypes of a plan's registers."""
    shapes = [leaf.shape for leaf in plan.inputs] + [step.shape for step in plan.steps]
    stored = [leaf.shape for leaf in plan.inputs] + [step.stored for step in plan.steps]
    dtypes = [leaf.dtype for leaf in plan.inputs] + [step.dtype for step in plan.steps]
    orders = {k: tuple(range(len(leaf.shape))) for k, leaf in enumerate(plan.inputs)}
    buffers = {k: k for k in range(len(plan.inputs))}
    return Registers(shapes, stored, dtypes, orders, buffers, added_up=_added_up(plan), windows=_windows(plan, shapes))


def _added_up(plan: Plan) -> frozenset[int]:
    """The registers that are used by scatter-adds, and by entrywise steps and views of which the same holds."""
    found: set[int] = set()
    others = set(plan.outputs)
    for step in reversed(plan.steps):
        keeps = isinstance(step.kernel, _ENTRYWISE) and step.register in found - others
        used = {operand for operand in step.operands if isinstance(operand, int)}
        (found if keeps or isinstance(step.kernel, Put) else others).update(used)
    return frozenset(found - others)


def _windows(plan: Plan, shapes: list[Shape]) -> frozenset[int]:
    """The registers that are views of windows, in which entries stand more than once, and readings of such."""
    found: set[int] = set()
    for step in plan.steps:
        if isinstance(step.kernel, Window):
            kernel, register = step.kernel, register_of(step, 0)
            size = shapes[register][kernel.labels.index(kernel.at)]
            sizes = [step.shape[place] for place in kernel.places]
            if register in found or (len(sizes) > 1 and prod(sizes) > size):
                found.add(step.register)
    return frozenset(found)


@record
class Term:
    """An operand as an expression that broadcasts, with the shape it has."""

    text: str
    shape: Shape


def register_of(step: Step, position: int) -> int:
    """The register of an operand that cannot be a number."""
    operand = step.operands[position]
    if isinstance(operand, Constant):
        raise InternalError(f"step {step.register} reads a number where it needs an array")
    return operand


def whole(register: int, registers: Registers) -> str:
    """The register in its full shape."""
    name = register_name(register)
    if registers.stored[register] == registers.shapes[register]:
        return name
    return f"np.broadcast_to({name}, {shape_text(registers.shapes[register])})"


def stored_shape(operand: Operand, registers: Registers) -> Shape:
    """The shape that an operand is kept in; that of a number is empty."""
    return () if isinstance(operand, Constant) else registers.stored[operand]


def plain(operand: Operand) -> str:
    """The register as it is kept, or the number."""
    return number_text(operand.value, operand.dtype) if isinstance(operand, Constant) else register_name(operand)


def aligned(operand: Operand, labels: Labels, ndim: int, registers: Registers) -> Term:
    """The operand, whose axes have these labels, as it broadcasts against a result of `ndim` axes."""
    if isinstance(operand, Constant):
        return Term(plain(operand), ())
    shape = registers.stored[operand]
    held = labels[len(labels) - len(shape) :]
    return lined_up(register_name(operand), shape, held, ndim)


def lined_up(text: str, shape: Shape, labels: Labels, ndim: int) -> Term:
    """The expression with its axes in the order of their labels, and axes of size one for those between."""
    first = min(labels, default=ndim)
    if labels == tuple(range(first, ndim)):
        return Term(text, shape)
    order = sorted(range(len(labels)), key=labels.__getitem__)
    text = permuted(text, order)
    if len(labels) == ndim - first:
        return Term(text, tuple([shape[k] for k in order]))
    sizes = {labels[k]: shape[k] for k in order}
    slots = [":" if label in sizes else "None" for label in range(first, ndim)]
    return Term(f"{text}[{', '.join(slots)}]", tuple([sizes.get(label, 1) for label in range(first, ndim)]))


def permuted(text: str, order: Sequence[int]) -> str:
    """The expression with its axes in another order."""
    if list(order) == sorted(order):
        return text
    if list(order) == list(reversed(range(len(order)))):
        return f"{text}.T"
    return f"{text}.transpose({', '.join(map(str, order))})"
