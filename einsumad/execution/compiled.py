"""Compiled plans: the generated source as a function of arrays.

Owns compilation and the check of inputs. Imports lowering and the plan. Invariant: returned arrays are new,
writable and share no memory; inputs are never written; calls from several threads do not meet.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from contextvars import Context
from dataclasses import field
from typing import Any, TypeAlias

import numpy as np

from einsumad.errors import LinearAlgebraError, ShapeError
from einsumad.execution.few import few_added
from einsumad.execution.grams import gram
from einsumad.execution.lowering import kernel_name, lower
from einsumad.execution.masked import kept
from einsumad.execution.memory import WORTH, keep_freed_memory
from einsumad.execution.moves import MOVES
from einsumad.execution.numba import UncompiledError, loop_compiler
from einsumad.execution.selected import selected_product
from einsumad.execution.tiles import tiled
from einsumad.execution.windowed import windows_dot
from einsumad.functions import general_function, is_own
from einsumad.planning.kernels import Call
from einsumad.planning.plan import Plan
from einsumad.records import record

Array: TypeAlias = np.ndarray[Any, Any]


@record(repr=True)
class CompiledPlan:
    """A plan as a function. `source` is its Python text, `function` takes exact arrays without any check.

    Where `calls_user` holds it calls functions of the user, which see the context variables of the caller.
    """

    plan: Plan
    source: str
    function: Callable[..., tuple[Any, ...]]
    expected: tuple[tuple[tuple[int, ...], np.dtype], ...] = field(repr=False)
    calls_user: bool = False

    def __call__(self, *arrays: Any) -> tuple[Array, ...]:
        """The outputs of the plan for the values of its inputs, in their order.

        Arrays of another dtype are converted if no kind of number is lost; shapes have to fit. Floating-point
        warnings are silent: infinities and NaN are in the result.
        """
        expected = self.expected
        if len(arrays) != len(expected):
            raise ShapeError(f"the plan has {len(expected)} inputs, got {len(arrays)}")
        given = [
            value
            if shape and type(value) is np.ndarray and value.shape == shape and value.dtype == dtype
            else _converted(value, shape, dtype)
            for value, (shape, dtype) in zip(arrays, expected, strict=True)
        ]
        if self.calls_user:
            with np.errstate(all="ignore"):
                return self.function(*given)
        return _SILENT.copy().run(self.function, *given)

    @property
    def unchecked(self) -> Callable[..., tuple[Array, ...]]:
        """The plan for values that are arrays of NumPy of the right shapes and dtypes; itself if it looks at more."""
        if self.calls_user or not all(shape for shape, _ in self.expected):
            return self
        function = self.function
        return lambda *arrays: _SILENT.copy().run(function, *arrays)


_SILENT = Context()
"""A context without NumPy's floating-point warnings. Running in a copy of it is faster than `np.errstate`."""
_SILENT.run(np.seterr, all="ignore")
_SILENT.run(np.setbufsize, 1024)
"""Entries for each operand that is spread, turned or cast: 8192, as NumPy has it, are no faster."""


def compile_plan(plan: Plan, *, loops: bool = False) -> CompiledPlan:
    """The plan as a function; with `loops` Numba compiles its loops.

    Where Numba cannot compile one, there is a warning, and the whole plan is calls of NumPy, as without `loops`.
    """
    if not loops:
        return _compiled(plan, loops=False)
    try:
        return _compiled(plan, loops=True)
    except UncompiledError as error:
        warnings.warn(
            f"a plan runs in calls of NumPy, as without numba=True, which gives the same results: {error}",
            RuntimeWarning,
            stacklevel=2,
        )
        return _compiled(plan, loops=False)


_CALLED = (few_added, gram, kept, selected_product, tiled, windows_dot)
"""What generated source calls by name, beside NumPy and what moves entries."""


def _compiled(plan: Plan, *, loops: bool) -> CompiledPlan:
    if plan.peak_bytes >= WORTH:
        keep_freed_memory()
    source = lower(plan, loops=loops)
    scope: dict[str, Any] = {function.__name__: function for function in _CALLED}
    scope |= {"np": np, **MOVES}
    if loops and "@loop" in source:
        scope["loop"] = loop_compiler()
    if "special." in source:  # SciPy is loaded by the plans that need it only
        scope["special"] = importlib.import_module("scipy.special")
    calls_user = False
    for step in plan.steps:
        if isinstance(step.kernel, Call):
            scope[kernel_name(step.kernel)] = _explained(step.kernel.function)
            calls_user = calls_user or is_own(step.kernel.function)
    # the source is generated from the plan; names and text of the user never enter it
    # (silent: a number that single precision does not hold becomes infinite here)
    _SILENT.copy().run(exec, compile(source, "<einsumad plan>", "exec"), scope)
    expected = tuple([(leaf.shape, leaf.dtype) for leaf in plan.inputs])
    return CompiledPlan(plan, source, scope["plan"], expected, calls_user)


def _explained(function: str) -> Callable[..., Array]:
    """The kernel of a function, whose errors about matrices say which function it is, and what it takes."""
    row = general_function(function)
    if is_own(function):
        return row.kernel

    def kernel(*arguments: Any) -> Array:
        try:
            return row.kernel(*arguments)
        except np.linalg.LinAlgError as error:
            shape, domain = arguments[0].shape, row.domain.partition(";")[0]
            raise LinearAlgebraError(
                f"{row.symbol} of shape {shape}: {error}; its value, and derivatives that use it, exist for {domain}"
            ) from error

    return kernel


def _converted(value: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """The value as an exact array, or as a NumPy scalar where the shape is empty."""
    if not shape and isinstance(value, float) and dtype.kind == "f":  # np.float64 is one too
        return dtype.type(value)
    array = np.asarray(value)
    if array.shape != shape:
        raise ShapeError(f"an input of shape {shape} was given a value of shape {array.shape}")
    if array.dtype != dtype:
        if not np.can_cast(array.dtype, dtype, "same_kind"):
            raise ShapeError(f"an input of dtype {dtype} was given a value of dtype {array.dtype}: convert it first")
        array = array.astype(dtype)
    return array if shape else array[()]
