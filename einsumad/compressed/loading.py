"""What solves systems with structured matrices, loaded when something is solved.

Owns these loads. Imports nothing of the package. Invariant: importing the library loads neither of the two, which are a
tenth of its modules.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def solving() -> Any:
    """The package that finds out how a system is solved."""
    return import_module("einsumad.compressed.solving")


def factorisations() -> Any:
    """The package of factorised matrices."""
    return import_module("einsumad.compressed.factorisations")
