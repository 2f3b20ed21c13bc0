"""Initialisers: arrays of given shapes, and parameters that are filled.

Owns nothing but the names. Imports both.
"""

from einsumad.nn.filling import (
    constant_,
    kaiming_normal_,
    kaiming_uniform_,
    normal_,
    ones_,
    orthogonal_,
    uniform_,
    xavier_normal_,
    xavier_uniform_,
    zeros_,
)
from einsumad.nn.initialisation import (
    calculate_gain,
    fans,
    he_normal,
    he_uniform,
    orthogonal,
    uniform_by_fan_in,
    xavier_normal,
    xavier_uniform,
    zeros,
)

__all__ = [
    "calculate_gain",
    "constant_",
    "fans",
    "he_normal",
    "he_uniform",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "orthogonal",
    "orthogonal_",
    "uniform_",
    "uniform_by_fan_in",
    "xavier_normal",
    "xavier_normal_",
    "xavier_uniform",
    "xavier_uniform_",
    "zeros",
    "zeros_",
]
