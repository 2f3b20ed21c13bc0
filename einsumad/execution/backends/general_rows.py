"""Rows of the catalogue from whole tensors to a tensor at a place.

Owns the table of those that libraries can compute. Imports the catalogue and the files of kernels beside it. Invariant:
a row that is not in the table is refused by name before anything is computed; nothing goes through NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from einsumad.errors import LinearAlgebraError, TracingError
from einsumad.execution.backends import decompositions, linear_algebra, order_statistics, reductions
from einsumad.execution.backends.array_library import Array, Home
from einsumad.execution.backends.context import Context, Operation
from einsumad.functions import general_function, is_own
from einsumad.planning.kernels import Call
from einsumad.planning.steps import Step

Kernel: TypeAlias = Callable[..., Array]
"""Takes the place, the operands, and the parameters of the row."""


def whole(home: Home, x: Array, name: str) -> Array:
    """Numbers cut off behind the point, in the integer dtype of that name."""
    return home.cast(home.xp.trunc(x), np.dtype(name))


KERNELS: dict[str, Kernel] = {
    **reductions.KERNELS,
    **order_statistics.KERNELS,
    **linear_algebra.KERNELS,
    **decompositions.KERNELS,
    "whole": whole,
}


def call(step: Step, kernel: Call, context: Context) -> Operation:
    """A catalogue function of whole tensors."""
    home, name = context.home, kernel.function
    function = KERNELS.get(name)
    if function is None:
        raise TracingError(_refusal(name, home))
    wholes = [context.whole(step, k) for k in range(len(step.operands))]
    row, failures = general_function(name), home.array_library.failures

    def run(*operands: Any) -> Array:
        given = [whole(x) for whole, x in zip(wholes, operands, strict=True)]
        try:
            return home.cast(function(home, *given, *kernel.params), step.dtype)
        except failures as error:
            shape, domain = tuple(given[0].shape), row.domain.partition(";")[0]
            raise LinearAlgebraError(
                f"{row.symbol} of shape {shape}: {error}; its value, and derivatives that use it, exist for {domain}"
            ) from error

    return run


def _refusal(name: str, home: Home) -> str:
    what = "a function with a rule of your own" if is_own(name) else name
    return (
        f"{what} is not supported on arrays of {home.array_library.name}: it is computed on NumPy arrays only; "
        "compute on these, or write it with functions that are supported (docs/backends.md lists them)"
    )
