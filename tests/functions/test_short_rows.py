"""Reductions of many short rows, against reductions of each row alone in more digits."""

import math
from decimal import Decimal, getcontext

import numpy as np
import pytest

from einsumad.functions.general import kernels

getcontext().prec = 50
RNG = np.random.default_rng(5)
INF, NAN = np.inf, np.nan


def in_digits(row):
    return float(sum(Decimal(float(x)).exp() for x in row).ln())


@pytest.mark.parametrize("width", [1, 3, 17])
def test_logsumexp(width):
    x = 20 * RNG.normal(size=(2, 50, width))
    x[0, :5] = 1.5  # all entries equal
    x[1, 7] = [0, *[-40 - k for k in range(width - 1)]]  # what the others add is below the rounding of 1
    found = kernels.logsumexp(x)
    expected = np.array([[in_digits(row) for row in rows] for rows in x])
    assert found.shape == (2, 50)
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-30)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_logsumexp_of_what_is_not_finite(dtype):
    rows = {(INF, 0, 1): INF, (-INF, -INF, -INF): -INF, (NAN, 1, 2): NAN, (INF, INF, -INF): INF, (INF, NAN, 0): NAN}
    rows |= {(-INF, 0, 0): math.log(2), (-INF, INF, 900): INF, (-INF, -INF, 3): 3}
    with np.errstate(all="raise", under="ignore"):
        found = kernels.logsumexp(np.array(list(rows) * 10, dtype))
    assert found.dtype == dtype
    np.testing.assert_allclose(found, np.array(list(rows.values()) * 10, dtype), rtol=1e-6)
    for times in (1, 10):
        x = np.array(list(rows) * times, dtype)
        with np.errstate(all="raise", under="ignore", invalid="ignore"):
            np.testing.assert_allclose(kernels.log_softmax(x), x - found[: len(x), None], rtol=1e-6)


def test_more_rows_than_are_done_at_once():
    x = RNG.normal(size=(40_000, 3))
    np.testing.assert_array_equal(kernels.minimum(x), np.sort(x, axis=1)[:, 0])
    np.testing.assert_allclose(kernels.logsumexp(x), np.log(np.exp(x) @ np.ones(3)), rtol=1e-12, atol=1e-14)


def test_extrema():
    x = RNG.normal(size=(5, 40, 7))
    x[2, 3, 4] = NAN
    for kernel, of_row in ((kernels.maximum, max), (kernels.minimum, min)):
        expected = np.array([[NAN if np.isnan(row).any() else of_row(row) for row in rows] for rows in x])
        np.testing.assert_array_equal(kernel(x), expected)
        np.testing.assert_array_equal(kernel(x.transpose(1, 0, 2)), expected.T)
    whole = RNG.integers(-9, 9, size=(100, 4))
    assert kernels.maximum(whole).dtype == whole.dtype
    np.testing.assert_array_equal(kernels.maximum(whole, 1), [max(row) for row in whole])


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 1, 2, 0), (2, 0, 3, 1)])
def test_extrema_over_several_axes(order):
    """Windows of a few entries, in any order in memory, which the result keeps; NaN is passed on."""
    x = np.ascontiguousarray(RNG.normal(size=(30, 40, 2, 3)).transpose(order)).transpose(np.argsort(order))
    x[1, 2, 1, 1], x[1, 3, 0, 0] = NAN, INF
    for kernel, reduce in ((kernels.maximum, np.max), (kernels.minimum, np.min)):
        found = kernel(x, 2)
        np.testing.assert_array_equal(found, reduce(x, axis=(2, 3)))
        assert (found.strides[0] > found.strides[1]) == (x.strides[0] > x.strides[1])
    np.testing.assert_array_equal(kernels.maximum(x[0], 2), np.max(x[0], axis=(1, 2)))
    np.testing.assert_array_equal(kernels.maximum(x[0, 0], 2), np.max(x[0, 0]))
    windows = np.lib.stride_tricks.sliding_window_view(RNG.normal(size=(20, 30)), (3, 3))
    np.testing.assert_array_equal(kernels.maximum(windows, 2), np.max(windows, axis=(2, 3)))
    np.testing.assert_array_equal(kernels.maximum(x, 3), np.max(x, axis=(1, 2, 3)))
