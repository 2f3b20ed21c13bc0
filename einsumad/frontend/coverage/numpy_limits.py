"""What functions of NumPy that take traced values refuse, and why.

Owns this data. Imports the record. Invariant: a reason is a clause that can follow a colon.
"""

from __future__ import annotations

from collections.abc import Mapping

from einsumad.frontend.coverage.verdicts import Limit, by_function

UNKNOWN = "under ea.compile"
"""The limit of functions whose result depends on values, which are not known then."""

_QUANTILES = "quantile percentile nanquantile nanpercentile"
_VALUES = "the values decide on the number of entries or on Python's values: trace it without ea.compile"
_POLYNOMIALS = "polyval polyadd polysub polymul polydiv"
_EXTREMES = (
    "maximum.reduce minimum.reduce fmax.reduce fmin.reduce "
    "maximum.accumulate minimum.accumulate fmax.accumulate fmin.accumulate"
)
_CUT = "it takes a number as the cut-off: matrices with cut-offs of their own go one after the other"
_BASIS = "the columns that it adds are any that complete a basis and have no derivative: use mode='reduced'"
_NANS = "use np.where(mask, x, np.nan): what is NaN is left out"
_BITS = "bitwise_and bitwise_or bitwise_xor bitwise_not invert"
_RANK = "under ea.compile with traced x or w, as the rank decides on residuals: compute them from the coefficients"
_MODES = (
    "there are 'constant', 'linear_ramp', 'maximum', 'minimum', 'mean', 'median', 'edge', 'reflect', 'symmetric' and "
    "'wrap': write it with np.concatenate"
)
_OF_VALUES = (
    "unique unique_all unique_counts unique_inverse unique_values union1d setdiff1d setxor1d trim_zeros extract "
    "bincount histogram histogram_bin_edges piecewise digitize polymul polydiv array_equal allclose "
    "nonzero flatnonzero argwhere array_equiv array2string array_repr array_str isin ix_ lexsort min_scalar_type "
    "ravel_multi_index unravel_index"
)
_MEMORY = (
    "it asks for the order in memory, which traced values do not have: write 'C' for rows first, 'F' for columns first"
)
_UNSIGNED = "unsigned numbers wrap around: convert them with .astype(float)"

OF_NUMPY: Mapping[str, tuple[Limit, ...]] = by_function(
    (
        "sort argsort partition argpartition",
        "order=...",
        "traced values have no fields: leave it out",
    ),
    ("ravel", "order='A' or 'K'", _MEMORY),
    ("reshape", "order='A'", _MEMORY),
    (_QUANTILES, "weights=...", "sort the entries, and interpolate in the running sum of the weights by np.interp"),
    (_QUANTILES, "in q", "quantiles are not differentiated in their probabilities: give these as plain numbers"),
    ("quantile percentile", "of no entries", "it has no value"),
    ("nansum nanprod nanmax nanmin nanmean nanvar nanstd", "where=...", _NANS),
    ("nansum nanprod nanmax nanmin", "initial=...", "combine it with the result"),
    ("nanvar nanstd", "mean=...", "use np.nanmean of the squares of x - mean"),
    ("sum", "dtype=bool", "use np.any"),
    ("prod", "dtype=bool", "use np.all"),
    ("cumsum nancumsum cumulative_sum", "dtype=bool", "use np.logical_or.accumulate"),
    ("cumprod nancumprod cumulative_prod", "dtype=bool", "use np.logical_and.accumulate"),
    (_EXTREMES, "dtype=...", "convert the operand with .astype"),
    ("einsum", "casting=...", "there is 'safe': convert the operands with .astype"),
    ("pad", "reflect_type='odd'", "put 2 * edge - reflected entries around it by np.concatenate"),
    (
        "pad",
        "mode=...",
        _MODES,
    ),
    ("pad", "constant_values=a traced value", "join the arrays by np.concatenate"),
    ("histogram histogram_bin_edges", "bins='auto'", "the number of bins depends on values: give it, or the edges"),
    ("histogram", "of truth values as weights with edges", "convert the weights to numbers"),
    ("unique", "axis=...", "which rows are equal has no form"),
    ("nan_to_num", "copy=False", "use its result"),
    ("linspace logspace geomspace", "dtype=...", "whole numbers would be rounded: round the result"),
    (
        "where",
        "of a condition alone",
        "it gives positions, whose number depends on values: use np.where(condition, x, y)",
    ),
    ("polyfit", "full=True", _RANK),
    ("polyfit", "cov=True", f"{_RANK}, or use cov='unscaled'"),
    ("poly", "of a matrix", "its eigenvalues can be complex: give a vector of zeros"),
    (_POLYNOMIALS, "of a poly1d", "give its coefficients"),
    ("polyval", "at a poly1d", "use np.polymul and np.polyadd"),
    (
        "polymul",
        "of traced coefficients that begin with zero",
        "they are dropped, and with them their derivatives: use np.convolve, which keeps them",
    ),
    (
        "polydiv",
        "with a remainder that begins with zero",
        "what is zero is dropped, and with it its derivative: there is none where the degree of the remainder falls",
    ),
    ("round", "of truth values", "they have no decimals: convert them to numbers first"),
    ("reciprocal", "of integers", "it is 0 for all but 1 and -1"),
    ("power", "of integers to an array of exponents", "convert to float64 first"),
    ("subtract negative", "of unsigned integers", _UNSIGNED),
    (_BITS, "of integers", "the bits of integers have no derivative: apply it to plain integers"),
    ("ufunc.at", "at places that are named twice", "only add and subtract have it: use one call for each"),
    (
        "ufunc.reduce ufunc.accumulate ufunc.reduceat",
        "of entries that are no operands of the function",
        "such as numbers in a reduction of comparisons: reduce what it compares",
    ),
    ("apply_over_axes", "of a function that gives no array", "let it return an array"),
    (
        _OF_VALUES,
        UNKNOWN,
        _VALUES,
    ),
)
OF_LINALG: Mapping[str, tuple[Limit, ...]] = by_function(
    ("qr", "mode=...", f"'complete' of a tall matrix: {_BASIS}; 'raw': it is LAPACK's own form of the factors"),
    ("pinv", "rcond=...", _CUT),
    ("lstsq", "rcond=...", _CUT),
    ("lstsq", UNKNOWN, "it returns residuals or none as the rank of the matrix is: use numpy.linalg.pinv(a) @ b"),
    ("norm vector_norm matrix_norm cond", "ord=...", "it takes a number or a text, and is not differentiated"),
)
