"""A plan as a function of the arrays of a library.

Owns the run. Imports the plan and the libraries. Invariant: what comes in is checked and never written; what goes out
is of the same library, on the same device, and shares no memory with what came in.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, NamedTuple

import numpy as np

from einsumad.errors import ShapeError, TracingError
from einsumad.execution.backends.array_library import Array, Function, Home
from einsumad.execution.backends.recognition import library_of
from einsumad.planning.plan import Plan
from einsumad.records import record


class Ready(NamedTuple):
    """A step made ready: its operation, the registers that it reads, and what it frees.

    Where some operands are numbers, `numbers` has these, and None in the place of each register.
    """

    operation: Function
    reads: tuple[int, ...]
    numbers: tuple[Any, ...] | None
    frees: tuple[int, ...]


@record(repr=True)
class ArrayPlan:
    """A plan made ready for a place. `shared` says for each output whether it may share memory."""

    plan: Plan
    home: Home
    steps: tuple[Ready, ...] = field(repr=False)
    shared: tuple[bool, ...] = field(repr=False)

    def __call__(self, *values: Any) -> tuple[Array, ...]:
        """The outputs for the values of the inputs, in their order: arrays at the place, or numbers.

        NumPy arrays are constants, which only a plan on the host takes.
        """
        inputs = self.plan.inputs
        if len(values) != len(inputs):
            raise ShapeError(f"the plan has {len(inputs)} inputs, got {len(values)}")
        given = [received(self.home, x, leaf.shape, leaf.dtype) for x, leaf in zip(values, inputs, strict=True)]
        registers: list[Any] = [*given, *[None] * len(self.steps)]
        register = len(given)
        with self.home.array_library.running(self.home.device):
            for operation, reads, numbers, frees in self.steps:
                if numbers is None:
                    registers[register] = operation(*[registers[k] for k in reads])
                else:
                    arrays = iter([registers[k] for k in reads])
                    registers[register] = operation(*[next(arrays) if x is None else x for x in numbers])
                register += 1
                for k in frees:
                    registers[k] = None
            found = [self.home.whole(registers[k], self._shape(k)) for k in self.plan.outputs]
            return self.home.array_library.apart(found, given, self.shared)

    def _shape(self, register: int) -> tuple[int, ...]:
        count = len(self.plan.inputs)
        return self.plan.inputs[register].shape if register < count else self.plan.steps[register - count].shape


def received(home: Home, x: Any, shape: tuple[int, ...], dtype: np.dtype) -> Array:
    """An input at a place, in its dtype. Raises :class:`TracingError` for what would have to be moved there."""
    library = library_of(x)
    if library is None:
        array = np.asarray(x)
        found_shape, found_dtype = array.shape, array.dtype
    else:
        if library is not home.array_library or (home.device is not None and library.home_of(x) != home):
            raise TracingError(f"an array of {library.home_of(x).name} was given where those of {home.name} are")
        library.check(x)
        found_shape, found_dtype = tuple(x.shape), library.dtype_of(x)
    if found_shape != shape:
        raise ShapeError(f"an input of shape {shape} was given a value of shape {found_shape}")
    if not np.can_cast(found_dtype, dtype, "same_kind"):
        raise ShapeError(f"an input of dtype {dtype} was given a value of dtype {found_dtype}: convert it first")
    if library is None:
        return _moved(home, array, dtype)
    return home.cast(x, dtype)


def _moved(home: Home, array: np.ndarray, dtype: np.dtype) -> Array:
    """A NumPy array at a place: a number anywhere, others on the host only."""
    if not array.ndim:
        return home.full((), array.astype(dtype).item(), dtype)
    return home.cast(home.brought(array), dtype)
