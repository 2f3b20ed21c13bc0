"""The Taylor remainder test: the rate at which ``f(x + h v) - f(x) - h Df(x)v`` goes to zero.

Owns this test. Imports nothing of the toolkit. Invariant: the verdict does not depend on a step: the remainder of a
right derivative of order k falls like ``h**(k+1)`` until it meets the noise, that of a wrong one like ``h**k``.

Source: the convergence test of adjoint models (P. E. Farrell et al., *Automated derivation of the adjoint of high-level
transient finite element programs*, SIAM J. Sci. Comput. 35, 2013, section 6).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import factorial
from typing import Any, Literal

import numpy as np

Array = np.ndarray[Any, Any]

_STEPS = tuple([2.0**-k for k in range(4, 22)])
_ENOUGH = 3
_TOLERANCE = 0.2
_ABOVE_NOISE = 32.0
_CHANGE = 1e-4
_UNIT = float(np.finfo(float).eps)


@dataclass(frozen=True, slots=True)
class Rate:
    """The observed and the expected rate of convergence, and what follows from them."""

    observed: float
    expected: int
    verdict: Literal["right", "wrong", "undecided"]


def remainder_rate(line: Callable[[float], Array], derivatives: Sequence[Array], noise: Array) -> Rate:
    """The rate for a line ``t -> f(x + t v)`` with its value and claimed derivatives along v, at t = 0.

    Right: the remainders fall at the expected rate, or are noise at once. Wrong: they fall steadily at a lower one.
    Undecided: too few of them are above the noise, or they follow no power.

    >>> import numpy as np
    >>> sine = lambda t: np.array([np.sin(t)])
    >>> remainder_rate(sine, [np.array([0.0]), np.array([1.0])], np.array([1e-16])).verdict
    'right'
    >>> remainder_rate(sine, [np.array([0.0]), np.array([1.03])], np.array([1e-16])).verdict
    'wrong'
    """
    sizes, floors, terms = [], [], []
    for step in _STEPS:
        powers = [step**k / factorial(k) * derivative for k, derivative in enumerate(derivatives)]
        with np.errstate(all="ignore"):
            value = line(step)
            sizes.append(_largest(value - sum(powers)))
            floors.append(_largest(noise) + _UNIT * max(map(_largest, [value, *powers])))
            terms.append(max(_largest(powers[-1]), _CHANGE * _largest(powers[0])))
    return _judge(np.array(sizes), np.array(floors) * _ABOVE_NOISE, terms[0], len(derivatives))


def _largest(array: Array) -> float:
    return float(np.max(np.abs(array), initial=0.0))


def _judge(sizes: Array, floors: Array, term: float, expected: int) -> Rate:
    """The verdict from remainders at halved steps, what counts as noise at each, and the size of the last term."""
    if not np.all(np.isfinite(sizes)):
        return Rate(float("nan"), expected, "undecided")
    clear = sizes > floors
    last = len(sizes) if clear.all() else int(np.argmin(clear))
    if last == 0:
        return Rate(float("inf"), expected, "right" if floors[0] <= _CHANGE * term else "undecided")
    rates = np.log2(sizes[: last - 1] / sizes[1:last])[-_ENOUGH:]
    if len(rates) < _ENOUGH:
        return Rate(float("nan"), expected, "undecided")
    observed = float(np.median(rates))
    if observed > expected - _TOLERANCE:
        return Rate(observed, expected, "right")
    steady = float(np.ptp(rates)) < _TOLERANCE
    return Rate(observed, expected, "wrong" if steady and observed < expected - 1 + _TOLERANCE else "undecided")
