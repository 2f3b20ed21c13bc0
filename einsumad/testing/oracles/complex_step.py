"""The complex step: the first derivative of an analytic function without a difference.

Owns this oracle. Imports the subject and the estimate. Invariant: it says nothing about a function that refuses
complex arguments or answers with real numbers; it may be wrong about one that is not analytic (absolute values,
comparisons), so its values count only where differences confirm them.

``Im f(x + i h v) / h`` has an error of order h² and no cancellation, so h can be as small as one likes (W. Squire,
G. Trapp, *Using complex variables to estimate derivatives of real functions*, SIAM Review 40, 1998).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from einsumad.testing.oracles.estimate import Estimate, single
from einsumad.testing.point import Array
from einsumad.testing.subject import Subject

_STEP = 2.0**-80
_UNIT = float(np.finfo(float).eps)
_SAFETY = 8.0


def complex_step(
    subject: Subject, at: Array, direction: Array, wobbles: tuple[Array, ...], noise: Array
) -> Estimate | None:
    """The derivative along a direction, or None where the function does not take complex arguments.

    Its error is how much it differs at `wobbles`, which are points very near, and the `noise` of real values: what
    rounding does to them it does to the complex ones too.
    """
    if subject.point.is_complex:
        return None
    values: list[Array] = []
    for base in (at, *wobbles):
        value = _imaginary(subject, base, direction)
        if value is None:
            return None
        values.append(value)
    with np.errstate(all="ignore"):
        spread = np.max(np.abs(np.stack(values) - values[0]), axis=0)
        error = _SAFETY * (spread + noise + _UNIT * np.abs(values[0]))
    return single(values[0], np.where(np.isfinite(error), error, np.inf), "complex step")


def _imaginary(subject: Subject, at: Array, direction: Array) -> Array | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            value: Any = subject.analytic(at + 1j * _STEP * direction)
    except Exception:  # noqa: BLE001 - a function of real numbers may do as it likes with complex ones
        return None
    if value.dtype.kind != "c" or value.size != subject.flat_size:
        return None
    return np.asarray(value.imag / _STEP, np.float64)
