"""What the library makes of each public function of NumPy and SciPy: the table of ``docs/functions.md``.

Owns the table. Imports the registry, the namespaces and the reasons, and SciPy when it is asked for its functions.
Invariant: every public function of a library stands in its table once, and what is said of it is what a call does.
"""

from __future__ import annotations

import importlib
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any, Literal, TypeAlias

import numpy as np

from einsumad.frontend.coverage import (
    fft_reasons,
    linalg_reasons,
    numpy_reasons,
    scipy_linalg_reasons,
    special_reasons,
)
from einsumad.frontend.coverage.limits import EVERYWHERE, LIMITS
from einsumad.frontend.coverage.verdicts import Limit
from einsumad.frontend.known import READ
from einsumad.frontend.registry import has_function, has_ufunc
from einsumad.frontend.scipy_linalg import FUNCTIONS
from einsumad.scipy import special

Status: TypeAlias = Literal["any order", "in part", "constant", "refused"]

LIBRARIES = ("numpy", "numpy.linalg", "numpy.fft", "scipy.special", "scipy.linalg")
MEANING: Mapping[Status, str] = {
    "any order": "differentiated to any order in all floating arguments",
    "in part": "differentiated to any order in some arguments",
    "constant": "has no derivative to lose, or one of zero",
    "refused": "a traced value raises an error with the reason",
}

_PLACES = "it decides on places or on the number of entries"
_NOT_KNOWN = "its values are not known"
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
    lines: list[str] = []
    for entry in found:
        lines.append(f"{entry.name:{width}}  {entry.status:9}  {entry.note}".rstrip())
        lines += [f"    refused: {limit.what}: {limit.reason}" for limit in limits(library, entry.name)]
        read = arguments_read(library).get(entry.name, ())
        lines += [f"    refused: {argument}, where {_NOT_KNOWN}: {_PLACES}" for argument in read]
    return "".join([f"{line}\n" for line in lines])


def near_names(library: str, pattern: str) -> list[str]:
    """Names of functions that a pattern without a match may mean; those of other libraries with theirs before them.

    >>> near_names("numpy", "cumsums")
    ['cumsum', 'nancumsum']
    """
    letters = pattern.replace("*", "").replace("?", "").rpartition(".")[2]
    near = get_close_matches(letters, [name for name, _ in public_functions(library)], n=3, cutoff=0.75)
    others = [other for other in LIBRARIES if other != library and letters in dict(public_functions(other))]
    return [*[f"{other} {letters}" for other in others], *near]


def limits(library: str, name: str) -> tuple[Limit, ...]:
    """What a function refuses, though it takes traced values: options, their values, kinds of arguments.

    >>> [limit.what for limit in limits("numpy.linalg", "lstsq")]
    ['rcond=...', 'under ea.compile']
    """
    return LIMITS.get(library, {}).get(name, ())


def arguments_read(library: str) -> dict[str, tuple[str, ...]]:
    """By function the arguments whose values have to be known.

    >>> arguments_read("numpy")["roll"]
    ('shift', 'axis')
    """
    found: dict[str, tuple[str, ...]] = {}
    for name, arguments in READ.items():
        of = max([other for other in LIBRARIES if name.startswith(f"{other}.")], key=len)
        if of == library:
            found[name.removeprefix(f"{library}.")] = arguments
    return found


def table_of_limits(library: str) -> str:
    """What the functions of a library refuse as a Markdown table, functions alike in one row; no text for nothing."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for name in sorted(LIMITS.get(library, {})):
        for limit in limits(library, name):
            what = f"`{limit.what}`" if "=" in limit.what else limit.what
            grouped.setdefault((what, limit.reason), []).append(f"`{name}`")
    for name, arguments in sorted(arguments_read(library).items()):
        for argument in arguments:
            grouped.setdefault((f"`{argument}`, where {_NOT_KNOWN}", _PLACES), []).append(f"`{name}`")
    if not grouped:
        return ""
    title = f"### What functions of {library} refuse"
    lines = [title, "", "| functions | refused | why, or what to do |", "|---|---|---|"]
    lines += [f"| {' '.join(names)} | {what} | {reason} |" for (what, reason), names in grouped.items()]
    return "\n".join([*lines, ""])


def table_of_options() -> str:
    """The options that functions refuse which do not say more of them."""
    text = "`out` and `device` are refused by all functions that have them, the others by calls of ufuncs."
    lines = ["## Options", "", text, "", "| option | what to do |", "|---|---|"]
    return "\n".join([*lines, *[f"| `{option}` | {reason} |" for option, reason in EVERYWHERE.items()], ""])


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


def _of_fft(name: str, function: Any) -> Entry:
    if name in fft_reasons.COMPOSED:
        return Entry(name, "any order", fft_reasons.COMPOSED[name])
    return _judged(name, "any order" if has_function(function) else None, fft_reasons.REASONS)


def _of_special(name: str, function: Any) -> Entry:
    where = "in `einsumad.scipy.special`" if name in special.__all__ else ""
    if name in special_reasons.CONSTANT:
        return Entry(name, "constant", special_reasons.CONSTANT[name])
    if name in special_reasons.PARTLY:
        return Entry(name, "in part", "; ".join([text for text in (where, special_reasons.PARTLY[name]) if text]))
    own = bool(where) or name in special_reasons.THROUGH_OTHERS
    handled = own or (isinstance(function, np.ufunc) and has_ufunc(function))
    return _judged(name, "any order" if handled else None, special_reasons.REASONS, where)


def _of_scipy_linalg(name: str, _: Any) -> Entry:
    status: Status | None = "any order" if name in FUNCTIONS else None
    return _judged(name, status, scipy_linalg_reasons.REASONS, "in `einsumad.scipy.linalg`")


def _judged(name: str, status: Status | None, reasons: Mapping[str, Any], note: str = "") -> Entry:
    if status is not None:
        return Entry(name, status, note)
    verdict = reasons.get(name)
    return Entry(name, "refused", UNKNOWN) if verdict is None else Entry(name, verdict.status, verdict.reason)


_JUDGES: Mapping[str, Callable[[str, Any], Entry]] = {
    "numpy": _of_numpy,
    "numpy.linalg": _of_linalg,
    "numpy.fft": _of_fft,
    "scipy.special": _of_special,
    "scipy.linalg": _of_scipy_linalg,
}
