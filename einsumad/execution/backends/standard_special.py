"""Functions of SciPy that are made of those of the Array API standard.

Owns these expressions. Imports NumPy for its constants. Invariant: as in
:mod:`einsumad.execution.backends.standard_functions`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from einsumad.execution.backends.array_library import Array, Function, Home

Pair: TypeAlias = Callable[[Any, Any], tuple[Array, Array]]
"""Makes arrays of two operands, of which one may be a number of Python."""


class Special:
    """The functions at one place."""

    def __init__(self, home: Home, pair: Pair) -> None:
        self.xp, self.pair = home.xp, pair

    def _times(self, logarithm: Function, x: Any, y: Any) -> Array:
        """``x log(y)``, 0 where x is 0 and y a number."""
        x, y = self.pair(x, y)
        xp = self.xp
        nothing = xp.logical_and(x == 0, xp.logical_not(xp.isnan(y)))
        return xp.where(nothing, xp.zeros_like(x + y), x * logarithm(y))

    def xlogy(self, x: Any, y: Any) -> Array:
        """``x log(y)``."""
        return self._times(self.xp.log, x, y)

    def xlog1py(self, x: Any, y: Any) -> Array:
        """``x log(1 + y)``."""
        return self._times(self.xp.log1p, x, y)

    def entr(self, x: Array) -> Array:
        """``-x log(x)``, -inf for negative numbers."""
        xp = self.xp
        inner = xp.where(x > 0, x, xp.ones_like(x))
        level = xp.where(x == 0, xp.zeros_like(x), xp.full_like(x, -np.inf))
        return xp.where(xp.isnan(x), x, xp.where(x > 0, -x * xp.log(inner), level))

    def rel_entr(self, x: Any, y: Any) -> Array:
        """``x log(x/y)``, inf where that is not defined."""
        x, y = self.pair(x, y)
        xp = self.xp
        both = xp.logical_and(x > 0, y > 0)
        nothing = xp.logical_and(x == 0, y >= 0)
        one = xp.ones_like(x + y)
        value = xp.where(both, x, one) * xp.log(xp.where(both, x, one) / xp.where(both, y, one))
        other = xp.where(nothing, xp.zeros_like(one), xp.full_like(one, np.inf))
        return xp.where(xp.isnan(x + y), x + y, xp.where(both, value, other))

    def kl_div(self, x: Any, y: Any) -> Array:
        """``x log(x/y) - x + y``."""
        x, y = self.pair(x, y)
        value = self.rel_entr(x, y)
        return self.xp.where(value == np.inf, value, value - x + y)

    def huber(self, delta: Any, r: Any) -> Array:
        """Half the square up to delta, then a line; inf for negative delta."""
        delta, r = self.pair(delta, r)
        size = self.xp.abs(r)
        value = self.xp.where(size <= delta, 0.5 * r * r, delta * (size - 0.5 * delta))
        return self.xp.where(delta < 0, self.xp.full_like(value, np.inf), value)

    def pseudo_huber(self, delta: Any, r: Any) -> Array:
        """``delta^2 (sqrt(1 + (r/delta)^2) - 1)`` without its cancellation; inf for negative delta."""
        delta, r = self.pair(delta, r)
        xp = self.xp
        ratio = r / xp.where(delta == 0, xp.ones_like(delta), delta)
        square = ratio * ratio
        value = delta * delta * square / (1 + xp.sqrt(1 + square))
        value = xp.where(xp.logical_or(delta == 0, r == 0), xp.zeros_like(value), value)
        return xp.where(delta < 0, xp.full_like(value, np.inf), value)

    def boxcox(self, x: Any, exponent: Any) -> Array:
        """``(x^e - 1)/e``, the logarithm for e = 0."""
        x, exponent = self.pair(x, exponent)
        return self._power_less_one(self.xp.log(x), exponent)

    def boxcox1p(self, x: Any, exponent: Any) -> Array:
        """The same of ``1 + x``."""
        x, exponent = self.pair(x, exponent)
        return self._power_less_one(self.xp.log1p(x), exponent)

    def _power_less_one(self, logarithm: Array, exponent: Array) -> Array:
        some = self.xp.where(exponent == 0, self.xp.ones_like(exponent), exponent)
        return self.xp.where(exponent == 0, logarithm, self.xp.expm1(some * logarithm) / some)

    def _inverse_logarithm(self, x: Any, exponent: Any) -> Array:
        x, exponent = self.pair(x, exponent)
        some = self.xp.where(exponent == 0, self.xp.ones_like(exponent), exponent)
        return self.xp.where(exponent == 0, x, self.xp.log1p(some * x) / some)

    def exprel(self, x: Array) -> Array:
        """``(exp(x) - 1)/x``, 1 at 0."""
        xp = self.xp
        some = xp.where(x == 0, xp.ones_like(x), x)
        value = xp.where(x == 0, xp.ones_like(x), xp.expm1(some) / some)
        return xp.where(x == np.inf, x, value)

    def exp10(self, x: Array) -> Array:
        """``10^x``."""
        return self.xp.pow(*self.pair(10.0, x))

    def table(self) -> dict[str, Function]:
        """All of them by SciPy's names."""
        xp = self.xp
        methods = ("xlogy", "xlog1py", "entr", "rel_entr", "kl_div", "huber", "pseudo_huber", "boxcox", "boxcox1p")
        found: dict[str, Function] = {name: getattr(self, name) for name in (*methods, "exprel", "exp10")}
        return found | {
            "cosm1": lambda x: -2 * xp.square(xp.sin(x / 2)),
            "expit": lambda x: 1 / (1 + xp.exp(-x)),
            "inv_boxcox": lambda x, exponent: xp.exp(self._inverse_logarithm(x, exponent)),
            "inv_boxcox1p": lambda x, exponent: xp.expm1(self._inverse_logarithm(x, exponent)),
            "logit": lambda x: xp.log(x) - xp.log1p(-x),
        }
