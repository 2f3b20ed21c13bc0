"""Averages with weights, covariances, ranges of values, counts in bins.

Owns these functions. Imports the surface. Invariant: counts have no derivative, weights and edges of bins have one.
"""

# ruff: noqa: A002, PLR0917 (handlers have the signatures of the NumPy functions)
from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from einsumad.errors import ShapeError
from einsumad.frontend.coverage.limits import refused
from einsumad.frontend.evaluation import concrete
from einsumad.frontend.known import at_known, known
from einsumad.frontend.lifting import as_node
from einsumad.frontend.looks import look
from einsumad.frontend.maps import put_at, reshaped
from einsumad.frontend.numpy_functions.indexing import node_size
from einsumad.frontend.promotion import floating, in_dtype, tensor
from einsumad.frontend.registry import implements, is_given, refuse_options
from einsumad.frontend.tensor import Tensor
from einsumad.graph import BOOL, Node

_EXACT = 2.0**60  # rounding errors of numbers near 1 are whole multiples of 1/_EXACT


@implements(np.ptp)
def _ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = None) -> Node:
    refuse_options("numpy.ptp", out=out)
    options: dict[str, Any] = {"keepdims": keepdims} if is_given(keepdims) else {}
    if as_node(a).dtype == BOOL:
        raise TypeError("numpy boolean subtract, the `-` operator, is not supported: use np.max and np.min")
    return as_node(np.max(a, axis, **options) - np.min(a, axis, **options))


@implements(np.average)
def _average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = None
) -> Node | tuple[Node, Node]:
    options: dict[str, Any] = {"keepdims": bool(keepdims)} if is_given(keepdims) else {}
    values = tensor(a)
    axes = None if axis is None else normalize_axis_tuple(axis, values.ndim)
    if weights is None:
        mean = np.mean(values, axes, **options)
        count = values.size / mean.size if mean.size else np.nan
        total = np.full_like(mean, count)
    else:
        weight = _weights(values, tensor(weights), axes)
        kinds = ("f8",) if values.dtype.kind in "iub" else ()
        dtype = np.result_type(values.dtype, weight.dtype, *kinds)
        weight = tensor(weight, dtype)
        total = np.sum(weight, axes, **options)
        value = concrete(total.node)
        if value is not None and np.any(value == 0):
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        mean = np.sum(tensor(values, dtype) * weight, axes, **options) / total
        total = np.broadcast_to(total, mean.shape)
    return (as_node(mean), as_node(total)) if returned else as_node(mean)


def _weights(values: Any, weight: Any, axes: tuple[int, ...] | None) -> Any:
    """Weights in the axes of the values, as NumPy fits them."""
    if weight.shape == values.shape:
        return weight
    if axes is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    if weight.shape != tuple([values.shape[k] for k in axes]):
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    ordered = np.transpose(weight, np.argsort(axes).tolist())
    return np.reshape(ordered, [size if k in axes else 1 for k, size in enumerate(values.shape)])


@implements(np.cov)
@at_known("cov", "fweights")
def _cov(
    m: Any,
    y: Any = None,
    rowvar: Any = True,
    bias: Any = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Node:
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    parts = [tensor(part) for part in (m, y) if part is not None]
    if any(part.ndim > 2 for part in parts):
        raise ValueError("an argument of cov has more than 2 dimensions")
    target = np.result_type(*[part.dtype for part in parts], np.float64) if dtype is None else np.dtype(dtype)
    nodes = floating("numpy.cov", target, [part.node for part in parts])
    first: Any = np.atleast_2d(Tensor(nodes[0]))
    rows = first.T if not rowvar and parts[0].ndim != 1 else first
    if rows.shape[0] == 0:
        return as_node(np.zeros((0, 0)))
    if len(nodes) == 2:
        second: Any = np.atleast_2d(Tensor(nodes[1]))
        rows = np.concatenate([rows, second.T if not rowvar and second.shape[0] != 1 else second])
    less = ddof if ddof is not None else 0 if bias else 1
    weight, divisor = _normalisation(rows, int(less), fweights, aweights)
    mean = np.average(rows, axis=1, weights=weight)
    deviation = rows - mean[:, None]
    weighted = deviation if weight is None else deviation * weight
    product = np.dot(deviation, weighted.T)
    if isinstance(divisor, Tensor) or divisor > 0:
        product = product * np.true_divide(1, divisor)
    else:  # no structural zero hides that 0 / 0 is NaN
        product = np.where(product == 0, np.nan, product * np.inf)
    return as_node(np.squeeze(tensor(product, np.result_type(target, product.dtype) if weight is not None else target)))


def _normalisation(rows: Any, less: int, fweights: Any, aweights: Any) -> tuple[Any, Any]:
    """The weights of the samples, and what the sum of products is divided by."""
    if fweights is not None:
        frequencies = np.asarray(fweights, float)
        if not np.all(frequencies == np.around(frequencies)):
            raise TypeError("fweights must be integer")
        _check_weights("fweights", frequencies, rows.shape[1])
    if aweights is not None:
        aweights = tensor(aweights, np.float64) if isinstance(aweights, Tensor) else np.asarray(aweights, float)
        _check_weights("aweights", aweights, rows.shape[1])
    if fweights is None and aweights is None:
        return None, _positive(float(rows.shape[1] - less))
    weight = aweights if fweights is None else frequencies if aweights is None else frequencies * aweights
    total = np.sum(weight)
    if less == 0:
        return weight, _positive(total)
    if aweights is None:
        return weight, _positive(total - less)
    return weight, _positive(total - less * np.sum(weight * aweights) / total)


def _check_weights(name: str, weights: Any, count: int) -> None:
    if weights.ndim > 1:
        raise ShapeError(f"cannot handle multidimensional {name}")
    if weights.shape[0] != count:
        raise ShapeError(f"incompatible numbers of samples and {name}: {count} and {weights.shape[0]}")
    value = concrete(weights.node) if isinstance(weights, Tensor) else weights
    if value is not None and np.any(value < 0):
        raise ValueError(f"{name} cannot be negative")


def _positive(divisor: Any) -> Any:
    """The divisor, or zero where it is negative."""
    value = concrete(divisor.node) if isinstance(divisor, Tensor) else divisor
    if value is not None and value <= 0:
        look()  # every call warns
        warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=2)
        return np.float64(0)
    return divisor


@implements(np.corrcoef)
def _corrcoef(x: Any, y: Any = None, rowvar: Any = True, *, dtype: Any = None) -> Node:
    covariance = np.cov(x, y, rowvar, dtype=dtype)
    if not covariance.ndim:
        return as_node(covariance / covariance)
    deviation = np.sqrt(np.diagonal(covariance))
    ratio = covariance / deviation[:, None] / deviation[None, :]
    beyond = (ratio - np.clip(ratio, -1, 1)) * _EXACT
    return as_node(ratio - np.rint(beyond) / _EXACT)  # what rounding put beyond 1, which has no derivative


@implements(np.bincount)
def _bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Node:
    places = np.asarray(known(x, "bincount"))
    if places.ndim != 1 or (places.size and places.dtype.kind not in "iub"):
        raise TypeError(f"bincount counts whole numbers in a vector, got {places.dtype} of shape {places.shape}")
    if places.size and places.min() < 0:
        raise ValueError("'list' argument must have no negative elements")
    if weights is None:
        return as_node(np.bincount(places.astype(np.int64), minlength=minlength))
    node = in_dtype(as_node(weights), np.float64)
    if node.shape != places.shape:
        raise ValueError("The weights and list don't have the same length.")
    size = max(int(places.max(initial=-1)) + 1, int(minlength))
    if not places.size:  # these are counts, whatever the weights
        return as_node(np.zeros(size, np.intp))
    return put_at(node, 0, as_node(places.astype(np.int64)), size)


@implements(np.histogram_bin_edges)
def _histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Node:
    if weights is not None and np.shape(weights) != np.shape(a):
        raise ValueError("weights should have the same shape as a.")
    return _edges(a, bins, range)[0]


def _edges(a: Any, bins: Any, bounds: Any) -> tuple[Node, np.ndarray]:
    """The edges of the bins and their values, which decide on what is counted where."""
    if isinstance(bins, str):
        raise refused("numpy.histogram", "bins", f"bins={bins!r}")
    if np.ndim(bins) == 1:
        edges = as_node(bins)
        return edges, np.histogram_bin_edges(known(a, "histogram"), known(bins, "histogram"))
    values = known(a, "histogram")
    found = np.histogram_bin_edges(values, bins, known(bounds, "histogram"))
    low, high = (np.min(a), np.max(a)) if bounds is None and np.size(a) else bounds or (0.0, 1.0)
    if found[0] != np.asarray(known(low, "histogram")):  # no range at all, which NumPy makes one wide
        low, high = low - 0.5, high + 0.5
    return in_dtype(as_node(np.linspace(tensor(low), high, int(bins) + 1)), found.dtype), found


@implements(np.histogram)
def _histogram(
    a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Node, Node]:
    edges, found = _edges(a, bins, range)
    given = bins if np.ndim(bins) == 1 else int(bins)
    bounds = known(range, "histogram")
    values = np.asarray(known(a, "histogram")).reshape(-1)
    if weights is None:
        counts = tensor(np.histogram(values, known(given, "histogram"), bounds)[0])
    else:
        weight = tensor(weights)
        if weight.dtype == BOOL and np.ndim(bins) == 1 and values.size:
            raise refused("numpy.histogram", "of truth values as weights with edges")
        counts = _weighted(values, found, weight)
    if density:
        widths, total = tensor(np.diff(Tensor(edges)), np.float64), np.sum(counts)
        nothing = np.logical_and(counts == 0, total == 0)  # no structural zero hides that 0 / 0 is NaN
        counts = np.where(nothing, np.nan, counts / widths / total)
    return as_node(counts), edges


def _weighted(values: np.ndarray, edges: np.ndarray, weights: Any) -> Any:
    """The sum of weights in each bin; the last one has its right end too."""
    if weights.size != values.size:
        raise ValueError("weights should have the same shape as a.")
    size = len(edges) - 1
    places = np.searchsorted(edges, values, "right") - 1
    places[values == edges[-1]] = size - 1
    places[(values < edges[0]) | ~(values <= edges[-1])] = size
    flat = reshaped(weights.node, (node_size(weights.node),))
    return Tensor(put_at(flat, 0, as_node(places), size + 1))[:size]
