"""Ufuncs of scipy.special that are differentiated in all their operands."""

from __future__ import annotations

from tests.surface.tables import Place, enter

GAMMAS: dict[str, tuple[Place, ...]] = {
    "gamma": ((0.6, 3),),
    "gammaln": ((0.6, 3),),
    "loggamma": ((0.6, 3),),
    "rgamma": ((-2.3, 2.5),),
    "gammasgn": ((-0.8, -0.2),),
    "psi": ((0.6, 3),),
    "digamma": ((0.6, 3),),
    "beta": ((0.6, 2), (0.6, 2)),
    "betaln": ((0.6, 2), (0.6, 2)),
    "poch": ((0.5, 2), (0.3, 2)),
    "binom": ((2.5, 4), (0.3, 1.5)),
}
ERRORS: dict[str, tuple[Place, ...]] = {
    "erf": ((-2, 2),),
    "erfc": ((-2, 2),),
    "erfcx": ((-1, 2),),
    "erfi": ((-1.5, 1.5),),
    "erfinv": ((-0.8, 0.8),),
    "erfcinv": ((0.3, 1.7),),
    "dawsn": ((-2, 2),),
    "ndtr": ((-2, 2),),
    "log_ndtr": ((-3, 2),),
    "ndtri": ((0.15, 0.85),),
    "ndtri_exp": ((-2, -0.2),),
    "owens_t": ((-2, 2), (-2, 2)),
    "fresnel": ((-1.5, 1.5),),
}
EXPONENTIALS: dict[str, tuple[Place, ...]] = {
    "expit": ((-3, 3),),
    "logit": ((0.15, 0.85),),
    "log_expit": ((-3, 3),),
    "exp1": ((0.5, 3),),
    "expi": ((0.5, 3),),
    "shichi": ((0.5, 2.5),),
    "sici": ((0.5, 2.5),),
    "wrightomega": ((-1.5, 3),),
    "exprel": ((-2, 2),),
    "spence": ((0.4, 2.5),),
    "cbrt": ((0.5, 3),),
    "exp2": ((-2, 2),),
    "exp10": ((-1, 1),),
    "expm1": ((-2, 2),),
    "log1p": ((-0.5, 2),),
    "cosm1": ((-2, 2),),
    "powm1": ((0.5, 2), (-2, 2)),
    "xlogy": ((-2, 2), (0.5, 2)),
    "xlog1py": ((-2, 2), (-0.5, 2)),
    "entr": ((0.3, 2),),
    "rel_entr": ((0.3, 2), (0.3, 2)),
    "kl_div": ((0.3, 2), (0.3, 2)),
    "softplus": ((-3, 3),),
    "sinc": ((-2, 2),),
}
BESSEL: dict[str, tuple[Place, ...]] = {
    **dict.fromkeys(("j0", "j1"), ((-3, 3),)),
    **dict.fromkeys(("y0", "y1", "k0", "k1", "k0e", "k1e"), ((0.5, 3),)),
    **dict.fromkeys(("i0", "i1"), ((-2, 2),)),
    **dict.fromkeys(("i0e", "i1e"), ((0.2, 2),)),
    **dict.fromkeys(("ber", "bei", "berp", "beip", "ker", "kei", "kerp", "keip"), ((0.5, 3),)),
    "airy": ((-2, 2),),
    **dict.fromkeys(("itj0y0", "iti0k0", "itstruve0", "itmodstruve0"), ((0.5, 3),)),
}
ELLIPTIC: dict[str, tuple[Place, ...]] = {
    "ellipk": ((-1, 0.7),),
    "ellipkm1": ((0.3, 1.7),),
    "ellipe": ((-1, 0.7),),
    "elliprc": ((0.3, 2), (0.4, 2)),
    "agm": ((0.4, 2), (0.4, 2)),
}
TRANSFORMATIONS: dict[str, tuple[Place, ...]] = {
    "sindg": ((-80, 80),),
    "cosdg": ((-80, 80),),
    "tandg": ((-40, 40),),
    "cotdg": ((40, 80),),
    "radian": ((-90, 90), (-30, 30), (-30, 30)),
    "boxcox": ((0.5, 2), (-1.5, 1.5)),
    "boxcox1p": ((-0.4, 1.5), (-1.5, 1.5)),
    "inv_boxcox": ((-0.6, 0.6), (-1, 1)),
    "inv_boxcox1p": ((-0.6, 0.6), (-1, 1)),
    "huber": ((1.1, 2), (-0.9, 0.9)),
    "pseudo_huber": ((0.4, 2), (-2, 2)),
    "nrdtrimn": ((0.2, 0.8), (0.5, 2), (-2, 2)),
    "nrdtrisd": ((-2, 2), (0.65, 0.85), (-2, 2)),
    "round": ((0.6, 1.4),),
}

for _table in (GAMMAS, ERRORS, EXPONENTIALS, BESSEL, ELLIPTIC, TRANSFORMATIONS):
    enter(_table)

enter({"itairy": ((-2, 2),)}, accuracy=1e-7)
enter({"huber": ((0.3, 0.9), (1.1, 2))}, what=", outside")
enter({"elliprc": ((0.3, 2), (-2, -0.4))}, what=", principal value")
enter({"expi": ((-3, -0.5),), "shichi": ((-2.5, -0.5),)}, what=", negative")
enter({"gamma": ((-1.8, -1.2),), "gammaln": ((-1.8, -1.2),), "psi": ((-1.8, -1.2),)}, what=", negative")
enter({"boxcox": ((0.5, 2), [0, 1, -0.5, 2.0])}, what=", plain exponents")
