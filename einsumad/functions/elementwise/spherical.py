"""Spherical Bessel functions, of which sinc is the first.

Owns this row. Imports the catalogue and graph spelling. Invariant: values and derivatives of every order are accurate
at and near zero, for negative arguments and far out: no formula divides by the argument.
"""

from __future__ import annotations

from einsumad.functions.catalogue import Partials, apply
from einsumad.functions.dtypes import special
from einsumad.functions.rows import row, whole
from einsumad.graph import Elementwise, Params, scale, total

_TINY = "1e-30"  # its sine is itself, in single precision too


def _source(operands: tuple[str, ...], params: Params) -> str:
    """Write ``sin(x)/x``, 1 at 0; SciPy has the others in double precision."""
    order, x = whole(params), operands[0]
    if order:
        return f"special.spherical_jn({order}, {x}).astype({x}.dtype)"
    inside = f"np.where({x}, {x}, {_TINY})"
    return f"np.divide(np.sin({inside}), {inside}).astype({x}.dtype)"


@row("spherical_bessel_j", _source, (0.3, 8.0), dtype=special, cost=60, symbol="j")
def _spherical_bessel_j(node: Elementwise) -> Partials:
    """``j_n`` for n = 0, 1, ...: ``(2n + 1) j_n' = n j_(n-1) - (n + 1) j_(n+1)`` (DLMF 10.51.2), ``j_0 = sin(x)/x``."""
    x, order = node.operands[0], whole(node.params)
    above = scale(-(order + 1) / (2 * order + 1), apply("spherical_bessel_j", x, params=(order + 1,)))
    if not order:
        return (above,)
    return (total(scale(order / (2 * order + 1), apply("spherical_bessel_j", x, params=(order - 1,))), above),)
