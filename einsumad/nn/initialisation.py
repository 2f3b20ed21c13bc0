"""Arrays that parameters start with.

Owns the distributions, each with its source. Imports NumPy. Invariant: random numbers come from the generator that is
given, in double precision, and are rounded to the dtype. All take the shape of a weight ``(out, in, ...)``, of which
the axes after the second are a window; a shape without entries is allowed.
"""

from __future__ import annotations

from math import prod, sqrt
from typing import Any, Literal, TypeAlias

import numpy as np

from einsumad.nn.random import Random, generator_of

Mode: TypeAlias = Literal["fan_in", "fan_out"]

_GAINS = {
    **dict.fromkeys(["linear", "conv1d", "conv2d", "conv3d"], 1.0),
    **dict.fromkeys(["conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "sigmoid"], 1.0),
    "tanh": 5 / 3,
    "relu": sqrt(2),
    "selu": 0.75,
}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor by which weights before a nonlinearity are scaled, so that the variance stays (PyTorch's table).

    `param` is the slope of ``"leaky_relu"``, 0.01 unless it is given: ``√(2 / (1 + slope²))`` (He et al., 2015).
    Raises :class:`ValueError` for a nonlinearity that is not in the table.

    >>> import einsumad.nn as nn
    >>> nn.init.calculate_gain("tanh")
    1.6666666666666667
    """
    if nonlinearity == "leaky_relu":
        return sqrt(2 / (1 + (0.01 if param is None else param) ** 2))
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
    return _uniform(shape, _root_of_quotient(1, fan_in), generator, dtype)


def xavier_uniform(
    shape: tuple[int, ...], gain: float = 1.0, *, rng: Random = None, dtype: Any = np.float32
) -> np.ndarray:
    """Uniform in ``±gain √(6 / (fan_in + fan_out))`` (Glorot and Bengio, 2010, equation 16)."""
    return _uniform(shape, gain * _root_of_quotient(6, sum(fans(shape))), generator_of(rng), dtype)


def xavier_normal(
    shape: tuple[int, ...], gain: float = 1.0, *, rng: Random = None, dtype: Any = np.float32
) -> np.ndarray:
    """Normal with the standard deviation ``gain √(2 / (fan_in + fan_out))`` (Glorot and Bengio, 2010)."""
    return _normal(shape, gain * _root_of_quotient(2, sum(fans(shape))), generator_of(rng), dtype)


def he_uniform(
    shape: tuple[int, ...],
    a: float = 0.0,
    mode: Mode = "fan_in",
    nonlinearity: str = "leaky_relu",
    *,
    rng: Random = None,
    dtype: Any = np.float32,
) -> np.ndarray:
    """Uniform with the variance ``gain² / fan``: ``2 / ((1 + a²) fan)`` for rectifiers of slope a.

    He et al., 2015, equation 15. For another `nonlinearity` it is the gain of :func:`calculate_gain`.

    >>> import einsumad.nn as nn
    >>> nn.init.he_uniform((1, 3), rng=0)
    array([[ 0.38738614, -0.6511415 , -1.2983229 ]], dtype=float32)
    """
    return _uniform(shape, sqrt(3) * _he_deviation(shape, a, mode, nonlinearity), generator_of(rng), dtype)


def he_normal(
    shape: tuple[int, ...],
    a: float = 0.0,
    mode: Mode = "fan_in",
    nonlinearity: str = "leaky_relu",
    *,
    rng: Random = None,
    dtype: Any = np.float32,
) -> np.ndarray:
    """Normal with the variance ``gain² / fan``, with the options of :func:`he_uniform` (He et al., 2015)."""
    return _normal(shape, _he_deviation(shape, a, mode, nonlinearity), generator_of(rng), dtype)


def orthogonal(shape: tuple[int, ...], gain: float = 1.0, *, rng: Random = None, dtype: Any = np.float32) -> np.ndarray:
    """Orthonormal rows or columns of the weight as a matrix ``(out, in ...)``, times gain (Saxe et al., 2014).

    They are uniformly distributed, as signs are chosen for which the diagonal of R is positive (Mezzadri, 2007).
    """
    fans(shape)
    if 0 in shape:
        return np.zeros(shape, dtype)
    rows, columns = shape[0], prod(shape[1:])
    q, r = np.linalg.qr(generator_of(rng).normal(size=(max(rows, columns), min(rows, columns))))
    q *= np.where(np.diagonal(r) < 0, -1, 1)
    matrix = q.T if rows < columns else q
    return (gain * matrix).reshape(shape).astype(dtype)


def zeros(shape: tuple[int, ...], dtype: Any = np.float32) -> np.ndarray:
    """Zeros.

    >>> import einsumad.nn as nn
    >>> nn.init.zeros((2,))
    array([0., 0.], dtype=float32)
    """
    return np.zeros(shape, dtype)


def _he_deviation(shape: tuple[int, ...], slope: float, mode: str, nonlinearity: str) -> float:
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"mode is 'fan_in' or 'fan_out', got {mode!r}")
    fan_in, fan_out = fans(shape)
    gain = calculate_gain(nonlinearity, slope)
    return gain * _root_of_quotient(1, fan_in if mode == "fan_in" else fan_out)


def _root_of_quotient(number: float, fan: int) -> float:
    """The root, and 0 where there are no inputs, and so no entries."""
    return sqrt(number / fan) if fan else 0.0


def _uniform(shape: tuple[int, ...], bound: float, generator: np.random.Generator, dtype: Any) -> np.ndarray:
    return generator.uniform(-bound, bound, shape).astype(dtype)


def _normal(shape: tuple[int, ...], deviation: float, generator: np.random.Generator, dtype: Any) -> np.ndarray:
    return generator.normal(0, deviation, shape).astype(dtype)
