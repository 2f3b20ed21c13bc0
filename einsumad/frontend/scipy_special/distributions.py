"""Distribution functions of ``scipy.special`` that are incomplete gamma and beta functions in other words.

Owns these spellings. Imports the registry, promotion and the catalogue's rows. Invariant: the arguments become
expressions of the rows' operands, so derivatives in a shape parameter are refused by the rows, all others exact.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from einsumad.frontend.lifting import as_node
from einsumad.frontend.numpy_functions.elementwise import row
from einsumad.frontend.promotion import in_dtype, ufunc_operands
from einsumad.frontend.registry import implements_special
from einsumad.frontend.tensor import Tensor
from einsumad.graph import Node

Rule: TypeAlias = Callable[..., Any]


def _of(name: str) -> Rule:
    return lambda *operands: Tensor(row(name, *[operand.node for operand in operands]))


_gammainc, _gammaincc, _betainc, _betaincc = (_of(name) for name in ("gammainc", "gammaincc", "betainc", "betaincc"))
_gammaincinv, _gammainccinv = _of("gammaincinv"), _of("gammainccinv")
_betaincinv, _betainccinv, _ndtri = _of("betaincinv"), _of("betainccinv"), _of("ndtri")


def _whole(k: Any) -> Any:
    return np.floor(k)


def _share(first: Any, second: Any, x: Any) -> Any:
    """The beta variable of an F variable, written so that the smaller of it and its rest keeps its digits."""
    part = first * x
    return part / (second + part)


def _rest(first: Any, second: Any, x: Any) -> Any:
    return second / (second + first * x)


_RULES: dict[str, Rule] = {
    "chdtr": lambda v, x: _gammainc(v / 2, x / 2),
    "chdtrc": lambda v, x: _gammaincc(v / 2, x / 2),
    "chdtri": lambda v, p: 2 * _gammainccinv(v / 2, p),
    "gdtr": lambda a, b, x: _gammainc(b, a * x),
    "gdtrc": lambda a, b, x: _gammaincc(b, a * x),
    "gdtrix": lambda a, b, p: _gammaincinv(b, p) / a,
    "gdtria": lambda p, b, x: _inside(x > 0, _gammaincinv(b, p) / x),
    "pdtr": lambda k, m: _gammaincc(_whole(k) + 1, m),
    "pdtrc": lambda k, m: _gammainc(_whole(k) + 1, m),
    "pdtri": lambda k, p: _gammainccinv(_whole(k) + 1, p),
    "bdtr": lambda k, n, p: _betaincc(_whole(k) + 1, n - _whole(k), p),
    "bdtrc": lambda k, n, p: _betainc(_whole(k) + 1, n - _whole(k), p),
    "bdtri": lambda k, n, y: _betainccinv(_whole(k) + 1, n - _whole(k), y),
    "nbdtr": lambda k, n, p: _betainc(n, k + 1, p),
    "nbdtrc": lambda k, n, p: _betaincc(n, k + 1, p),
    "nbdtri": lambda k, n, y: _betaincinv(n, k + 1, y),
    "fdtr": lambda n, d, x: _where_small(n, d, x, _betainc(n / 2, d / 2, _share(n, d, x)), _betaincc),
    "fdtrc": lambda n, d, x: _where_small(n, d, x, _betaincc(n / 2, d / 2, _share(n, d, x)), _betainc),
    "fdtri": lambda n, d, p: _odds(_betaincinv(n / 2, d / 2, p), n, d),
    "nrdtrimn": lambda p, std, x: _inside(_probability(p) & (std > 0), x - std * _ndtri(p)),
    "nrdtrisd": lambda mean, p, x: _inside(_probability(p), (x - mean) / _ndtri(p)),
}


def _where_small(n: Any, d: Any, x: Any, near: Any, other: Rule) -> Any:
    """For large x in terms of the rest of the beta variable, which is the smaller one there."""
    return np.where(n * x <= d, near, other(d / 2, n / 2, _rest(n, d, x)))


def _inside(valid: Any, value: Any) -> Any:
    """The value where the arguments are valid, and NaN with all derivatives elsewhere, as in SciPy."""
    return value * np.where(valid, *[np.asarray(number, value.dtype) for number in (1, np.nan)])


def _probability(p: Any) -> Any:
    return (p > 0) & (p < 1)


def _odds(share: Any, n: Any, d: Any) -> Any:
    return d * share / (n * (1 - share))


@implements_special(*_RULES)
def _distribution(ufunc: np.ufunc, *inputs: Any) -> Node:
    operands, dtype = ufunc_operands(ufunc, *inputs)
    return as_node(_RULES[ufunc.__name__](*[Tensor(in_dtype(operand, dtype)) for operand in operands]))
