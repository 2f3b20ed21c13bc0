"""Functions of entries that PyTorch has beside those of the standard.

Owns their table. PyTorch is given. Invariant: as in :mod:`einsumad.execution.backends.standard_functions`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import sqrt
from typing import Any

from einsumad.execution.backends.array_library import Array, Function

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

    def arrays(function: Function) -> Callable[..., Array]:
        """Takes a number of Python for one of two arrays."""

        def act(x: Any, y: Any) -> Array:
            first, second = (torch.full_like(b, a) if isinstance(a, (int, float)) else a for a, b in ((x, y), (y, x)))
            return function(first, second)

        return act

    special: dict[str, Function] = {name: getattr(of, name) for name in _SAME}
    special |= {name: getattr(of, own) for name, own in _OTHERWISE.items()}
    special |= _gammas(torch)
    special |= {"gammainc": torch.igamma, "gammaincc": torch.igammac, "logit": torch.logit}
    special["erfcinv"] = lambda x: -of.ndtri(x / 2) / sqrt(2)
    of_two = ("betaln", "gammainc", "gammaincc", "xlog1py", "xlogy", "zeta")
    special |= {name: arrays(special[name]) for name in of_two}
    named: dict[str, Function] = {"exp2": torch.exp2}
    named |= {name: arrays(getattr(torch, name)) for name in ("fmax", "fmin", "fmod", "logaddexp2")}
    return named, special


def _gammas(torch: Any) -> dict[str, Function]:
    """The gamma function and its kin, by its logarithm and its sign; zeta, which is 0 far out."""
    of = torch.special

    def gammaln(x: Array) -> Array:
        return torch.where(x == -torch.inf, x, of.gammaln(x))

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

    def zeta(exponent: Array, q: Array) -> Array:
        far = (q == torch.inf) & (exponent > 1)
        return torch.where(far, 0.0, of.zeta(exponent, torch.where(far, 1.0, q)))

    return {
        "betaln": lambda x, y: of.gammaln(x) + of.gammaln(y) - of.gammaln(x + y),
        "gamma": gamma,
        "gammaln": gammaln,
        "gammasgn": gammasgn,
        "loggamma": lambda x: torch.where(x < 0, torch.nan, gammaln(x)),
        "rgamma": rgamma,
        "zeta": zeta,
    }
