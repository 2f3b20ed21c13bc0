"""What the library makes of each public function of NumPy and SciPy: the table of ``docs/functions.md``.

Owns the table. Imports the registry, the namespaces and the reasons, and SciPy when it is asked for its functions.
Invariant: every public function of a library stands in its table once, and what is said of it is what a call does.
"""

from __future__ import annotations

import importlib
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Literal, TypeAlias

import numpy as np

from einsumad.frontend.coverage import linalg_reasons, numpy_reasons, scipy_linalg_reasons, special_reasons
from einsumad.frontend.registry import has_function, has_ufunc
from einsumad.frontend.scipy_linalg import FUNCTIONS
from einsumad.scipy import special

Status: TypeAlias = Literal["any order", "in part", "constant", "refused"]

LIBRARIES = ("numpy", "numpy.linalg", "scipy.special", "scipy.linalg")
MEANING: Mapping[Status, str] = {
    "any order": "differentiated to any order in all floating arguments",
    "in part": "differentiated to any order in some arguments",
    "constant": "has no derivative to lose, or one of zero",
    "refused": "a traced value raises an error with the reason",
}

UNKNOWN = "it is younger than this version of einsumad"
"""The note on a function that nothing is known of."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A function, what becomes of it, and a note: the reason, or what holds of some arguments."""

    name: str
    status: Status
    note: str = ""


def inventory(library: str) -> tuple[Entry, ...]:
    """The entries of one of :data:`LIBRARIES`, by name.

    >>> [entry.status for entry in inventory("numpy.linalg") if entry.name in ("eigh", "eig")]
    ['refused', 'any order']
    """
    judge = _JUDGES[library]
    return tuple([judge(name, function) for name, function in public_functions(library)])


def public_functions(library: str) -> Iterator[tuple[str, Any]]:
    """The public functions and ufuncs, by name: no types, errors, modules."""
    module = importlib.import_module(library)
    names = {name for name in dir(module) if not name.startswith("_")} if library == "numpy" else set(module.__all__)
    for name in sorted(names):
        found = getattr(module, name)
        if callable(found) and not isinstance(found, (type, types.ModuleType)):
            yield name, found


def table(library: str) -> str:
    """The entries as a Markdown table, those alike without a note in one row."""
    lines = [f"## {library}", "", "| functions | | |", "|---|---|---|"]
    grouped: dict[tuple[Status, str], list[str]] = {}
    for entry in inventory(library):
        grouped.setdefault((entry.status, entry.note), []).append(f"`{entry.name}`")
    order = list(MEANING)
    for (status, note), names in sorted(grouped.items(), key=lambda item: (order.index(item[0][0]), item[1][0])):
        lines.append(f"| {' '.join(names)} | {status} | {note} |")
    return "\n".join([*lines, ""])


def listing(library: str, pattern: str = "*") -> str:
    """The entries whose names match, a line each.

    >>> print(listing("numpy", "sinc"), end="")
    sinc  any order
    """
    found = [entry for entry in inventory(library) if fnmatchcase(entry.name, pattern)]
    width = max([len(entry.name) for entry in found], default=0)
    return "".join([f"{entry.name:{width}}  {entry.status:9}  {entry.note}".rstrip() + "\n" for entry in found])


def _of_numpy(name: str, function: Any) -> Entry:
    if name in numpy_reasons.CONSTANT:
        return Entry(name, "constant", numpy_reasons.CONSTANT[name])
    if name in numpy_reasons.COMPOSED:
        return Entry(name, "any order", numpy_reasons.COMPOSED[name])
    handled = has_ufunc(function) if isinstance(function, np.ufunc) else has_function(function)
    return _judged(name, "any order" if handled else None, numpy_reasons.REASONS)


def _of_linalg(name: str, function: Any) -> Entry:
    if name in linalg_reasons.CONSTANT:
        return Entry(name, "constant", linalg_reasons.CONSTANT[name])
    handled = has_function(function) or has_function(getattr(np, name, function))
    return _judged(name, "any order" if handled else None, linalg_reasons.REASONS)


def _of_special(name: str, function: Any) -> Entry:
    if name in special_reasons.CONSTANT:
        return Entry(name, "constant", special_reasons.CONSTANT[name])
    if name in special_reasons.PARTLY:
        return Entry(name, "in part", special_reasons.PARTLY[name])
    own = name in special.__all__ or name in special_reasons.THROUGH_OTHERS
    handled = own or (isinstance(function, np.ufunc) and has_ufunc(function))
    note = "in `einsumad.scipy.special`" if name in special.__all__ else ""
    return _judged(name, "any order" if handled else None, special_reasons.REASONS, note)


def _of_scipy_linalg(name: str, _: Any) -> Entry:
    return _judged(name, "any order" if name in FUNCTIONS else None, scipy_linalg_reasons.REASONS)


def _judged(name: str, status: Status | None, reasons: Mapping[str, Any], note: str = "") -> Entry:
    if status is not None:
        return Entry(name, status, note)
    verdict = reasons.get(name)
    return Entry(name, "refused", UNKNOWN) if verdict is None else Entry(name, verdict.status, verdict.reason)


_JUDGES: Mapping[str, Callable[[str, Any], Entry]] = {
    "numpy": _of_numpy,
    "numpy.linalg": _of_linalg,
    "scipy.special": _of_special,
    "scipy.linalg": _of_scipy_linalg,
}
