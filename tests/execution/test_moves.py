"""Rows added up by index, against NumPy's unbuffered addition."""

from __future__ import annotations

import numpy as np
import pytest

from einsumad.execution.moves import put, take

RNG = np.random.default_rng(4)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize(
    ("rows", "rest"), [(50, ()), (50, (3,)), (60, (3, 2)), (6000, (3, 2)), (700, (40,)), (0, (2,)), (5, (0,))]
)
def test_rows(rows, rest, dtype):
    x = (10 * RNG.normal(size=(rows, *rest))).astype(dtype)
    index = RNG.integers(0, 7, rows)
    expected = np.zeros((9, *rest), dtype)
    np.add.at(expected, index, x)
    for given in (x, np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2]):
        found = put(given, index, 9, (False,))
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
        np.testing.assert_allclose(
            found, expected, rtol=1e-4 if dtype == np.float32 else 1e-12, atol=1e-3 * (dtype == np.float32)
        )


@pytest.mark.parametrize("rest", [(), (3,)])
def test_single_precision_is_added_up_in_double(rest):
    x = np.full((10**5, *rest), 0.1, np.float32)
    found = put(x, np.zeros(10**5, np.int64), 2, (False,))
    np.testing.assert_array_equal(found[0], np.full(rest, np.float32(10**5 * np.float64(np.float32(0.1)))))
    np.testing.assert_array_equal(found[1], 0)


@pytest.mark.parametrize("kept", [(True, False), (False, True), (True, True)])
@pytest.mark.parametrize("rest", [(), (4,), (300,)])
def test_axes_of_the_index_that_the_result_has(kept, rest):
    x = RNG.normal(size=(12, 30, *rest))
    index = RNG.integers(0, 5, (12, 30)).astype(np.int32)
    held = tuple(np.array([12, 30])[list(kept)])
    expected = np.zeros((5, *held, *rest))
    for i, j in np.ndindex(12, 30):
        at = tuple(np.array([i, j])[list(kept)])
        expected[(index[i, j], *at)] += x[i, j]
    np.testing.assert_allclose(put(x, index, 5, kept), expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8, np.int8])
def test_an_index_out_of_bounds(dtype):
    edge = np.array([3, 0], dtype)[::-1]
    with pytest.raises(IndexError, match="index 3 is out of bounds for an axis of size 3"):
        put(np.ones(2), edge, 3, (False,))
    with pytest.raises(IndexError, match="index 3 is out of bounds for an axis of size 3"):
        take(np.ones(3), edge.reshape(1, 2), 0)
    np.testing.assert_array_equal(take(np.arange(4.0), edge, 0), [0, 3])
    if dtype != np.uint8:
        with pytest.raises(IndexError, match="index -1 is out of bounds for an axis of size 3"):
            take(np.ones(3), -(edge > 0).astype(dtype), 0)
