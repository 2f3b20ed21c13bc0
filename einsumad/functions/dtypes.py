"""The dtype of a catalogue function's value, from the dtypes of its operands.

Owns the dtype rules. Imports errors and the graph's types. Invariant: where NumPy or SciPy has the function
as a ufunc, the rule gives the dtype of that ufunc, so integers promote as they do there and float32 stays
float32.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from einsumad.errors import TracingError
from einsumad.graph import Params

Dtypes: TypeAlias = tuple[np.dtype[Any], ...]
DtypeRule: TypeAlias = Callable[[Dtypes, Params], np.dtype[Any]]


def of_ufunc(ufunc: np.ufunc) -> DtypeRule:
    """The rule of a NumPy ufunc: what it returns for empty arrays of the given dtypes."""

    @cache
    def rule(dtypes: Dtypes, _params: Params) -> np.dtype[Any]:
        try:
            dtype: np.dtype[Any] = ufunc(*[np.empty(0, operand) for operand in dtypes]).dtype
        except TypeError as error:
            names = ", ".join(map(str, dtypes))
            message = f"NumPy's {ufunc.__name__} does not take dtype {names}: convert to a floating dtype first"
            raise TracingError(message) from error
        return dtype

    return rule


floating: DtypeRule = of_ufunc(np.logaddexp)
"""The dtype of a transcendental function of two operands, as NumPy: int8 to float16, int32 to float64."""


def floating_one(dtypes: Dtypes, _params: Params) -> np.dtype[Any]:
    """The dtype of a transcendental function of one operand."""
    return floating((dtypes[0], dtypes[0]), _params)


def special(dtypes: Dtypes, _params: Params) -> np.dtype[Any]:
    """The dtype of a `scipy.special` function: at least float32, because SciPy has no half precision."""
    return np.promote_types(floating_one(dtypes, _params), np.float32)


def special_two(dtypes: Dtypes, _params: Params) -> np.dtype[Any]:
    """The same for a function of two operands."""
    return np.promote_types(floating(dtypes, _params), np.float32)


def quotient(dtypes: Dtypes, _params: Params) -> np.dtype[Any]:
    """The dtype of one over the operand, as true division gives it."""
    return _quotient((dtypes[0], dtypes[0]), _params)


_quotient = of_ufunc(np.true_divide)


def promoted(dtypes: Dtypes, _params: Params) -> np.dtype[Any]:
    """The dtype that the operands promote to."""
    return np.result_type(*dtypes)


def with_integer(dtypes: Dtypes, _params: Params) -> np.dtype[Any]:
    """The dtype of the operand together with a Python integer, which only makes integers of truth values."""
    return np.result_type(dtypes[0], 0)


def boolean(_dtypes: Dtypes, _params: Params) -> np.dtype[Any]:
    """Truth values."""
    return np.dtype(bool)


def constant_power(dtypes: Dtypes, params: Params) -> np.dtype[Any]:
    """Integers stay integers under an exponent from 0, 1, 2, ...; other exponents make floats of them.

    Not cached: a cache would not tell the exponent 2 from 2.0.
    """
    exponent = params[0]
    if dtypes[0].kind == "f":
        return dtypes[0]
    if isinstance(exponent, int) and exponent >= 0:
        return with_integer(dtypes, params)
    return np.dtype(np.float64)


@cache
def power(dtypes: Dtypes, _params: Params) -> np.dtype[Any]:
    """Two integer operands become float64: an exponent in an array may be negative."""
    result = np.result_type(*dtypes)
    return result if result.kind == "f" else np.dtype(np.float64)


def power_special(dtypes: Dtypes, _params: Params) -> np.dtype[Any]:
    """The same for a `scipy.special` function, which has no half precision."""
    return np.promote_types(power(dtypes, _params), np.float32)


@cache
def linear_algebra(dtypes: Dtypes, _params: Params) -> np.dtype[Any]:
    """float32 or float64, which is what LAPACK has: half precision is raised, integers become float64."""
    result = np.result_type(*dtypes)
    if result.kind in "biu":
        return np.dtype(np.float64)
    if result.itemsize > np.dtype(np.float64).itemsize:
        raise TracingError(f"linear algebra does not exist for dtype {result}: convert to float64 first")
    return np.promote_types(result, np.float32)


@cache
def of_product(dtypes: Dtypes, _params: Params) -> np.dtype[Any]:
    """The dtype of ``np.prod``: small integers widen."""
    return np.dtype(np.prod(np.empty(1, dtypes[0])).dtype)


@cache
def special_several(dtypes: Dtypes, _params: Params) -> np.dtype[Any]:
    """The dtype of a `scipy.special` function of any number of operands."""
    result = np.result_type(*[floating((dtype, dtype), ()) for dtype in dtypes])
    return np.promote_types(result, np.float32)
