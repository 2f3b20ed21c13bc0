"""Functions of ``scipy.special`` that are no ufuncs, on traced values.

Owns their expressions. Imports the NumPy surface, the parameters and the catalogue. Invariant: the arguments are
SciPy's; what is not supported is refused.
"""

from __future__ import annotations

from math import log, pi
from typing import Any

import numpy as np

from einsumad.frontend.axes import some_axes
from einsumad.frontend.coverage.limits import refused
from einsumad.frontend.lifting import as_node
from einsumad.frontend.numpy_functions.elementwise import row
from einsumad.frontend.promotion import common_operands, in_dtype, ufunc_operands
from einsumad.frontend.scipy_special.parameters import Parameters, at_least_zero, number_of, plain, selected
from einsumad.frontend.tensor import Tensor
from einsumad.functions import call
from einsumad.functions.elementwise.bessel import spherical_slope
from einsumad.graph import Node, multiply


def floats(x: Any, least: Any = np.float32) -> Tensor:
    """The operand as a traced value of a floating dtype: integers become float64."""
    node = as_node(x)
    dtype = node.dtype if node.dtype.kind == "f" else np.dtype(np.float64)
    return Tensor(in_dtype(node, np.promote_types(dtype, least)))


def of_loop(*operands: Any) -> list[Tensor]:
    """The operands in the dtype of SciPy's loop: float32 if all fit into it, else float64."""
    nodes = [as_node(operand) for operand in operands]
    single = all(np.can_cast(node.dtype, np.float32) for node in nodes)
    return [Tensor(in_dtype(node, np.float32 if single else np.float64)) for node in nodes]


def logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False) -> Any:
    """``log(sum(b exp(a)))``; entries -inf have weight 0 and derivative 0.

    Entries whose weight is 0 are left out, whatever they are, but a traced weight has a derivative.
    What is subtracted before the exponentials is a whole number: nothing depends on it, and it has no derivative.
    """
    if b is None and not return_sign:
        return _over(floats(a), axis, keepdims)
    weights: Any = np.ones((), as_node(a).dtype) if b is None else b
    value, weights = np.broadcast_arrays(*[floats(Tensor(node)) for node in common_operands(a, weights)[0]])
    weighted = np.where(weights == 0, -np.inf, value)
    top = np.max(weighted, axis=axis, keepdims=True)
    level: Any = np.rint(np.where(np.isfinite(top), top, 0))
    counted: Any = value if isinstance(b, Tensor) else weighted
    terms: Any = Tensor(row("weighted_exp", as_node(weights), (counted - level).node))
    summed = np.sum(terms, axis=axis, keepdims=True)
    result = level + np.log(np.abs(summed) if return_sign else summed)
    sign = np.sign(summed)
    if not keepdims:
        axes = tuple(range(value.ndim)) if axis is None else axis
        result, sign = np.squeeze(result, axes), np.squeeze(sign, axes)
    return (result, sign) if return_sign else result


def _over(value: Any, axis: Any, keepdims: bool) -> Any:
    """The row logsumexp over the axes, brought to the end and made one."""
    axes = some_axes(axis, value.ndim)
    if not axes:
        return value
    kept = [k for k in range(value.ndim) if k not in axes]
    moved = np.transpose(value, (*kept, *axes))
    flat = np.reshape(moved, (*[value.shape[k] for k in kept], int(np.prod([value.shape[k] for k in axes]))))
    result = Tensor(call("logsumexp", as_node(flat)))
    return np.expand_dims(result, tuple(axes)) if keepdims else result


def log_softmax(x: Any, axis: Any = None) -> Any:
    """``x - log(sum(exp(x)))`` along the axis."""
    (node,), _ = ufunc_operands(np.exp, x)
    value: Any = Tensor(node)
    return value - _over(value, axis, keepdims=True)


def softmax(x: Any, axis: Any = None) -> Any:
    """``exp(x)/sum(exp(x))`` along the axis."""
    return np.exp(log_softmax(x, axis))


def polygamma(n: Any, x: Any) -> Any:
    """The n-th derivative of the digamma function, for plain whole n."""
    name = "scipy.special.polygamma"
    orders = plain(name, "order", n, whole=True)
    at_least_zero(name, orders)
    operand = floats(x, np.result_type(orders.dtype, as_node(x).dtype)).node
    return Tensor(selected(name, [orders], operand, lambda z, params: row("polygamma", z, params=params)))


def multigammaln(a: Any, d: Any) -> Any:
    """``d (d - 1)/4 log(pi) + sum of log Gamma(a - j/2)`` for j = 0, ..., d - 1; undefined for ``a <= (d - 1)/2``."""
    size = number_of(plain("scipy.special.multigammaln", "dimension", d, whole=True))
    value: Any = floats(a, np.float64)
    terms = [Tensor(row("loggamma", (value - j / 2).node)) for j in range(int(size))]
    return sum(terms, start=size * (size - 1) / 4 * log(pi))


def factorial(n: Any, exact: bool = False, extend: str = "zero") -> Any:
    """``Gamma(n + 1)``, 0 for negative n."""
    if exact:
        raise refused("scipy.special.factorial", "exact")
    if extend != "zero":
        raise refused("scipy.special.factorial", "extend")
    value: Any = floats(n, np.float64)
    known: Any = np.where(value < 0, 0, value)
    return np.where(value < 0, 0, Tensor(row("gamma", as_node(known + 1))))


def comb(N: Any, k: Any, *, exact: bool = False, repetition: bool = False) -> Any:
    """``binom(N, k)``, 0 where not ``0 <= k <= N``; with repetition ``binom(N + k - 1, k)``, and 1 for N = k = 0."""
    if exact:
        raise refused("scipy.special.comb", "exact")
    if repetition:
        n, m = of_loop(N, k)
        nothing: Any = (n == 0) & (m == 0)
        return np.where(nothing, 1, _binom(np.where(nothing, 1, n + m - 1), m))
    return _counted(N, k, _binom)


def _binom(n: Any, m: Any) -> Tensor:
    return Tensor(row("binom", n.node, m.node))


def perm(N: Any, k: Any, exact: bool = False) -> Any:
    """``N!/(N - k)!``, 0 where not ``0 <= k <= N``."""
    if exact:
        raise refused("scipy.special.perm", "exact")
    return _counted(N, k, lambda n, m: Tensor(row("poch", (n - m + 1).node, m.node)))


def _counted(N: Any, k: Any, count: Any) -> Any:
    n: Any
    m: Any
    n, m = of_loop(N, k)
    return np.where((m <= n) & (n >= 0) & (m >= 0), count(n, m), 0)


def diric(x: Any, n: Any) -> Any:
    """``sin(n x/2)/(n sin(x/2)) = U_(n-1)(cos(x/2))/n``, which divides by nothing that is zero."""
    sizes = plain("scipy.special.diric", "size", n, whole=True)
    if np.any(sizes < 1):
        raise refused("scipy.special.diric", "of a size below 1")
    cosine: Any = np.cos(floats(x, np.float64) / 2)
    return Tensor(
        selected(
            "scipy.special.diric",
            [sizes],
            cosine.node,
            lambda z, params: multiply(
                row("gegenbauer", z, params=(int(params[0]) - 1, 1.0)), coefficient=1 / params[0]
            ),
        )
    )


def _spherical(kind: str, n: Any, z: Any, derivative: bool) -> Any:
    name = f"scipy.special.spherical_{kind}n"
    orders = plain(name, "order", n, whole=True)
    at_least_zero(name, orders)

    def build(x: Node, params: Parameters) -> Node:
        order = int(params[0])
        return spherical_slope(kind, order, x) if derivative else row(f"spherical_{kind}", x, params=(order,))

    return Tensor(selected(name, [orders], floats(z, np.float64).node, build))


def spherical_jn(n: Any, z: Any, derivative: bool = False) -> Any:
    """The spherical Bessel function of the first kind, or its derivative."""
    return _spherical("j", n, z, derivative)


def spherical_yn(n: Any, z: Any, derivative: bool = False) -> Any:
    """The spherical Bessel function of the second kind, or its derivative."""
    return _spherical("y", n, z, derivative)


def spherical_in(n: Any, z: Any, derivative: bool = False) -> Any:
    """The modified spherical Bessel function of the first kind, or its derivative."""
    return _spherical("i", n, z, derivative)


def spherical_kn(n: Any, z: Any, derivative: bool = False) -> Any:
    """The modified spherical Bessel function of the second kind, or its derivative."""
    return _spherical("k", n, z, derivative)
