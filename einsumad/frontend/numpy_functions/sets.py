"""Entries without repetition: unique and its kin, union1d, setdiff1d, setxor1d; trim_zeros, extract.

Owns these functions. Imports the surface. Invariant: how many entries there are has to be known; they are taken from
the sorted ones, so equal ones share the derivative, as in ``np.sort`` and ``np.max``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from einsumad.frontend.coverage.limits import refused
from einsumad.frontend.known import known
from einsumad.frontend.lifting import as_node
from einsumad.frontend.promotion import tensor
from einsumad.frontend.registry import implements, is_given
from einsumad.frontend.tensor import Tensor
from einsumad.graph import Node

_UniqueAll: Any = type(np.unique_all(np.zeros(1)))
_UniqueCounts: Any = type(np.unique_counts(np.zeros(1)))
_UniqueInverse: Any = type(np.unique_inverse(np.zeros(1)))


def _among(x: Any, name: str, chosen: np.ndarray) -> Node:
    """Values that are entries of x, as entries of it."""
    ordered = np.sort(x, None)
    places = np.searchsorted(known(ordered, name), chosen)
    return as_node(ordered[places])


@implements(np.unique)
def _unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    **options: Any,
) -> Any:
    x = tensor(ar)
    if axis is not None and x.ndim != 1:
        raise refused("numpy.unique", "axis")
    options |= {"return_index": return_index, "return_inverse": return_inverse, "return_counts": return_counts}
    found: Any = np.unique(known(x, "unique"), **options)
    if not isinstance(found, tuple):
        return _among(x, "unique", found)
    return (_among(x, "unique", found[0]), *[as_node(part) for part in found[1:]])


@implements(np.unique_values)
def _unique_values(x: Any) -> Node:
    return _among(tensor(x), "unique_values", np.unique_values(known(tensor(x), "unique_values")))


@implements(np.unique_all)
def _unique_all(x: Any) -> Any:
    return _named(_UniqueAll, tensor(x), np.unique_all(known(tensor(x), "unique_all")))


@implements(np.unique_counts)
def _unique_counts(x: Any) -> Any:
    return _named(_UniqueCounts, tensor(x), np.unique_counts(known(tensor(x), "unique_counts")))


@implements(np.unique_inverse)
def _unique_inverse(x: Any) -> Any:
    return _named(_UniqueInverse, tensor(x), np.unique_inverse(known(tensor(x), "unique_inverse")))


def _named(kind: Any, x: Any, found: Any) -> Any:
    return kind(_among(x, "unique", found[0]), *[as_node(part) for part in found[1:]])


def _flat(*arrays: Any) -> Any:
    joined: Any = np.concatenate([tensor(x) for x in arrays], None)
    return joined


@implements(np.union1d)
def _union1d(ar1: Any, ar2: Any) -> Node:
    return _among(_flat(ar1, ar2), "union1d", np.union1d(known(ar1, "union1d"), known(ar2, "union1d")))


@implements(np.setdiff1d)
def _setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Node:
    first, second = known(ar1, "setdiff1d"), known(ar2, "setdiff1d")
    return _among(tensor(ar1), "setdiff1d", np.setdiff1d(first, second, assume_unique))


@implements(np.setxor1d)
def _setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Node:
    first, second = known(ar1, "setxor1d"), known(ar2, "setxor1d")
    return _among(_flat(ar1, ar2), "setxor1d", np.setxor1d(first, second, assume_unique))


@implements(np.trim_zeros)
def _trim_zeros(filt: Any, trim: Any = "fb", axis: Any = None) -> Any:
    """The run of entries that is left, which NumPy finds in an array of positions."""
    x = filt if isinstance(filt, Tensor) else tensor(filt)
    values = known(x, "trim_zeros")
    options = {"axis": axis} if is_given(axis) else {}
    places = np.arange(1, x.size + 1).reshape(x.shape) * (values != 0)
    kept = np.trim_zeros(places, trim, **options)
    if not kept.size:
        return as_node(np.reshape(x, -1)[:0]) if x.ndim == 1 else as_node(np.zeros(kept.shape, x.dtype))
    corner = np.argwhere(places == kept.max())[0] - np.argwhere(kept == kept.max())[0]
    window = tuple([slice(int(a), int(a) + n) for a, n in zip(corner, kept.shape, strict=True)])
    return x[window]


@implements(np.extract)
def _extract(condition: Any, arr: Any) -> Node:
    where = np.flatnonzero(known(condition, "extract"))
    return as_node(np.take(np.reshape(tensor(arr), -1), where))
