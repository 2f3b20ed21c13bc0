"""Functions of scipy.special with shape parameters, in which they have no derivative: distributions, hypergeometric.

The parameters are plain where derivatives are compared; for values all operands are traced.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from einsumad.scipy import special
from tests.surface.drawing import Drawer
from tests.surface.specs import Call, spec
from tests.surface.tables import Place, enter, entrywise

SHAPE: Place = [0.5, 1.0, 2.0, 2.5]
SHARE: Place = (0.15, 0.85)
WHOLE: Place = [0, 1, 3]
FREEDOM: Place = [1.0, 2.0, 3.5]
AMOUNT: Place = (0.3, 2.5)

INCOMPLETE: dict[str, tuple[Place, ...]] = {
    **dict.fromkeys(("gammainc", "gammaincc"), (SHAPE, AMOUNT)),
    **dict.fromkeys(("gammaincinv", "gammainccinv"), (SHAPE, SHARE)),
    **dict.fromkeys(("betainc", "betaincc", "betaincinv", "betainccinv"), (SHAPE, SHAPE, SHARE)),
}
HYPERGEOMETRIC: dict[str, tuple[Place, ...]] = {
    "hyp0f1": ([0.5, 1.5, 3.0], (-2, 2)),
    "hyp1f1": ([-2, 0.5, 1.0, 2.5], [0.5, 1.5, 3.0], (-2, 2)),
    "hyp2f1": ([-2, 0.5, 1.0], [0.5, 2.0], [1.5, 3.0], (-0.7, 0.7)),
    "hyperu": ([0.5, 1.0, 2.0], [0.5, 1.5, 3.0], (0.5, 3)),
    "wright_bessel": ([0, 0.5, 1.5], [0.5, 1.0, 2.5], (0.3, 2)),
    "log_wright_bessel": ([0, 0.5, 1.5], [0.5, 1.0, 2.5], (0.3, 2)),
}
ELLIPTIC: dict[str, tuple[Place, ...]] = {
    **dict.fromkeys(("ellipkinc", "ellipeinc"), ((-1.3, 1.3), [-0.5, 0, 0.3, 0.8])),
    "ellipj": ((-1, 1), [0, 0.3, 0.8]),
}
DISTRIBUTIONS: dict[str, tuple[Place, ...]] = {
    **dict.fromkeys(("chdtr", "chdtrc"), (FREEDOM, AMOUNT)),
    "chdtri": (FREEDOM, SHARE),
    **dict.fromkeys(("gdtr", "gdtrc"), ((0.5, 2), SHAPE, (0.3, 2))),
    "gdtrix": ((0.5, 2), SHAPE, SHARE),
    "gdtria": (SHARE, SHAPE, (0.5, 2)),
    **dict.fromkeys(("fdtr", "fdtrc"), (FREEDOM, FREEDOM, AMOUNT)),
    "fdtri": (FREEDOM, FREEDOM, SHARE),
    "stdtr": (FREEDOM, (-2, 2)),
    "stdtrit": (FREEDOM, SHARE),
    "tklmbda": ((-0.7, 0.7), [-0.5, 0, 0.5, 1.0]),
}
COUNTS: dict[str, tuple[Place, ...]] = {
    **dict.fromkeys(("pdtr", "pdtrc"), (WHOLE, AMOUNT)),
    "pdtri": (WHOLE, SHARE),
    **dict.fromkeys(("bdtr", "bdtrc", "bdtri"), (WHOLE, [4, 6], SHARE)),
    **dict.fromkeys(("nbdtr", "nbdtrc", "nbdtri"), (WHOLE, [1, 4], SHARE)),
}


def _all_traced(function: Callable[..., Any], places: Sequence[Place], whole: bool, d: Drawer) -> Call:
    """A call with traced parameters; counts are whole numbers."""
    intervals = [(min(place), max(place)) for place in places]
    counts = [whole and isinstance(place, list) for place in places]

    def f(*args: Any) -> Any:
        return function(*[np.rint(arg) if count else arg for arg, count in zip(args, counts, strict=True)])

    return entrywise(f, intervals, d)


for _table in (INCOMPLETE, HYPERGEOMETRIC, ELLIPTIC, DISTRIBUTIONS, COUNTS):
    enter(_table)
    for _name, _places in _table.items():
        spec(f"scipy.special.{_name}, all operands", "fi", order=None)(
            partial(_all_traced, getattr(special, _name), _places, _table is COUNTS)
        )
enter({"zeta": ([1.5, 2, 4.5], (0.6, 2))})
