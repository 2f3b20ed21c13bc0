"""Ufuncs of ``scipy.special`` that are one row of the catalogue, entry by entry in all their operands.

Owns the table from ufuncs to rows. Imports the registry, promotion and the catalogue. Invariant: the operands reach the
row in the dtypes of SciPy's own loop, so the result has SciPy's dtype; several outputs are several nodes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from einsumad.frontend.numpy_functions.elementwise import row
from einsumad.frontend.promotion import floating, in_dtype, ufunc_operands
from einsumad.frontend.registry import implements_special, qualified_name
from einsumad.frontend.tensor import Tensor
from einsumad.graph import Node

ROW_OF_UFUNC: dict[str, str] = {
    **{
        name: name
        for name in (
            *("loggamma", "rgamma", "gammasgn", "poch", "binom"),
            *("gammainc", "gammaincc", "gammaincinv", "gammainccinv"),
            *("betainc", "betaincc", "betaincinv", "betainccinv"),
            *("erfi", "ndtri_exp", "exp1", "expi", "wrightomega", "exprel", "spence"),
            *("hyp0f1", "hyp1f1", "hyp2f1", "hyperu", "wright_bessel", "log_wright_bessel"),
            *("ellipk", "ellipkm1", "ellipe", "ellipkinc", "ellipeinc", "elliprc"),
            *("exp10", "cosm1", "sindg", "cosdg", "tandg", "cotdg", "powm1"),
            *("boxcox", "boxcox1p", "inv_boxcox", "inv_boxcox1p", "huber", "pseudo_huber", "owens_t"),
            *("stdtr", "stdtrit", "tklmbda", "round"),
        )
    },
    "dawsn": "dawson",
    "_zeta": "hurwitz_zeta",
}
ROWS_OF_UFUNC: dict[str, tuple[tuple[str, tuple[int, ...]], ...]] = {
    "erfcx": (("erfcx", (0,)),),
    "airy": tuple([("airy", (k,)) for k in range(4)]),
    "itairy": tuple([("integral_airy", (k,)) for k in range(4)]),
    "itj0y0": (("integral_bessel", (0,)), ("integral_bessel", (1,))),
    "iti0k0": (("integral_bessel", (2,)), ("integral_bessel", (3,))),
    "itstruve0": (("integral_struve", (0,)),),
    "itmodstruve0": (("integral_struve", (1,)),),
    "fresnel": (("fresnel", (0,)), ("fresnel", (1,))),
    "shichi": (("integral_of_quotient", (0,)), ("integral_of_quotient", (1,))),
    "sici": (("integral_of_quotient", (2,)), ("integral_of_quotient", (3,))),
    "ellipj": tuple([("jacobi_elliptic", (k,)) for k in range(4)]),
    **{name: (("kelvin", (k, 0)),) for k, name in enumerate(("ber", "bei", "ker", "kei"))},
    **{name: (("kelvin_slope", (k,)),) for k, name in enumerate(("berp", "beip", "kerp", "keip"))},
    "i0e": (("bessel_ie", (0, 0)),),
    "i1e": (("bessel_ie", (1, 0)),),
    "k0e": (("bessel_ke", (0, 0)),),
    "k1e": (("bessel_ke", (1, 0)),),
    **{name: ((f"bessel_{name[0]}", (int(name[1]),)),) for name in ("j0", "j1", "y0", "y1", "i0", "i1", "k0", "k1")},
}
"""The rows of all outputs, each with its parameters."""


@implements_special(*ROW_OF_UFUNC)
def _row(ufunc: np.ufunc, *inputs: Any) -> Node:
    operands, dtype = ufunc_operands(ufunc, *inputs)
    return row(ROW_OF_UFUNC[ufunc.__name__], *floating(qualified_name(ufunc), dtype, operands), dtype=dtype)


@implements_special(*ROWS_OF_UFUNC)
def _rows(ufunc: np.ufunc, *inputs: Any) -> Node | tuple[Node, ...]:
    given, dtype = ufunc_operands(ufunc, *inputs)
    operands = floating(qualified_name(ufunc), dtype, given)
    nodes = [row(name, *operands, params=params, dtype=dtype) for name, params in ROWS_OF_UFUNC[ufunc.__name__]]
    return nodes[0] if len(nodes) == 1 else tuple(nodes)


@implements_special("radian")
def _radian(ufunc: np.ufunc, d: Any, m: Any, s: Any) -> Node:
    """Degrees, minutes and seconds in radians."""
    given, dtype = ufunc_operands(ufunc, d, m, s)
    degrees, minutes, seconds = (Tensor(in_dtype(node, dtype)) for node in given)
    angle: Tensor = (degrees + minutes / 60 + seconds / 3600) * (np.pi / 180)
    return angle.node


@implements_special("agm")
def _agm(ufunc: np.ufunc, a: Any, b: Any) -> Node:
    """``pi/4 (a + b)/K(1 - p)`` with ``p = 4 a b/(a + b)^2`` (DLMF 19.8.5), 0 where both are 0."""
    given, dtype = ufunc_operands(ufunc, a, b)
    first, second = (Tensor(in_dtype(node, dtype)) for node in given)
    both = first + second
    share = first / both
    integral = Tensor(row("ellipkm1", (4 * share * (second / both)).node))
    value: Tensor = np.where((first == 0) & (second == 0), 0 * both, (np.pi / 4) * both / integral)
    return value.node
