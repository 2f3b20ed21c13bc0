"""The textbook forms of softplus: smooth at 0, where each of their two kinks has derivative 0 by convention."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import einsumad as ea
from tests.calculus.oracle import MODES

Function = Callable[[Any], Any]
LABELS = np.array([1.0, 0.0, 0.3, 1.0, 0.5])
WEIGHTS = np.array([0.5, 2.0, 3.0, 1.3, 0.25])
SIGNS = 2 * LABELS - 1
X = np.array([[1, 2.0, 3], [0, 1, -1], [2, 0, 1], [-1, -1, 1], [3, 2, 1]])


def decay(z: Any) -> Any:
    return np.log1p(np.exp(-np.abs(z)))


def margin(z: Any) -> Any:
    return np.maximum(-z, 0) + decay(z)


def softplus(z: Any) -> Any:
    return np.log(1 + np.exp(z))


FORMS: dict[str, tuple[Function, Function]] = {
    "maximum": (lambda z: np.maximum(z, 0) + decay(z), softplus),
    "log": (lambda z: np.maximum(z, 0) + np.log(1 + np.exp(-np.abs(z))), softplus),
    "cross-entropy": (lambda z: np.maximum(z, 0) - z * LABELS + decay(z), lambda z: softplus(z) - z * LABELS),
    "weighted": (
        lambda z: WEIGHTS * np.maximum(z, 0) - WEIGHTS * LABELS * z + WEIGHTS * decay(z),
        lambda z: WEIGHTS * (softplus(z) - z * LABELS),
    ),
    "clip": (lambda z: np.clip(z, 0, None) + decay(z), softplus),
    "where": (lambda z: np.where(z > 0, z, 0) + decay(z), softplus),
    "where not": (lambda z: np.where(z < 0, 0, z) + decay(z), softplus),
    "minimum": (lambda z: -np.minimum(z, 0) + decay(z), lambda z: softplus(-z)),
    "log sigmoid": (lambda z: np.minimum(z, 0) - decay(z), lambda z: -softplus(-z)),
    "margin": (lambda z: np.maximum(-z, 0) + decay(-z), lambda z: softplus(-z)),
    "indicator": (lambda z: z * (z > 0) + decay(z), softplus),
    "average": (lambda z: (z + np.abs(z)) / 2 + decay(z), softplus),
    "average with a sign": (lambda z: (np.abs(z) - z) / 2 + decay(z) + z * LABELS, lambda z: softplus(-z) + z * LABELS),
    "log 2 cosh": (
        lambda z: np.abs(z) + np.log1p(np.exp(-2 * np.abs(z))),
        lambda z: np.log(np.exp(z) + np.exp(-z)),
    ),
    "scaled": (lambda z: np.maximum(3 * z, 0) + decay(3 * z), lambda z: softplus(3 * z)),
    "sharp": (lambda z: np.maximum(z, 0) + 0.5 * np.log1p(np.exp(-2 * np.abs(z))), lambda z: 0.5 * softplus(2 * z)),
    "sums": (lambda z: np.mean(np.maximum(z, 0)) + np.mean(decay(z)), lambda z: np.mean(softplus(z))),
    "dots": (lambda z: WEIGHTS @ np.maximum(z, 0) + WEIGHTS @ decay(z), lambda z: WEIGHTS @ softplus(z)),
    "product": (
        lambda z: margin(z * SIGNS),
        lambda z: softplus(-z * SIGNS),
    ),
    "larger of two": (
        lambda z: np.maximum(z, z[::-1]) + decay(z - z[::-1]),
        lambda z: np.log(np.exp(z) + np.exp(z[::-1])),
    ),
    "smaller of two": (
        lambda z: WEIGHTS * np.minimum(z, 2 * z[0]) - WEIGHTS * decay(2 * z[0] - z),
        lambda z: -WEIGHTS * np.log(np.exp(-z) + np.exp(-2 * z[0])),
    ),
    "larger of a number": (lambda z: np.maximum(z, 1.5) + decay(z - 1.5), lambda z: np.log(np.exp(z) + np.exp(1.5))),
    "sigmoid": (lambda z: np.exp(np.minimum(z, 0)) / (1 + np.exp(-np.abs(z))), lambda z: 1 / (1 + np.exp(-z))),
    "sigmoid of minus": (
        lambda z: np.exp(-np.maximum(2 * z, 0)) / (1 + np.exp(-2 * np.abs(z))),
        lambda z: 1 / (1 + np.exp(2 * z)),
    ),
    "logistic density": (
        lambda z: np.exp(-np.abs(z)) / (1 + np.exp(-np.abs(z))) ** 2,
        lambda z: np.exp(z) / (1 + np.exp(z)) ** 2,
    ),
    "order": (lambda z: np.maximum(0, z) + decay(z), softplus),
    "method": (lambda z: z.clip(0) + decay(z), softplus),
    "indicator in front": (lambda z: (z > 0) * z + decay(z), softplus),
    "logaddexp": (lambda z: np.maximum(z, 0) + np.logaddexp(0, -np.abs(z)), softplus),
}


def tower(function: Function, mode: Any) -> list[Any]:
    found = [function]
    for _ in range(3):
        found.append(ea.jacobian(found[-1], mode=mode))
    return found


@pytest.mark.parametrize("name", FORMS)
def test_derivatives_at_the_kinks(name: str) -> None:
    """Zeros of the logits, by themselves and as ``X w`` with w = 0."""
    form, smooth = FORMS[name]
    points = [np.array([0, 0, 1.5, -2, 0]), np.zeros(3)]
    wraps: list[Callable[[Function], Function]] = [
        lambda h: lambda z: np.sum(np.cos(h(z))),
        lambda h: lambda w: np.sum(h(X @ w)),
    ]
    for mode, wrap, point in zip(("reverse", "cross-country"), wraps, points, strict=True):
        for found, expected in zip(tower(wrap(form), mode), tower(wrap(smooth), mode), strict=True):
            np.testing.assert_allclose(found(point), expected(point), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_the_loss_of_a_logistic_regression_at_zero(mode: Any) -> None:
    def loss(w: Any) -> Any:
        z = X @ w
        return np.sum(np.maximum(z, 0) - z * LABELS + decay(z))

    w = np.zeros(3)
    np.testing.assert_allclose(ea.jacobian(loss, mode=mode)(w), (0.5 - LABELS) @ X, atol=1e-15)
    np.testing.assert_allclose(ea.jacobian(ea.jacobian(loss, mode=mode), mode=mode)(w), X.T @ X / 4)


@pytest.mark.parametrize("name", ["maximum", "clip", "where not", "minimum", "log 2 cosh", "scaled"])
def test_values_far_out_and_of_nan(name: str) -> None:
    form, _ = FORMS[name]
    for dtype in (np.float64, np.float32, np.float16):
        z = np.array([1000, -1000, np.inf, -np.inf, np.nan, 7, -5], dtype)
        found, expected = ea.compile(form)(z), form(z)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=8 * np.finfo(dtype).eps)


def test_a_pair_with_other_factors_or_arguments_keeps_its_kinks() -> None:
    """``2 max(z, 0) + softplus(-|z|)`` has a kink, and so has a sum with another argument."""
    for form in (lambda z: np.sum(2 * np.maximum(z, 0) + decay(z)), lambda z: np.sum(np.maximum(z, 0) + decay(2 * z))):
        np.testing.assert_array_equal(ea.grad(form)(np.zeros(2)), [0, 0])
