"""Symmetric products: recognised by their operands, and equal to the whole product."""

import numpy as np
import pytest

import einsumad as ea
from einsumad.execution.grams import gram
from einsumad.functions import elementwise_function, value_function
from einsumad.functions.signs import NEVER_NEGATIVE

RNG = np.random.default_rng(4)
X = RNG.normal(size=(700, 200))
W = RNG.normal(size=700)


def source(function, *args):
    compiled = ea.compile(function)
    value = compiled(*args)
    (program,) = compiled._by_arrays.values()
    return value, program.plan.source


SYMMETRIC = {
    "weights": lambda x, w: x.T @ (w[:, None] * x),
    "weights on the left": lambda x, w: (x.T * w) @ x,
    "two weights": lambda x, w: np.einsum("k,k,ki,kj->ij", w, np.exp(w), x, x),
    "plain": lambda x, w: x.T @ x + w[0],
    "functions": lambda x, w: np.tanh(x).T @ (np.tanh(x) * w[:, None]),
}
OTHERS = {
    "different matrices": lambda x, w: x.T @ (np.exp(x) * w[:, None]),
    "not square": lambda x, w: x.T @ (x[:, :150] * w[:, None]),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", SYMMETRIC)
def test_symmetric_products(name, dtype):
    x, w = X.astype(dtype), W.astype(dtype)
    found, _ = source(SYMMETRIC[name], x, w)
    expected = SYMMETRIC[name](x, w)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=0, atol=scale * (1e-13 if dtype == np.float64 else 1e-5))
    assert found.dtype == expected.dtype


@pytest.mark.whole_planner
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", SYMMETRIC)
def test_symmetric_products_are_computed_by_halves(name, dtype):
    found, text = source(SYMMETRIC[name], X.astype(dtype), W.astype(dtype))
    assert "gram(" in text
    assert np.array_equal(found, found.T)


@pytest.mark.parametrize("name", OTHERS)
def test_other_products_are_computed_whole(name):
    found, text = source(OTHERS[name], X, W)
    assert "gram(" not in text
    np.testing.assert_allclose(found, OTHERS[name](X, W), rtol=1e-9, atol=1e-9)


def weighted_on_one_side(x, w):
    return (x * w[:200]).T @ x


def test_a_factor_on_one_side():
    found, _ = source(weighted_on_one_side, X, W)
    np.testing.assert_allclose(found, (X * W[:200]).T @ X, rtol=0, atol=1e-10)


@pytest.mark.whole_planner
def test_a_factor_on_one_side_multiplies_the_symmetric_product():
    assert "gram(" in source(weighted_on_one_side, X, W)[1]


def test_small_products_are_one_call():
    assert "gram(" not in source(SYMMETRIC["weights"], X[:, :20], W)[1]


@pytest.mark.parametrize("size", [128, 129, 191, 300, 385, 1000])
def test_sizes_that_blocks_do_not_divide(size):
    x = RNG.normal(size=(400, size))
    found, _ = source(SYMMETRIC["weights"], x, W[:400])
    np.testing.assert_allclose(found, x.T @ (W[:400, None] * x), rtol=0, atol=1e-10)


@pytest.mark.whole_planner
@pytest.mark.parametrize("size", [128, 129, 191, 300, 385, 1000])
def test_both_halves_are_the_same_to_the_bit(size):
    found, _ = source(SYMMETRIC["weights"], RNG.normal(size=(400, size)), W[:400])
    assert np.array_equal(found, found.T)


def logistic_loss(w):
    return np.sum(np.log(1 + np.exp(-np.sign(W) * (X @ w))))


def test_hessian_of_logistic_regression_is_right():
    w = RNG.normal(size=200) / 20
    p = 1 / (1 + np.exp(np.sign(W) * (X @ w)))
    np.testing.assert_allclose(ea.hessian(logistic_loss)(w), (X.T * (p * (1 - p))) @ X, rtol=0, atol=1e-11)


@pytest.mark.whole_planner
def test_hessian_of_logistic_regression_is_symmetric_to_the_bit():
    w = RNG.normal(size=200) / 20
    found = ea.hessian(logistic_loss)(w)
    assert np.array_equal(found, found.T)
    assert "symmetric" in str(ea.explain(ea.hessian(logistic_loss), w))


def test_nan_and_infinity_are_where_the_whole_product_has_them():
    x = X.copy()
    x[3, 5], x[10, 150] = np.inf, np.nan
    w = W.copy()
    w[3] = 0
    found, _ = source(SYMMETRIC["weights"], x, w)
    with np.errstate(all="ignore"):
        expected = x.T @ (w[:, None] * x)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))


def test_without_the_option_the_product_is_whole():
    with ea.planner_options(symmetry=False):
        found, text = source(SYMMETRIC["weights"], X, W)
    assert "gram(" not in text
    np.testing.assert_allclose(found, SYMMETRIC["weights"](X, W), rtol=0, atol=1e-11)


ROOTED = {
    "a function that is never negative": lambda x, w: x.T @ (np.exp(w)[:, None] * x),
    "on the left": lambda x, w: (x.T * np.exp(-w)) @ x,
    "several factors, one of them twice": lambda x, w: np.einsum("k,k,k,ki,kj->ij", w, np.abs(w), w, x, x),
    "a root and a sum": lambda x, w: x.T @ ((np.sqrt(np.abs(w)) + w**2)[:, None] * x),
    "rows of the matrix": lambda x, w: (x[:200, :] * w**2) @ x[:200, :].T,
    "functions": lambda x, w: np.tanh(x).T @ (np.tanh(x) * np.exp(w)[:, None]),
    "one in the other": lambda x, w: (
        np.sin(x[:200].T @ (np.exp(w[:200])[:, None] * x[:200])).T
        @ (np.sin(x[:200].T @ (np.exp(w[:200])[:, None] * x[:200])) * np.exp(w[:200])[:, None])
    ),
}
UNROOTED = {
    "of either sign": lambda x, w: x.T @ (w[:, None] * x),
    "negative": lambda x, w: x.T @ ((-np.exp(w))[:, None] * x),
    "a difference": lambda x, w: x.T @ ((np.exp(w) - 1)[:, None] * x),
    "an odd power": lambda x, w: x.T @ ((w**3)[:, None] * x),
    "one over what may be -0": lambda x, w: x.T @ (np.reciprocal(np.sqrt(w**2))[:, None] * x),
}


@pytest.mark.whole_planner
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", ROOTED)
def test_weights_that_are_never_negative_go_into_both_factors(name, dtype):
    x, w = X.astype(dtype), W.astype(dtype)
    if name == "rows of the matrix":
        w = w[:200]
    found, text = source(ROOTED[name], x, w)
    first, second = text.split("gram(")[1].split(")")[0].split(", ")
    assert first.removesuffix(".T") == second.removesuffix(".T")
    expected = ROOTED[name](x.astype(float), w.astype(float))
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=0, atol=scale * (1e-13 if dtype == np.float64 else 3e-5))
    assert np.array_equal(found, found.T)
    assert found.dtype == dtype


@pytest.mark.whole_planner
@pytest.mark.parametrize("name", UNROOTED)
def test_other_weights_have_no_root(name):
    found, text = source(UNROOTED[name], X, W)
    first, second = text.split("gram(")[1].split(")")[0].split(", ")
    assert first.removesuffix(".T") != second.removesuffix(".T")
    expected = UNROOTED[name](X, W)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_weights_that_are_zero_infinite_or_undefined():
    x, w = X.copy(), W.copy()
    w[:4] = 0, np.inf, np.nan, -np.inf
    x[1, 7] = 0
    for values in (w, np.where(np.isnan(w), 1, w), np.minimum(w, 9)):
        found, _ = source(ROOTED["a function that is never negative"], x, values)
        with np.errstate(all="ignore"):
            expected = ROOTED["a function that is never negative"](x, values)
        np.testing.assert_array_equal(np.isfinite(found), np.isfinite(expected))


@pytest.mark.parametrize(("rows", "columns"), [(40, 700), (129, 128), (2000, 140), (128, 1500)])
def test_products_of_a_matrix_with_itself(rows, columns):
    """Where few rows are summed it goes by blocks, else by BLAS's update."""
    x = RNG.normal(size=(rows, columns))
    for given in (x, np.asfortranarray(x)):
        found = gram(given.T, given)
        np.testing.assert_allclose(found, np.einsum("ki,kj->ij", x, x), rtol=0, atol=1e-11)
        assert np.array_equal(found, found.T)


@pytest.mark.parametrize("name", sorted(NEVER_NEGATIVE))
def test_functions_that_count_as_never_negative_are(name):
    edges = np.array([0.0, 1e-320, 1e-300, 1e-30, 1e-16, 0.5, 1, 2, 10, 30, 700, 1e4, 1e30, 1e308, np.inf])
    points = np.concatenate([-edges, edges, RNG.normal(size=300) * 10.0 ** RNG.integers(-9, 4, 300)])
    arity = elementwise_function(name).arity
    for dtype in (np.float64, np.float32):
        with np.errstate(all="ignore"):
            found = value_function(name, (), arity)(*np.meshgrid(*[points.astype(dtype)] * arity))
        assert not (found < 0).any()
        assert not np.signbit(found[found == 0]).any() or name in ("sqrt", "relu")
