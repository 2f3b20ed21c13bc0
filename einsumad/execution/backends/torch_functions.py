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
    "gammaln",
    "i0",
    "i0e",
    "i1",
    "log_ndtr",
    "ndtr",
    "ndtri",
    "xlog1py",
    "xlogy",
    "zeta",
)
_OTHERWISE = {
    "j0": "bessel_j0",
    "j1": "bessel_j1",
    "y0": "bessel_y0",
    "y1": "bessel_y1",
    "k0": "modified_bessel_k0",
    "k1": "modified_bessel_k1",
    "k0e": "scaled_modified_bessel_k0",
    "loggamma": "gammaln",
    "psi": "digamma",
}
"""Functions of SciPy by the names that ``torch.special`` has for them."""


def tables(torch: Any) -> tuple[Mapping[str, Function], Mapping[str, Function]]:
    """By NumPy's and by SciPy's names."""
    of = torch.special

    def arrays(function: Function, kind: Function = lambda x: x) -> Callable[..., Array]:
        """Takes numbers of Python for one of two arrays."""

        def act(x: Any, y: Any) -> Array:
            x, y = (torch.full_like(b, a) if isinstance(a, (int, float)) else a for a, b in ((x, y), (y, x)))
            return function(kind(x), kind(y))

        return act

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
    special |= {name: arrays(special[name]) for name in ("xlog1py", "xlogy", "zeta")}
    special |= {name: arrays(getattr(torch, own)) for name, own in (("gammainc", "igamma"), ("gammaincc", "igammac"))}
    special |= {
        "betaln": arrays(betaln),
        "erfcinv": lambda x: -of.ndtri(x / 2) / sqrt(2),
        "gamma": gamma,
        "gammasgn": gammasgn,
        "logit": torch.logit,
        "rgamma": rgamma,
    }
    named: dict[str, Function] = {"exp2": torch.exp2, "fmax": arrays(torch.fmax), "fmin": arrays(torch.fmin)}
    named |= {"fmod": arrays(torch.fmod), "heaviside": arrays(torch.heaviside), "logaddexp2": arrays(torch.logaddexp2)}
    return named, special
