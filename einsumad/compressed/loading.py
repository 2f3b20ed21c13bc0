"""What solves systems with structured matrices, and what draws them, loaded when somebody asks for it.

Owns these loads. Imports nothing of the package. Invariant: neither importing the library nor the first structured
tensor loads any of it.
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


def pictures() -> Any:
    """The module of pictures of patterns."""
    return import_module("einsumad.compressed.picture")


def drawing() -> Any:
    """The module that draws pictures with matplotlib."""
    return import_module("einsumad.compressed.drawing")


def notebook() -> Any:
    """The module that writes tensors as HTML."""
    return import_module("einsumad.compressed.notebook")
