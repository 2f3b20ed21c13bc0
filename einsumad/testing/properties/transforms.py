"""The transforms of a system as functions of what they are given, for laws about calls rather than values.

Owns this list. Imports probes. Invariant: a transform in the list gets exactly the arrays and directions it is called
with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from einsumad.frontend.trees import flatten
from einsumad.testing.point import Array
from einsumad.testing.properties.probe import Probe
from einsumad.testing.systems.base import Function, System

Call = Callable[[tuple[Array, ...], tuple[Array, ...]], Any]
"""A transform as a function of the arrays and of the directions that it is given."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A transform, the order of what it computes, and the directions it takes."""

    name: str
    order: int
    call: Call
    directions: tuple[Array, ...] = ()


def arrays_of(nested: Any) -> tuple[Array, ...]:
    """All arrays of a result in nested tuples."""
    leaves, _ = flatten(nested)
    return tuple([np.asarray(leaf) for leaf in leaves])


def transforms(probe: Probe, f: Function, system: System | None = None) -> Iterator[Asked]:
    """Every transform of the system, of the function of the case or of one with a value of the same shape."""
    system = probe.case.system if system is None else system
    u, v = probe.cotangents[0], probe.tangents[0]
    yield Asked("value", 0, lambda xs, _: system.evaluate(f, xs))
    yield Asked("jvp", 1, lambda xs, vs: system.jvp(f, xs, vs), v)
    yield Asked("vjp", 1, lambda xs, us: system.vjp(f, xs, us[0]), (u,))
    for order in range(1, probe.case.order + 1):
        probe.refuse_large(order)
        for mode in probe.modes:
            yield Asked(mode, order, _derivative(system, f, order, mode))
    if probe.value.shape == () and probe.case.order >= 2:
        yield Asked("hvp", 2, lambda xs, vs: system.hvp(f, xs, vs), v)


def _derivative(system: System, f: Function, order: int, mode: str) -> Call:
    return lambda xs, _: system.derivative(f, xs, order, mode)
