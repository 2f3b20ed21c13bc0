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


def identity(input: Any) -> Any:
    """The argument itself."""
    return input


def relu(input: Any) -> Any:
    """``max(x, 0)``; the derivative at 0 is 0.

    >>> import numpy as np, einsumad as ea, einsumad.nn as nn
    >>> ea.grad(lambda x: np.sum(nn.functional.relu(x)))(np.array([-1.0, 0.0, 2.0]))
    array([0., 0., 1.])
    """
    return np.maximum(input, 0)


def leaky_relu(input: Any, negative_slope: float = 0.01) -> Any:
    """``x`` where it is positive, else ``negative_slope x``, also for the derivative at 0 (Maas et al., 2013)."""
    return np.where(input > 0, input, negative_slope * input)


def elu(input: Any, alpha: float = 1.0) -> Any:
    """``x`` where it is positive, else ``alpha (exp(x) - 1)`` (Clevert et al., 2016).

    Derivatives at 0 are those of the second formula, so that all of them are alpha; PyTorch has 0 for the second one.
    """
    positive = input > 0
    return np.where(positive, input, alpha * np.expm1(np.where(positive, 0, input)))


def gelu(input: Any, approximate: Literal["none", "tanh"] = "none") -> Any:
    """``x Φ(x)`` with the normal distribution function Φ, or its approximation by tanh (Hendrycks and Gimpel, 2016).

    Raises :class:`ValueError` for another name of an approximation.
    """
    if approximate == "none":
        return input * special.ndtr(input)
    if approximate == "tanh":
        return 0.5 * input * (1 + np.tanh(float(np.sqrt(2 / np.pi)) * (input + 0.044715 * input**3)))
    raise ValueError(f"approximate is 'none' or 'tanh', got {approximate!r}")


def silu(input: Any) -> Any:
    """``x σ(x)`` (Hendrycks and Gimpel, 2016; Elfwing, Uchibe and Doya, 2018)."""
    return input * special.expit(input)


def sigmoid(input: Any) -> Any:
    """``σ(x) = 1 / (1 + exp(-x))``."""
    return special.expit(input)


def tanh(input: Any) -> Any:
    """The hyperbolic tangent."""
    return np.tanh(input)


def softplus(input: Any, beta: float = 1.0, threshold: float | None = None) -> Any:
    """``log(1 + exp(beta x)) / beta``, exact for all x; with a threshold x itself where ``beta x`` is above it.

    PyTorch's threshold is 20, where the two agree to 2e-9.

    >>> import numpy as np, einsumad.nn as nn
    >>> nn.functional.softplus(np.array([-1000.0, 0.0, 1000.0]))
    array([0.00000000e+00, 6.93147181e-01, 1.00000000e+03])
    """
    scaled = input if beta == 1 else beta * input
    exact = np.logaddexp(scaled, 0) if beta == 1 else np.logaddexp(scaled, 0) / beta
    return exact if threshold is None else np.where(scaled > threshold, input, exact)


def softmax(input: Any, dim: int = -1) -> Any:
    """``exp(x) / Σ exp(x)`` along an axis, the last one unless it is given.

    >>> import numpy as np, einsumad.nn as nn
    >>> nn.functional.softmax(np.array([0.0, 1000.0, 1000.0]))
    array([0. , 0.5, 0.5])
    """
    return _softmax(input, axis=dim)


def log_softmax(input: Any, dim: int = -1) -> Any:
    """``x - log Σ exp(x)`` along an axis, the last one unless it is given."""
    return _log_softmax(input, axis=dim)
