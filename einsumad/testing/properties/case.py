"""What properties are checked on: a function of arrays, a system that differentiates it, and a point.

Owns the record of cases. Imports systems. Invariant: the arrays of a case are never handed out; who calls a system
hands it fresh copies.
"""

from __future__ import annotations

from dataclasses import dataclass

from einsumad.testing.point import Array
from einsumad.testing.systems.base import Function, System


@dataclass(frozen=True)
class Case:
    """A function of some arrays with one array as its value, as a system is to differentiate it at those arrays.

    `modes` are those to be compared (all of the system if empty), `order` is the highest order to look at, `names` are
    those of the arrays. With `batched` all arrays and the value have a leading batch axis of one length, and each item
    of the value depends on the same item of the arrays alone.
    """

    system: System
    function: Function
    arrays: tuple[Array, ...]
    seed: int = 0
    order: int = 2
    modes: tuple[str, ...] = ()
    name: str = "the function"
    batched: bool = False
    names: tuple[str, ...] = ()
