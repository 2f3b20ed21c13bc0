"""This library in Monte Carlo arithmetic: every result of a step is moved by a few units in its last place.

Owns this arithmetic, and the system that computes in it. Imports tracing, planning and the reference interpreter.
Invariant: what is computed exactly (selections, layouts, products with powers of two) is not moved, so ties and zeros
stay.

How much an answer changes from one run to another is what rounding does to it, also where the errors come from
constants that cancel each other, or from a function that is saturated, so that moving its arguments shows nothing.
Source: D. S. Parker, *Monte Carlo Arithmetic: exploiting randomness in floating-point arithmetic*, 1997.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import log2, prod
from typing import Any

import numpy as np

from einsumad.execution.reference import evaluate
from einsumad.frontend.requests import Asked, derivation_of
from einsumad.frontend.tracing import trace
from einsumad.frontend.values import known_value
from einsumad.graph import (
    BOOL,
    Add,
    Einsum,
    Elementwise,
    General,
    Leaf,
    Node,
    Structural,
    fresh_leaf,
    rebuild,
    topological,
)
from einsumad.graph import leaves as graph_leaves
from einsumad.planning import Request, binarise, options_for
from einsumad.testing.point import Array
from einsumad.testing.systems.base import Function, System

_EXACT = frozenset(
    [
        *("abs", "sign", "relu", "maximum", "minimum", "maximum_constant", "minimum_constant"),
        *("floor", "ceil", "round", "trunc", "max_reduce", "min_reduce", "sign_determinant"),
    ]
)
_MOST_INDICES = 2**22
_SALT = 1_000_003
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_STEPS = np.array([-4, -3, -2, -1, 1, 2, 3, 4])


class TooLargeError(Exception):
    """Something with too many entries to be looked at as a whole; the message says how many."""


def moved(array: Array, number: int) -> Array:
    """The array with each entry multiplied by one plus a few rounding units, chosen by its magnitude and a number.

    Equal magnitudes move by equal factors, and zeros not at all: ties, signs and symmetries stay.

    >>> import numpy as np
    >>> x = np.array([0.5, -0.5, 0.0, 3.0])
    >>> y = moved(x, 1)
    >>> bool(y[0] == -y[1] != 0.5), float(y[2]), bool(abs(y[3] - 3) < 1e-14)
    (True, 0.0, True)
    """
    if array.dtype.kind != "f":
        return np.array(array)
    with np.errstate(all="ignore"):
        bits = np.abs(np.asarray(array, np.float64)).view(np.uint64) + np.uint64(number)
        mixed = (bits ^ (bits >> np.uint64(29))) * _MULTIPLIER
        mixed = (mixed ^ (mixed >> np.uint64(32))) * _MULTIPLIER
        steps = _STEPS[(mixed >> np.uint64(61)).astype(np.int64)]
        factor = 1 + steps * np.finfo(array.dtype).eps
        return np.asarray(array * factor.astype(array.dtype), array.dtype)


def noisy_values(roots: Sequence[Node], values: Mapping[Leaf, Any], number: int) -> list[Array]:
    """The values of the roots in this arithmetic; `number` chooses the run, and 0 is the reference interpreter.

    Raises :class:`TooLargeError` for graphs with products over many indices, which are written out.
    """
    refuse_large(roots)
    if not number:
        return evaluate(roots, values)
    found: dict[Node, Array] = {}
    known = dict(values)
    stands_for: dict[Node, Node] = {}
    for position, node in enumerate(topological(roots)):
        if isinstance(node, Leaf):
            found[node] = np.asarray(values[node])
            stands_for[node] = node
            continue
        operands = [stands_for[operand] for operand in node.operands]
        (value,) = evaluate([rebuild(node, operands)], known)
        rounded = _rounded(node, [found[operand] for operand in node.operands])
        found[node] = np.where(rounded, moved(value, _SALT * number + position), value)
        stands_for[node] = rebuild(node, operands)
        if not isinstance(node, Structural):
            leaf = fresh_leaf(node.shape, node.dtype)
            stands_for[node], known[leaf] = leaf, found[node]
    return [found[root] for root in roots]


def _rounded(node: Node, operands: Sequence[Array]) -> bool | Array:
    """Whether a step rounds its result, or which entries of it: a sum is exact where one term alone is not zero."""
    match node:
        case Add():
            return np.asarray(np.sum([operand != 0 for operand in operands], axis=0) > 1)
        case Einsum() if node.dtype != BOOL:
            ordinary = [operand for operand in node.operands if not isinstance(operand, Structural)]
            factors = [operand for operand in ordinary if operand.dtype != BOOL]
            summed = any(label >= len(node.shape) for labels in node.inputs for label in labels)
            return len(factors) > 1 or summed or not _is_power_of_two(node.coefficient)
        case Elementwise() | General():
            return node.function not in _EXACT
    return False


def _is_power_of_two(number: float) -> bool:
    return number != 0 and log2(abs(number)).is_integer()


def refuse_large(roots: Sequence[Node]) -> None:
    """Refuse graphs that the reference interpreter, which writes out whole index spaces, is too slow for."""
    for node in topological(roots):
        if isinstance(node, Einsum):
            sizes = dict(enumerate(node.shape))
            for labels, operand in zip(node.inputs, node.operands, strict=True):
                sizes.update(zip(labels, operand.shape, strict=True))
            entries = prod(sizes.values())
            if entries > _MOST_INDICES:
                raise TooLargeError(f"a product over {entries} indices, more than {_MOST_INDICES}, is too slow for it")


def noisy_system(exact: System, number: int) -> System:
    """A run of a system of this library in this arithmetic; what is too large for it, the system itself computes."""
    extras = {
        name: _either(partial(_further, number, name), further)
        for name, further in exact.extras.items()
        if name in _FURTHER
    }
    return System(
        f"{exact.name} in Monte Carlo arithmetic",
        exact.modes,
        _either(partial(_value, number), exact.evaluate),
        _either(partial(_tensors, number), exact.derivative),
        _either(partial(_jvp, number), exact.jvp),
        _either(partial(_vjp, number), exact.vjp),
        _either(partial(_hvp, number), exact.hvp),
        {**exact.extras, **extras},
    )


def _either(noisy: Callable[..., Any], exact: Callable[..., Any]) -> Callable[..., Any]:
    def either(*args: Any) -> Any:
        try:
            return noisy(*args)
        except TooLargeError:
            return exact(*args)

    return either


def _value(number: int, f: Function, arrays: Sequence[Array]) -> Array:
    return _answer(number, Request("derivatives", (0,)), f, arrays)[0]


def _tensors(number: int, f: Function, arrays: Sequence[Array], order: int, mode: str) -> Any:
    request = Request("derivatives", (order,), mode)  # type: ignore[arg-type]
    return _nested(_answer(number, request, f, arrays), len(arrays), order)


def _jvp(number: int, f: Function, arrays: Sequence[Array], tangents: Sequence[Array]) -> tuple[Array, Array]:
    value, tangent = _answer(number, Request("jvp"), f, arrays, tangents)
    return value, tangent


def _vjp(number: int, f: Function, arrays: Sequence[Array], cotangent: Array) -> tuple[Array, tuple[Array, ...]]:
    return _value(number, f, arrays), tuple(_answer(number, Request("vjp"), f, arrays, (cotangent,)))


def _hvp(number: int, f: Function, arrays: Sequence[Array], tangents: Sequence[Array]) -> tuple[Array, ...]:
    return tuple(_answer(number, Request("hvp"), f, arrays, tangents))


_FURTHER = {
    "gradient": (1,),
    "jacobian": (1,),
    "hessian": (2,),
    "value_and_grad": (0, 1),
    "value_grad_and_hessian": (0, 1, 2),
    "hessian_diagonal": (),
    "laplacian": (),
}


def _further(number: int, name: str, f: Function, arrays: Sequence[Array]) -> Any:
    """The further transforms: derivatives of some orders, or the parts of a Hessian that need no Hessian."""
    if name == "laplacian":
        return _answer(number, Request("laplacian"), f, arrays)[0]
    if name == "hessian_diagonal":
        return tuple(_answer(number, Request("hessian-diagonal"), f, arrays))
    parts = [_tensors(number, f, arrays, order, "auto") for order in _FURTHER[name]]
    return parts[0] if len(parts) == 1 else tuple(parts)


def _answer(
    number: int, request: Request, f: Function, arrays: Sequence[Array], directions: Sequence[Array] = ()
) -> list[Array]:
    """The outputs of a request; arrays and directions are taken as they are, constants of the function are moved."""
    found = trace(f, tuple(arrays), {}, tuple(range(len(arrays))), ())
    leaves = [fresh_leaf(direction.shape, direction.dtype) for direction in directions]
    derivation, originals = derivation_of(Asked(request, found.outputs, found.variables, tuple(leaves)))
    given = dict(zip(leaves, directions, strict=True))
    given.update(zip(found.variables.leaves, arrays, strict=True))
    values = {
        slot: given[leaf] if leaf in given else moved(known_value(leaf), number)
        for slot, leaf in zip(derivation.slots, originals, strict=True)
    }
    with options_for(derivation.outputs):
        roots = binarise(derivation.outputs)
    numbers = {leaf: known_value(leaf) for leaf in graph_leaves(roots) if leaf not in values}
    return noisy_values(roots, {**values, **numbers}, number)


def _nested(flat: Sequence[Array], arrays: int, order: int) -> Any:
    """Blocks in the order of their indices as nested tuples."""
    nested: list[Any] = list(flat)
    for _ in range(order):
        nested = [tuple(nested[start : start + arrays]) for start in range(0, len(nested), arrays)]
    return nested[0]
