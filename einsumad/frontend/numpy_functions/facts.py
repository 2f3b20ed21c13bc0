"""Constants: what NumPy says about shapes, dtypes and known values, in integers, truth values or text.

Owns these functions. Imports the registry. Invariant: none of them has a derivative to lose; what depends on
values that are not known raises.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from einsumad.frontend.known import known
from einsumad.frontend.registry import implements
from einsumad.frontend.tensor import Tensor

OF_VALUES: tuple[Callable[..., Any], ...] = (
    np.nonzero,
    np.flatnonzero,
    np.argwhere,
    np.array_equiv,
    np.array2string,
    np.array_repr,
    np.array_str,
    np.isin,
    np.ix_,
    np.lexsort,
    np.min_scalar_type,
    np.ravel_multi_index,
    np.unravel_index,
)
OF_SHAPES: tuple[Callable[..., Any], ...] = (
    np.common_type,
    np.diag_indices_from,
    np.tril_indices_from,
    np.triu_indices_from,
    np.einsum_path,
)


def _of_values(function: Callable[..., Any]) -> Callable[..., Any]:
    def handler(*args: Any, **options: Any) -> Any:
        name = function.__name__
        return function(*known(args, name), **{key: known(value, name) for key, value in options.items()})

    return handler


def _of_shapes(function: Callable[..., Any]) -> Callable[..., Any]:
    def handler(*args: Any, **options: Any) -> Any:
        return function(*[_empty(x) for x in args], **{key: _empty(value) for key, value in options.items()})

    return handler


def _empty(x: Any) -> Any:
    """An array of that shape and dtype without entries of its own."""
    return np.broadcast_to(np.zeros((), x.dtype), x.shape) if isinstance(x, Tensor) else x


for _function in OF_VALUES:
    implements(_function)(_of_values(_function))
for _function in OF_SHAPES:
    implements(_function)(_of_shapes(_function))
