"""Which steps of a plan form a region: one function of loops and matrix products that Numba compiles.

Owns that choice and the text of the function. Imports nests and products. Invariant: a region has steps in a row, in
their order; what is read behind it is returned.

A call of NumPy costs as much as some hundred operations, so on small arrays all steps in a row form a region that have
loops. Large arrays are left to NumPy, whose functions are vectorised and whose views need no copy; only matrix products
by BLAS may read those of the plan's inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from math import prod

from einsumad.execution.loops.entries import Arrays, entry, labels_of
from einsumad.execution.loops.functions import ARITHMETIC, FUNCTIONS
from einsumad.execution.loops.nests import Nest, adds_up, lower_embed, lower_layout, stored
from einsumad.execution.loops.products import lower_contract
from einsumad.execution.loops.reductions import has_rows, lower_rows
from einsumad.execution.source import dtype_text, register_name
from einsumad.graph import BOOL
from einsumad.planning.kernels import Apply, Call, Choose, Contract, Embed, Fill, Group, Layout, Sum
from einsumad.planning.steps import Step
from einsumad.records import record

_SMALL = 2**11
"""Entries up to which a loop over a function of the library takes less time than NumPy's call."""
_MOST_ENTRIES = 2**14
"""Entries of the largest arrays in a region."""
_LEAST_STEPS, _LEAST_PASSES, _MANY_ENTRIES = 6, 3, 2**12
"""So many steps a region has at least, or so many of this many entries: its call costs as much as a few of NumPy."""
_ENTRYWISE = Apply | Choose | Group | Sum


@record
class Region:
    """The steps; the text of the function and of its call; the registers that it returns."""

    steps: tuple[Step, ...]
    function: str
    lines: list[str]
    made: tuple[int, ...]


def regions_of(
    steps: Sequence[Step], arrays: Arrays, last: Mapping[int, int]
) -> list[tuple[tuple[Step, ...], Region | None]]:
    """The steps of a plan, those of a region together. `last` has the last reader of a register."""
    found: list[tuple[tuple[Step, ...], Region | None]] = []
    outside: list[Step] = []
    inputs = steps[0].register if steps else 0
    ready = {register for register in range(inputs) if not arrays.stored[register]}
    position = 0
    while position < len(steps):
        run = _run_from(steps, position, arrays)
        if _is_worth_it(run):
            if outside:
                found.append((tuple(outside), None))
            outside = []
            region = _Writer(run, arrays, last, ready).region()
            found.append((run, region))
            ready.update(region.made)
            position += len(run)
        else:
            taken = max(1, len(run))
            outside += steps[position : position + taken]
            position += taken
    return [*found, (tuple(outside), None)] if outside else found


def _run_from(steps: Sequence[Step], position: int, arrays: Arrays) -> tuple[Step, ...]:
    """The steps from a position on that have loops; no views at its ends."""
    run: list[Step] = []
    known = Arrays(arrays.shapes, arrays.stored, arrays.dtypes)
    for step in steps[position:]:
        view = known.turned(step)
        if view is not None and run:
            known.enter_view(step.register, view)
        elif view is not None or not _has_loop(step, known, steps[0].register):
            break
        run.append(step)
    while run and known.is_view(run[-1].register):
        run.pop()
    return tuple(run)


def _has_loop(step: Step, arrays: Arrays, inputs: int) -> bool:
    """Whether a region may have the step, in a plan of so many inputs."""
    registers = [operand for operand in step.operands if isinstance(operand, int)]
    if not all(_is_number(dtype) for dtype in [step.dtype, *[arrays.dtypes[register] for register in registers]]):
        return False
    if not _is_small(step, [r for r in registers if r >= inputs or not isinstance(step.kernel, Contract)], arrays):
        return False
    match step.kernel:
        case Apply(function=function, params=params):
            return function in (ARITHMETIC if prod(step.stored) > _SMALL else FUNCTIONS) and not params
        case Choose() | Group() | Sum():
            return True
        case Fill():
            return bool(step.stored)
        case Call():
            return has_rows(step, arrays)
        case Contract() | Embed() | Layout():
            whole = step.stored == step.shape and all(arrays.stored[r] == arrays.shapes[r] for r in registers)
            return whole and (isinstance(step.kernel, Embed) or _can_add_up(step, registers, arrays))
    return False


def _is_small(step: Step, registers: Sequence[int], arrays: Arrays) -> bool:
    """Whether the result and these operands have few entries."""
    shapes = [step.shape, *[arrays.stored[register] for register in registers]]
    return max(map(prod, shapes)) <= _MOST_ENTRIES


def _can_add_up(step: Step, registers: Sequence[int], arrays: Arrays) -> bool:
    """Whether a region may have this contraction, or this layout."""
    dtypes = [arrays.dtypes[register] for register in registers]
    if isinstance(step.kernel, Layout):
        keeps = max(step.kernel.labels, default=-1) < len(step.shape)
        return keeps or (adds_up(step, arrays) and dtypes[0] in (BOOL, step.dtype))
    same = step.dtype.kind == "f" and all(dtype == step.dtype for dtype in dtypes)
    return same and lower_contract(step, arrays) is not None


def _is_number(dtype: object) -> bool:
    return dtype == BOOL or dtype in ("float32", "float64")


def _is_worth_it(run: Sequence[Step]) -> bool:
    """Whether a region takes less time than its steps do one by one."""
    new = [step for step in run if not isinstance(step.kernel, Embed | Layout) or len(step.operands) != 1]
    passes = sum(isinstance(step.kernel, _ENTRYWISE) and prod(step.shape) >= _MANY_ENTRIES for step in new)
    return len(new) >= _LEAST_STEPS or passes >= _LEAST_PASSES


class _Writer:
    """The function of a region, written step by step."""

    def __init__(self, run: tuple[Step, ...], arrays: Arrays, last: Mapping[int, int], ready: Container[int]) -> None:
        """Begin it. `ready` has the registers that are in C order, or NumPy's numbers, in any case."""
        self.run, self.arrays, self.ready = run, arrays, ready
        self.outside = {step.register for step in run if last[step.register] > run[-1].register}
        self.last = dict(last)
        self.read: dict[int, None] = {}
        self.overwritten: set[int] = set()
        self.lines: list[str] = []
        self.nest = Nest(arrays, self._is_needed)

    def region(self) -> Region:
        """The whole of it."""
        for step in reversed(self.run):  # what reads a view reads what it is a view of
            if _looks(step, self.arrays):
                self.last[_base(step)] = max(self.last[_base(step)], self.last[step.register])
        for step in self.run:
            self._add(step)
        self._close()
        made = tuple([step.register for step in self.run if step.register in self.outside])
        views = [step for step in self.run if self.arrays.is_view(step.register)]
        for step in views:
            if step.register in self.outside:
                self.lines += stored(step, entry(_base(step), labels_of(step, self.arrays)[0], self.arrays, {}))
        for step in views:
            self.arrays.forget_view(step.register)
        return Region(self.run, self._function(made), self._call(made), made)

    def _is_needed(self, register: int, behind: int) -> bool:
        return self.last[register] > behind

    def _add(self, step: Step) -> None:
        own = {before.register for before in self.run}
        bases = [self.arrays.view(operand).base for operand in step.operands if isinstance(operand, int)]
        view = self.arrays.turned(step)
        if view is not None:
            self.arrays.enter_view(step.register, view)
            bases = [view.base] if step.register in self.outside else []
        self.read.update(dict.fromkeys([base for base in bases if base not in own]))
        if view is not None:
            return
        if isinstance(step.kernel, _ENTRYWISE) or _only_scales(step):
            if not self.nest.fits(step):
                self._close()
            self.nest.add(step)
        elif self.nest.ends_with(step):
            self._close(step)
        else:
            self._close()
            self.lines += _LOWERINGS[type(step.kernel)](step, self.arrays) or []

    def _close(self, end: Step | None = None) -> None:
        self.lines += self.nest.finish(end)
        self.overwritten |= self.nest.overwritten
        self.nest = Nest(self.arrays, self._is_needed)

    def _name(self) -> str:
        return f"region{self.run[-1].register}"

    def _function(self, made: Sequence[int]) -> str:
        parameters = ", ".join([register_name(register) for register in self.read])
        lines = [*self.lines, f"return {', '.join([register_name(register) for register in made])}"]
        declared = [f'"{self._kind(register)}"' for register in self.read]
        declared += [f"writes={places}"] if (places := self._overwritten_places()) else []
        head = [f"@loop({', '.join(declared)})", f"def {self._name()}({parameters}):"]
        return "\n".join([*head, *[f"    {line}" for line in lines], ""])

    def _kind(self, register: int) -> str:
        """The type of an operand: a number, or an array in C order with so many axes."""
        rank = len(self.arrays.stored[register])
        return self.arrays.dtypes[register].name + (f"[{', '.join(':' * rank)}]" if rank else "")

    def _overwritten_places(self) -> tuple[int, ...]:
        """The places of the operands whose memory is taken over."""
        return tuple([place for place, register in enumerate(self.read) if register in self.overwritten])

    def _call(self, made: Sequence[int]) -> list[str]:
        """The call, whose operands are arrays in C order or numbers; Numba returns numbers as Python's.

        A kernel may give an array without axes where the plan has a number, which Numba takes for another type.
        """
        operands = [register_name(register) for register in self.read]
        for k, register in enumerate(self.read):
            if register not in self.ready:
                shape, dtype = self.arrays.stored[register], self.arrays.dtypes[register]
                operands[k] = f"{'np.ascontiguousarray' if shape else dtype_text(dtype)}({operands[k]})"
        names = ", ".join([register_name(register) for register in made])
        numbers = [step for step in self.run if step.register in made and not step.stored]
        return [f"{names} = {self._name()}({', '.join(operands)})"] + [
            f"{register_name(step.register)} = {dtype_text(step.dtype)}({register_name(step.register)})"
            for step in numbers
        ]


def _only_scales(step: Step) -> bool:
    return isinstance(step.kernel, Layout) and step.kernel.labels == tuple(range(len(step.shape)))


def _looks(step: Step, arrays: Arrays) -> bool:
    return arrays.turned(step) is not None


def _base(step: Step) -> int:
    (operand,) = step.operands
    assert isinstance(operand, int)
    return operand


_LOWERINGS: Mapping[type, Callable[[Step, Arrays], list[str] | None]] = {
    Call: lower_rows,
    Contract: lower_contract,
    Embed: lower_embed,
    Fill: lower_embed,
    Layout: lower_layout,
}
