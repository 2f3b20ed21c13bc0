"""Exact derivatives of functions that are polynomials with whole coefficients along a line of whole numbers.

Owns this oracle. Imports the estimate and the stencils. Invariant: an entry gets a value only if its samples at -4,
..., 4 are whole numbers below 2**53 whose differences of order seven and eight vanish; then differences are exact and
have no error. What looks like a polynomial at whole numbers only (``round``) is refuted by differences at short
steps, which have to confirm each value.

For a product of tensors (a multilinear function) this is a difference with step one, exact on small integers.
"""

from __future__ import annotations

import numpy as np

from einsumad.testing.oracles.differences import Line
from einsumad.testing.oracles.estimate import Estimate, single
from einsumad.testing.oracles.stencils import whole_weights
from einsumad.testing.point import Array

_REACH = 4
_NODES = tuple(range(-_REACH, _REACH + 1))
_LARGEST = 2.0**40
_INNER = _NODES[1:-1]


def is_whole(array: Array) -> bool:
    """Whether all entries are whole numbers of moderate size."""
    return bool(np.all(np.isfinite(array)) and np.all(array == np.rint(array)) and np.all(np.abs(array) < 2**20))


def exact_derivative(line: Line, at_zero: Array, order: int) -> Estimate | None:
    """The derivative of that order at 0, exact where the invariant holds; None where it holds nowhere."""
    samples = np.stack([at_zero if k == 0 else line(float(k)) for k in _NODES])
    with np.errstate(all="ignore"):
        whole = np.all((samples == np.rint(samples)) & (np.abs(samples) < _LARGEST), axis=0)
        eighth, seventh = np.diff(samples, 8, axis=0), np.diff(samples, 7, axis=0)
        exact = whole & np.all(eighth == 0, axis=0) & np.all(seventh == 0, axis=0)
    if not exact.any():
        return None
    numerators, denominator = whole_weights(_INNER, order)
    value = (numerators @ np.where(exact, samples[1:-1], 0.0).astype(np.int64)) / denominator
    return single(value, np.where(exact, 0.0, np.inf), "whole-number differences")
