"""Independent values, by mpmath, for the rows of special functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath as mp

from tests.functions.special_params import SPECIAL_PARAMS


@dataclass(frozen=True)
class Case:
    """A row, an independent function and the row's parameters; at how many points the two are compared, in what digits.

    An integral is given with its derivative as `slope`. `error` is that of SciPy's own value, where it is large.
    """

    name: str
    oracle: Callable[..., Any]
    params: tuple[int | float, ...] = ()
    count: int = 6
    digits: int = 50
    slope: Callable[..., Any] | None = None
    error: float = 0

    def __str__(self) -> str:
        return "-".join(map(str, (self.name, *self.params)))


def one(name: str, oracle: Callable[..., Any], *params: float) -> Case:
    """A case of few points: these functions are slow in many digits."""
    return Case(name, oracle, params, 2, 20)


def family(name: str, oracle: Callable[..., Any]) -> list[Case]:
    """A case for each of the row's parameters; the oracle is given them first."""
    return [one(name, lambda *x, p=params: oracle(*p, *x), *params) for params in SPECIAL_PARAMS[name]]


def half(x: Any) -> Any:
    return mp.sqrt(mp.pi / (2 * x))


def normalised(first: Any, second: Any) -> Any:
    return first / (first + second)


def beta_share(a: Any, b: Any, x: Any) -> Any:
    return mp.betainc(a, b, 0, x, regularized=True)


def gamma_share(a: Any, x: Any) -> Any:
    return mp.gammainc(a, 0, x, regularized=True)


def solved(function: Callable[[Any], Any], start: Any, target: Any) -> Any:
    return mp.findroot(lambda x: function(x) - target, start)


def kelvin(kind: int, order: int, x: Any) -> Any:
    return (mp.ber, mp.bei, mp.ker, mp.kei)[kind](order, x)


def integrals(name: str, integrand: Callable[..., Any], error: float = 0) -> list[Case]:
    """Integrals from 0 on, for each of the row's parameters."""
    return [
        Case(
            name,
            lambda x, p=p: mp.quad(lambda t: integrand(*p, t), [0, x]),
            p,
            1,
            15,
            lambda x, p=p: integrand(*p, x),
            error,
        )
        for p in SPECIAL_PARAMS[name]
    ]


def cylinder(kind: int, v: Any, slope: int, x: Any) -> Any:
    function = (mp.pcfd, lambda order, t: mp.pcfv(-order - mp.mpf(0.5), t), mp.pcfw)[kind]
    return mp.diff(lambda t: function(mp.mpf(v), t), x, slope)


def wright(a: Any, b: Any, x: Any) -> Any:
    return mp.nsum(lambda k: x**k / mp.factorial(k) * mp.rgamma(a * k + b), [0, 60], method="direct")


def boxcox(x: Any, p: Any) -> Any:
    return mp.log(x) if p == 0 else (x**p - 1) / p


def angle(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: function(x * mp.pi / 180)


def owen(h: Any, a: Any) -> Any:
    return mp.quad(lambda t: mp.exp(-h * h * (1 + t * t) / 2) / (1 + t * t), [0, a]) / (2 * mp.pi)


def student(v: Any, t: Any) -> Any:
    share = mp.betainc(v / 2, mp.mpf(1) / 2, 0, v / (v + t * t), regularized=True) / 2
    return share if t < 0 else 1 - share


GAMMAS = [
    one("loggamma", mp.loggamma),
    one("gammasgn", lambda x: mp.sign(mp.gamma(x))),
    Case("rgamma", mp.rgamma, (), 6, 20),
    one("rgamma_slope", lambda x: -mp.psi(0, x) * mp.rgamma(x)),
    one("poch", lambda z, m: mp.gamma(z + m) * mp.rgamma(z)),
    one("binom", mp.binomial),
    one("sinpi", mp.sinpi),
    one("cospi", mp.cospi),
    *family("polygamma_gap", lambda k, z, m: mp.psi(k, z + m) - mp.psi(k, z)),
    one("beta_conjugate", lambda a, b: mp.gamma(a) * mp.gamma(b) * mp.gamma(1 - a - b)),
    one("hurwitz_zeta", mp.zeta),
    one("gamma_density", lambda p, c, x: x**p * mp.exp(-x - c)),
    *family("beta_density", lambda s, p, q, c, x: x**p * (1 + s * x) ** q * mp.exp(-c)),
    one("gammainc", gamma_share),
    one("gammaincc", lambda a, x: 1 - gamma_share(a, x)),
    one("gammaincinv", lambda a, y: solved(lambda x: gamma_share(a, x), a * mp.mpf(0.6), y)),
    one("gammainccinv", lambda a, y: solved(lambda x: gamma_share(a, x), a * mp.mpf(0.6), 1 - y)),
    one("betainc", beta_share),
    one("betaincc", lambda a, b, x: 1 - beta_share(a, b, x)),
    one("betaincinv", lambda a, b, y: solved(lambda x: beta_share(a, b, x), normalised(a, b), y)),
    one("betainccinv", lambda a, b, y: solved(lambda x: beta_share(a, b, x), normalised(a, b), 1 - y)),
]
BESSEL = [
    *family("bessel_y", mp.bessely),
    *family("bessel_k", mp.besselk),
    one("bessel_j", lambda x: mp.besselj(mp.mpf(1.5), x), 1.5),
    one("bessel_i", lambda x: mp.besseli(mp.mpf(2.5), x), 2.5),
    *family("bessel_ie", lambda v, _, x: mp.besseli(v, x) * mp.exp(-x)),
    *family("bessel_ke", lambda v, _, x: mp.besselk(v, x) * mp.exp(x)),
    *family("spherical_j", lambda n, x: half(x) * mp.besselj(n + mp.mpf(0.5), x)),
    *family("spherical_y", lambda n, x: half(x) * mp.bessely(n + mp.mpf(0.5), x)),
    *family("spherical_i", lambda n, x: half(x) * mp.besseli(n + mp.mpf(0.5), x)),
    *family("spherical_k", lambda n, x: half(x) * mp.besselk(n + mp.mpf(0.5), x)),
    *family("struve", mp.struveh),
    *family("modstruve", mp.struvel),
    *family("kelvin", kelvin),
    *family("kelvin_slope", lambda kind, x: mp.diff(lambda t: kelvin(kind, 0, t), x)),
    *family("airy", lambda k, x: (mp.airyai if k < 2 else mp.airybi)(x, derivative=k % 2)),
    *family("parabolic_cylinder", cylinder),
    *integrals("integral_bessel", lambda k, x: (mp.besselj, mp.bessely, mp.besseli, mp.besselk)[k](0, x)),
    *integrals("integral_airy", lambda k, x: (mp.airybi if k % 2 else mp.airyai)(x if k < 2 else -x), 1e-5),
    *integrals("integral_struve", lambda k, x: (mp.struveh, mp.struvel)[k](0, x)),
    *[
        Case(
            "bessel_moment", lambda a, p=p: mp.quad(lambda t: t ** p[0] * mp.besselj(p[1], 2 * a * t), [0, 1]), p, 1, 15
        )
        for p in SPECIAL_PARAMS["bessel_moment"]
    ],
]
INTEGRALS = [
    *family("x_over_expm1", lambda n, x: mp.diff(lambda t: t / mp.expm1(t), x, n)),
    *family("erfcx", lambda n, x: mp.diff(lambda t: mp.exp(t * t) * mp.erfc(t), x, n)),
    one("erfi", mp.erfi),
    one("dawson", lambda x: mp.exp(-x * x) * mp.erfi(x) * mp.sqrt(mp.pi) / 2),
    one("ndtri_exp", lambda y: mp.sqrt(2) * mp.erfinv(2 * mp.exp(y) - 1)),
    *family("fresnel", lambda k, x: (mp.fresnels, mp.fresnelc)[k](x)),
    one("exp1", mp.e1),
    one("expi", mp.ei),
    *family("expn", mp.expint),
    *family("integral_of_quotient", lambda k, x: (mp.shi, mp.chi, mp.si, mp.ci)[k](x)),
    one("wrightomega", lambda x: mp.lambertw(mp.exp(x))),
]
HYPERGEOMETRIC = [
    one("hyp0f1", mp.hyp0f1),
    one("hyp1f1", mp.hyp1f1),
    one("hyp2f1", mp.hyp2f1),
    one("hyperu", mp.hyperu),
    one("exprel", lambda x: mp.expm1(x) / x),
    one("spence", lambda z: mp.polylog(2, 1 - z)),
    one("wright_bessel", wright),
    one("log_wright_bessel", lambda a, b, x: mp.log(wright(a, b, x))),
]
ELLIPTIC = [
    Case("ellipk", mp.ellipk, count=3),
    Case("ellipe", mp.ellipe, count=3),
    one("ellipem1", lambda p: mp.ellipe(1 - p)),
    Case("ellipkm1", lambda p: mp.ellipk(1 - p), count=3),
    one("elliprc", mp.elliprc),
    one("ellipkinc", mp.ellipf),
    one("ellipeinc", mp.ellipe),
    *family(
        "jacobi_elliptic",
        lambda k, u, m: (
            mp.ellipfun(("sn", "cn", "dn")[k], u=u, m=m) if k < 3 else solved(lambda phi: mp.ellipf(phi, m), u, u)
        ),
    ),
]
POLYNOMIALS = [
    *family("jacobi", mp.jacobi),
    *family("gegenbauer", mp.gegenbauer),
    *family("laguerre", mp.laguerre),
    *family("hermite", mp.hermite),
    *family("hermite_normal", lambda n, x: mp.hermite(n, x / mp.sqrt(2)) / mp.sqrt(2) ** n),
    *family("chebyshev", mp.chebyt),
]
TRANSFORMATIONS = [
    one("exp10", lambda x: mp.power(10, x)),
    one("cosm1", lambda x: mp.cos(x) - 1),
    one("sindg", angle(mp.sin)),
    one("cosdg", angle(mp.cos)),
    one("tandg", angle(mp.tan)),
    one("cotdg", angle(mp.cot)),
    one("powm1", lambda x, y: x**y - 1),
    Case("boxcox", boxcox, count=3),
    one("boxcox1p", lambda x, p: boxcox(1 + x, p)),
    Case("inv_boxcox", lambda y, p: (1 + p * y) ** (1 / p), count=3),
    one("inv_boxcox1p", lambda y, p: (1 + p * y) ** (1 / p) - 1),
    Case("huber", lambda d, r: r * r / 2 if abs(r) <= d else d * (abs(r) - d / 2)),
    one("pseudo_huber", lambda d, r: d * (mp.sqrt(d * d + r * r) - d)),
    Case("owens_t", owen, (), 1, 15),
    one("stdtr", student),
    one("stdtrit", lambda v, p: solved(lambda t: student(v, t), mp.sqrt(2) * mp.erfinv(2 * p - 1), p)),
    one("tklmbda", lambda x, e: solved(lambda p: (p**e - (1 - p) ** e) / e - x, mp.mpf(0.45), 0)),
]
SPECIAL_CASES = [
    *GAMMAS,
    *BESSEL,
    *INTEGRALS,
    *HYPERGEOMETRIC,
    *ELLIPTIC,
    *POLYNOMIALS,
    *TRANSFORMATIONS,
]
