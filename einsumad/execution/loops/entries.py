"""One entry of an operand as text: what array it lies in, and at which place.

Owns views within a region of loops. Imports the plan's records and source text. Invariant: an array of a region is in
C order; a view moves nothing, it says where its entries lie.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from einsumad.execution.source import register_name, typed_number
from einsumad.graph import Labels, Shape
from einsumad.planning.kernels import Choose, Contract, Embed, Group, Layout
from einsumad.planning.memory import is_view
from einsumad.planning.steps import Constant, Step


class View(NamedTuple):
    """A register as entries of an array: for each axis of that its own axis, None for the only place."""

    base: int
    axes: tuple[int | None, ...]


class Arrays:
    """The registers that steps read and make: shapes that are stored, dtypes, and those that are views of others."""

    def __init__(self, shapes: Sequence[Shape], stored: Sequence[Shape], dtypes: Sequence[np.dtype]) -> None:
        self.shapes, self.stored, self.dtypes = shapes, stored, dtypes
        self._views: dict[int, View] = {}

    def view(self, register: int) -> View:
        """Where the entries of a register lie."""
        known = self._views.get(register)
        return known or View(register, tuple(range(len(self.stored[register]))))

    def enter_view(self, register: int, view: View) -> None:
        """Say where the entries of a register lie."""
        self._views[register] = view

    def forget_view(self, register: int) -> None:
        """Say that the register has an array of its own now."""
        del self._views[register]

    def is_view(self, register: int) -> bool:
        """Whether the register has no array of its own."""
        return register in self._views

    def turned(self, step: Step) -> View | None:
        """The view that a step makes of its operand; None if it makes something new."""
        (operand, *_) = step.operands or (None,)
        if not isinstance(operand, int) or not isinstance(step.kernel, Layout | Embed):
            return None
        if not is_view(step.kernel, [self.dtypes[operand]], len(step.shape), step.dtype):
            return None
        before, labels = self.view(operand), self.held(operand, step.kernel.labels)
        lost = len(step.shape) - len(step.stored)
        axes: list[int | None] = []
        for axis in before.axes:
            place = None if axis is None else labels[axis] - lost
            axes.append(None if place is None or place < 0 or step.stored[place] == 1 else place)
        return View(before.base, tuple(axes))

    def held(self, operand: int, labels: Labels) -> Labels:
        """The labels of the axes that are stored."""
        return labels[len(labels) - len(self.stored[operand]) :]

    def places(self, operand: int, labels: Labels) -> tuple[int | None, ...]:
        """The label along each axis of the array that has the operand's entries, None for the only place of an axis."""
        view, held = self.view(operand), self.held(operand, labels)
        sizes = self.stored[view.base]
        labelled = [None if axis is None else held[axis] for axis in view.axes]
        stored = self.stored[operand]
        return tuple(
            [
                None if size == 1 or axis is None or stored[axis] == 1 else label
                for size, axis, label in zip(sizes, view.axes, labelled, strict=True)
            ]
        )


def labels_of(step: Step, arrays: Arrays) -> tuple[Labels, ...]:
    """The axes of the result, or the labels, that the axes of each operand are."""
    kernel = step.kernel
    match kernel:
        case Group() | Choose():
            return kernel.inputs
        case Contract():
            return kernel.left, kernel.right
        case Layout() | Embed():
            return (kernel.labels,) * len(step.operands)
    rank = len(step.shape)
    shapes = [arrays.shapes[operand] if isinstance(operand, int) else () for operand in step.operands]
    return tuple([tuple(range(rank - len(shape), rank)) for shape in shapes])


def entry(operand: int | Constant, labels: Labels, arrays: Arrays, values: Mapping[int, str]) -> str:
    """The entry of an operand for the indices of its labels, or its value if that is known already."""
    if isinstance(operand, Constant):
        return f"({typed_number(operand.value, operand.dtype)})"
    base = arrays.view(operand).base
    if base in values:
        return values[base]
    return at(base, arrays.places(operand, labels))


def at(register: int, places: Sequence[int | None]) -> str:
    """The entry of an array at the indices of some labels."""
    indices = ", ".join(["0" if label is None else f"i{label}" for label in places])
    return f"{register_name(register)}[{indices}]" if indices else register_name(register)
