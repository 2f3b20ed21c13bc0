"""Rows C*: what layers of networks got wrong, where a plain function shows it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import einsumad as ea
from tests.reported.oracle import check, close, exactly, normal


def convolved(x, w, stride=1, padding=0, dilation=1):
    """A convolution of one axis: x (batch, channels, time), w (outputs, channels, width)."""
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    reach = dilation * (w.shape[2] - 1) + 1
    windows = sliding_window_view(padded, reach, axis=2)[:, :, ::stride, ::dilation]
    return np.einsum("nctk,ock->not", windows, w)


def test_c2_stride_dilation_and_padding():
    """The second tap of the first window is the first sample, and so on: [[0, 5], [0, 5]] and not the reverse."""
    x = np.array([[[7.0, 3.0]], [[3.0, 2.0]]]).reshape(2, 1, 2)
    w = np.ones((1, 1, 2))

    def f(w):
        return np.sum(convolved(x, w, stride=2, padding=1, dilation=2))

    exactly(f, [w], np.array([[[0.0, 5.0]]]))
    check(lambda x, w: np.sum(convolved(x, w, 2, 1, 2) ** 2), x, w + 0.5)


@pytest.mark.parametrize(("stride", "padding", "dilation"), [(1, 0, 1), (2, 0, 1), (1, 2, 1), (3, 1, 2)])
def test_c2_other_strides(stride, padding, dilation):
    check(
        lambda x, w: np.sum(np.sin(convolved(x, w, stride, padding, dilation))), normal(1, 2, 2, 6), normal(2, 2, 2, 2)
    )


def test_c4_the_second_derivative_of_a_convolution_is_as_cheap_as_the_first():
    x, w, v = normal(3, 4, 8, 200), normal(4, 8, 8, 5), normal(5, 8, 8, 5)

    def f(w):
        return np.sum(np.tanh(convolved(x, w)))

    gradient, product = ea.explain(ea.grad(f), w).plan, ea.explain(ea.hvp(f), w, v).plan
    assert product.flops < 6 * gradient.flops
    assert product.peak_bytes < 10 * gradient.peak_bytes


def test_c6_windows_of_a_maximum_that_overlap():
    """An entry that wins in two windows gets two, a tie is split between its entries."""

    def f(x):
        return np.sum(np.max(sliding_window_view(x, 2), axis=-1))

    x = np.array([5.0, 3.0, 1.0, 2.0, 5.0])
    exactly(f, [x], np.array([1.0, 1.0, 0.0, 1.0, 1.0]))
    exactly(f, [np.array([1.0, 3.0, 2.0])], np.array([0.0, 2.0, 0.0]))
    exactly(f, [np.array([2.0, 2.0, 1.0])], np.array([0.5, 1.5, 0.0]))


def test_c12_gradients_of_single_samples_are_one_product():
    x, w = normal(6, 5, 3), normal(7, 3, 2)

    def losses(w):
        return np.sum(np.tanh(x @ w) ** 2, axis=1)

    found = ea.jacobian(losses)(w)
    for k in range(5):
        close(found[k], ea.grad(lambda w, k=k: np.sum(np.tanh(x[k] @ w) ** 2))(w), 1e-14, f"sample {k}")
    assert found.shape == (5, 3, 2)
    plan = ea.explain(ea.jacobian(losses), w).plan
    assert max(int(np.prod(step.shape)) for step in plan.steps) <= 5 * 3 * 2
