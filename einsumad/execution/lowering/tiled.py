"""Entrywise steps that are done block by block: runs of them on large arrays, and those that read across memory.

Owns which steps form a run, and its statements. Imports the lowering of entrywise steps. Invariant: only memory that
the run allocates is written, or that of an operand that each block reads where it writes; what is not read behind the
run is never whole.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from math import prod
from typing import TypeAlias

from einsumad.execution.lowering.elementwise import lower_apply, lower_choose, lower_group, lower_sum
from einsumad.execution.lowering.memory_order import order_of
from einsumad.execution.lowering.operands import Registers, aligned, permuted
from einsumad.execution.source import dtype_text, register_name, shape_text
from einsumad.graph import Labels, Shape
from einsumad.planning.kernels import Apply, Choose, Embed, Group, Layout, Sum
from einsumad.planning.steps import Operand, Step
from einsumad.records import record, replace

ENTRYWISE = (Group, Sum, Apply, Choose)

_BLOCK = 2**18
"""Bytes of a block: a few of them stay in the cache that a core has for itself."""
_SHARES = 8
"""Blocks of a step alone, which are there for threads only."""
_SIDE = 128
"""Rows and columns of a block where one array is read along the other's rows."""
_LARGE = 2**18
"""Bytes of a result from which blocks are worth their calls: it leaves that cache."""
_HUGE = 2**22
"""Bytes of a result from which a single step is worth threads."""

Run: TypeAlias = tuple[Step, ...]


def runs_of(steps: Sequence[Step]) -> list[Run]:
    """The steps, those in one run together. Views of other tensors, taken within a run, come before it."""
    found: list[list[Step]] = []
    views: list[Step] = []
    for step in steps:
        run = found[-1] if found else []
        if run and _joins(step, run):
            found[-1:] = [*[[replace(view, frees=())] for view in views], run]
            run.append(replace(step, frees=(*step.frees, *[register for view in views for register in view.frees])))
            views = []
        elif run and _is_large(run[0]) and _is_view_beside(step, run):
            views.append(step)
        else:
            found += [[view] for view in views]
            views = []
            found.append([step])
    return [tuple(run) for run in (*found, *[[view] for view in views])]


def _is_view_beside(step: Step, run: Sequence[Step]) -> bool:
    """Whether the step only looks at a tensor in another way, one that the run does not make."""
    (first, *others) = step.operands or (None,)
    if others or not isinstance(first, int) or first >= run[0].register:
        return False
    match step.kernel:
        case Embed(deltas=deltas):
            return not deltas
        case Layout(labels=labels, coefficient=coefficient):
            return coefficient == 1 and sorted(labels) == list(range(len(step.shape)))
    return False


def _joins(step: Step, run: Sequence[Step]) -> bool:
    """Whether the step can follow in one block: it reads what the run makes at the same places only."""
    if not (_is_large(step) and _is_large(run[-1]) and step.shape == run[-1].shape):
        return False
    if not isinstance(step.kernel, Group | Choose):
        return True
    made = {before.register for before in run}
    places = tuple(range(len(step.shape)))
    pairs = zip(step.operands, step.kernel.inputs, strict=True)
    return all(labels == places for operand, labels in pairs if operand in made)


def _is_large(step: Step) -> bool:
    entrywise = isinstance(step.kernel, ENTRYWISE) and step.stored == step.shape and len(step.shape) > 0
    return entrywise and prod(step.shape) * step.dtype.itemsize >= _LARGE


def is_tiled(run: Run, registers: Registers) -> bool:
    """Whether the run is done in blocks: several steps, one that reads across memory, or a very large one."""
    if not _is_large(run[0]):
        return False
    if len(run) > 1 or prod(run[0].shape) * run[0].dtype.itemsize >= _HUGE:
        return True
    return bool(_crossed(run, registers, order_of(run[0], registers)))


def _crossed(run: Run, registers: Registers, order: Labels) -> set[int]:
    """The axes that are the fastest ones of an operand and not that of the result."""
    found: set[int] = set()
    first = run[0].register
    for step in run:
        for operand, labels in zip(step.operands, labels_of(step, registers), strict=True):
            if isinstance(operand, int) and operand < first and labels and _is_whole(operand, step, registers):
                found.add(labels[registers.orders[operand][-1]])
    return {axis for axis in found if axis != order[-1] and run[0].shape[axis] > 1}


def _is_whole(register: int, step: Step, registers: Registers) -> bool:
    return prod(registers.stored[register]) == prod(step.shape)


def labels_of(step: Step, registers: Registers) -> tuple[Labels, ...]:
    """The axes of the result that the axes of each operand are."""
    kernel = step.kernel
    if isinstance(kernel, Group | Choose):
        return kernel.inputs
    shapes = [registers.shapes[operand] if isinstance(operand, int) else () for operand in step.operands]
    return tuple([tuple(range(len(step.shape) - len(shape), len(step.shape))) for shape in shapes])


@record
class LoweredRun:
    """The statements of a run, the registers that exist behind it, and the order of their axes in memory."""

    lines: list[str]
    made: tuple[int, ...]
    order: Labels


def lower_run(run: Run, needed: Container[int], registers: Registers) -> LoweredRun:
    """The statements of a run of which the registers `needed` are read afterwards."""
    for step in run:  # the order that NumPy would give
        registers.orders[step.register] = order_of(step, registers)
    order = registers.orders[run[-1].register]
    if _crossed(run, registers, order):
        order = tuple(range(len(run[0].shape)))
    registers.orders.update({step.register: order for step in run})
    block = _block(run, registers, order)
    made = tuple([step.register for step in run if step.register in needed])
    taken = {register: taken_by(run, register, registers) for register in made}
    body = _Body(run, taken, registers)
    lines = [f"{register_name(k)} = {_memory(run, k, taken[k], order)}" for k in made]
    parameters = [f"r{register}" for register in made] + [register_name(k) for k in body.given]
    lines.append(f"def block{run[-1].register}({', '.join(parameters)}):")
    lines += [f"    {line}" for line in body.lines]
    results = ", ".join([register_name(register) for register in made])
    operands = ", ".join(body.texts)
    lines.append(
        f"tiled(block{run[-1].register}, {block}, ({results},), ({operands}{',' if len(body.texts) == 1 else ''}))"
    )
    return LoweredRun(lines, made, order)


def _memory(run: Run, register: int, taken: int | None, order: Labels) -> str:
    """The memory for a result: new, or that of an operand."""
    if taken is not None:
        return register_name(taken)
    shape = tuple([run[0].shape[axis] for axis in order])
    back = [order.index(axis) for axis in range(len(order))]
    dtype = next(step.dtype for step in run if step.register == register)
    return permuted(f"np.empty({shape_text(shape)}, {dtype_text(dtype)})", back)


def _block(run: Run, registers: Registers, order: Labels) -> Shape:
    """The sizes of a block: long along the fastest axis; nearly square where an operand has another fastest axis."""
    shape = run[0].shape
    block = [1] * len(shape)
    crossed = _crossed(run, registers, order)
    limits = dict.fromkeys([*crossed, order[-1]], _SIDE) if crossed else {}
    for axis, limit in limits.items():
        block[axis] = min(shape[axis], limit)
    most = _BLOCK // run[0].dtype.itemsize
    if not crossed and len(run) == 1:
        most = max(most, -(-prod(shape) // _SHARES))
    for axis in reversed(order):
        room = most // prod(block)
        if axis not in limits and room > 1:
            block[axis] = min(shape[axis], room)
    return tuple(block)


def taken_by(run: Run, register: int, registers: Registers) -> int | None:
    """The operand whose memory a result takes over: where each block reads it, it writes, and nothing else reads it."""
    steps = {step.register: step for step in run}
    current: int | None = register
    while current in steps:
        current = steps[current].takes
    if current is None:
        return None
    own = registers.buffers[current]
    for step in run:
        for operand, labels in zip(step.operands, labels_of(step, registers), strict=True):
            if isinstance(operand, int) and operand not in steps and registers.buffers[operand] == own:
                in_place = labels == tuple(range(len(step.shape))) and registers.stored[operand] == step.shape
                if operand != current or not in_place:
                    return None
    return current


class _Body:
    """The statements for one block, over names for blocks of what the run reads and writes."""

    def __init__(self, run: Run, taken: Mapping[int, int | None], registers: Registers) -> None:
        self.registers = registers
        self.local = Registers(list(registers.shapes), list(registers.stored), list(registers.dtypes), {})
        self.inside = {step.register: step for step in run}
        self.in_place = {self._first_of(k) for k, operand in taken.items() if operand is not None}
        self.names: dict[tuple[int, Labels], int] = {}
        self.given: list[int] = []
        self.texts: list[str] = []
        self.lines: list[str] = []
        for register, operand in taken.items():
            if operand is None:
                self.local.into[self._first_of(register)] = f"r{register}"
        for step in run:
            self.lines += self._statements(step)
            if step.register in taken and self._first_of(step.register) in self.local.into:
                self.lines.append(f"r{step.register}[...] = {register_name(step.register)}")

    def _first_of(self, register: int) -> int:
        """The step that makes the memory which later steps of the run take over up to this one."""
        takes = self.inside[register].takes
        while takes in self.inside:
            register, takes = takes, self.inside[takes].takes
        return register

    def _statements(self, step: Step) -> list[str]:
        """The statements of one step for a block."""
        operands: list[Operand] = []
        places: list[Labels] = []
        rank = len(step.shape)
        for operand, labels in zip(step.operands, labels_of(step, self.registers), strict=True):
            if isinstance(operand, int) and operand not in self.inside:
                operand = self._operand(operand, labels, rank)  # noqa: PLW2901 - the block of it
                held = len(self.local.shapes[operand])
                operands.append(operand)
                places.append(tuple(range(rank - held, rank)))
            else:
                operands.append(operand)
                places.append(labels if isinstance(operand, int) else ())
        takes = step.takes if step.takes in self.inside else None
        if step.register in self.in_place:
            takes = next(o for o, held in zip(operands, step.operands, strict=True) if held == step.takes)  # type: ignore[assignment] # a register
        local = replace(step, operands=tuple(operands), takes=takes)
        match step.kernel:
            case Group():
                kernel = step.kernel._replace(inputs=tuple(places))
                return lower_group(replace(local, kernel=kernel), kernel, self.local)
            case Choose():
                choice = step.kernel._replace(inputs=tuple(places))
                return lower_choose(replace(local, kernel=choice), choice, self.local)
            case Sum():
                return lower_sum(local, step.kernel, self.local)
            case Apply():
                return lower_apply(local, step.kernel, self.local)
        raise AssertionError(step.kernel)

    def _operand(self, register: int, labels: Labels, rank: int) -> int:
        """The register that stands for the blocks of an operand, lined up with the axes of the result."""
        known = self.names.get((register, labels))
        if known is None:
            term = aligned(register, labels, rank, self.registers)
            known = len(self.local.shapes)
            self.local.shapes.append(term.shape)
            self.local.stored.append(term.shape)
            self.local.dtypes.append(self.registers.dtypes[register])
            self.names[register, labels] = known
            self.given.append(known)
            self.texts.append(term.text)
        return known
