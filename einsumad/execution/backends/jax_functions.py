"""Functions of entries that JAX has by NumPy's and by SciPy's names.

Owns the lists of them. JAX is given. Invariant: as in :mod:`einsumad.execution.backends.standard_functions`.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Any

from einsumad.execution.backends.array_library import Array, Function

_NUMPY = (
    "cbrt",
    "copysign",
    "exp2",
    "fmax",
    "fmin",
    "fmod",
    "heaviside",
    "hypot",
    "logaddexp",
    "logaddexp2",
    "polyval",
    "reciprocal",
)
_SPECIAL = (
    "betainc",
    "betaln",
    "entr",
    "erf",
    "erfc",
    "erfinv",
    "expit",
    "gamma",
    "gammainc",
    "gammaincc",
    "gammasgn",
    "i0",
    "i0e",
    "i1",
    "log_ndtr",
    "logit",
    "ndtr",
    "ndtri",
    "xlog1py",
    "xlogy",
)


def tables(jnp: Any, own: Any) -> tuple[Mapping[str, Function], Mapping[str, Function]]:
    """By NumPy's and by SciPy's names."""

    def zeta(exponent: Any, q: Any) -> Array:
        far = (q == jnp.inf) & (exponent > 1)
        value = jnp.where(far, 0.0, own.zeta(exponent, jnp.where(far, 1.0, q)))
        return jnp.where(exponent < 1, jnp.nan, value)

    special: dict[str, Function] = {name: getattr(own, name) for name in _SPECIAL if hasattr(own, name)}
    special |= {
        "erfcinv": lambda x: -own.ndtri(x / 2) / sqrt(2),
        "gammaln": lambda x: jnp.where(x == -jnp.inf, x, own.gammaln(x)),
        "loggamma": lambda x: jnp.where(x < 0, jnp.nan, own.gammaln(x)),
        "psi": lambda x: jnp.where(x == 0, -1 / x, own.digamma(x)),
        "zeta": zeta,
    }
    named: dict[str, Function] = {name: getattr(jnp, name) for name in _NUMPY}
    named["polyval"] = lambda coefficients, x: jnp.polyval(jnp.asarray(coefficients, x.dtype), x)
    return named, special
