"""Where an expression of SymPy means the function that it is taken for: on real numbers, within what is assumed.

Owns assumptions and kinks. Imports errors only. Invariant: outside of what its symbols assume a function is NaN, since
SymPy has simplified under the assumption.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from einsumad.errors import TracingError
from einsumad.frontend.own.translation import Expression

_KNOWN = ("positive", "nonnegative", "negative", "nonpositive", "nonzero", "integer")
_REFUSED = ("imaginary", "even", "odd", "prime", "composite", "irrational")


def on_real_numbers(
    expression: Expression, symbols: Sequence[Expression]
) -> tuple[Expression, dict[Expression, Expression]]:
    """The expression over real symbols that assume what the given ones do, and those by the given ones."""
    sympy: Any = sys.modules["sympy"]
    places: dict[Expression, Expression] = {}
    for symbol in symbols:
        assumed = symbol.assumptions0
        wrong = [fact for fact in _REFUSED if assumed.get(fact)]
        if wrong or assumed.get("extended_real") is False or not symbol.is_commutative:
            what = wrong[0] if wrong else "not real" if symbol.is_commutative else "not commutative"
            raise TracingError(f"the symbol {symbol} is assumed to be {what}, which arrays of floats are not")
        facts = {fact: True for fact in _KNOWN if assumed.get(fact)}
        places[symbol] = sympy.Dummy(symbol.name, real=True, **facts)
    return expression.subs(places), places


def guarded(expression: Expression, places: Sequence[Expression]) -> tuple[Expression, list[Expression]]:
    """The expression over symbols that assume nothing but to be real, NaN where the assumptions do not hold; these."""
    sympy: Any = sys.modules["sympy"]
    free = [sympy.Dummy(place.name, real=True) for place in places]
    value = expression.xreplace(dict(zip(places, free, strict=True)))
    conditions = [c for place, symbol in zip(places, free, strict=True) for c in _conditions(sympy, place, symbol)]
    return (sympy.Piecewise((value, sympy.And(*conditions))) if conditions else value), free


def _conditions(sympy: Any, place: Expression, free: Expression) -> list[Expression]:
    """What the place assumes, said of the other symbol."""
    found = []
    if place.is_positive:
        found.append(sympy.Gt(free, 0))
    elif place.is_negative:
        found.append(sympy.Lt(free, 0))
    elif place.is_nonnegative:
        found.append(sympy.Ge(free, 0))
    elif place.is_nonpositive:
        found.append(sympy.Le(free, 0))
    elif place.is_nonzero:
        found.append(sympy.Ne(free, 0))
    if place.is_integer:
        found.append(sympy.Eq(free, sympy.floor(free)))
    return found


def without_points(expression: Expression) -> Expression:
    """The expression without what is concentrated in points: deltas, and derivatives of steps.

    Extremes against numbers become choices, so that their derivative at the kink is 0.
    """
    sympy: Any = sys.modules["sympy"]

    def chosen(*args: Expression, largest: bool) -> Expression:
        numbers = [arg for arg in args if arg.is_number]
        others = [arg for arg in args if not arg.is_number]
        extreme = sympy.Max if largest else sympy.Min
        if not numbers:
            return extreme(*args)
        rest, bound = extreme(*others), extreme(*numbers)
        return sympy.Piecewise((rest, rest > bound if largest else rest < bound), (bound, True))

    steps = (sympy.floor, sympy.ceiling, sympy.sign, sympy.Heaviside)
    found = expression.replace(sympy.Max, lambda *args: chosen(*args, largest=True))
    found = found.replace(sympy.Min, lambda *args: chosen(*args, largest=False))
    found = found.replace(sympy.frac, lambda x: x - sympy.floor(x))
    found = found.replace(sympy.Mod, lambda x, y: x - y * sympy.floor(x / y))
    found = found.replace(sympy.DiracDelta, lambda *_: sympy.Integer(0))
    found = found.replace(
        lambda node: isinstance(node, sympy.Derivative) and isinstance(node.expr, steps), lambda _: sympy.Integer(0)
    )
    return found.replace(lambda node: isinstance(node, sympy.Subs) and node.expr == 0, lambda _: sympy.Integer(0))
