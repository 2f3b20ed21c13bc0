"""This library as a system under test, or as a reference.

Owns its record. Imports the public transforms, and tracing for the graph. Invariant: nothing here knows how derivatives
are made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from einsumad import frontend as ea
from einsumad.frontend.tracing import trace
from einsumad.frontend.values import known_value
from einsumad.graph import Leaf, Node, topological
from einsumad.testing.point import Array
from einsumad.testing.systems.base import Function, System
from einsumad.testing.systems.noisy import noisy_system


def _evaluate(f: Function, arrays: Sequence[Array]) -> Array:
    return np.asarray(ea.derivative(f, _everything(arrays), order=0)(*arrays))


def _derivative(f: Function, arrays: Sequence[Array], order: int, mode: str) -> Any:
    return ea.derivative(f, _everything(arrays), order=order, mode=mode)(*arrays)  # type: ignore[arg-type]


def _jvp(f: Function, arrays: Sequence[Array], tangents: Sequence[Array]) -> tuple[Array, Array]:
    return ea.jvp(f, tuple(arrays), tuple(tangents))


def _vjp(f: Function, arrays: Sequence[Array], cotangent: Array) -> tuple[Array, tuple[Array, ...]]:
    value, pullback = ea.vjp(f, *arrays)
    pulled = pullback(cotangent)
    return value, tuple(pulled) if len(arrays) > 1 else (pulled,)


def _hvp(f: Function, arrays: Sequence[Array], tangents: Sequence[Array]) -> tuple[Array, ...]:
    found = ea.hvp(f, _everything(arrays))(*arrays, tuple(tangents))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Graph:
    """A traced function: its value as a node, the leaves of its arrays, and the values of all leaves."""

    root: Node
    sources: tuple[Leaf, ...]
    values: Mapping[Leaf, Array]


def traced(f: Function, arrays: Sequence[Array]) -> Graph:
    """The graph of a function at some arrays."""
    found = trace(f, tuple(arrays), {}, _everything(arrays), ())
    (root,) = found.outputs
    known = [node for node in topological([root, *found.variables.leaves]) if isinstance(node, Leaf)]
    return Graph(root, found.variables.leaves, {leaf: known_value(leaf) for leaf in known})


def _everything(arrays: Sequence[Array]) -> tuple[int, ...]:
    return tuple(range(len(arrays)))


def _gradient(f: Function, arrays: Sequence[Array]) -> Any:
    return ea.grad(f, _everything(arrays))(*arrays)


def _jacobian(f: Function, arrays: Sequence[Array]) -> Any:
    return ea.jacobian(f, _everything(arrays))(*arrays)


def _hessian(f: Function, arrays: Sequence[Array]) -> Any:
    return ea.hessian(f, _everything(arrays))(*arrays)


def _value_and_grad(f: Function, arrays: Sequence[Array]) -> Any:
    return ea.value_and_grad(f, _everything(arrays))(*arrays)


def _value_grad_and_hessian(f: Function, arrays: Sequence[Array]) -> Any:
    return ea.value_grad_and_hessian(f, _everything(arrays))(*arrays)


def _hessian_diagonal(f: Function, arrays: Sequence[Array]) -> Any:
    return ea.hessian_diagonal(f, _everything(arrays))(*arrays)


def _laplacian(f: Function, arrays: Sequence[Array]) -> Any:
    return ea.laplacian(f, _everything(arrays))(*arrays)


_EXACT = System(
    "einsumad",
    ("auto", "forward", "reverse", "cross-country"),
    _evaluate,
    _derivative,
    _jvp,
    _vjp,
    _hvp,
    {
        "graph": traced,
        "gradient": _gradient,
        "jacobian": _jacobian,
        "hessian": _hessian,
        "value_and_grad": _value_and_grad,
        "value_grad_and_hessian": _value_grad_and_hessian,
        "hessian_diagonal": _hessian_diagonal,
        "laplacian": _laplacian,
    },
    bitwise=True,
)
EINSUMAD = replace(_EXACT, noisy=partial(noisy_system, _EXACT))
