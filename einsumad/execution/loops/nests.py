"""Entrywise steps of one shape, and a sum behind them, as one loop nest.

Owns its text. Imports entries and their functions. Invariant: an entry is stored where something else than its own nest
reads it; memory is taken over only where each entry is read at the place at which it is written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from einsumad.execution.loops.entries import Arrays, at, entry, labels_of
from einsumad.execution.loops.functions import scaled, value
from einsumad.execution.source import dtype_text, register_name, shape_text, typed_number
from einsumad.graph import Labels
from einsumad.planning.kernels import Contract, Embed, Fill, Layout
from einsumad.planning.steps import Step

_FEW = {4: 2**7, 8: 2**12}
"""Entries that are added up one after the other, by the bytes of a number: the sum loses as many roundings at most."""


class Nest:
    """The loops over the axes of the steps, which grow until a step does not fit."""

    def __init__(self, arrays: Arrays, is_needed: Callable[[int, int], bool]) -> None:
        """Begin one. `is_needed` says whether anything behind a step reads a register."""
        self.arrays, self._is_needed = arrays, is_needed
        self.steps: list[Step] = []
        self.end: Step | None = None
        self.overwritten: set[int] = set()
        self._values: dict[int, str] = {}

    def fits(self, step: Step) -> bool:
        """Whether the step goes through the same indices, and reads what the nest makes at these only."""
        if self.end is not None or (self.steps and (step.shape, step.stored) != self._shape()):
            return False
        lost = len(step.shape) - len(step.stored)
        own = tuple([None if n == 1 else lost + axis for axis, n in enumerate(step.stored)])
        return all(
            self.arrays.view(operand).base not in self._values or self.arrays.places(operand, labels) == own
            for operand, labels in zip(step.operands, labels_of(step, self.arrays), strict=True)
            if isinstance(operand, int)
        )

    def _shape(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return self.steps[0].shape, self.steps[0].stored

    def add(self, step: Step) -> None:
        """Take a step that fits."""
        self.steps.append(step)
        self._values[step.register] = f"v{step.register}"

    def ends_with(self, step: Step) -> bool:
        """Whether the step adds up the last value of the nest, or its square, for all indices that it does not keep."""
        if not self.steps or self.end is not None or not adds_up(step, self.arrays):
            return False
        last = self.steps[-1]
        if last.stored != last.shape or self._is_needed(last.register, step.register) or last.dtype != step.dtype:
            return False
        pairs = zip(step.operands, labels_of(step, self.arrays), strict=True)
        (operand, labels), *others = pairs
        if operand != last.register or any(pair != (operand, labels) for pair in others):
            return False
        return not self.arrays.is_view(last.register) and kept_in_order(labels, len(step.shape))

    def finish(self, end: Step | None = None) -> list[str]:
        """The statements of the whole, which takes a sum behind it if one is given."""
        if not self.steps:
            return []
        self.end = end
        first = self.steps[0]
        lost = len(first.shape) - len(first.stored)
        loops = [(axis + lost, n) for axis, n in enumerate(first.stored)]
        if not loops:
            return [f"{register_name(step.register)} = {self._value(step)}" for step in self.steps]
        behind = self.steps[-1].register if end is None else end.register
        stored = [step for step in self.steps if self._is_needed(step.register, behind)]
        lines = [f"{register_name(step.register)} = {self._memory(step)}" for step in stored]
        inner = [f"v{step.register} = {self._value(step)}" for step in self.steps]
        everywhere = [label for label, _ in loops]
        inner += [f"{at(step.register, everywhere)} = v{step.register}" for step in stored]
        if end is None:
            return lines + nested(loops, inner)
        labels = labels_of(end, self.arrays)[0]
        own = f"v{self.steps[-1].register}"
        term = f"{own} * {own}" if isinstance(end.kernel, Contract) else own
        # the loops are named by the axes of the nest; the sum knows them by its own labels
        return lines + summed(end, [(axis, n, labels[axis]) for axis, n in loops], term, before=inner)

    def _value(self, step: Step) -> str:
        pairs = zip(step.operands, labels_of(step, self.arrays), strict=True)
        known = {} if not step.stored else self._values
        terms = [entry(operand, labels, self.arrays, known) for operand, labels in pairs]
        if isinstance(step.kernel, Layout):
            (operand,) = step.operands
            assert isinstance(operand, int)
            return scaled(terms[0], step.kernel.coefficient, self.arrays.dtypes[operand], step.dtype)
        return value(step, terms)

    def _memory(self, step: Step) -> str:
        """The memory of an operand that is read at its own places only, or new memory."""
        made = {other.register: other for other in self.steps}
        taken = step.takes
        while taken in made:
            taken = made[taken].takes
        if taken is not None and not self.arrays.is_view(taken):
            own = [
                (self.arrays.places(operand, labels), other.stored)
                for other in self.steps
                for operand, labels in zip(other.operands, labels_of(other, self.arrays), strict=True)
                if isinstance(operand, int) and self.arrays.view(operand).base == taken
            ]
            lost = len(step.shape) - len(step.stored)
            places = tuple([None if n == 1 else lost + axis for axis, n in enumerate(step.stored)])
            fits = self.arrays.stored[taken] == step.stored and self.arrays.dtypes[taken] == step.dtype
            if fits and all(found == (places, step.stored) for found in own):
                self.overwritten.add(taken)
                return register_name(taken)
        return f"np.empty({shape_text(step.stored)}, {dtype_text(step.dtype)})"


def kept_in_order(labels: Labels, rank: int) -> bool:
    """Whether no label comes twice, and those that are kept come in the order of the result, all of them."""
    return len(set(labels)) == len(labels) and tuple([n for n in labels if n < rank]) == tuple(range(rank))


def adds_up(step: Step, arrays: Arrays) -> bool:
    """Whether a loop may add up what the step adds up: few entries, or row by row, as NumPy does."""
    if not isinstance(step.kernel, Layout | Contract) or step.dtype.kind != "f" or step.stored != step.shape:
        return False
    pairs = zip(step.operands, labels_of(step, arrays), strict=True)
    sizes = {label: n for operand, labels in pairs for label, n in zip(labels, arrays.shapes[operand], strict=True)}  # type: ignore[index] # no numbers
    rank = len(step.shape)
    over = [n for label, n in sizes.items() if label >= rank]
    return bool(over) and prod(over) <= _FEW[step.dtype.itemsize]


def summed(step: Step, loops: Sequence[tuple[int, int, int]], term: str, before: Sequence[str] = ()) -> list[str]:
    """The loops (the name of an index, its end, its label in the step) that add up a term, after other statements."""
    name, rank = register_name(step.register), len(step.shape)
    kept = [(index, n) for index, n, label in loops if label < rank]
    if [label < rank for _, _, label in loops] == sorted([label < rank for _, _, label in loops], reverse=True):
        over = [(index, n) for index, n, label in loops if label >= rank]
        zero = typed_number(-0.0, step.dtype)
        lines = [f"total = {zero}", *nested(over, [*before, f"total += {term}"])]
        total = _finished("total", step)
        if not kept:
            return [*lines, f"{name} = {total}"]
        where = at(step.register, [index for index, _ in sorted(kept, key=lambda loop: _label(loop, loops))])
        memory = f"{name} = np.empty({shape_text(step.shape)}, {dtype_text(step.dtype)})"
        return [memory, *nested(kept, [*lines, f"{where} = {total}"])]
    where = at(step.register, [index for index, _ in sorted(kept, key=lambda loop: _label(loop, loops))])
    memory = f"{name} = np.full({shape_text(step.shape)}, -0.0, {dtype_text(step.dtype)})"
    lines = [memory, *nested([(index, n) for index, n, _ in loops], [*before, f"{where} += {term}"])]
    end = _finished(where, step)
    return lines if end == where else [*lines, *nested(kept, [f"{where} = {end}"])]


def _label(loop: tuple[int, int], loops: Sequence[tuple[int, int, int]]) -> int:
    return next(label for index, _, label in loops if index == loop[0])


def _finished(text: str, step: Step) -> str:
    factor = step.kernel.coefficient if isinstance(step.kernel, Layout) else 1
    return scaled(text, factor, step.dtype, step.dtype)


def nested(loops: Sequence[tuple[int, int]], lines: Sequence[str]) -> list[str]:
    """The lines within loops."""
    found = [f"{'    ' * depth}for i{index} in range({n}):" for depth, (index, n) in enumerate(loops)]
    return [*found, *[f"{'    ' * len(loops)}{line}" for line in lines]]


def lower_layout(step: Step, arrays: Arrays) -> list[str]:
    """A sum over axes, or axes in another order, times a number, in another dtype."""
    (operand,), (labels,) = step.operands, labels_of(step, arrays)
    assert isinstance(operand, int)
    assert isinstance(step.kernel, Layout)
    rank = len(step.shape)
    sizes = dict(zip(labels, arrays.shapes[operand], strict=True))
    text = entry(operand, labels, arrays, {})
    if len(sizes) == rank:
        return stored(step, scaled(text, step.kernel.coefficient, arrays.dtypes[operand], step.dtype))
    if arrays.dtypes[operand] != step.dtype:
        text = f"{dtype_text(step.dtype)}({text})"
    return summed(step, [(label, sizes[label], label) for label in dict.fromkeys(labels)], text)


def lower_embed(step: Step, arrays: Arrays) -> list[str]:
    """A diagonal, or one number everywhere, written to new memory."""
    name, dtype = register_name(step.register), step.dtype
    if isinstance(step.kernel, Fill):
        number = typed_number(step.kernel.value, dtype)
        return [f"{name} = np.full({shape_text(step.stored)}, {number}, {dtype_text(dtype)})"]
    assert isinstance(step.kernel, Embed)
    first = {label: delta[0] for delta in step.kernel.deltas for label in delta}
    places = [first.get(axis, axis) for axis in range(len(step.shape))]
    loops = [(place, step.shape[place]) for place in dict.fromkeys(places)]
    text = typed_number(step.kernel.coefficient, dtype)
    if step.operands:
        labels = tuple([first.get(label, label) for label in step.kernel.labels])
        text = entry(step.operands[0], labels, arrays, {})
    zeros = f"{name} = np.zeros({shape_text(step.shape)}, {dtype_text(dtype)})"
    return [zeros, *nested(loops, [f"{at(step.register, places)} = {text}"])]


def stored(step: Step, text: str) -> list[str]:
    """An entry for each index, in new memory."""
    name = register_name(step.register)
    if not step.stored:
        return [f"{name} = {text}"]
    lost = len(step.shape) - len(step.stored)
    loops = [(axis + lost, n) for axis, n in enumerate(step.stored)]
    memory = f"{name} = np.empty({shape_text(step.stored)}, {dtype_text(step.dtype)})"
    return [memory, *nested(loops, [f"{at(step.register, [axis for axis, _ in loops])} = {text}"])]
