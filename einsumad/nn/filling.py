"""Parameters that are given new values.

Owns the functions with PyTorch's names, which end with an underscore. Imports initialisers and parameters. Invariant:
the parameter keeps its shape, its dtype and its place in the module, and its array is replaced as a whole.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from einsumad.nn.initialisation import Mode, he_normal, he_uniform, orthogonal, xavier_normal, xavier_uniform
from einsumad.nn.parameter import Parameter
from einsumad.nn.random import Random, generator_of


def uniform_(tensor: Parameter, a: float = 0.0, b: float = 1.0, *, rng: Random = None) -> Parameter:
    """Fill with numbers that are uniform from a to b."""
    return _filled(tensor, generator_of(rng).uniform(a, b, _shape(tensor)))


def normal_(tensor: Parameter, mean: float = 0.0, std: float = 1.0, *, rng: Random = None) -> Parameter:
    """Fill with numbers of a normal distribution."""
    return _filled(tensor, generator_of(rng).normal(mean, std, _shape(tensor)))


def constant_(tensor: Parameter, val: float) -> Parameter:
    """Fill with one number.

    >>> import einsumad.nn as nn
    >>> layer = nn.Linear(2, 2)
    >>> nn.init.constant_(layer.bias, 0.5)
    Parameter([0.5 0.5], dtype=float32)
    """
    return _filled(tensor, np.full(_shape(tensor), val, np.float64))


def zeros_(tensor: Parameter) -> Parameter:
    """Fill with zeros."""
    return constant_(tensor, 0.0)


def ones_(tensor: Parameter) -> Parameter:
    """Fill with ones."""
    return constant_(tensor, 1.0)


def xavier_uniform_(tensor: Parameter, gain: float = 1.0, *, rng: Random = None) -> Parameter:
    """Fill as :func:`xavier_uniform` says."""
    return _filled(tensor, xavier_uniform(_shape(tensor), gain, rng=rng, dtype=np.float64))


def xavier_normal_(tensor: Parameter, gain: float = 1.0, *, rng: Random = None) -> Parameter:
    """Fill as :func:`xavier_normal` says."""
    return _filled(tensor, xavier_normal(_shape(tensor), gain, rng=rng, dtype=np.float64))


def kaiming_uniform_(
    tensor: Parameter, a: float = 0.0, mode: Mode = "fan_in", nonlinearity: str = "leaky_relu", *, rng: Random = None
) -> Parameter:
    """Fill as :func:`he_uniform` says."""
    return _filled(tensor, he_uniform(_shape(tensor), a, mode, nonlinearity, rng=rng, dtype=np.float64))


def kaiming_normal_(
    tensor: Parameter, a: float = 0.0, mode: Mode = "fan_in", nonlinearity: str = "leaky_relu", *, rng: Random = None
) -> Parameter:
    """Fill as :func:`he_normal` says."""
    return _filled(tensor, he_normal(_shape(tensor), a, mode, nonlinearity, rng=rng, dtype=np.float64))


def orthogonal_(tensor: Parameter, gain: float = 1.0, *, rng: Random = None) -> Parameter:
    """Fill as :func:`orthogonal` says."""
    return _filled(tensor, orthogonal(_shape(tensor), gain, rng=rng, dtype=np.float64))


def _shape(tensor: Any) -> tuple[int, ...]:
    if not isinstance(tensor, Parameter):
        raise TypeError(
            f"a nn.Parameter is filled, got {type(tensor).__name__}; the functions without an underscore make arrays"
        )
    return tensor.data.shape


def _filled(tensor: Parameter, array: np.ndarray) -> Parameter:
    tensor.data = array
    return tensor
