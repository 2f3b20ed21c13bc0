"""Numba, for loops of plans where somebody asks for it.

Owns the import of Numba and how loops are compiled. Imports the errors. Invariant: Numba is loaded by the first plan
that has loops for it, never otherwise; loops neither reorder arithmetic nor raise for a division by zero.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeAlias

import numpy as np

from einsumad.errors import InternalError

Function: TypeAlias = Callable[..., Any]


class UncompiledError(InternalError):
    """Loops that Numba does not compile. The plan in calls of NumPy gives the same results."""


def check_numba() -> None:
    """Refuse to go on where Numba is not installed, and say how it is."""
    if find_spec("numba") is None:
        raise ImportError('numba=True needs Numba, which is not installed: pip install "einsumad[numba]"')


def loop_compiler() -> Callable[..., Callable[[Function], Function]]:
    """The decorator of regions, which compiles them at once, as IEEE arithmetic in the order in which it is written.

    It takes the types of the operands, such as "float64[:, :]", an array in C order, and the places of those that are
    written to. There is no other version for other types. Raises :class:`UncompiledError` where Numba cannot compile.
    """
    check_numba()
    numba = import_module("numba")

    def loop(*kinds: str, writes: Container[int] = ()) -> Callable[[Function], Function]:
        types = tuple([_type(numba, kind, is_written=place in writes) for place, kind in enumerate(kinds)])

        def compiled(function: Function) -> Function:
            found: Any = numba.njit(error_model="numpy", fastmath=False, nogil=True)(function)
            try:
                found.compile(types)
            except Exception as error:  # a compiler may fail in any way
                reason = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
                message = f"Numba {numba.__version__} does not compile {function.__name__}: {reason}"
                raise UncompiledError(message) from error
            found.disable_compile()
            return found  # type: ignore[no-any-return] # a dispatcher of Numba

        return compiled

    return loop


def _type(numba: Any, kind: str, *, is_written: bool) -> Any:
    """Numba's type. Arrays that can be written to also pass as arrays that cannot."""
    name, _, axes = kind.partition("[")
    dtype = numba.from_dtype(np.dtype(name))
    return numba.types.Array(dtype, axes.count(":"), "C", readonly=not is_written) if axes else dtype
