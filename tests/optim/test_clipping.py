"""Clipped gradients: norms against NumPy's, plain and traced, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad import nn, optim

rng = np.random.default_rng(5)


def gradients(dtype: Any = np.float64) -> list[np.ndarray]:
    return [rng.normal(size=shape).astype(dtype) for shape in [(3, 4), (4,), (), (0, 2)]]


def norm_of(arrays: list[np.ndarray], order: float) -> float:
    entries = np.abs(np.concatenate([array.ravel() for array in arrays])).astype(np.float64)
    return float(np.max(entries) if order == np.inf else np.sum(entries**order) ** (1 / order))


@pytest.mark.parametrize("order", [1, 2, 3, 0.5, np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("max_norm", [0.5, 100.0])
def test_by_norm(order: float, dtype: Any, max_norm: float) -> None:
    arrays, tolerance = gradients(dtype), 1e-12 if dtype == np.float64 else 1e-5
    expected = min(1, max_norm / (norm_of(arrays, order) + 1e-6))
    params = [nn.Parameter(np.zeros_like(array)) for array in arrays] + [nn.Parameter(np.zeros(2))]
    for p, array in zip(params, arrays, strict=False):
        p.grad = array
    norm = optim.clip_grad_norm_(params, max_norm, order)
    np.testing.assert_allclose(norm, norm_of(arrays, order), rtol=tolerance)
    assert params[-1].grad is None
    plain = optim.clipped_by_norm(arrays, max_norm, order)
    traced = ea.compile(lambda g, most: optim.clipped_by_norm(g, most, order))(arrays, max_norm)
    for p, before, one, other in zip(params, arrays, plain, traced, strict=False):
        assert one.dtype == other.dtype == p.grad.dtype == dtype  # type: ignore[union-attr] # it is set
        for found in (p.grad, one, other):
            np.testing.assert_allclose(found, expected * before, rtol=tolerance)


def test_zeros_stay_and_their_derivative_is_finite() -> None:
    zeros = [np.zeros(3), np.zeros((2, 2))]
    for clipped in (optim.clipped_by_norm(zeros, 1.0), ea.compile(optim.clipped_by_norm)(zeros, np.array(1.0))):
        assert all(np.array_equal(array, np.zeros_like(array)) for array in clipped)
    jacobian = ea.jacobian(lambda g: optim.clipped_by_norm([g], 1.0)[0])(np.zeros(3))
    np.testing.assert_array_equal(jacobian, np.eye(3))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_by_value(dtype: Any) -> None:
    arrays = gradients(dtype)
    expected = [np.clip(array, -0.5, 0.5).astype(dtype) for array in arrays]
    params = [nn.Parameter(np.zeros_like(array)) for array in arrays]
    for p, array in zip(params, arrays, strict=True):
        p.grad = array
    optim.clip_grad_value_(iter(params), 0.5)
    traced = ea.compile(optim.clipped_by_value)(arrays, 0.5)
    for want, p, one, other in zip(expected, params, optim.clipped_by_value(arrays, 0.5), traced, strict=True):
        for found in (p.grad, one, other):
            assert found.dtype == dtype  # type: ignore[union-attr] # it is set
            np.testing.assert_array_equal(found, want)


def test_what_is_not_finite() -> None:
    p, q = nn.Parameter(np.zeros(2)), nn.Parameter(np.zeros(2))
    p.grad, q.grad = np.array([np.inf, 1.0]), np.ones(2)
    with pytest.raises(RuntimeError, match="norm of the gradients is inf"):
        optim.clip_grad_norm_([p, q], 1.0, error_if_nonfinite=True)
    np.testing.assert_array_equal(q.grad, [1, 1])
    with np.errstate(invalid="ignore"):
        assert optim.clip_grad_norm_([p, q], 1.0) == np.inf
    np.testing.assert_array_equal(q.grad, [0, 0])
    q.grad = np.array([np.nan, 3.0])
    optim.clip_grad_value_(q, 1.0)
    np.testing.assert_array_equal(q.grad, [np.nan, 1.0])


def test_without_gradients_and_bad_arguments() -> None:
    p = nn.Parameter(np.zeros(2))
    assert optim.clip_grad_norm_(p, 1.0) == 0
    for call, error, text in [
        (lambda: optim.clip_grad_norm_([p], -1.0), ValueError, "max_norm"),
        (lambda: optim.clip_grad_norm_([p], float("nan")), ValueError, "max_norm"),
        (lambda: optim.clip_grad_norm_([p], 1.0, 0.0), ValueError, "norm_type"),
        (lambda: optim.clip_grad_value_([p], -1.0), ValueError, "clip_value"),
        (lambda: optim.clip_grad_norm_([np.zeros(2)], 1.0), TypeError, "parameter 0 is a ndarray"),
    ]:
        with pytest.raises(error, match=text):
            call()
