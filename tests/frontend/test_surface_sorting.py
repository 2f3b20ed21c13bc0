"""Order statistics and running totals: values and dtypes as NumPy's, derivatives, ties, zeros and NaN."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import settings

import einsumad as ea
from einsumad.errors import ShapeError, TracingError
from einsumad.testing import check_derivatives
from tests.frontend.slopes import check_slopes
from tests.frontend.surface import check, data, traced

SHAPE = (2, 5)
FUNCTIONS = {
    "sort": np.sort,
    "sort, first axis": lambda x: np.sort(x, 0),
    "sort, flat": lambda x: np.sort(x, None),
    "partition": lambda x: np.sort(np.partition(x, 2)[..., 2:3]),
    "partition, several": lambda x: np.partition(x, [1, -2], 1)[:, [1, 3]],
    "argsort": lambda x: x * np.argsort(x),
    "argsort, first axis": lambda x: x * np.argsort(x, 0),
    "argmax": lambda x: x[np.argmax(x, 0), np.arange(5)],
    "argmin, kept": lambda x: x * np.argmin(x, 1, keepdims=True),
    "argmax, flat": lambda x: x * np.argmax(x),
    "median": np.median,
    "median, an axis": lambda x: np.median(x, 1),
    "median, kept": lambda x: np.median(x, (0, 1), keepdims=True),
    "median of an even number": lambda x: np.median(x[:, :4], -1),
    "quantile": lambda x: np.quantile(x, 0.3),
    "quantiles": lambda x: np.quantile(x, [0.1, 0.5, 0.77, 1.0], axis=1),
    "quantiles, kept": lambda x: np.quantile(x, np.array([[0.1, 0.5]]), axis=0, keepdims=True),
    "percentile": lambda x: np.percentile(x, 30, axis=(0, 1)),
    **{f"quantile, {m}": lambda x, m=m: np.quantile(x, [0.2, 0.6], method=m) for m in ("lower", "higher", "nearest")},
    "quantile, midpoint": lambda x: np.quantile(x, [0.25, 0.3, 0.5], axis=1, method="midpoint"),
    "cumsum": np.cumsum,
    "cumsum, an axis": lambda x: np.cumsum(x, 1),
    "cumprod": lambda x: np.cumprod(x, 0),
    "cumprod, flat": np.cumprod,
    "cumulative_sum": lambda x: np.cumulative_sum(x, axis=1, include_initial=True),
    "cumulative_prod": lambda x: np.cumulative_prod(x, axis=0, include_initial=True),
    "nancumsum": lambda x: np.nancumsum(np.where(x < 0.5, np.nan, x), 1),
    "nancumprod": lambda x: np.nancumprod(np.where(x < 0.5, np.nan, x), 0),
    "add.accumulate": np.add.accumulate,
    "multiply.accumulate": lambda x: np.multiply.accumulate(x, 1),
}
TWICE = ("sort, first axis", "partition", "cumprod")
MANY = 200  # in the long run every function is differentiated twice
ROUNDED = ("cum", "accumulate")  # sums in another order


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8"])
def test_values(name: str, dtype: str) -> None:
    if dtype == "f2" and any(part in name for part in (*ROUNDED, "median", "quantile", "percentile")):
        pytest.skip("half precision rounds sums in another order")
    check(FUNCTIONS[name], data(SHAPE, dtype))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(name: str) -> None:
    f = FUNCTIONS[name]
    check_slopes(lambda x: f(x) ** 2, data(SHAPE), twice=name in TWICE)
    if settings().max_examples > MANY:
        assert check_derivatives(lambda x: f(x) ** 2, data(SHAPE), order=2)


@pytest.mark.parametrize("shape", [(1,), (0,), (4, 1), (2, 0), (1, 6), (2, 3, 4)])
@pytest.mark.parametrize("name", ["sort", "argsort", "cumsum", "cumprod", "cumsum, an axis"])
def test_shapes(name: str, shape: tuple[int, ...]) -> None:
    if "axis" not in name or len(shape) > 1:
        check(FUNCTIONS[name], data(shape))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 9, 100])
def test_running_totals_of_any_length(size: int) -> None:
    x = data((size,), low=0.9, high=1.1)
    check(np.cumprod, x)
    np.testing.assert_allclose(ea.jacobian(np.cumsum)(x), np.tri(size))
    expected = np.tri(size) * np.cumprod(x)[:, None] / x
    np.testing.assert_allclose(ea.jacobian(np.cumprod)(x), expected, rtol=1e-12)


def test_running_products_at_zeros() -> None:
    x = np.array([2.0, 0.0, 3.0, 0.0, 5.0])
    expected = np.zeros((5, 5))
    expected[0, 0], expected[1, 1], expected[2, 1] = 1, 2, 6
    np.testing.assert_array_equal(ea.jacobian(np.cumprod)(x), expected)
    assert check_derivatives(np.cumprod, x, order=3)


def test_infinities_and_nan_stay_behind_in_running_totals() -> None:
    x = np.array([1.0, 2.0, np.inf, 1.0, np.nan, 2.0])
    check(np.cumsum, x)
    check(np.cumprod, x)


def test_equal_entries_share_the_places_they_take() -> None:
    x = np.array([2.0, 1.0, 2.0, 3.0, 1.0, 2.0])
    found = ea.jacobian(np.sort)(x)
    expected = np.zeros((6, 6))
    expected[:2, [1, 4]], expected[2:5, [0, 2, 5]], expected[5, 3] = 1 / 2, 1 / 3, 1
    np.testing.assert_allclose(found, expected)
    np.testing.assert_array_equal(ea.grad(lambda v: np.sort(v)[-1])(x[:3]), ea.grad(np.max)(x[:3]))
    assert ea.grad(np.median)(np.array([1.0, 1.0, 5.0])).tolist() == [0.5, 0.5, 0]


def test_nan_is_last_and_makes_medians_nan() -> None:
    x = np.array([[2.0, np.nan, 1.0], [0.5, 0.25, 0.75]])
    for f in (np.sort, np.argsort, lambda v: np.median(v, 1), lambda v: np.quantile(v, 0.2, axis=1)):
        check(f, x)
    assert np.isnan(ea.grad(lambda v: np.sum(np.median(v, 1) ** 2))(x)[0]).any()
    np.testing.assert_array_equal(ea.jacobian(np.sort)(x[0]), np.eye(3)[[2, 0, 1]])


def test_a_million_entries_are_sorted_without_a_matrix() -> None:
    x = np.random.default_rng(0).normal(size=10**6)
    found = ea.grad(lambda v: np.sum(np.sort(v) * np.arange(10**6)))(x)
    np.testing.assert_array_equal(np.argsort(x), np.argsort(found))
    assert ea.grad(lambda v: np.sum(np.cumsum(v)))(x)[:3].tolist() == [10**6, 10**6 - 1, 10**6 - 2]


def test_rows_are_sorted_without_a_matrix_for_each() -> None:
    x = np.random.default_rng(0).normal(size=(4, 10**5))
    found = ea.grad(lambda v: np.sum(np.sort(v, 1) * np.arange(10**5)))(x)
    np.testing.assert_array_equal(found, np.argsort(np.argsort(x, 1), 1))
    found = ea.grad(lambda v: np.sum(np.median(v[:, 1:], 1) ** 2))(x)
    assert [row.nonzero()[0].size for row in found] == [1] * 4


def test_bad_input() -> None:
    x = traced(data((4,)))
    for call, error in (
        (lambda: np.partition(x, 7), ValueError),
        (lambda: np.quantile(x, 1.5), ValueError),
        (lambda: np.quantile(x, x), TracingError),
        (lambda: np.quantile(x, 0.5, method="hazy"), ValueError),
        (lambda: np.quantile(x, 0.5, method="inverted_cdf", weights=[1, 2, 3, 4]), TracingError),
        (lambda: np.sort(x, 2), ValueError),
        (lambda: np.argmax(x[:0]), ValueError),
        (lambda: np.cumulative_sum(traced(data((2, 2)))), ValueError),
        (lambda: np.cumsum(x, dtype=bool), TracingError),
        (lambda: np.quantile(x[:0], 0.5), TracingError),
    ):
        with pytest.raises((error, ShapeError)):
            call()


def test_indices_are_no_numbers_to_differentiate() -> None:
    def f(x: Any) -> Any:
        return np.argsort(x)

    with pytest.raises(TypeError):
        ea.jacobian(f)(data((3,)))


@pytest.mark.parametrize("method", ["lower", "nearest", "linear", "hazen"])
def test_quantiles_take_their_places_in_double_precision(method: str) -> None:
    """In single precision 0.7 of ten steps is a little less than seven."""
    x = np.arange(11, dtype=np.float32)
    expected = np.quantile(x, 0.7, method=method)
    found = np.quantile(traced(x), 0.7, method=method)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)


def test_the_ends_of_integers_are_integers() -> None:
    x = np.array([3, 1, 2], np.int8)
    assert np.quantile(traced(x), 1).dtype == np.quantile(x, 1).dtype
    assert np.isnan(np.median(traced(np.zeros((0, 2))), axis=0).numpy()).all()


@pytest.mark.parametrize(("shape", "axis"), [((0,), -1), ((2, 0), 1), ((0, 3), 1), ((0, 3), 0), ((3, 0), None)])
@pytest.mark.parametrize("function", [np.partition, np.argpartition])
def test_nothing_is_partitioned_at_any_place(function: Any, shape: tuple[int, ...], axis: int | None) -> None:
    check(lambda a: function(a, 1, axis=axis), np.zeros(shape))
    check(lambda a: function(a, [0, 7], axis=axis), np.zeros(shape))
