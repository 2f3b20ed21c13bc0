"""Averages, covariances, counts, and functions that leave NaN out: values as NumPy's, derivatives, edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad.errors import TracingError
from tests.frontend.slopes import check_slopes
from tests.frontend.surface import check, data, traced

SHAPE = (3, 4)
W, V = data((3,), seed=3), data((4,), seed=4)
F = np.array([1, 3, 0, 2])


def holes(x: Any) -> Any:
    """The same with NaN in some places, all of the last row among them."""
    gaps = np.zeros(x.shape, bool)
    gaps[0, 1] = gaps[1, ::2] = gaps[-1] = True
    return np.where(gaps[: len(x)], np.nan, x)


FUNCTIONS = {
    "ptp": np.ptp,
    "ptp, an axis": lambda x: np.ptp(x, axis=1, keepdims=True),
    "average": np.average,
    "average, an axis": lambda x: np.average(x, 0, returned=True)[0],
    "average, weights": lambda x: np.average(x, 0, W),
    "average of weights": lambda x: np.average(np.arange(12.0).reshape(3, 4).astype(x.dtype), weights=x),
    "average, total": lambda x: np.average(x, (1, 0), x[:, ::-1].T, returned=True, keepdims=True)[1],
    "average, two axes": lambda x: np.average(x * x, (1, 0), x.T, keepdims=True),
    "cov": np.cov,
    "cov, columns": lambda x: np.cov(x, rowvar=False, bias=True),
    "cov of two": lambda x: np.cov(x[0], x[1], ddof=0),
    "cov of a vector": lambda x: np.cov(x[0]),
    "cov, frequencies": lambda x: np.cov(x, fweights=F),
    "cov, weights": lambda x: np.cov(x, aweights=x[0] ** 2),
    "cov, both": lambda x: np.cov(x[1:], x[:1], fweights=F, aweights=x[0], ddof=0),
    "cov, both, less": lambda x: np.cov(x, fweights=F, aweights=V),
    "corrcoef": np.corrcoef,
    "corrcoef of two": lambda x: np.corrcoef(x[0], x[1]),
    "corrcoef, columns": lambda x: np.corrcoef(x[:, :2], rowvar=False),
    "bincount": lambda x: np.bincount([0, 3, 3, 1], x[0], 6),
    "bincount of places": lambda x: x.sum() * np.bincount(np.argsort(x[0]), minlength=5),
    "histogram": lambda x: np.histogram(x, 3)[0] * x.sum(),
    "histogram, edges": lambda x: np.histogram(x, 4)[1],
    "histogram, weights": lambda x: np.histogram(data((4,)), [0.2, 0.5, 0.7, 0.9], weights=x[0])[0],
    "histogram, density": lambda x: np.histogram(x, 3, density=True)[0],
    "histogram, range": lambda x: np.histogram(x, 3, (x[0, 0] / 9, 2.0), weights=x**2)[0],
    **{
        f"quantile, {m}": lambda x, m=m: np.quantile(x, [0.1, 0.25, 0.6, 1.0], axis=1, method=m)
        for m in (
            *("inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf"),
            *("hazen", "weibull", "median_unbiased", "normal_unbiased"),
        )
    },
    "bin edges": lambda x: np.histogram_bin_edges(x, 5),
}
NAN = {
    "nansum": np.nansum,
    "nansum, an axis": lambda x: np.nansum(x, 1, keepdims=True),
    "nanprod": lambda x: np.nanprod(x, 0),
    "nanmean": np.nanmean,
    "nanmean, an axis": lambda x: np.nanmean(x, 0),
    "nanvar": lambda x: np.nanvar(x, 0, ddof=1),
    "nanvar of all": lambda x: np.nanvar(x, keepdims=True),
    "nanstd": lambda x: np.nanstd(x[:2], 1, correction=1),
    "nanmax": np.nanmax,
    "nanmin": lambda x: np.nanmin(x, 0),
    "nanargmax": lambda x: np.nansum(x) * np.nanargmax(x, 0),
    "nanargmin": lambda x: np.nansum(x) * np.nanargmin(x),
    "nanmedian": np.nanmedian,
    "nanmedian, an axis": lambda x: np.nanmedian(x, 0, keepdims=True),
    "nanquantile": lambda x: np.nanquantile(x, 0.3, 0),
    "nanquantiles": lambda x: np.nanquantile(x, [[0.1, 0.5, 0.77]], 0, keepdims=True),
    "nanquantiles, nearest": lambda x: np.nanquantile(x, [0.2, 0.6], method="nearest"),
    "nanquantiles, midpoint": lambda x: np.nanquantile(x, [0.2, 0.6], axis=0, method="midpoint"),
    "nanquantiles, weibull": lambda x: np.nanquantile(x, [0.2, 0.6, 1.0], axis=0, method="weibull"),
    "nanpercentile": lambda x: np.nanpercentile(x, 30),
}
TWICE = ("average, two axes", "corrcoef of two", "cov, weights", "histogram, density", "nanvar", "nanstd")


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8"])
def test_values(name: str, dtype: str) -> None:
    if (name, dtype) == ("histogram, density", "f4"):
        pytest.skip("edges in single precision differ in their last digit, which the densities show")
    check(FUNCTIONS[name], data(SHAPE, dtype))


@pytest.mark.parametrize("name", NAN)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8"])
def test_values_without_nan(name: str, dtype: str) -> None:
    x = data(SHAPE, dtype)
    check(NAN[name], x)
    if dtype != "i8":
        check(NAN[name], holes(x))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", [*FUNCTIONS, *NAN])
def test_derivatives(name: str) -> None:
    f = FUNCTIONS[name] if name in FUNCTIONS else lambda x: NAN[name](holes(x))
    check_slopes(f, data(SHAPE), twice=name in TWICE)


def test_nan_has_derivative_zero() -> None:
    x = holes(data(SHAPE))
    for f in NAN.values():
        found = ea.grad(lambda v, f=f: np.sum(f(v)))(x)
        assert (found[np.isnan(x)] == 0).all()
    for name in ("nanprod", "nanvar", "nanmedian"):
        H = ea.hessian(lambda v, f=NAN[name]: np.sum(f(v) ** 2))(x).reshape(12, 12)
        assert (H[np.isnan(x).ravel()] == 0).all()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_nothing_but_nan() -> None:
    x = np.array([[np.nan, np.nan], [-np.inf, np.nan]])
    for f in (np.nanmean, np.nanvar, np.nanstd, np.nanmax, np.nanmin, np.nanmedian, np.nansum, np.nanprod):
        check(lambda v, f=f: f(v, 1), x)
        assert (ea.grad(lambda v, f=f: np.sum(f(v[0])))(x) == 0).all()
    check(lambda v: np.nanquantile(v, [0.5, 1.0], 1), x[::-1])
    assert ea.grad(lambda v: np.nanmax(v[1]))(x)[1].tolist() == [1, 0]
    with pytest.raises(ValueError, match="All-NaN"):
        np.nanargmax(traced(x), 1)


def test_equal_entries_share() -> None:
    x = np.array([2.0, np.nan, 5.0, 5.0])
    assert ea.grad(np.nanmax)(x).tolist() == [0, 0, 0.5, 0.5]
    assert ea.grad(np.ptp)(np.array([1.0, 5.0, 5.0, 2.0])).tolist() == [-1, 0.5, 0.5, 0]
    assert ea.grad(np.nanmedian)(np.array([1.0, 1.0, 5.0])).tolist() == [0.5, 0.5, 0]


def test_correlations_of_one_keep_their_curvature() -> None:
    """Rounding puts some beyond 1, where NumPy cuts them; a maximum there has a second derivative all the same."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        x = rng.normal(size=5)

        def f(y: Any, x: Any = x) -> Any:
            return np.corrcoef(x, y)[0, 1]

        r = f(3 * x)
        assert float(ea.value_and_grad(f)(3 * x)[0]) <= 1
        np.testing.assert_allclose(r, 1)
        np.testing.assert_allclose(ea.grad(f)(3 * x), 0, atol=1e-14)
        d = x - x.mean()
        s = 9 * d @ d
        expected = -(np.eye(5) - 1 / 5 - np.outer(d, d) / (d @ d)) / s
        np.testing.assert_allclose(ea.hessian(f)(3 * x), expected, atol=1e-12 * np.abs(expected).max())


def test_weights_that_sum_to_zero() -> None:
    with pytest.raises(ZeroDivisionError):
        np.average(traced(data((2,))), weights=[1.0, -1.0])
    with pytest.raises(TypeError, match="Axis"):
        np.average(traced(data((2, 3))), weights=[1.0, 1.0])


def test_medians_work_where_values_are_not_known() -> None:
    x = holes(data(SHAPE))
    f = ea.compile(ea.grad(lambda v: np.sum(np.nanmedian(v, 0) * V) + np.nanquantile(v, 0.3)))
    np.testing.assert_allclose(f(x), ea.grad(lambda v: np.sum(np.nanmedian(v, 0) * V) + np.nanquantile(v, 0.3))(x))


def test_bad_input() -> None:
    x = traced(data(SHAPE))
    for call, error in (
        (lambda: np.cov(np.stack([x, x])), ValueError),
        (lambda: np.cov(x, aweights=[1, 2]), ValueError),
        (lambda: np.cov(x, ddof=0.5), ValueError),
        (lambda: np.histogram(x, "auto"), TracingError),
        (lambda: np.bincount(x), TypeError),
        (lambda: np.nansum(x, out=np.zeros(())), TracingError),
        (lambda: np.histogram2d(x[0], x[1]), TracingError),
    ):
        with pytest.raises(error):
            call()


@pytest.mark.parametrize("mode", ["forward", "reverse", "cross-country"])
@pytest.mark.parametrize(
    "f", [np.nansum, np.nanmean, np.nanvar, np.nanstd, np.nanmedian, lambda a: np.nanpercentile(a, 30), np.nanmax]
)
def test_what_makes_an_entry_nan_does_not_contribute(f: Any, mode: str) -> None:
    """The factor NaN of the removed entry meets a zero that was selected, so the derivative is 0 and not NaN."""
    factors, z = np.array([1.0, np.nan, 1.0, 1.0]), np.array([1.0, 2.0, 4.0, 9.0])
    found = ea.derivative(lambda z: f(z * factors), order=1, mode=mode)(z)
    assert found[1] == 0
    kept = ea.grad(f)(z[[0, 2, 3]])
    np.testing.assert_allclose(found[[0, 2, 3]], kept, rtol=1e-12, atol=1e-12)
