"""Numba, for loops of plans where somebody asks for it.

Owns the import of Numba and how loops are compiled. Imports nothing of the package. Invariant: Numba is loaded by the
first plan that has loops for it, never otherwise; loops neither reorder arithmetic nor raise for a division by zero.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any


def check_numba() -> None:
    """Refuse to go on where Numba is not installed, and say how it is."""
    if find_spec("numba") is None:
        raise ImportError('numba=True needs Numba, which is not installed: pip install "einsumad[numba]"')


def loop_compiler() -> Callable[..., Any]:
    """The decorator of regions: compiled when first called, as IEEE arithmetic in the order in which it is written."""
    check_numba()
    found: Callable[..., Any] = import_module("numba").njit(error_model="numpy", fastmath=False, nogil=True)
    return found
