"""Sums over parts against the exact sum of `math.fsum`."""

import math

import numpy as np
import pytest

from einsumad.execution.sums import RunningSum


def added(parts, *, exact=True):
    total = RunningSum(exact=exact)
    for part in parts:
        total.add(part)
    return total.result()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (4, 5), (2, 3, 2)])
def test_one_rounding_however_many_parts(dtype, shape):
    rng = np.random.default_rng(0)
    parts = [np.asarray(rng.exponential(size=shape), dtype) for _ in range(3000)]
    wanted = np.array([math.fsum(column) for column in zip(*[part.ravel().tolist() for part in parts], strict=True)])
    found = added([part.copy()[()] for part in parts])
    assert found.dtype == dtype
    np.testing.assert_allclose(found.ravel(), wanted, rtol=np.finfo(dtype).eps)


def test_a_plain_sum_is_not_as_good():
    parts = [np.float32(value) for value in np.random.default_rng(1).exponential(size=20_000)]
    wanted = math.fsum([float(part) for part in parts])
    assert abs(float(added(parts)) - wanted) < 1e-7 * wanted
    assert abs(float(added(parts, exact=False)) - wanted) > 1e-6 * wanted


def test_single_precision_over_many_rows_is_as_good_as_the_sum_of_the_whole():
    x = np.random.default_rng(2).exponential(size=10**6).astype(np.float32)
    wanted = math.fsum(x.tolist())
    found = added([np.sum(part) for part in np.split(x, 1000)])
    assert abs(float(found) - wanted) <= abs(float(np.sum(x)) - wanted) + np.finfo(np.float32).eps * wanted


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("shape", [(), (3,)])
def test_infinity_and_nan_are_those_of_a_plain_sum(shape):
    def parts(*values):
        return [np.full(shape, value, float)[()] for value in values]

    assert (added(parts(1, np.inf, 2)) == np.inf).all()
    assert (added(parts(np.inf, 1, 2)) == np.inf).all()
    assert (added(parts(1, -np.inf)) == -np.inf).all()
    assert np.isnan(added(parts(np.inf, 1, -np.inf))).all()
    assert np.isnan(added(parts(1, np.nan, 2))).all()
    assert (added(parts(1e308, 1e308, 1)) == np.inf).all()
    mixed = added([np.array([1.0, np.inf, 1e16]), np.array([2.0, 1.0, 1.0]), np.array([3.0, 1.0, 1.0])])
    np.testing.assert_array_equal(mixed, [6.0, np.inf, 1e16 + 2])


def test_integers_and_large_tensors():
    assert added([np.int64(2**60), np.int64(1)], exact=False) == 2**60 + 1
    rng = np.random.default_rng(3)
    for shape in [(300, 200), (2, 70_000), (70_000, 2), (3, 40_000, 1)]:
        parts = [rng.normal(size=shape) for _ in range(4)]
        wanted = np.sum(parts, axis=0)
        np.testing.assert_allclose(added([np.asfortranarray(part) for part in parts]), wanted, rtol=1e-12, atol=1e-14)
