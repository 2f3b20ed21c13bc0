"""Functions written once for every namespace that has NumPy's names, and points for them.

Owns the programs that systems are compared on. Invariant: a program uses its namespace and nothing else.
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from einsumad.testing.systems import System, system

NAMESPACES = {"jax": "jax.numpy", "torch": "torch", "autograd": "autograd.numpy"}


@dataclass(frozen=True, slots=True)
class Program:
    """`function` takes a namespace and some arrays, of these `shapes`."""

    function: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...]

    def written_with(self, namespace: ModuleType) -> Callable[..., Any]:
        def function(*arrays: Any) -> Any:
            return self.function(namespace, *arrays)

        return function

    def arrays(self, dtype: Any = np.float64, seed: int = 0) -> list[np.ndarray]:
        random = np.random.default_rng(seed)
        return [np.asarray(random.uniform(0.3, 1.2, shape), dtype) for shape in self.shapes]


def network(xp: ModuleType, W: Any, x: Any) -> Any:
    return xp.sum(xp.tanh(xp.einsum("ij,j->i", W, x)) ** 2)


def outer(xp: ModuleType, x: Any, y: Any) -> Any:
    return xp.einsum("i,j->ij", xp.sin(x), xp.exp(y))


def cubic(xp: ModuleType, x: Any) -> Any:  # noqa: ARG001  needs the operators of arrays only
    return x**3


def numbers(xp: ModuleType, x: Any, y: Any) -> Any:
    return xp.sin(x) * y**3


def unused(xp: ModuleType, x: Any, y: Any) -> Any:  # noqa: ARG001  that is the point
    return xp.sin(x)


def rows(xp: ModuleType, x: Any, y: Any) -> Any:
    return xp.exp(x) * y


def total(xp: ModuleType, x: Any, y: Any) -> Any:
    return xp.sum(x**3) + xp.sum(y**3)


PROGRAMS = {
    "network": Program(network, ((2, 3), (3,))),
    "outer": Program(outer, ((2,), (3,))),
    "cubic": Program(cubic, ((3,),)),
    "numbers": Program(numbers, ((), ())),
    "unused": Program(unused, ((2,), (2,))),
    "empty value": Program(rows, ((0, 2), (2,))),
    "empty argument": Program(total, ((0, 2), (2,))),
    "all empty": Program(cubic, ((0,),)),
}
SCALAR = ("network", "numbers", "empty argument")


def peer(name: str) -> tuple[System, ModuleType]:
    """A system and the namespace that functions for it are written with; the test is skipped if it is missing."""
    namespace = pytest.importorskip(NAMESPACES[name])
    return system(name), namespace
