"""The value of a catalogue function as a Python function of arrays.

Owns the way from a row's own NumPy expression to something callable. Imports the catalogue. Invariant: the text comes
from a row and its parameters, never from a user; SciPy is loaded by the expressions that need it only.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from einsumad.functions.catalogue import elementwise_function
from einsumad.graph import Params


@lru_cache(maxsize=1024)
def value_function(name: str, params: Params, arity: int) -> Callable[..., np.ndarray[Any, Any]]:
    """The row's own expression as a function of arrays."""
    names = tuple([f"x{k}" for k in range(arity)])
    text = elementwise_function(name).source(names, params)
    scope: dict[str, Any] = {"np": np}
    if "special." in text:
        scope["special"] = importlib.import_module("scipy.special")
    return eval(f"lambda {', '.join(names)}: {text}", scope)  # type: ignore[no-any-return]  # noqa: S307
