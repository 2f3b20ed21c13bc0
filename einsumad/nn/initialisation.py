"""Arrays that parameters start with.

Owns the distributions, each with its source. Imports NumPy. Invariant: random numbers come from the generator that is
given, in double precision, and are rounded to the dtype.
"""

from __future__ import annotations

from math import prod, sqrt
from typing import Any, Literal

import numpy as np

from einsumad.nn.random import Random, generator_of

_GAINS = {"linear": 1.0, "sigmoid": 1.0, "tanh": 5 / 3, "relu": sqrt(2), "selu": 0.75}


def calculate_gain(nonlinearity: str, negative_slope: float = 0.01) -> float:
    """The factor by which weights before a nonlinearity are scaled, so that the variance stays (PyTorch's table)."""
    if nonlinearity == "leaky_relu":
        return sqrt(2 / (1 + negative_slope**2))
    if nonlinearity not in _GAINS:
        raise ValueError(f"no gain is known for {nonlinearity!r}, but for {', '.join([*_GAINS, 'leaky_relu'])}")
    return _GAINS[nonlinearity]


def fans(shape: tuple[int, ...]) -> tuple[int, int]:
    """How many inputs and outputs each unit of a weight ``(out, in, ...)`` has."""
    if len(shape) < 2:
        raise ValueError(f"fans are defined for weights (out, in, ...), got shape {shape}")
    window = prod(shape[2:])
    return shape[1] * window, shape[0] * window


def uniform_by_fan_in(
    shape: tuple[int, ...], fan_in: int, generator: np.random.Generator, dtype: Any = np.float32
) -> np.ndarray:
    """Uniform in ``±1/√fan_in``, PyTorch's default for weights and biases."""
    return _uniform(shape, 1 / sqrt(fan_in) if fan_in else 0.0, generator, dtype)


def xavier_uniform(
    shape: tuple[int, ...], gain: float = 1.0, rng: Random = None, dtype: Any = np.float32
) -> np.ndarray:
    """Uniform in ``±gain √(6 / (fan_in + fan_out))`` (Glorot and Bengio, 2010, equation 16)."""
    return _uniform(shape, gain * sqrt(6 / sum(fans(shape))), generator_of(rng), dtype)


def xavier_normal(shape: tuple[int, ...], gain: float = 1.0, rng: Random = None, dtype: Any = np.float32) -> np.ndarray:
    """Normal with the standard deviation ``gain √(2 / (fan_in + fan_out))`` (Glorot and Bengio, 2010)."""
    return _normal(shape, gain * sqrt(2 / sum(fans(shape))), generator_of(rng), dtype)


def he_uniform(
    shape: tuple[int, ...],
    negative_slope: float = 0.0,
    mode: Literal["fan_in", "fan_out"] = "fan_in",
    rng: Random = None,
    dtype: Any = np.float32,
) -> np.ndarray:
    """Uniform with the variance ``2 / ((1 + a²) fan)``, for rectifiers of slope a (He et al., 2015, equation 15)."""
    return _uniform(shape, sqrt(3) * _he_deviation(shape, negative_slope, mode), generator_of(rng), dtype)


def he_normal(
    shape: tuple[int, ...],
    negative_slope: float = 0.0,
    mode: Literal["fan_in", "fan_out"] = "fan_in",
    rng: Random = None,
    dtype: Any = np.float32,
) -> np.ndarray:
    """Normal with the variance ``2 / ((1 + a²) fan)``, for rectifiers of slope a (He et al., 2015, equation 15)."""
    return _normal(shape, _he_deviation(shape, negative_slope, mode), generator_of(rng), dtype)


def orthogonal(shape: tuple[int, ...], gain: float = 1.0, rng: Random = None, dtype: Any = np.float32) -> np.ndarray:
    """Orthonormal rows or columns of the weight as a matrix ``(out, in ...)`` (Saxe et al., 2014)."""
    fans(shape)
    rows, columns = shape[0], prod(shape[1:])
    q, r = np.linalg.qr(generator_of(rng).normal(size=(max(rows, columns), min(rows, columns))))
    q *= np.sign(np.diagonal(r))
    matrix = q.T if rows < columns else q
    return (gain * matrix).reshape(shape).astype(dtype)


def zeros(shape: tuple[int, ...], dtype: Any = np.float32) -> np.ndarray:
    """Zeros."""
    return np.zeros(shape, dtype)


def _he_deviation(shape: tuple[int, ...], negative_slope: float, mode: str) -> float:
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"mode is 'fan_in' or 'fan_out', got {mode!r}")
    fan_in, fan_out = fans(shape)
    return calculate_gain("leaky_relu", negative_slope) / sqrt(fan_in if mode == "fan_in" else fan_out)


def _uniform(shape: tuple[int, ...], bound: float, generator: np.random.Generator, dtype: Any) -> np.ndarray:
    return generator.uniform(-bound, bound, shape).astype(dtype)


def _normal(shape: tuple[int, ...], deviation: float, generator: np.random.Generator, dtype: Any) -> np.ndarray:
    return generator.normal(0, deviation, shape).astype(dtype)
