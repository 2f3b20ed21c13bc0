"""Pooling: against loops, derivatives to order 2 in all modes, ties, layers, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad import nn
from einsumad.testing import check_derivatives
from tests.nn.loops import pooled

F = nn.functional
rng = np.random.default_rng(0)
X = rng.permutation(2 * 3 * 7 * 6).reshape(2, 3, 7, 6).astype(float)  # no ties
CASES = [
    # kernel, stride, padding, dilation
    ((2, 2), (2, 2), (0, 0), (1, 1)),
    ((2, 3), (2, 3), (0, 0), (1, 1)),
    ((2, 2), (1, 1), (0, 0), (1, 1)),
    ((3, 3), (2, 2), (1, 1), (1, 1)),
    ((3, 2), (1, 2), (1, 1), (2, 3)),
    ((1, 1), (2, 2), (0, 0), (1, 1)),
    ((7, 6), (1, 1), (0, 0), (1, 1)),
]


@pytest.mark.parametrize(("kernel", "stride", "padding", "dilation"), CASES)
def test_largest(kernel: Any, stride: Any, padding: Any, dilation: Any) -> None:
    expected = pooled(X, lambda entries: np.max(entries, axis=0), kernel, stride, padding, dilation)

    def f(x: Any) -> Any:
        return F.max_pool2d(x, kernel, stride, padding, dilation)

    np.testing.assert_array_equal(f(X), expected)
    np.testing.assert_array_equal(ea.compile(f)(X), expected)
    np.testing.assert_array_equal(f(X[1]), expected[1])
    c = rng.normal(size=expected.shape)
    places = pooled(np.arange(X.size).reshape(X.shape), _of_largest(X), kernel, stride, padding, dilation)
    gradient = np.zeros(X.size)
    np.add.at(gradient, places.ravel(), c.ravel())
    np.testing.assert_allclose(
        ea.grad(lambda x: np.sum(c * f(x)))(X), gradient.reshape(X.shape), rtol=1e-12, atol=1e-12
    )


def _of_largest(x: Any) -> Any:
    """The place of the largest entry of a window, of which the places are given."""
    return lambda places: np.take_along_axis(
        np.array(places), np.argmax([x.ravel()[p] for p in places], axis=0)[None], axis=0
    )[0]


@pytest.mark.parametrize(("kernel", "stride", "padding", "_"), [case for case in CASES if case[3] == (1, 1)])
@pytest.mark.parametrize("count_include_pad", [True, False])
def test_mean(kernel: Any, stride: Any, padding: Any, _: Any, count_include_pad: bool) -> None:
    def mean(entries: list[Any]) -> Any:
        return np.sum(entries, axis=0) / (kernel[0] * kernel[1] if count_include_pad else len(entries))

    expected = pooled(X, mean, kernel, stride, padding, (1, 1))

    def f(x: Any) -> Any:
        return F.avg_pool2d(x, kernel, stride, padding, count_include_pad=count_include_pad)

    np.testing.assert_allclose(f(X), expected, rtol=1e-12)
    np.testing.assert_allclose(ea.compile(f)(X), expected, rtol=1e-12)
    c = rng.normal(size=expected.shape)
    linear = ea.grad(lambda x: np.sum(c * f(x)))(X)
    np.testing.assert_allclose(np.sum(linear * X), np.sum(c * expected), rtol=1e-11)


def test_windows_that_overlap() -> None:
    """Case C6 of the reported ones: ocannl issue 512, which gave [1, 2, 0, 0, 1]."""
    x = np.array([[5.0, 3.0, 1.0, 2.0, 5.0]])
    for gradient in (
        ea.grad(lambda x: np.sum(F.max_pool1d(x, 2, 1)))(x),
        ea.grad(lambda x: np.sum(F.max_pool2d(x[None], (1, 2), 1)))(x),
    ):
        np.testing.assert_array_equal(gradient, [[1, 1, 0, 1, 1]])


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
def test_ties_share_equally(mode: Any) -> None:
    x = np.array([[[2.0, 2.0, 0.0, 0.0], [2.0, 1.0, 0.0, 0.0]]])
    jacobian = ea.jacobian(lambda x: F.max_pool2d(x, 2), mode=mode)(x)
    np.testing.assert_allclose(jacobian[0, 0, 0], [[[1 / 3, 1 / 3, 0, 0], [1 / 3, 0, 0, 0]]], rtol=1e-15)
    np.testing.assert_array_equal(jacobian[0, 0, 1], [[[0, 0, 0.25, 0.25], [0, 0, 0.25, 0.25]]])


def test_entries_that_are_not_finite() -> None:
    """NaN is passed on, padding never wins, and an infinite entry has a derivative like any other."""
    x = np.array([[np.nan, 1.0, np.inf, 2.0, -np.inf, -np.inf]])
    expected = np.array([[np.nan, np.inf, -np.inf]])
    np.testing.assert_array_equal(F.max_pool1d(x, 2), expected)
    np.testing.assert_array_equal(ea.compile(lambda x: F.max_pool1d(x, 2))(x), expected)
    np.testing.assert_array_equal(ea.grad(lambda x: np.sum(F.max_pool1d(x, 2)))(x), [[0.5, 0.5, 1, 0, 0.5, 0.5]])
    low = np.full((1, 3), -1e30)
    np.testing.assert_array_equal(F.max_pool1d(low, 3, 1, 1), low)
    np.testing.assert_array_equal(ea.compile(lambda x: F.max_pool1d(x, 3, 1, 1))(low), low)


@pytest.mark.parametrize(
    ("size", "kernel", "stride", "padding", "windows"),
    [(5, 2, 2, 0, [[0, 1], [2, 3], [4]]), (4, 3, 3, 1, [[0, 1], [2, 3]]), (5, 3, 2, 1, [[0, 1], [1, 2, 3], [3, 4]])],
)
def test_a_last_window_that_reaches_over_the_end(
    size: int, kernel: int, stride: int, padding: int, windows: list[list[int]]
) -> None:
    x = rng.normal(size=(1, size))
    largest = F.max_pool1d(x, kernel, stride, padding, ceil_mode=True)
    np.testing.assert_array_equal(largest, [[max(x[0, w]) for w in windows]])
    mean = F.avg_pool1d(x, kernel, stride, padding, ceil_mode=True, count_include_pad=False)
    np.testing.assert_allclose(mean, [[np.mean(x[0, w]) for w in windows]], rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "shape", "options"),
    [
        ("max_pool1d", (2, 1, 6), {"kernel_size": 3, "stride": 2, "padding": 1}),
        ("max_pool2d", (1, 1, 4, 4), {"kernel_size": 2}),
        ("max_pool2d", (1, 1, 3, 3), {"kernel_size": 2, "stride": 1}),
        ("avg_pool1d", (1, 2, 5), {"kernel_size": 2, "ceil_mode": True}),
        ("avg_pool2d", (1, 1, 4, 3), {"kernel_size": 3, "stride": 1, "padding": 1, "count_include_pad": False}),
    ],
)
def test_derivatives(name: str, shape: Any, options: dict[str, Any]) -> None:
    """To order 2 in all modes, with a random cotangent, away from ties."""
    function = getattr(F, name)
    x = rng.permutation(int(np.prod(shape))).reshape(shape) / 4
    c = rng.normal(size=function(x, **options).shape)

    def f(x: Any) -> Any:
        return np.sum(c * np.sin(function(x, **options)))

    laws = ["mode agreement", "symmetry", "adjoint identity"]
    check_derivatives(f, x, order=2, entries=16, properties=laws, minimal=False).raise_if_wrong()


def test_dtype_stays() -> None:
    x = X.astype(np.float32)
    for layer in (
        nn.MaxPool2d(3, 2, 1),
        nn.AvgPool2d(3, 2, 1, count_include_pad=False),
        nn.AvgPool2d(2, divisor_override=3),
        nn.Flatten(),
    ):
        plain = layer(x)
        assert type(plain) is np.ndarray
        value, gradient = ea.value_and_grad(lambda x, layer=layer: np.sum(layer(x)))(x)
        assert plain.dtype == value.dtype == gradient.dtype == np.float32
        np.testing.assert_allclose(ea.compile(layer)(x), plain, rtol=1e-6)
        assert layer(x[:0]).shape == ea.compile(layer)(x[:0]).shape == (0, *plain.shape[1:])


def test_inputs_are_not_written_to() -> None:
    x = X.copy()
    for result in (F.max_pool2d(x, 1), F.avg_pool2d(x, 1), F.max_pool2d(x, 2)):
        assert not np.shares_memory(result, x)
    np.testing.assert_array_equal(x, X)


def test_flatten() -> None:
    x = X[:, :, :2, :2]
    np.testing.assert_array_equal(nn.Flatten()(x), x.reshape(2, 12))
    np.testing.assert_array_equal(nn.Flatten(0, 1)(x), x.reshape(6, 2, 2))
    np.testing.assert_array_equal(nn.Flatten(-2)(x), x.reshape(2, 3, 4))
    np.testing.assert_array_equal(F.flatten(x), x.ravel())
    assert F.flatten(np.float64(2)).shape == (1,)
    assert repr(nn.Flatten()) == "Flatten(start_dim=1, end_dim=-1)"


def test_options_are_shown() -> None:
    assert repr(nn.MaxPool2d(2)) == "MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)"
    assert repr(nn.AvgPool1d(3, 1)) == (
        "AvgPool1d(kernel_size=3, stride=1, padding=0, ceil_mode=False, count_include_pad=True)"
    )


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: F.max_pool2d(X, 8), ea.ShapeError, "use a smaller kernel, or more padding"),
        (lambda: F.max_pool2d(X, 2, padding=2), ValueError, "at most half of the kernel"),
        (lambda: F.max_pool2d(X, 0), ValueError, "kernel_size is at least 1"),
        (lambda: F.max_pool2d(X, 2, 0), ValueError, "stride is at least 1"),
        (lambda: F.max_pool2d(X[0, 0], 2), ea.ShapeError, r"\(n, channels, height, width\)"),
        (lambda: F.max_pool2d(X.astype(int), 2, padding=1), TypeError, "floating dtype, got int64"),
        (lambda: F.avg_pool2d(X, (1, 2, 3)), ValueError, "or 2 of them"),
        (lambda: F.avg_pool2d(X, 2, divisor_override=0), ValueError, "divisor_override is not 0"),
        (lambda: nn.Flatten(1, 4)(X), IndexError, r"axis 4 is out of range for shape \(2, 3, 7, 6\)"),
        (lambda: nn.Flatten(2, 1)(X), ValueError, "stands behind end_dim 1"),
    ],
)
def test_what_does_not_fit_is_refused(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()
