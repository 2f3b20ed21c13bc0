"""Why public functions of ``scipy.special`` are not differentiated, or in some operands only.

Owns these reasons as data. Imports the record. Invariant: every public name of ``scipy.special`` has a handler, or is
in ``einsumad.scipy.special``, works through others, or stands here once.
"""

from __future__ import annotations

from einsumad.frontend.coverage.verdicts import Verdict, each

_COMPLEX = "its values are complex, and complex numbers are not supported yet"
_PARAMETER = "it solves for a parameter in which the distribution has no closed derivative"
_OBJECT = "it returns a polynomial object with plain coefficients: use the eval_ function of the same name"
_ROOTS = "it returns a table of nodes and weights, which depends on a whole degree"
_ZEROS = "it returns a table of zeros, which depends on whole numbers"
_TABLE = "it returns the values of several orders for one plain number: use the function of one order"
_WHOLE = "it is defined on whole numbers, which are not differentiated"
_SERIES = "its derivative is a series that is not in closed form"
_SPHEROIDAL = "spheroidal wave functions have no closed derivative in their parameters, and none is supported in x"
_MATHIEU = "Mathieu functions have no closed derivative in their parameters, and none is supported in x"
_CARLSON = (
    "its derivatives are Carlson integrals of other weights, whose reduction divides by differences of the operands: "
    "use ellipk, ellipe, ellipkinc or elliprc"
)
_CANCELS = "its derivative is a difference that cancels at 0, and is not supported"
_CONTROL = "it controls errors and takes no arrays"
_ALL = "it returns several orders or derivatives at once: use eval_legendre or lpmv for one"


REASONS: dict[str, Verdict] = {
    **each("SpecialFunctionError SpecialFunctionWarning errstate geterr seterr", "refused", _CONTROL),
    **each("hankel1 hankel1e hankel2 hankel2e h1vp h2vp kelvin lambertw", "refused", _COMPLEX),
    **each("modfresnelm modfresnelp wofz sph_harm_y sph_harm_y_all", "refused", _COMPLEX),
    **each("bdtrik bdtrin btdtria btdtrib chdtriv chndtridf chndtrinc fdtridfd gdtrib", "refused", _PARAMETER),
    **each("nbdtrik nbdtrin ncfdtridfd ncfdtridfn ncfdtrinc nctdtridf nctdtrinc", "refused", _PARAMETER),
    **each("pdtrik stdtridf", "refused", _PARAMETER),
    **each("chndtr chndtrix ncfdtr ncfdtri nctdtr nctdtrit", "refused", _SERIES),
    **each("kolmogorov kolmogi smirnov smirnovi zetac", "refused", _SERIES),
    **each("chebyc chebys chebyt chebyu gegenbauer genlaguerre hermite hermitenorm jacobi", "refused", _OBJECT),
    **each("laguerre legendre sh_chebyt sh_chebyu sh_jacobi sh_legendre", "refused", _OBJECT),
    **each("c_roots cg_roots h_roots he_roots j_roots js_roots l_roots la_roots p_roots ps_roots", "constant", _ROOTS),
    **each("s_roots t_roots ts_roots u_roots us_roots roots_chebyc roots_chebys roots_chebyt", "constant", _ROOTS),
    **each("roots_chebyu roots_gegenbauer roots_genlaguerre roots_hermite roots_hermitenorm", "constant", _ROOTS),
    **each("roots_jacobi roots_laguerre roots_legendre roots_sh_chebyt roots_sh_chebyu", "constant", _ROOTS),
    **each("roots_sh_jacobi roots_sh_legendre", "constant", _ROOTS),
    **each("ai_zeros bei_zeros beip_zeros ber_zeros berp_zeros bi_zeros erf_zeros fresnel_zeros", "constant", _ZEROS),
    **each("fresnelc_zeros fresnels_zeros jn_zeros jnjnp_zeros jnp_zeros jnyn_zeros kei_zeros", "constant", _ZEROS),
    **each("keip_zeros kelvin_zeros ker_zeros kerp_zeros y0_zeros y1_zeros y1p_zeros yn_zeros", "constant", _ZEROS),
    **each("ynp_zeros", "constant", _ZEROS),
    **each("bernoulli euler factorial2 factorialk stirling2", "constant", _WHOLE),
    **each("lmbda lqmn lqn pbdn_seq pbdv_seq pbvv_seq riccati_jn riccati_yn", "refused", _TABLE),
    **each("obl_cv_seq pro_cv_seq mathieu_even_coef mathieu_odd_coef", "refused", _TABLE),
    **each("assoc_legendre_p assoc_legendre_p_all legendre_p legendre_p_all", "refused", _ALL),
    **each("sph_legendre_p sph_legendre_p_all", "refused", _ALL),
    **each("mathieu_a mathieu_b mathieu_cem mathieu_modcem1 mathieu_modcem2", "refused", _MATHIEU),
    **each("mathieu_modsem1 mathieu_modsem2 mathieu_sem", "refused", _MATHIEU),
    **each("obl_ang1 obl_ang1_cv obl_cv obl_rad1 obl_rad1_cv obl_rad2 obl_rad2_cv", "refused", _SPHEROIDAL),
    **each("pro_ang1 pro_ang1_cv pro_cv pro_rad1 pro_rad1_cv pro_rad2 pro_rad2_cv", "refused", _SPHEROIDAL),
    **each("ellip_harm ellip_harm_2 ellip_normal", "refused", "ellipsoidal harmonics have no closed derivative"),
    **each("elliprd elliprf elliprg elliprj", "refused", _CARLSON),
    **each("it2i0k0 it2j0y0 it2struve0", "refused", _CANCELS),
    "airye": Verdict("refused", "the derivatives of the scaled functions cancel for large arguments: use airy"),
    "voigt_profile": Verdict(
        "refused", "its derivative needs the imaginary part of a complex function and is not supported"
    ),
    "riemann_zeta": Verdict("refused", "the derivative of zeta(x) in x is a series: zeta(x, q) is differentiated in q"),
}
"""For each public name that is not differentiated: whether its result is a constant or it is refused, and why."""

CONSTANT: dict[str, str] = {
    "gammasgn": "it is constant but for jumps, so its derivative is 0",
    "round": "it is constant but for jumps, so its derivative is 0",
}
"""Names that have a handler and whose results have a derivative of zero, and the reason."""

THROUGH_OTHERS: dict[str, str] = {
    "assoc_laguerre": "eval_genlaguerre",
    "ivp": "iv",
    "jvp": "jv",
    "kvp": "kv",
    "sinc": "numpy.sinc",
    "softplus": "numpy.logaddexp",
    "yvp": "yv",
    "zeta": "zeta(x, q), in q",
}
"""Functions of SciPy in Python that take traced values, since what they call does."""

_ORDER = "the order is a plain number or array"
_DEGREE = "the degree and the weights are plain numbers or arrays"
_SHAPE = "the derivative in {} is refused"


def _same(names: str, text: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), text)


PARTLY: dict[str, str] = {
    **_same("jv jn jve yv yn yve iv kv kn kve struve modstruve expn besselpoly", _ORDER),
    "ive": f"{_ORDER}, and whole where it is below 0",
    **_same("spherical_jn spherical_yn spherical_in spherical_kn polygamma jvp yvp ivp kvp pbdv pbvv pbwa", _ORDER),
    **_same("eval_chebyc eval_chebys eval_chebyt eval_chebyu eval_sh_chebyt eval_sh_chebyu eval_hermite", _DEGREE),
    **_same("eval_hermitenorm eval_laguerre eval_genlaguerre assoc_laguerre eval_legendre eval_sh_legendre", _DEGREE),
    **_same("eval_gegenbauer eval_jacobi eval_sh_jacobi lpmv", _DEGREE),
    **_same("gammainc gammaincc gammaincinv gammainccinv", _SHAPE.format("a")),
    **_same("betainc betaincc betaincinv betainccinv hyp1f1 hyperu wright_bessel", _SHAPE.format("a and b")),
    **_same("log_wright_bessel", _SHAPE.format("a and b")),
    "hyp0f1": _SHAPE.format("v"),
    "hyp2f1": _SHAPE.format("a, b and c"),
    **_same("ellipkinc ellipeinc ellipj", _SHAPE.format("m")),
    **_same("chdtr chdtrc chdtri", _SHAPE.format("v")),
    **_same("gdtr gdtrc gdtria gdtrix", _SHAPE.format("b")),
    **_same("fdtr fdtrc fdtri", _SHAPE.format("the degrees of freedom")),
    **_same("stdtr stdtrit", _SHAPE.format("the degrees of freedom")),
    **_same("pdtr pdtrc pdtri", _SHAPE.format("k")),
    **_same("bdtr bdtrc bdtri nbdtr nbdtrc nbdtri", _SHAPE.format("k and n")),
    "tklmbda": _SHAPE.format("lmbda"),
    "zeta": _SHAPE.format("x"),
    "diric": "n is a plain whole number or array",
    "multigammaln": "d is a plain whole number",
}
"""For functions that are differentiated in some operands only: what holds of the others."""
