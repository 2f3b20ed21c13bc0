"""The functions of SymPy that have counterparts for real arrays, and why others have none.

Owns these tables. Imports nothing. Invariant: a counterpart has the values of SymPy's function wherever those are real
and is NaN elsewhere, and its conventions of arguments; where its operands must be numbers, a condition says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

_REAL_FROM_0 = "({} * np.where(np.greater_equal({{0}}, 0), 1, np.nan))"

CALLS: Mapping[str, str] = {
    "exp": "np.exp({0})",
    "log": "np.log({0})",
    "Abs": "np.abs({0})",
    "sign": "np.sign({0})",
    "floor": "np.floor({0})",
    "ceiling": "np.ceil({0})",
    "Mod": "np.mod({0}, {1})",
    "Heaviside": "np.heaviside({0}, {1})",
    "atan2": "np.arctan2({0}, {1})",
    "expm1": "np.expm1({0})",
    "log1p": "np.log1p({0})",
    "exp2": "np.exp2({0})",
    "log2": "np.log2({0})",
    "log10": "np.log10({0})",
    "Sqrt": "np.sqrt({0})",
    "Cbrt": "np.cbrt({0})",
    "hypot": "np.hypot({0}, {1})",
    "erf": "special.erf({0})",
    "erfc": "special.erfc({0})",
    "erfinv": "special.erfinv({0})",
    "erfcinv": "special.erfcinv({0})",
    "gamma": "special.gamma({0})",
    "factorial": "special.gamma({0} + 1)",
    "digamma": "special.psi({0})",
    "beta": "special.beta({0}, {1})",
    "sin": "np.sin({0})",
    "cos": "np.cos({0})",
    "tan": "np.tan({0})",
    "asin": "np.arcsin({0})",
    "acos": "np.arccos({0})",
    "atan": "np.arctan({0})",
    "sinh": "np.sinh({0})",
    "cosh": "np.cosh({0})",
    "tanh": "np.tanh({0})",
    "asinh": "np.arcsinh({0})",
    "acosh": "np.arccosh({0})",
    "atanh": "np.arctanh({0})",
    "asec": "np.arccos(1 / {0})",
    "acsc": "np.arcsin(1 / {0})",
    "acsch": "np.arcsinh(1 / {0})",
    "acoth": "np.arctanh(1 / {0})",
    "Equality": "np.equal({0}, {1})",
    "Unequality": "np.not_equal({0}, {1})",
    "StrictLessThan": "np.less({0}, {1})",
    "LessThan": "np.less_equal({0}, {1})",
    "StrictGreaterThan": "np.greater({0}, {1})",
    "GreaterThan": "np.greater_equal({0}, {1})",
    "Not": "np.logical_not({0})",
    "cot": "(np.cos({0}) / np.sin({0}))",
    "acot": "np.arctan2(np.where(np.less({0}, 0), -1, 1), np.where(np.less({0}, 0), -1, 1) * {0})",
    "asech": "(np.log1p(np.sqrt((1 - {0}) * (1 + {0}))) - np.log({0}))",
    "loggamma": "(special.gammaln({0}) * np.where(np.greater({0}, 0), 1, np.nan))",
    "trigamma": "special.polygamma(1, {0})",
    "RisingFactorial": "special.poch({0}, {1})",
    "FallingFactorial": "special.poch({0} - {1} + 1, {1})",
    "erfi": "special.erfi({0})",
    "erf2": "(special.erf({1}) - special.erf({0}))",
    "Si": "special.sici({0})[0]",
    "Ci": _REAL_FROM_0.format("special.sici({0})[1]"),
    "Shi": "special.shichi({0})[0]",
    "Chi": _REAL_FROM_0.format("special.shichi({0})[1]"),
    "Ei": "special.expi({0})",
    "li": "special.expi(np.log({0}))",
    "Li": "(special.expi(np.log({0})) - 1.0451637801174928)",
    "fresnels": "special.fresnel({0})[0]",
    "fresnelc": "special.fresnel({0})[1]",
    "airyai": "special.airy({0})[0]",
    "airyaiprime": "special.airy({0})[1]",
    "airybi": "special.airy({0})[2]",
    "airybiprime": "special.airy({0})[3]",
    "sinc": "np.sinc({0} / np.pi)",
    "elliptic_k": "special.ellipk({0})",
    "elliptic_f": "special.ellipkinc({0}, {1})",
    "betainc_regularized": "(special.betainc({0}, {1}, {3}) - special.betainc({0}, {1}, {2}))",
    "betainc": "(special.beta({0}, {1}) * (special.betainc({0}, {1}, {3}) - special.betainc({0}, {1}, {2})))",
}
"""By name a template of the arguments."""

_Args = Any
_ORDER = "its order has to be a number: give it in parameters="
_WHOLE = "its order has to be a whole number that is not negative: give it in parameters="


def _is_number(*, least: float = float("-inf"), whole: bool = False) -> Callable[[_Args], bool]:
    """Whether the first argument is a real number from `least` on, a whole one if asked for."""
    return lambda args: bool(
        args[0].is_number and args[0].is_comparable and args[0] >= least and (args[0].is_Integer or not whole)
    )


def _is_positive(args: _Args) -> bool:
    return _is_number()(args) and bool(args[0] > 0)


def _counts(above: int, below: int) -> Callable[[_Args], bool]:
    return lambda args: (len(args[0]), len(args[1])) == (above, below)


CHOICES: Mapping[str, tuple[tuple[Callable[[_Args], bool], str], ...]] = {
    "polygamma": (
        (lambda args: bool(args[0] == 0), "special.psi({1})"),
        (_is_number(least=0, whole=True), "special.polygamma({0}, {1})"),
    ),
    "besselj": ((_is_number(), "special.jv({0}, {1})"),),
    "bessely": ((_is_number(), "special.yv({0}, {1})"),),
    "besseli": ((_is_number(), "special.iv({0}, {1})"),),
    "besselk": ((_is_number(), "special.kv({0}, {1})"),),
    "jn": ((_is_number(least=0, whole=True), "special.spherical_jn({0}, {1})"),),
    "yn": ((_is_number(least=0, whole=True), "special.spherical_yn({0}, {1})"),),
    "expint": ((_is_number(least=0, whole=True), "special.expn({0}, {1})"),),
    "zeta": ((lambda args: len(args) == 2 and bool(_is_number(least=1)(args)), "special.zeta({0}, {1})"),),
    "polylog": ((lambda args: bool(args[0] == 2), "special.spence(1 - {1})"),),
    "lowergamma": ((_is_positive, "(special.gamma({0}) * special.gammainc({0}, {1}))"),),
    "uppergamma": ((_is_positive, "(special.gamma({0}) * special.gammaincc({0}, {1}))"),),
    "elliptic_e": (
        (lambda args: len(args) == 1, "special.ellipe({0})"),
        (lambda args: len(args) == 2, "special.ellipeinc({0}, {1})"),
    ),
    "hyper": (
        (_counts(0, 1), "special.hyp0f1({0}, {1})"),
        (_counts(1, 1), "special.hyp1f1({0}, {1}, {2})"),
        (_counts(2, 1), "special.hyp2f1({0}, {1}, {2}, {3})"),
    ),
}
"""By name conditions on the arguments with a template for each; nested arguments count one after the other."""

REASONS: Mapping[str, str] = {
    "polygamma": _WHOLE,
    "besselj": _ORDER,
    "bessely": _ORDER,
    "besseli": _ORDER,
    "besselk": _ORDER,
    "jn": _WHOLE,
    "yn": _WHOLE,
    "expint": _WHOLE,
    "zeta": "the derivative of zeta(s) in s is a series: zeta(s, a) with a number s from 1 on is differentiated in a",
    "polylog": "its derivative in z divides by z: polylog(2, z) is there, and others only where SymPy expands them",
    "lowergamma": "its first argument has to be a positive number: give it in parameters=",
    "uppergamma": "its first argument has to be a positive number: give it in parameters=",
    "LambertW": "no row has its values below 0; above, scipy.special.wrightomega(np.log(x)) has, of traced values too",
    "DiracDelta": "it is no function, but all in one point: beside that it is 0, as derivatives of jumps are here",
    "hankel1": "its values are complex: besselj and bessely are its parts",
    "hankel2": "its values are complex: besselj and bessely are its parts",
    "elliptic_pi": "its derivatives divide by differences of its arguments: elliptic_f and elliptic_e are there",
}
"""By name why a function is refused, where more can be said than that it is unknown."""

OTHERWISE = "write it with other functions"
