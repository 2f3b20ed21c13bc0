"""Rows of the catalogue applied entry by entry at a place.

Owns the way from a row's own NumPy expression to a function of the arrays of a library. Imports the catalogue and the
tables of functions. Invariant: the expression is the row's, never a user's; a row whose expression needs what the
library has not is refused by name before anything is computed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

from einsumad.errors import TracingError
from einsumad.execution.backends.array_library import Array, Home
from einsumad.execution.backends.context import Context, Operation
from einsumad.execution.backends.standard_functions import tables_at
from einsumad.functions import elementwise_function, elementwise_names
from einsumad.graph import Params
from einsumad.planning.kernels import Apply
from einsumad.planning.steps import Constant, Step

_CALLS = re.compile(r"\b(np|special)\.(\w+)")
_METHODS = re.compile(r"\.(astype|dtype|real|imag)\b|\)\[")


def apply(step: Step, kernel: Apply, context: Context) -> Operation:
    """A catalogue function entry by entry."""
    home = context.home
    function = function_at(home, kernel.function, kernel.params, len(step.operands))
    numbers = [(k, o.dtype) for k, o in enumerate(step.operands) if isinstance(o, Constant)]

    def run(*operands: Any) -> Array:
        given = list(operands)
        for k, dtype in numbers:
            given[k] = home.array(given[k], dtype)
        return home.cast(function(*given), step.dtype)

    return run


def function_at(home: Home, name: str, params: Params, arity: int) -> Callable[..., Array]:
    """The row of that name as a function of arrays at a place; refused where the library has not what it needs."""
    own = _OWN.get(name)
    if own is not None:
        return own(home)
    names = tuple([f"x{k}" for k in range(arity)])
    text = elementwise_function(name).source(names, params)
    scope = _scope(home, text)
    if scope is None:
        raise TracingError(
            f"{name} is not supported on arrays of {home.array_library.name}: the library has no such function; "
            "compute on NumPy arrays, or write it with functions that are supported (docs/backends.md lists them)"
        )
    found: Callable[..., Array] = eval(f"lambda {', '.join(names)}: {text}", scope)  # noqa: S307 (the row's own text)
    return found


def _scope(home: Home, text: str) -> dict[str, Any] | None:
    """What the names in the expression are at a place; None where one of them is nothing."""
    if _METHODS.search(text):
        return None
    tables = dict(zip(("np", "special"), tables_at(home), strict=True))
    found: dict[str, dict[str, Any]] = {"np": {}, "special": {}}
    for module, name in _CALLS.findall(text):
        if name not in tables[module]:
            return None
        found[module][name] = tables[module][name]
    return {module: SimpleNamespace(**names) for module, names in found.items()}


def supported_elementwise(home: Home, params: Mapping[str, Params]) -> frozenset[str]:
    """The rows that can be computed at a place, given parameters for those that have some."""
    found = set()
    for name in elementwise_names():
        row = elementwise_function(name)
        names = tuple([f"x{k}" for k in range(row.arity)])
        if name in _OWN or _scope(home, row.source(names, params.get(name, ()))) is not None:
            found.add(name)
    return frozenset(found)


def _ldexp(home: Home) -> Callable[..., Array]:
    """``x 2^n`` by two factors, neither of which leaves the range where the result does not."""
    xp = home.xp

    def act(x: Array, exponent: Array) -> Array:
        whole = xp.trunc(exponent)
        half = xp.floor(whole / 2)
        two = xp.full_like(half, 2.0)
        return x * two**half * two ** (whole - half)

    return act


_OWN: dict[str, Callable[[Home], Callable[..., Array]]] = {"ldexp": _ldexp}
"""Rows whose expression is about NumPy's dtypes."""
