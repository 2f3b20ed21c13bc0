"""Functions of entries that JAX has by NumPy's and by SciPy's names.

Owns the lists of them. JAX is given. Invariant: as in :mod:`einsumad.execution.backends.standard_functions`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from einsumad.execution.backends.library import Function

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
    "beta",
    "betainc",
    "betaln",
    "entr",
    "erf",
    "erfc",
    "erfinv",
    "exp1",
    "expi",
    "expit",
    "gamma",
    "gammainc",
    "gammaincc",
    "gammaln",
    "gammasgn",
    "hyp1f1",
    "hyp2f1",
    "i0",
    "i0e",
    "i1",
    "kl_div",
    "log_ndtr",
    "logit",
    "ndtr",
    "ndtri",
    "poch",
    "rel_entr",
    "spence",
    "xlog1py",
    "xlogy",
    "zeta",
)


def tables(jnp: Any, own: Any) -> tuple[Mapping[str, Function], Mapping[str, Function]]:
    """By NumPy's and by SciPy's names."""
    special: dict[str, Function] = {name: getattr(own, name) for name in _SPECIAL if hasattr(own, name)}
    special |= {"psi": own.digamma, "loggamma": own.gammaln}
    special["erfcinv"] = lambda x: -own.ndtri(x / 2) / 2**0.5
    named: dict[str, Function] = {name: getattr(jnp, name) for name in _NUMPY}
    named["polyval"] = lambda coefficients, x: jnp.polyval(jnp.asarray(coefficients, x.dtype), x)
    return named, special
