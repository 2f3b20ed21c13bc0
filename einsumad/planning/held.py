"""What is found out about expressions while something is derived and planned, held until that is done.

Owns what is held. Imports the options and rewriting. Invariant: what is held says nothing that would not be found out
again, so what is planned is the same without it: candidates of one derivative, and its plan, share most of their nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import NamedTuple, TypeAlias

from einsumad.graph import Node
from einsumad.planning.options import PlannerOptions, in_force, progress_of_jacobians
from einsumad.rewriting import Progress

_Rewriting: TypeAlias = Callable[[tuple[Node, ...]], tuple[Node, ...]]


class _Held(NamedTuple):
    """Products that were taken apart, for each set of rules left out what is in normal form, and what roots became."""

    products: list[Node]
    progress: dict[frozenset[str], Progress]
    rewritten: dict[tuple[_Rewriting, PlannerOptions, tuple[Node, ...]], tuple[Node, ...]]


_held: ContextVar[_Held | None] = ContextVar("what was found out", default=None)


@contextmanager
def products_held() -> Iterator[None]:
    """Within this context no product is taken apart twice: what is planned was taken apart to be compared."""
    if _held.get() is not None:
        yield
        return
    token = _held.set(_Held([], {}, {}))
    try:
        yield
    finally:
        _held.reset(token)


def hold(product: Node) -> None:
    """Hold a product that is taken apart, and so its steps, as far as anything is held."""
    held = _held.get()
    if held is not None:
        held.products.append(product)


def once(make: _Rewriting) -> Callable[[Sequence[Node]], tuple[Node, ...]]:
    """The rewriting, which is not done twice for the same roots while anything is held."""

    @wraps(make)
    def asked(roots: Sequence[Node]) -> tuple[Node, ...]:
        held, given = _held.get(), tuple(roots)
        if held is None:
            return make(given)
        key = make, in_force(), given
        if key not in held.rewritten:
            held.rewritten[key] = make(given)
        return held.rewritten[key]

    return asked


def progress_of_plans() -> Progress:
    """What normalising knows of expressions that are planned, where nothing is differentiated any more."""
    held, fresh = _held.get(), progress_of_jacobians()
    return fresh if held is None else held.progress.setdefault(fresh.left_out, fresh)
