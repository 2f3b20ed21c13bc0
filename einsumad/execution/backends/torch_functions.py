"""Functions of entries that PyTorch has beside those of the standard.

Owns their table. PyTorch is given. Invariant: as in :mod:`einsumad.execution.backends.standard_functions`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import sqrt
from typing import Any

from einsumad.execution.backends.library import Array, Function

_SAME = (
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "expit",
    "i0",
    "i0e",
    "i1",
    "log_ndtr",
    "ndtr",
    "ndtri",
    "xlog1py",
    "xlogy",
)
_OTHERWISE = {
    "k0": "modified_bessel_k0",
    "k1": "modified_bessel_k1",
    "k0e": "scaled_modified_bessel_k0",
    "psi": "digamma",
}
"""Functions of SciPy by the names that ``torch.special`` has for them. Its J and Y have half of the digits only."""


def tables(torch: Any) -> tuple[Mapping[str, Function], Mapping[str, Function]]:
    """By NumPy's and by SciPy's names."""
    of = torch.special

    def arrays(function: Function, kind: Function = lambda x: x) -> Callable[..., Array]:
        """Takes numbers of Python for one of two arrays."""

        def act(x: Any, y: Any) -> Array:
            x, y = (torch.full_like(b, a) if isinstance(a, (int, float)) else a for a, b in ((x, y), (y, x)))
            return function(kind(x), kind(y))

        return act

    def gammaln(x: Array) -> Array:
        return torch.where(x == -torch.inf, x, of.gammaln(x))

    def zeta(exponent: Array, q: Array) -> Array:
        far = (q == torch.inf) & (exponent > 1)
        return torch.where(far, 0.0, of.zeta(exponent, torch.where(far, 1.0, q)))

    def gammasgn(x: Array) -> Array:
        sign = torch.where(torch.remainder(torch.floor(x), 2) == 0, 1.0, -1.0).to(x.dtype)
        pole = (x == torch.floor(x)) | torch.isnan(x)
        sign = torch.where(pole, torch.where(x == 0, torch.copysign(torch.ones_like(x), x), torch.nan), sign)
        return torch.where(x > 0, torch.ones_like(x), sign)

    def gamma(x: Array) -> Array:
        return torch.where(x == -torch.inf, torch.nan, gammasgn(x) * torch.exp(of.gammaln(x)))

    def rgamma(x: Array) -> Array:
        pole = (x <= 0) & (x == torch.floor(x))
        return torch.where(pole, torch.zeros_like(x), gammasgn(x) * torch.exp(-of.gammaln(x)))

    def betaln(x: Any, y: Any) -> Array:
        return of.gammaln(x) + of.gammaln(y) - of.gammaln(x + y)

    special: dict[str, Function] = {name: getattr(of, name) for name in _SAME}
    special |= {name: getattr(of, own) for name, own in _OTHERWISE.items()}
    special |= {name: arrays(special[name]) for name in ("xlog1py", "xlogy")}
    special |= {name: arrays(getattr(torch, own)) for name, own in (("gammainc", "igamma"), ("gammaincc", "igammac"))}
    special |= {
        "betaln": arrays(betaln),
        "erfcinv": lambda x: -of.ndtri(x / 2) / sqrt(2),
        "gamma": gamma,
        "gammaln": gammaln,
        "gammasgn": gammasgn,
        "loggamma": lambda x: torch.where(x < 0, torch.nan, gammaln(x)),
        "logit": torch.logit,
        "rgamma": rgamma,
        "zeta": arrays(zeta),
    }
    named: dict[str, Function] = {"exp2": torch.exp2, "fmax": arrays(torch.fmax), "fmin": arrays(torch.fmin)}
    named |= {"fmod": arrays(torch.fmod), "logaddexp2": arrays(torch.logaddexp2)}
    return named, special
