"""How many operations on arrays a function makes: what a system that traces has to see.

Owns :func:`count_operations`. Invariant: counted on NumPy arrays, by NumPy's own protocols, so no system is asked.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmark.case import Case, Data


class Counted(np.ndarray):
    """An array that counts the functions of NumPy that it takes part in; results count too."""

    calls: list[int]

    def __array_finalize__(self, parent: Any) -> None:
        self.calls = getattr(parent, "calls", [])

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return self._again(getattr(ufunc, method)(*[_plain(value) for value in inputs], **kwargs))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return self._again(function(*_plain(args), **kwargs))

    def _again(self, result: Any) -> Any:
        self.calls.append(1)
        array = np.asarray(result).view(Counted)
        array.calls = self.calls
        return array


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(_plain(part) for part in value)
    return np.asarray(value) if isinstance(value, Counted) else value


def _logsumexp(a: Any, axis: int) -> Any:
    """One operation, as systems have it."""
    return a._again(np.log(np.sum(np.exp(np.asarray(a)), axis)))


def count_operations(case: Case, data: Data) -> int:
    """The number of ufuncs and functions of NumPy, operators included, that depend on the variables."""
    calls: list[int] = []
    variables = []
    for value in data.variables:
        counted = value.view(Counted)
        counted.calls = calls
        variables.append(counted)
    xp = SimpleNamespace(**{**vars(np), "logsumexp": _logsumexp})
    case.function(xp, data.constants, *variables)
    return len(calls)
