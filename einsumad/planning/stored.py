"""Graphs that were derived or planned, kept in files for later processes, where somebody asks for it.

Owns the folder in force and what a graph is kept under. Imports the options, the machine and the graph. Invariant: a
graph that is read is the one that would be made: its key has the structure of what it is made from, the request, the
options, the machine and the version; whatever is wrong with a file, the graph is made.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from importlib import import_module
from typing import Any, NamedTuple, Self

from einsumad.functions import is_own
from einsumad.graph import General, Leaf, Node, structural_key, topological
from einsumad.locks import module_lock
from einsumad.planning.machine import machine_in_force
from einsumad.planning.options import in_force
from einsumad.records import named, record

VARIABLE = "EINSUMAD_PLAN_CACHE"
"""The environment variable that names a folder for the whole process."""


@record(eq=True, repr=True)
class PlanFolder:
    """A folder of derivations and plans; made by :func:`plan_cache`, and in force within ``with``."""

    path: str | None

    def __enter__(self) -> Self:
        """Put this folder in force."""
        _entered.set((*_entered.get(), self.path))
        return self

    def __exit__(self, *_: object) -> None:
        """Put that in force that was before."""
        _entered.set(_entered.get()[:-1])


_entered: ContextVar[tuple[str | None, ...]] = ContextVar("folders of plans", default=())


class _Counts:
    def __init__(self) -> None:
        self.lock = module_lock()
        self.loaded = 0


_counts = _Counts()


def plan_cache(path: str | os.PathLike[str] | None) -> PlanFolder:
    """A folder in which derivations and plans are kept, and found again by later processes; None for none.

    It is in force within ``with``, in this thread or task; the environment variable ``EINSUMAD_PLAN_CACHE`` names one
    for the whole process. What is kept are expressions over numbered arrays, as JSON: no values, no code. A file is for
    one version of einsumad, one structure of a function, one request, the planner's options and the machine; what is
    damaged or foreign is ignored with a warning, and made anew. What uses functions of the user's is not kept. The
    folder is made when it is first written to; nothing in it is ever deleted.

    Raises :class:`TypeError` for what is no path.

    >>> import numpy as np, einsumad as ea, tempfile
    >>> with tempfile.TemporaryDirectory() as folder, ea.plan_cache(folder):
    ...     H = ea.hessian(lambda x: np.sum(x**3))(np.ones(2))
    """
    folder = None if path is None else os.fspath(path)
    if not isinstance(folder, str | None):
        raise TypeError(f"plan_cache needs the path of a folder, got {path!r}")
    return PlanFolder(folder)


def folder_in_force() -> str | None:
    """The folder, or None where nothing is kept."""
    entered = _entered.get()
    return entered[-1] if entered else os.environ.get(VARIABLE) or None


def loaded() -> int:
    """How many graphs were read from files in this process."""
    with _counts.lock:
        return _counts.loaded


class Stored(NamedTuple):
    """The roots of a graph, and notes on it as plain data."""

    roots: tuple[Node, ...]
    notes: Any = None


def stored_or_made(
    what: str, given: Sequence[Node], request: Any, make: Callable[[], Stored], check: Callable[[Stored], object]
) -> Stored:
    """The graph that is made from the given one, read from the folder in force where it is there, else kept there.

    `check` raises :class:`ValueError` for a graph, or notes, of which nobody could make a derivation or plan.
    """
    folder = folder_in_force()
    if folder is None or not in_force().sharing or any(map(_is_the_users, topological(given))):
        return make()
    structure, leaves = structural_key(given)
    key = {
        "what": what,
        "structure": structure.hex(),
        "request": request,
        "options": named(in_force()),
        "machine": named(machine_in_force()),
    }
    files = import_module("einsumad.planning.graph_files")
    found: Stored | None = files.read_graph(folder, key, leaves, check)
    if found is not None:
        with _counts.lock:
            _counts.loaded += 1
        return found
    made = make()
    if not any(map(_is_foreign(leaves), topological(made.roots))):
        files.write_graph(folder, key, made, leaves)
    return made


def _is_the_users(node: Node) -> bool:
    return isinstance(node, General) and is_own(node.function)


def _is_foreign(leaves: Sequence[Leaf]) -> Callable[[Node], bool]:
    """Whether a node cannot be told by the given leaves and the catalogue alone."""
    known = set(leaves)
    return lambda node: _is_the_users(node) or (isinstance(node, Leaf) and node not in known)
