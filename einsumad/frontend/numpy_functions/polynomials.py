"""Polynomials by their coefficients, highest first.

Owns these functions. Imports the surface. Invariant: where NumPy drops leading coefficients that are zero, the degree
depends on values; a traced coefficient that would be dropped is refused, as its derivative would be lost.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from einsumad.frontend.coverage.limits import refused
from einsumad.frontend.known import at_known, known
from einsumad.frontend.lifting import as_node
from einsumad.frontend.promotion import in_dtype, tensor
from einsumad.frontend.registry import implements
from einsumad.frontend.tensor import Tensor
from einsumad.graph import Node


def _coefficients(name: str, p: Any) -> Any:
    if isinstance(p, np.poly1d):
        raise refused(f"numpy.{name}", "of a poly1d")
    return tensor(np.atleast_1d(p) if not isinstance(p, Tensor) else p)


@implements(np.polyval)
def _polyval(p: Any, x: Any) -> Node:
    coefficients = _coefficients("polyval", p)
    if isinstance(x, np.poly1d):
        raise refused("numpy.polyval", "at a poly1d")
    at = tensor(x)
    result = np.zeros_like(at)
    for coefficient in coefficients:
        result = result * at + coefficient
    return as_node(result)


@implements(np.polyadd)
def _polyadd(a1: Any, a2: Any) -> Node:
    first, second = _padded("polyadd", a1, a2)
    return as_node(first + second)


@implements(np.polysub)
def _polysub(a1: Any, a2: Any) -> Node:
    first, second = _padded("polysub", a1, a2)
    return as_node(first - second)


def _padded(name: str, *polynomials: Any) -> list[Any]:
    """The coefficients with zeros before the shorter ones."""
    parts = [np.atleast_1d(_coefficients(name, p)) for p in polynomials]
    size = max(part.size for part in parts)
    return [np.concatenate([np.zeros(size - part.size, part.dtype), part]) for part in parts]


@implements(np.polymul)
def _polymul(a1: Any, a2: Any) -> Node:
    return as_node(np.convolve(*[_trimmed("polymul", p) for p in (a1, a2)]))


def _trimmed(name: str, p: Any) -> Any:
    """The coefficients from the first that is not zero on."""
    coefficients = np.atleast_1d(_coefficients(name, p))
    values = known(coefficients, name)
    if values.ndim != 1:
        raise ValueError("Polynomial must be 1d only.")
    leading = int(np.flatnonzero(values)[0]) if np.any(values) else max(values.size - 1, 0)
    if leading and isinstance(p, Tensor):
        raise refused(f"numpy.{name}", "of traced coefficients that begin with zero")
    return coefficients[leading:]


@implements(np.polydiv)
def _polydiv(u: Any, v: Any) -> tuple[Node, Node]:
    rest, divisor = (np.atleast_1d(_coefficients("polydiv", p)) + 0.0 for p in (u, v))
    dtype = np.result_type(rest.dtype, divisor.dtype)
    rest = tensor(rest, dtype)
    steps = rest.size - divisor.size + 1
    if steps <= 0:
        return as_node(np.zeros(1, dtype)), as_node(_without_zeros(rest, 0))
    quotient = []
    for _ in range(steps):
        quotient.append(rest[:1] / divisor[0])
        padded = np.concatenate([divisor[1:], np.zeros(rest.size - divisor.size, divisor.dtype)])
        rest = rest[1:] - quotient[-1] * padded
    eliminated = np.zeros(steps, dtype)
    remainder = _without_zeros(np.concatenate([eliminated, rest]), steps)
    return as_node(tensor(np.concatenate(quotient), dtype)), as_node(tensor(remainder, dtype))


def _without_zeros(rest: Any, eliminated: int) -> Any:
    """The remainder without leading coefficients that are zero, which have to be the eliminated ones."""
    value = known(rest, "polydiv")
    start = 0
    while start < value.size - 1 and np.allclose(value[start], 0, rtol=1e-14):
        start += 1
    if start > eliminated:
        raise refused("numpy.polydiv", "with a remainder that begins with zero")
    return rest[start:]


@implements(np.polyder)
@at_known("polyder", "m")
def _polyder(p: Any, m: int = 1) -> Node:
    if int(m) < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    result = _coefficients("polyder", p)
    for _ in range(int(m)):
        result = result[:-1] * np.arange(result.size - 1, 0, -1)
    return as_node(result)


@implements(np.polyint)
@at_known("polyint", "m")
def _polyint(p: Any, m: int = 1, k: Any = None) -> Node:
    order = int(m)
    if order < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    constants = np.atleast_1d(tensor(np.zeros(order) if k is None else k))
    if constants.size == 1 and order > 1:
        constants = constants[0] * np.ones(order)
    if constants.size < order:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    result = _coefficients("polyint", p)
    for step in range(order):
        quotient = np.true_divide(result, np.arange(result.size, 0, -1))
        result = np.concatenate([quotient, constants[step : step + 1]])
    return as_node(result)


@implements(np.poly)
def _poly(seq_of_zeros: Any) -> Any:
    zeros = np.atleast_1d(tensor(seq_of_zeros))
    if zeros.ndim != 1:
        raise refused("numpy.poly", "of a matrix")
    if not zeros.size:
        return 1.0
    dtype = np.dtype(np.mintypecode(zeros.dtype.char)) if zeros.dtype.kind != "f" else zeros.dtype
    zeros = tensor(zeros, dtype)
    result = tensor(np.ones(1, dtype))
    for zero in zeros:
        factor = np.concatenate([np.ones(1, dtype), np.reshape(-zero, 1)])
        result = np.convolve(result, factor)
    return in_dtype(result.node, dtype)


@implements(np.vander)
@at_known("vander", "N")
def _vander(x: Any, N: Any = None, increasing: bool = False) -> Node:
    values = tensor(x)
    if values.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    count = values.size if N is None else int(N)
    dtype = np.promote_types(values.dtype, int)
    if not count:
        return as_node(np.zeros((values.size, 0), dtype))
    columns = [tensor(values, dtype) ** k for k in range(count)]
    return as_node(np.stack(columns if increasing else columns[::-1], 1))
