"""Modules as text: their structure, and a table with shapes and counts.

Owns both texts. Imports the tree and the context of calls. Invariant: showing a module changes nothing that it holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from einsumad.nn.context import Copies, calling, no_grad
from einsumad.nn.tree import Tree

_watched: ContextVar[list[tuple[Tree, tuple[int, ...]]] | None] = ContextVar("calls that are watched", default=None)


def note_result(tree: Tree, result: Any) -> None:
    """Note the shape of what a module gave, where calls are watched."""
    watched = _watched.get()
    if watched is not None:
        first = result[0] if isinstance(result, tuple) else result
        watched.append((tree, np.shape(first)))


def shown(tree: Any) -> str:
    """The structure, a line for each module."""
    own = [f"({name}): {_indented(repr(child))}" for name, child in tree._modules.items()]  # noqa: SLF001
    head, extra = type(tree).__name__, tree.extra_repr()
    if not own:
        return f"{head}({extra})"
    lines = "".join([f"  {line}\n" for line in ([extra] if extra else []) + own])
    return f"{head}(\n{lines})"


def summary_of(tree: Any, input_shapes: Sequence[tuple[int, ...]], dtype: Any) -> str:
    """A table of the modules in the order in which they give their results for inputs of zeros."""
    inputs = [np.zeros(shape, dtype) for shape in input_shapes]
    with _watching() as watched, no_grad(), calling({}, Copies()):
        tree(*inputs)
    names = {id(module): name for name, module in tree.named_modules()}
    rows = [("module", "result", "parameters")]
    counted: set[int] = set()
    for module, shape in watched:
        own = [p for p in module._parameters.values() if id(p) not in counted]  # noqa: SLF001
        counted |= {id(p) for p in own}
        name = names.get(id(module), "") or "(whole)"
        rows.append((f"{name}: {type(module).__name__}", str(shape), f"{sum([p.size for p in own]):,}"))
    total = sum([p.size for p in tree.parameters()])
    learned = sum([p.size for p in tree.parameters() if p.requires_grad])
    nbytes = sum([p.data.nbytes for p in tree.parameters()])
    widths = [max([len(row[k]) for row in rows]) for k in range(3)]
    lines = [f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c:>{widths[2]}}" for a, b, c in rows]
    rest = "" if learned == total else f", {total - learned:,} of them frozen"
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:], f"{total:,} parameters{rest}, {nbytes / 1e6:.3g} MB"])


@contextmanager
def _watching() -> Iterator[list[tuple[Tree, tuple[int, ...]]]]:
    watched: list[tuple[Tree, tuple[int, ...]]] = []
    token = _watched.set(watched)
    try:
        yield watched
    finally:
        _watched.reset(token)


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")
