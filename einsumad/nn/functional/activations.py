"""Activations: functions entry by entry, and those that make probabilities of scores.

Owns their formulas. Imports NumPy and SciPy's special functions. Invariant: nothing overflows for large arguments, and
the dtype of the argument is kept.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy import special

from einsumad.scipy.special import log_softmax as _log_softmax
from einsumad.scipy.special import softmax as _softmax


def relu(x: Any) -> Any:
    """``max(x, 0)``; the derivative at 0 is 0."""
    return np.maximum(x, 0)


def leaky_relu(x: Any, negative_slope: float = 0.01) -> Any:
    """``x`` where it is positive, else ``negative_slope x``."""
    return np.where(x > 0, x, negative_slope * x)


def elu(x: Any, alpha: float = 1.0) -> Any:
    """``x`` where it is positive, else ``alpha (exp(x) - 1)`` (Clevert, Unterthiner and Hochreiter, 2016)."""
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def gelu(x: Any, approximate: Literal["none", "tanh"] = "none") -> Any:
    """``x Φ(x)`` with the normal distribution function Φ, or its approximation by tanh (Hendrycks and Gimpel, 2016)."""
    if approximate == "none":
        return x * special.ndtr(x)
    if approximate == "tanh":
        return 0.5 * x * (1 + np.tanh(float(np.sqrt(2 / np.pi)) * (x + 0.044715 * x**3)))
    raise ValueError(f"approximate is 'none' or 'tanh', got {approximate!r}")


def silu(x: Any) -> Any:
    """``x σ(x)``."""
    return x * special.expit(x)


def sigmoid(x: Any) -> Any:
    """``σ(x) = 1 / (1 + exp(-x))``."""
    return special.expit(x)


def tanh(x: Any) -> Any:
    """The hyperbolic tangent."""
    return np.tanh(x)


def softplus(x: Any, beta: float = 1.0) -> Any:
    """``log(1 + exp(beta x)) / beta``."""
    return np.logaddexp(x, 0) if beta == 1 else np.logaddexp(beta * x, 0) / beta


def softmax(x: Any, dim: int = -1) -> Any:
    """``exp(x) / Σ exp(x)`` along an axis."""
    return _softmax(x, axis=dim)


def log_softmax(x: Any, dim: int = -1) -> Any:
    """``x - log Σ exp(x)`` along an axis."""
    return _log_softmax(x, axis=dim)
