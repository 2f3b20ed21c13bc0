"""Modules as text: their structure with shapes and counts, and a table of results.

Owns both texts. Imports the tree and the context of calls. Invariant: showing a module changes nothing that it holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from einsumad.nn.context import Copies, calling, no_grad
from einsumad.nn.parameter import Parameter
from einsumad.nn.tree import Tree

_watched: ContextVar[list[tuple[Tree, tuple[int, ...]]] | None] = ContextVar("calls that are watched", default=None)
_counted: ContextVar[set[int] | None] = ContextVar("parameters that a text has counted", default=None)
_MOST_SHAPES = 4


def note_result(tree: Tree, result: Any) -> None:
    """Note the shape of what a module gave, where calls are watched."""
    watched = _watched.get()
    if watched is not None:
        first = result[0] if isinstance(result, tuple) else result
        watched.append((tree, np.shape(first)))


def headed(tree: Any) -> str:
    """The class of a module with its sizes and options, as errors name it."""
    return f"{type(tree).__name__}({tree.extra_repr()})"


def shown(tree: Any) -> str:
    """The structure, a line for each module, with the shapes of parameters and how many numbers they hold.

    Lines count what a module holds itself, the closing line of a module what is in it, shared parameters once. What an
    earlier line has counted is called shared, and what is not learned frozen.
    """
    with _counting() as counted:
        before, own = set(counted), tree._parameters  # noqa: SLF001 (of a tree)
        counted |= {id(p) for p in own.values()}
        below = [f"({name}): {_indented(repr(child))}" for name, child in tree._modules.items()]  # noqa: SLF001
    told = f"{_shapes(own)}: {_count(own.values(), before)}" if own else ""
    if not below:
        return _commented(headed(tree), told)
    extra = tree.extra_repr()
    first = [_commented(extra, told).lstrip()] if extra or told else []
    lines = "".join([f"  {line}\n" for line in first + below])
    held = list(tree.parameters())
    return _commented(f"{type(tree).__name__}(\n{lines})", _count(held, before) if held else "")


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


@contextmanager
def _counting() -> Iterator[set[int]]:
    """The parameters that the text has counted so far, by identity; one set for a text and the texts within it."""
    known = _counted.get()
    if known is not None:
        yield known
        return
    known = set()
    token = _counted.set(known)
    try:
        yield known
    finally:
        _counted.reset(token)


def _shapes(parameters: Mapping[str, Parameter]) -> str:
    told = [f"{name} {p.data.shape}" for name, p in parameters.items()]
    more = [f"{len(told) - _MOST_SHAPES} more"] if len(told) > _MOST_SHAPES else []
    return ", ".join(told[:_MOST_SHAPES] + more)


def _count(parameters: Iterable[Parameter], before: set[int]) -> str:
    """How many numbers the parameters hold, and how many of these are shared and frozen."""
    each = {id(p): p for p in parameters}.values()
    total = sum([p.data.size for p in each])
    text = f"{total:,} parameter{'' if total == 1 else 's'}"
    shared = sum([p.data.size for p in each if id(p) in before])
    frozen = sum([p.data.size for p in each if not p.requires_grad])
    for count, what in ((shared, "shared"), (frozen, "frozen")):
        text += "" if not count else f", {what}" if count == total else f", {count:,} of them {what}"
    return text


def _commented(text: str, comment: str) -> str:
    return f"{text}  # {comment}" if comment else text


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")
