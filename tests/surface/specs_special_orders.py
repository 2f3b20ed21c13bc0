"""Functions of scipy.special of an order or a degree, which is plain."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from einsumad.scipy import special
from tests.surface.drawing import Drawer
from tests.surface.specs import Call, spec
from tests.surface.tables import Place, enter, entrywise

ORDER: Place = [-1, 0, 0.5, 1, 2, 2.5]
WHOLE: Place = [0, 1, 2, 3]
NATURAL: Place = [1, 2, 3]
WEIGHT: Place = [0.5, 1.0, 1.5]
RIGHT: Place = (0.5, 3)
INSIDE: Place = (-0.8, 0.8)
UNIT: Place = (0.1, 0.9)

BESSEL: dict[str, tuple[Place, ...]] = {
    **dict.fromkeys(("jv", "jve", "yv", "iv", "ive", "kv", "kve"), (ORDER, RIGHT)),
    "jn": (ORDER, RIGHT),
    **dict.fromkeys(("yn", "kn", "expn"), (WHOLE, RIGHT)),
    **dict.fromkeys(("struve", "modstruve"), ([0, 0.5, 1, 2.5], RIGHT)),
    "pbdv": ([0.5, 1, 2.5], (0.3, 2)),
    "pbvv": ([0.5, 1.5, 2.5], (0.3, 2)),  # SciPy's is NaN in float32 for whole orders
    "pbwa": ([-1, 0.5, 1, 2.5], (0.3, 2)),
    "besselpoly": ((0.3, 2), [0, 0.5, 1], [0, 1, 2]),
}
POLYNOMIALS: dict[str, tuple[Place, ...]] = {
    **dict.fromkeys(("eval_chebyt", "eval_chebyu", "eval_legendre"), (WHOLE, INSIDE)),
    **dict.fromkeys(("eval_chebyc", "eval_chebys"), (WHOLE, (-1.6, 1.6))),
    **dict.fromkeys(("eval_sh_chebyt", "eval_sh_chebyu", "eval_sh_legendre"), (WHOLE, UNIT)),
    **dict.fromkeys(("eval_hermite", "eval_hermitenorm", "eval_laguerre"), (WHOLE, (-2, 2))),
    "eval_genlaguerre": (WHOLE, WEIGHT, (-2, 2)),
    "eval_gegenbauer": (WHOLE, WEIGHT, INSIDE),
    "eval_jacobi": (WHOLE, WEIGHT, WEIGHT, INSIDE),
    "eval_sh_jacobi": (WHOLE, [2.5, 3.0], WEIGHT, UNIT),
    "assoc_laguerre": ((-2, 2), WHOLE, WEIGHT),
    "lpmv": ([-2, -1, 0, 1, 2], [2, 3, 4], INSIDE),
    "diric": ((-4, 4), NATURAL),
}

IN_DOUBLE: dict[str, tuple[Place, ...]] = {
    **dict.fromkeys(("spherical_jn", "spherical_yn", "spherical_in", "spherical_kn"), (WHOLE, RIGHT)),
    "polygamma": (WHOLE, (0.6, 3)),
}

for _table in (BESSEL, POLYNOMIALS):
    enter(_table)
enter(IN_DOUBLE, "di")
enter({"yve": (ORDER, RIGHT)}, "f")  # SciPy's is NaN at 0, where yv is infinite
enter(dict.fromkeys(("jv", "jn", "iv"), (WHOLE, (-2, 2))), what=", about zero")
enter(dict.fromkeys(("spherical_jn", "spherical_in"), (WHOLE, (-2, 2))), "di", what=", about zero")


def _slope(function: Callable[..., Any], d: Drawer) -> Call:
    return entrywise(lambda n, z: function(n, z, derivative=True), (WHOLE, RIGHT), d)


def _several(function: Callable[..., Any], d: Drawer) -> Call:
    """The derivative of some order of a function of a scalar or array order."""
    times = d.integer(0, 2)
    return entrywise(lambda v, z: function(v, z, times), (ORDER, RIGHT), d)


for _kind in "jyik":
    spec(f"scipy.special.spherical_{_kind}n, slope", "di")(partial(_slope, getattr(special, f"spherical_{_kind}n")))
    spec(f"scipy.special.{_kind}vp", "fi")(partial(_several, getattr(special, f"{_kind}vp")))
