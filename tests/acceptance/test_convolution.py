"""Convolution is a product with affine operands: value, both gradients and Hessians, with no copy above the windows.

Compared with SciPy, with derivatives written out by hand, and with PyTorch where it is installed.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from scipy.signal import convolve2d, correlate2d

import einsumad as ea
from einsumad.planning import Plan
from einsumad.planning.kernels import Pad, Window

Array = np.ndarray[Any, Any]
BATCH, CHANNELS, OUTPUTS, HEIGHT, WIDTH, SIZE = 4, 3, 5, 16, 14, 3
ROWS, COLUMNS = HEIGHT - SIZE + 1, WIDTH - SIZE + 1
WINDOWS = BATCH * CHANNELS * ROWS * COLUMNS * SIZE**2
rng = np.random.default_rng(0)
IMAGES = rng.normal(size=(BATCH, CHANNELS, HEIGHT, WIDTH))
KERNELS = rng.normal(size=(OUTPUTS, CHANNELS, SIZE, SIZE))
WEIGHTS = rng.normal(size=(BATCH, OUTPUTS, ROWS, COLUMNS))


def layer(x: Any, w: Any) -> Any:
    """``y[n, o, i, j] = Σ x[n, c, i + p, j + q] w[o, c, p, q]``."""
    return np.einsum("ncijpq,ocpq->noij", sliding_window_view(x, w.shape[2:], axis=(2, 3)), w)


def loss(x: Any, w: Any) -> Any:
    return np.sum(WEIGHTS * np.tanh(layer(x, w)))


def copied(plan: Plan) -> int:
    """The entries of the largest tensor that a step fills; windows and what they are taken of are views."""
    return max(prod(step.shape) for step in plan.steps if not isinstance(step.kernel, Window | Pad))


def by_scipy(x: Array, w: Array) -> Array:
    channels = [[[correlate2d(image, k, "valid") for image, k in zip(n, o, strict=True)] for o in w] for n in x]
    return np.sum(channels, axis=2)


def test_value() -> None:
    np.testing.assert_allclose(ea.compile(layer)(IMAGES, KERNELS), by_scipy(IMAGES, KERNELS), rtol=1e-12, atol=1e-12)


def test_both_gradients() -> None:
    """In the kernels the windows times the cotangent, in the images the cotangent convolved with the kernels."""
    cotangent = WEIGHTS / np.cosh(by_scipy(IMAGES, KERNELS)) ** 2
    in_images, in_kernels = ea.grad(loss, argnums=(0, 1))(IMAGES, KERNELS)
    windows = sliding_window_view(IMAGES, (SIZE, SIZE), axis=(2, 3))
    np.testing.assert_allclose(in_kernels, np.einsum("ncijpq,noij->ocpq", windows, cotangent), rtol=1e-11, atol=1e-12)
    expected = [
        [sum(convolve2d(c, k) for c, k in zip(n, KERNELS[:, channel], strict=True)) for channel in range(CHANNELS)]
        for n in cotangent
    ]
    np.testing.assert_allclose(in_images, expected, rtol=1e-11, atol=1e-12)


def test_hessian_in_the_kernels() -> None:
    windows = sliding_window_view(IMAGES, (SIZE, SIZE), axis=(2, 3))
    y = np.tanh(layer(IMAGES, KERNELS))
    second = -2 * WEIGHTS * y * (1 - y**2)
    blocks = np.einsum("ncijpq,ndijrs,noij->ocpqdrs", windows, windows, second, optimize=True)
    expected = np.einsum("ocpqdrs,oO->ocpqOdrs", blocks, np.eye(OUTPUTS))
    np.testing.assert_allclose(ea.hessian(loss, 1)(IMAGES, KERNELS), expected, rtol=1e-10, atol=1e-11)


def test_hessian_in_the_images() -> None:
    """Of one small image with one channel: the kernels between each pair of pixels, through the windows they share."""
    x, w, c = IMAGES[:1, :1, :6, :5], KERNELS[:1, :1], WEIGHTS[:1, :1, :4, :3]

    def f(x: Any) -> Any:
        return np.sum(c * np.tanh(layer(x, w)))

    found = ea.hessian(f)(x).reshape(30, 30)
    linear = ea.jacobian(lambda x: layer(x, w))(x).reshape(12, 30)
    y = np.tanh(layer(x, w))
    second = (-2 * c * y * (1 - y**2)).ravel()
    np.testing.assert_allclose(found, linear.T @ (second[:, None] * linear), rtol=1e-11, atol=1e-12)
    step = np.zeros_like(x)
    step[0, 0, 2, 2] = 1e-5
    column = (ea.grad(f)(x + step) - ea.grad(f)(x - step)).ravel() / 2e-5
    np.testing.assert_allclose(found[:, 12], column, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    "g",
    [ea.compile(loss), ea.grad(loss, 0), ea.grad(loss, 1), ea.grad(loss, (0, 1))],
    ids=["value", "in the images", "in the kernels", "in both"],
)
def test_no_copy_is_larger_than_the_windows(g: Any) -> None:
    plan = ea.explain(g, IMAGES, KERNELS).plan
    assert copied(plan) <= WINDOWS
    assert plan.peak_bytes < 8 * 2 * WINDOWS


def test_no_copy_of_products_with_the_hessian_is_larger_than_the_windows() -> None:
    for k, v in enumerate((IMAGES, KERNELS)):
        args = [IMAGES, KERNELS]

        def f(moved: Any, k: int = k, args: Any = args) -> Any:
            return loss(*[moved if j == k else arg for j, arg in enumerate(args)])

        assert copied(ea.explain(ea.hvp(f), v, v).plan) <= WINDOWS


@pytest.mark.whole_planner
def test_no_copy_of_the_hessian_in_the_kernels_is_larger_than_the_windows() -> None:
    """The weighted windows are multiplied for one output channel at a time. The result is as large as they are here."""
    plan = ea.explain(ea.hessian(loss, 1), IMAGES, KERNELS).plan
    assert copied(plan) <= max(WINDOWS, KERNELS.size**2)
    assert plan.peak_bytes < 8 * (WINDOWS + 2 * KERNELS.size**2)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_of_one_axis(mode: str) -> None:
    """NumPy's own function: gradients by correlation, and a Hessian that is the Gram matrix of shifted samples."""
    x, k = rng.normal(size=200), rng.normal(size=7)
    y = np.convolve(x, k, mode)
    shifted = np.stack([np.convolve(x, e, mode) for e in np.eye(7)], axis=1)
    moved = np.stack([np.convolve(e, k, mode) for e in np.eye(200)], axis=1)

    def f(x: Any, k: Any) -> Any:
        return np.sum(np.convolve(x, k, mode) ** 2)

    np.testing.assert_allclose(ea.compile(lambda x, k: np.convolve(x, k, mode))(x, k), y, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(ea.grad(f, 1)(x, k), 2 * shifted.T @ y, rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(ea.grad(f, 0)(x, k), 2 * moved.T @ y, rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(ea.hessian(f, 1)(x, k), 2 * shifted.T @ shifted, rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(ea.hessian(f, 0)(x, k), 2 * moved.T @ moved, rtol=1e-12, atol=1e-11)


@pytest.mark.whole_planner
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_what_is_copied_along_one_axis(mode: str) -> None:
    x, k = rng.normal(size=200), rng.normal(size=7)

    def f(x: Any, k: Any) -> Any:
        return np.sum(np.convolve(x, k, mode) ** 2)

    for g in (ea.grad(f, 0), ea.grad(f, 1), ea.hessian(f, 1)):
        assert copied(ea.explain(g, x, k).plan) <= 200 * (2 * 7 - 1)  # the square of a kernel is one of 13 numbers

    def h(x: Any, k: Any) -> Any:
        return np.sum(np.sin(np.convolve(x, k, mode)))

    for g in (ea.grad(h, 0), ea.grad(h, 1), ea.hessian(h, 1)):
        assert copied(ea.explain(g, x, k).plan) <= 206 * 7


def test_against_pytorch() -> None:
    torch = pytest.importorskip("torch")
    x, w = (torch.tensor(array, requires_grad=True) for array in (IMAGES, KERNELS))
    value = torch.sum(torch.tensor(WEIGHTS) * torch.tanh(torch.nn.functional.conv2d(x, w)))
    value.backward()
    found, (in_images, in_kernels) = ea.value_and_grad(loss, argnums=(0, 1))(IMAGES, KERNELS)
    np.testing.assert_allclose(found, value.item(), rtol=1e-12)
    np.testing.assert_allclose(in_images, x.grad.numpy(), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(in_kernels, w.grad.numpy(), rtol=1e-11, atol=1e-12)
    second = torch.func.hessian(
        lambda w: torch.sum(torch.tensor(WEIGHTS) * torch.tanh(torch.nn.functional.conv2d(x.detach(), w)))
    )(w.detach())
    np.testing.assert_allclose(ea.hessian(loss, 1)(IMAGES, KERNELS), second.numpy(), rtol=1e-10, atol=1e-11)
