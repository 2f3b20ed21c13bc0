"""Plans: straight-line programs over registers, as frozen data that can be printed.

Owns the plan and how it is made from a graph. Imports the kernels, cost and memory. Invariant: a step reads
registers written before it; register ``k < len(inputs)`` holds input ``k``. The same graph gives the same
plan text, whatever the hash seed. Nothing is allocated here: a plan over the memory limit is refused before
it exists.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from einsumad.errors import InternalError
from einsumad.graph import Einsum, Leaf, Node, Shape, topological
from einsumad.planning.contained import share_contained
from einsumad.planning.contraction import binarise
from einsumad.planning.cost import Cost, bytes_of, kernel_cost, summed
from einsumad.planning.distribution import distribute
from einsumad.planning.expansion import expand
from einsumad.planning.guards import guarded
from einsumad.planning.kernels import Apply, Choose, Embed, Group, Kernel, Sliced, Sum
from einsumad.planning.memory import Draft, Memory, assign_memory, physical_memory, takeable
from einsumad.planning.primitives import constant_value, kind_of
from einsumad.planning.refusal import refusal
from einsumad.planning.schedule import TAKES_NUMBERS, Scheduled, schedule, thrifty
from einsumad.planning.selected import with_selections
from einsumad.planning.slices import product_shape, slice_count
from einsumad.planning.steps import Constant, Operand, Step
from einsumad.planning.stored import Stored, stored_or_made
from einsumad.planning.symmetric import with_rooted_weights
from einsumad.planning.text import plan_text, readable_bytes
from einsumad.planning.written_out import options_for
from einsumad.records import record

_LEAST_PEAK = 2**20
"""Plans that take fewer bytes at once keep their order."""
_MOST_REORDERED = 3000


@record(eq=True, repr=True)
class Plan:
    """Inputs, steps, outputs (registers, copied where they would share memory), and what it all costs."""

    inputs: tuple[Leaf, ...]
    steps: tuple[Step, ...]
    outputs: tuple[int, ...]
    copied: tuple[bool, ...]
    peak_bytes: int
    cost: Cost

    @property
    def flops(self) -> int:
        """Floating-point operations of all steps."""
        return self.cost.flops

    @property
    def bytes(self) -> int:
        """Bytes read and written by all steps."""
        return self.cost.bytes

    @property
    def calls(self) -> int:
        """Calls into NumPy."""
        return self.cost.calls

    @property
    def seconds(self) -> float:
        """The estimated time."""
        return self.cost.seconds()

    @property
    def note(self) -> str:
        """That it is not split, in a line."""
        return f"whole: peak {readable_bytes(self.peak_bytes)}"

    def __str__(self) -> str:
        """Return one line for each input and step, in index notation, with shapes and costs."""
        return plan_text(self.inputs, self.steps, self.outputs, self.cost, self.peak_bytes)


def make_plan(roots: Sequence[Node], inputs: Sequence[Leaf], memory_limit: int | None = None) -> Plan:
    """The plan that computes the roots from the inputs; the default limit is the memory of the machine.

    Raises :class:`MemoryLimitError` if the planned peak is over the limit.
    """
    outputs = stored_or_made(
        "plan",
        roots,
        None,
        lambda: Stored(_in_steps(roots)),
        lambda stored: _check_stored(stored, roots),
    ).roots
    scheduled = schedule(outputs)
    known: dict[Any, Cost] = {}
    found = _laid_out(scheduled, outputs, inputs, known)
    if found.memory.peak > _LEAST_PEAK and len(scheduled) <= _MOST_REORDERED:
        other = _laid_out(thrifty(scheduled, outputs), outputs, inputs, known)
        found = other if other.memory.peak < found.memory.peak else found
    plan = _plan_of(inputs, found)
    limit = physical_memory() if memory_limit is None else memory_limit
    if plan.peak_bytes > limit:
        raise refusal(plan.steps[: found.memory.peak_step + 1], plan.outputs, plan.peak_bytes, limit)
    return plan


def plan_of_steps(steps: Sequence[Step], inputs: Sequence[Leaf], given: Sequence[int], read: Sequence[int]) -> Plan:
    """The plan of some steps of another one, in their order, with inputs for registers of it that are `given`.

    The outputs are the registers that are `read`. Raises :class:`KeyError` where a step reads what is not there.
    """
    registers = {register: place for place, register in enumerate(given)}
    shapes = [leaf.shape for leaf in inputs]
    dtypes = [leaf.dtype for leaf in inputs]
    drafts: list[Draft] = []
    operands_of: list[tuple[Operand, ...]] = []
    for step in steps:
        operands = tuple([registers[o] if isinstance(o, int) else o for o in step.operands])
        register = registers[step.register] = len(shapes)
        own = [o.dtype if isinstance(o, Constant) else dtypes[o] for o in operands]
        held = [() if isinstance(o, Constant) else shapes[o] for o in operands]
        drafts.append(
            Draft(
                register,
                step.kernel,
                tuple([o for o in operands if isinstance(o, int)]),
                takeable(step.kernel, operands),
                step.shape,
                step.stored,
                step.dtype,
                tuple(own),
                _scratch(step.kernel, held, own),
            )
        )
        operands_of.append(operands)
        shapes.append(step.shape)
        dtypes.append(step.dtype)
    outputs = tuple([registers[register] for register in read])
    costs = [step.cost for step in steps]
    memory = assign_memory(inputs, drafts, outputs)
    return _plan_of(inputs, _LaidOut(drafts, operands_of, costs, outputs, memory))


def _plan_of(inputs: Sequence[Leaf], found: _LaidOut) -> Plan:
    memory = found.memory
    steps = tuple(
        [
            Step(d.register, d.kernel, o, d.shape, d.stored, d.dtype, c, taken, freed)
            for d, o, c, taken, freed in zip(
                found.drafts, found.operands, found.costs, memory.taken, memory.freed, strict=True
            )
        ]
    )
    return Plan(tuple(inputs), steps, found.outputs, memory.copied, memory.peak, summed(found.costs))


def _in_steps(roots: Sequence[Node]) -> tuple[Node, ...]:
    """The roots in primitive steps that share what they have in common; symmetric products in the form for BLAS."""
    with options_for(roots) as options:
        steps = binarise(guarded(distribute(expand(roots))))
        if options.sharing:
            steps = share_contained(steps)
        return with_selections(with_rooted_weights(steps) if options.symmetry else steps)


def _check_stored(stored: Stored, roots: Sequence[Node]) -> None:
    """Refuse a graph from a file that has other outputs, or products that are not in primitive steps."""
    if [(node.shape, node.dtype) for node in stored.roots] != [(node.shape, node.dtype) for node in roots]:
        raise ValueError("it has other outputs")
    if not all(kind_of(node) for node in topological(stored.roots) if isinstance(node, Einsum)):
        raise ValueError("it has products that no step computes")


class _LaidOut(NamedTuple):
    """Steps in an order, their operands and costs, the registers of the outputs, and the memory that they take."""

    drafts: list[Draft]
    operands: list[tuple[Operand, ...]]
    costs: list[Cost]
    outputs: tuple[int, ...]
    memory: Memory


def _laid_out(
    scheduled: Scheduled, outputs: Sequence[Node], inputs: Sequence[Leaf], known: dict[Any, Cost] | None = None
) -> _LaidOut:
    """The steps over registers in this order; what nodes cost over stored shapes is `known` or becomes so."""
    known = {} if known is None else known
    registers: dict[Node, int] = {leaf: position for position, leaf in enumerate(inputs)}
    stored: dict[Node, Shape] = {leaf: leaf.shape for leaf in inputs}
    drafts: list[Draft] = []
    operands_of: list[tuple[Operand, ...]] = []
    costs: list[Cost] = []
    for node, (kernel, operands) in scheduled:
        found = tuple([_operand(operand, registers, kernel) for operand in operands])
        registers[node] = len(inputs) + len(drafts)
        shapes = [stored[o] if isinstance(r, int) else () for o, r in zip(operands, found, strict=True)]
        stored[node] = _stored_shape(kernel, shapes, node.shape)
        registers_read = tuple([r for r in found if isinstance(r, int)])
        dtypes = tuple([o.dtype for o in operands])
        drafts.append(
            Draft(
                registers[node],
                kernel,
                registers_read,
                takeable(kernel, found),
                node.shape,
                stored[node],
                node.dtype,
                dtypes,
                _scratch(kernel, [o.shape for o in operands], dtypes),
            )
        )
        operands_of.append(found)
        over = (node, *shapes)
        if over not in known:
            known[over] = _cost(kernel, operands, shapes, stored[node], node)
        costs.append(known[over])
    written = tuple([_register(root, registers) for root in outputs])
    return _LaidOut(drafts, operands_of, costs, written, assign_memory(inputs, drafts, written))


def _operand(node: Node, registers: dict[Node, int], kernel: Kernel) -> Operand:
    if isinstance(kernel, TAKES_NUMBERS) and node not in registers:
        value = constant_value(node)
        if value is not None:
            return Constant(value, node.dtype)
    return _register(node, registers)


def _register(node: Node, registers: dict[Node, int]) -> int:
    if node not in registers:
        what = f"leaf {node.name or node.key}" if isinstance(node, Leaf) else type(node).__name__
        raise InternalError(f"{what} is not among the inputs of the plan")
    return registers[node]


def _stored_shape(kernel: Kernel, operands: Sequence[Shape], shape: Shape) -> Shape:
    """The shape that is kept: nothing varies along leading axes that it lacks and axes of size one."""
    if not isinstance(kernel, (*TAKES_NUMBERS, Embed)) or shape in operands:
        return shape
    match kernel:
        case Sum() | Apply():
            return np.broadcast_shapes(*operands)
        case Group(inputs=inputs) | Choose(inputs=inputs):
            sizes: dict[int, int] = {}
            for labels, kept in zip(inputs, operands, strict=True):
                for label, size in zip(reversed(labels), reversed(kept), strict=False):
                    sizes[label] = max(size, sizes.get(label, 1)) if size else 0
            return _trimmed(shape, sizes)
        case Embed() if not kernel.deltas:
            kept = operands[0] if operands else ()
            return _trimmed(shape, dict(zip(reversed(kernel.labels), reversed(kept), strict=False)))
    return shape


def _trimmed(shape: Shape, sizes: dict[int, int]) -> Shape:
    """Size one on the axes that have no size here; leading ones are left away."""
    held = [axis for axis in range(len(shape)) if axis in sizes]
    first = held[0] if held else len(shape)
    return tuple([sizes.get(axis, 1) for axis in range(first, len(shape))])


def _cost(kernel: Kernel, operands: Sequence[Node], stored: Sequence[Shape], result: Shape, node: Node) -> Cost:
    read = tuple([bytes_of(s, o.dtype) for o, s in zip(operands, stored, strict=True)])
    shapes = stored if isinstance(kernel, TAKES_NUMBERS) else [o.shape for o in operands]
    return kernel_cost(kernel, tuple(shapes), read, result, node.dtype)


def _scratch(kernel: Kernel, shapes: Sequence[Shape], dtypes: Sequence[np.dtype]) -> int:
    """The bytes of one slice of the product where a contraction goes by slices."""
    if not isinstance(kernel, Sliced):
        return 0
    return prod(product_shape(kernel, shapes)) // slice_count(kernel, shapes) * dtypes[-1].itemsize
