"""What the steps of a plan know when they are made ready for a place: shapes, dtypes, and the place.

Owns that record and the way operands are lined up. Imports the plan. Invariant: what can be decided from shapes is
decided here, before any array is there; an operation made ready is a function of arrays alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from einsumad.errors import InternalError
from einsumad.execution.backends.array_library import Array, Home
from einsumad.graph import Labels, Shape
from einsumad.planning.plan import Plan
from einsumad.planning.steps import Constant, Operand, Step
from einsumad.records import record

Operation: TypeAlias = Callable[..., Array]
"""Takes the operands of a step in order, numbers as numbers of Python."""


@record(eq=True, repr=True)
class Context:
    """The place, and for each register the shape of its value, the shape that is kept, and the dtype."""

    home: Home
    shapes: tuple[Shape, ...]
    stored: tuple[Shape, ...]
    dtypes: tuple[np.dtype, ...]

    def register(self, step: Step, position: int) -> int:
        """The register of an operand that cannot be a number."""
        operand = step.operands[position]
        if isinstance(operand, Constant):
            raise InternalError(f"step {step.register} reads a number where it needs an array")
        return operand

    def shape_of(self, operand: Operand) -> Shape:
        """The shape that an operand is kept in; that of a number is empty."""
        return () if isinstance(operand, Constant) else self.stored[operand]

    def dtype_of(self, operand: Operand) -> np.dtype:
        """The dtype of an operand."""
        return operand.dtype if isinstance(operand, Constant) else self.dtypes[operand]

    def whole(self, step: Step, position: int) -> Callable[[Array], Array]:
        """Gives the operand its full shape."""
        register = self.register(step, position)
        shape, home = self.shapes[register], self.home
        return (lambda x: x) if self.stored[register] == shape else (lambda x: home.xp.broadcast_to(x, shape))


def context_of(plan: Plan, home: Home) -> Context:
    """The registers of a plan at a place."""
    shapes = [leaf.shape for leaf in plan.inputs] + [step.shape for step in plan.steps]
    stored = [leaf.shape for leaf in plan.inputs] + [step.stored for step in plan.steps]
    dtypes = [leaf.dtype for leaf in plan.inputs] + [step.dtype for step in plan.steps]
    return Context(home, tuple(shapes), tuple(stored), tuple(dtypes))


def permuted(home: Home, order: Sequence[int]) -> Callable[[Array], Array]:
    """Puts the axes in another order."""
    axes = tuple(order)
    if axes == tuple(range(len(axes))):
        return lambda x: x
    permute = home.xp.permute_dims
    return lambda x: permute(x, axes)


def lined_up(home: Home, labels: Labels, shape: Shape, ndim: int) -> Callable[[Array], Array]:
    """Puts an operand kept in this shape, whose axes have these labels, so that it broadcasts to `ndim` axes."""
    held = labels[len(labels) - len(shape) :]
    first = min(held, default=ndim)
    order = sorted(range(len(held)), key=held.__getitem__)
    turn = permuted(home, order)
    if len(held) == ndim - first:
        return turn
    slots: tuple[Any, ...] = tuple([slice(None) if label in held else None for label in range(first, ndim)])
    return lambda x: turn(x)[slots]
