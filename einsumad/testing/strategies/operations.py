"""The operations that drawn programs are made of.

Owns one row an operation: its text, where it fits, the shape and a bound of what it makes. Imports NumPy only.
Invariant: for operands within their bounds the result is finite and within its own, so a program stays well scaled
wherever its arguments do; operations outside the family "kinked" are analytic, so complex steps pass through them, and
those inside are continuous.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, cosh, e, log, log2, pi, prod, sinh, sqrt
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from einsumad.testing.strategies.drawing import Array, Shape

Value: TypeAlias = tuple[Shape, float]
Infer: TypeAlias = Callable[..., "Value | None"]


@dataclass(frozen=True, slots=True)
class Operation:
    """A template over ``arity`` operands, and the shape and bound of its value: None where it does not fit.

    ``distance`` vanishes where the operands are at a kink.
    """

    template: str
    arity: int
    infer: Infer
    matrix: bool = False
    distance: Callable[..., Array] | None = None

    def text(self, shapes: Sequence[Shape], dtype: str) -> str:
        """The template, for a matrix operation with the identity and the factor that make the matrix well conditioned.

        ``I + s sin(T)`` with ``s <= 1 / (2 n)`` is diagonally dominant: the row sums of its inverse are at most 2.
        """
        if not self.matrix:
            return self.template
        size = shapes[0][-1]
        identity = f"np.eye({size})" if dtype == "float64" else f"np.eye({size}, dtype=np.{dtype})"
        return self.template.replace("EYE", identity).replace("SMALL", repr(2.0 ** -ceil(log2(2 * size))))


def broadcast(first: Shape, second: Shape) -> Shape | None:
    """The common shape of two shapes, None if there is none.

    >>> broadcast((2, 1), (3,)), broadcast((2,), (3,))
    ((2, 3), None)
    """
    longest = max(len(first), len(second))
    one, other = (1,) * (longest - len(first)) + first, (1,) * (longest - len(second)) + second
    if any(a != b and 1 not in (a, b) for a, b in zip(one, other, strict=True)):
        return None
    return tuple([a if b == 1 else b for a, b in zip(one, other, strict=True)])


# --- elementwise ------------------------------------------------------------------------------------------------------


def _entrywise(template: str, bound: Callable[[float], float]) -> Operation:
    return Operation(template, 1, lambda x: (x[0], bound(x[1])))


def _broadcasting(bound: Callable[[float, float], float]) -> Infer:
    def infer(x: Value, y: Value) -> Value | None:
        shape = broadcast(x[0], y[0])
        return None if shape is None else (shape, bound(x[1], y[1]))

    return infer


def _pairwise(template: str, bound: Callable[[float, float], float]) -> Operation:
    return Operation(template, 2, _broadcasting(bound))


def _outer(x: Value, y: Value) -> Value | None:
    return ((x[0][0], y[0][0]), x[1] + y[1]) if len(x[0]) == len(y[0]) == 1 else None


def _transposed(x: Value) -> Value | None:
    return (x[0][::-1], x[1]) if len(x[0]) == 2 else None


SMOOTH = (
    _entrywise("np.sin({0})", lambda _: 1),
    _entrywise("np.cos({0})", lambda _: 1),
    _entrywise("np.tanh({0})", lambda _: 1),
    _entrywise("np.arctan({0})", lambda _: pi / 2),
    _entrywise("np.square({0})", lambda x: x * x),
    _entrywise("np.exp(-{0} * {0})", lambda _: 1),
    _entrywise("np.exp(np.sin({0}))", lambda _: e),
    _entrywise("np.log(1 + {0} * {0})", lambda x: log(1 + x * x)),
    _entrywise("np.log(1 + np.exp({0}))", lambda x: x + 1),
    _entrywise("np.log1p(np.square({0}))", lambda x: log(1 + x * x)),
    _entrywise("np.sqrt(1 + {0} * {0})", lambda x: sqrt(1 + x * x)),
    _entrywise("np.expm1(np.tanh({0}))", lambda _: e - 1),
    _entrywise("np.sinh(np.sin({0}))", lambda _: sinh(1)),
    _entrywise("np.cosh(np.sin({0}))", lambda _: cosh(1)),
    _entrywise("1 / (1 + {0} * {0})", lambda _: 1),
    _entrywise("1 / (1 + np.exp(-{0}))", lambda _: 1),
)

ARITHMETIC = (
    _pairwise("{0} + {1}", lambda x, y: x + y),
    _pairwise("{0} * {1}", lambda x, y: x * y),
    _pairwise("{0} - {1}", lambda x, y: x + y),
    _pairwise("{0} / (1 + {1} * {1})", lambda x, _: x),
    _pairwise("{0} * {0} - {1}", lambda x, y: x * x + y),
    _entrywise("-{0}", lambda x: x),
    _entrywise("0.5 * {0}", lambda x: x / 2),
    _entrywise("1 - {0}", lambda x: 1 + x),
    _entrywise("{0} ** 3", lambda x: x**3),
    Operation("np.expand_dims({0}, axis=-1) + {1}", 2, _outer),
    Operation("{0}.T", 1, _transposed),
)

# --- reductions -------------------------------------------------------------------------------------------------------


def _without(x: Value, axis: int, bound: float) -> Value | None:
    shape = list(x[0])
    if not shape:
        return None
    del shape[axis]
    return tuple(shape), bound


def _along(template: str, axis: int, bound: Callable[[float, int], float], keep: bool = False) -> Operation:
    def infer(x: Value) -> Value | None:
        if not x[0]:
            return None
        shape = list(x[0])
        size = shape[axis]
        shape[axis : axis + 1 or None] = [1] if keep else []
        return tuple(shape), bound(x[1], size)

    return Operation(template, 1, infer)


REDUCTIONS = (
    Operation("np.sum({0})", 1, lambda x: ((), x[1] * prod(x[0]))),
    Operation("np.mean({0})", 1, lambda x: ((), x[1])),
    _along("np.sum({0}, axis=0)", 0, lambda x, size: x * size),
    _along("np.sum({0}, axis=-1)", -1, lambda x, size: x * size),
    _along("np.sum({0}, axis=-1, keepdims=True)", -1, lambda x, size: x * size, keep=True),
    _along("np.mean({0}, axis=0)", 0, lambda x, _: x),
    Operation("{0} - np.mean({0}, axis=-1, keepdims=True)", 1, lambda x: (x[0], 2 * x[1]) if x[0] else None),
    _along("np.prod(np.cos({0}), axis=-1)", -1, lambda *_: 1),
    _along("np.log(np.sum(np.exp({0}), axis=-1))", -1, lambda x, size: x + log(size)),
)


# --- kinks ------------------------------------------------------------------------------------------------------------

# All of these are continuous: what differs between the two sides of a kink is the derivative.


def _kinked(template: str, bound: Callable[[float], float], distance: Callable[[Array], Array]) -> Operation:
    return Operation(template, 1, lambda x: (x[0], bound(x[1])), distance=distance)


def _kinked_pair(template: str, bound: Callable[[float, float], float]) -> Operation:
    return Operation(template, 2, _broadcasting(bound), distance=np.subtract)


def _largest(name: str, axis: int) -> Operation:
    def distance(x: Array) -> Array:
        lanes = np.sort(-x if name == "max" else x, axis=axis)
        first, second = np.take(lanes, [0], axis), np.take(lanes, [1] if lanes.shape[axis] > 1 else [], axis)
        return second - first if second.size else np.full(1, np.inf)

    return Operation(f"np.{name}({{0}}, axis={axis})", 1, lambda x: _without(x, axis, x[1]), distance=distance)


KINKED = (
    _kinked("np.abs({0})", lambda x: x, lambda x: x),
    _kinked_pair("np.maximum({0}, {1})", max),
    _kinked_pair("np.minimum({0}, {1})", max),
    _kinked("np.maximum({0}, 0.5)", lambda x: max(x, 0.5), lambda x: x - 0.5),
    _kinked("np.clip({0}, -1, 1)", lambda _: 1, lambda x: np.abs(x) - 1),
    _kinked("np.where({0} > 0, {0}, 0.5 * {0})", lambda x: x, lambda x: x),
    _kinked_pair("np.where({0} > {1}, 2 * {0} - {1}, {1})", lambda x, y: 2 * x + y),
    _largest("max", -1),
    _largest("min", 0),
)
KINKS = {operation.template: operation.distance for operation in KINKED if operation.distance is not None}


# --- products ---------------------------------------------------------------------------------------------------------


def _einsum(subscripts: str, *places: int) -> Operation:
    """An einsum whose operands are in the given places, `places` being 0 and 1, one of them perhaps twice."""
    left, _, output = subscripts.partition("->")
    terms = left.split(",")
    given = places or tuple(range(len(terms)))

    def infer(*values: Value) -> Value | None:
        sizes: dict[str, int] = {}
        bound = 1.0
        for term, place in zip(terms, given, strict=True):
            shape, reach = values[place]
            if len(shape) != len(term):
                return None
            if any(sizes.setdefault(label, size) != size for label, size in zip(term, shape, strict=True)):
                return None
            bound *= reach
        summed = prod([size for label, size in sizes.items() if label not in output])
        return tuple([sizes[label] for label in output]), bound * summed

    operands = ", ".join(f"{{{place}}}" for place in given)
    return Operation(f'np.einsum("{subscripts}", {operands})', max(given) + 1, infer)


def _matmul(x: Value, y: Value) -> Value | None:
    first, second = x[0], y[0]
    if not (1 <= len(first) <= 2 and 1 <= len(second) <= 2) or first[-1] != second[0]:
        return None
    return (*first[:-1], *second[1:]), x[1] * y[1] * first[-1]


PRODUCTS = (
    Operation("{0} @ {1}", 2, _matmul),
    *[
        _einsum(subscripts)
        for subscripts in (
            "i,i->",
            "ij,j->i",
            "ij,jk->ik",
            "i,j->ij",
            "i,ij->j",
            "ij,kj->ik",
            "ij,ij->i",
            "i,ij->ij",
            "ijk,k->ij",
            "ijk,ikl->ijl",
            "ij->",
            "ij->ji",
            "ii->",
            "ii->i",
        )
    ],
    _einsum("i,i->", 0, 0),
    _einsum("ij,ik->jk", 0, 0),
    _einsum("i,ij,j->", 0, 1, 0),
)


# --- linear algebra ---------------------------------------------------------------------------------------------------

_MATRIX = "EYE + SMALL * np.sin({0})"
_OUTER = 'EYE + SMALL * np.sin(np.einsum("i,j->ij", {0}, {0}))'


def _square(bound: Callable[[int], float], *, scalar: bool, rank: int = 2) -> Infer:
    def infer(x: Value) -> Value | None:
        shape = x[0]
        if len(shape) < 2 if rank == 2 else len(shape) != 1:
            return None
        whole = (*shape[:-2], shape[-1], shape[-1])
        if rank == 2 and shape != whole:
            return None
        return (whole[:-2] if scalar else whole), bound(shape[-1])

    return infer


def _solved(x: Value, y: Value) -> Value | None:
    matrix, right = x[0], y[0]
    if len(matrix) != 2 or matrix[0] != matrix[1] or not 1 <= len(right) <= 2 or right[0] != matrix[0]:
        return None
    return right, 2 * y[1]


def _inverse_bound(_: int) -> float:
    return 2


def _determinant_bound(size: int) -> float:
    return 1.5**size


LINEAR_ALGEBRA = (
    *[
        Operation(text.replace("MATRIX", matrix), 1, _square(bound, scalar=scalar, rank=rank), matrix=True)
        for rank, matrix in ((2, _MATRIX), (1, _OUTER))
        for text, bound, scalar in (
            ("np.linalg.inv(MATRIX)", _inverse_bound, False),
            ("np.linalg.det(MATRIX)", _determinant_bound, True),
            ("np.log(np.linalg.det(MATRIX))", _determinant_bound, True),
        )
    ],
    Operation(f"np.linalg.solve({_MATRIX}, {{1}})", 2, _solved, matrix=True),
)

FAMILIES: Mapping[str, tuple[Operation, ...]] = MappingProxyType(
    {
        "smooth": SMOOTH,
        "arithmetic": ARITHMETIC,
        "products": PRODUCTS,
        "reductions": REDUCTIONS,
        "kinked": KINKED,
        "linear_algebra": LINEAR_ALGEBRA,
    }
)
