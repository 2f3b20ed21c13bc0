"""The rules of calculus, applied to the function itself: product, quotient and chain rule, linearity.

Owns these laws. Imports agreement. Invariant: the other function is a smooth one of the value, so each law relates
derivatives that the system computes; a sum is bounded by the sum of the magnitudes of its terms.

With ``y = f(x)``: ``D(f g) = g Df + f Dg``, ``D(f/g) = Df/g - f Dg/g²``, ``D(a f + b g) = a Df + b Dg``, and by Faà di
Bruno ``D(h∘f) = h'(y) Df``, ``D²(h∘f) = h''(y) Df⊗Df + h'(y) D²f`` and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from einsumad.testing.point import Array
from einsumad.testing.properties.agreement import Claim, Equation, agree
from einsumad.testing.properties.place import Place
from einsumad.testing.properties.probe import Probe
from einsumad.testing.properties.smooth import BUMP, CUBIC, QUADRATIC, Smooth
from einsumad.testing.report import Finding
from einsumad.testing.systems.base import Function

PRODUCT, QUOTIENT, CHAIN, LINEAR = "product rule", "quotient rule", "chain rule", "linearity in the function"

_HIGHEST = 3
_RANGE = 0.2

Terms = Callable[[Place], Sequence[Array]]


def product_rule(probe: Probe) -> Iterator[Finding]:
    """``D(f g)`` against ``g Df + f Dg`` with g a function of f, Dg as the system computes it."""
    f, h = probe.case.function, CUBIC.scaled(_size(probe))
    g = composed(f, h)

    def product(*xs: Any) -> Any:
        y = f(*xs)
        return y * h(y)

    def terms(place: Place) -> Sequence[Array]:
        y = _column(place, 1)
        return h(y) * probe.tensor(place, 1), y * _derivative(probe, place, g)

    yield from _sum_law(probe, Claim(PRODUCT, 1, probe.modes[0], f"g Df + f Dg, g {h.name} of f"), product, terms)


def quotient_rule(probe: Probe) -> Iterator[Finding]:
    """``D(f / g)`` against ``Df/g - f Dg/g²`` with g a positive function of f, Dg as the system computes it."""
    f, h = probe.case.function, QUADRATIC.scaled(_size(probe))
    g = composed(f, h)

    def quotient(*xs: Any) -> Any:
        y = f(*xs)
        return y / h(y)

    def terms(place: Place) -> Sequence[Array]:
        y = _column(place, 1)
        return probe.tensor(place, 1) / h(y), -y / h(y) ** 2 * _derivative(probe, place, g)

    claim = Claim(QUOTIENT, 1, probe.modes[0], f"Df/g - f Dg/g², g {h.name} of f")
    yield from _sum_law(probe, claim, quotient, terms)


def linearity_in_the_function(probe: Probe) -> Iterator[Finding]:
    """``D(a f + b g)`` against ``a Df + b Dg`` with g a function of f, Dg as the system computes it."""
    size = _size(probe)
    f, h = probe.case.function, BUMP.scaled(size, size)
    g = composed(f, h)
    a, b = (float(factor) for factor in np.random.default_rng(probe.case.seed).uniform(0.5, 1.5, 2))

    def combination(*xs: Any) -> Any:
        y = f(*xs)
        return a * y - b * h(y)

    def terms(place: Place) -> Sequence[Array]:
        return a * probe.tensor(place, 1), -b * _derivative(probe, place, g)

    claim = Claim(LINEAR, 1, probe.modes[0], f"a Df + b Dg, g {h.name} of f")
    yield from _sum_law(probe, claim, combination, terms)


def chain_rule(probe: Probe) -> Iterator[Finding]:
    """The derivatives of ``h∘f`` against their closed forms in those of f, for several h."""
    size = _size(probe)
    for smooth in (CUBIC, BUMP):
        h = smooth.scaled(size, size)
        outer = composed(probe.case.function, h)
        for order in range(1, min(probe.case.order, _HIGHEST) + 1):
            claim = Claim(CHAIN, order, probe.modes[0], f"its closed form for {h.name} of f")
            yield from _sum_law(probe, claim, outer, _faa_di_bruno(probe, h, order))


def _faa_di_bruno(probe: Probe, h: Smooth, order: int) -> Terms:
    """The terms of the derivative of ``h∘f``: one for each partition of the axes into groups."""

    def first(place: Place) -> Sequence[Array]:
        return (h.derivative(1, _column(place, 1)) * probe.tensor(place, 1),)

    def second(place: Place) -> Sequence[Array]:
        y, one, two = _column(place, 2), probe.tensor(place, 1), probe.tensor(place, 2)
        return h.derivative(2, y) * (one[:, :, None] * one[:, None, :]), h.derivative(1, y) * two

    def third(place: Place) -> Sequence[Array]:
        y, one, two, three = _column(place, 3), *[probe.tensor(place, k) for k in (1, 2, 3)]
        return (
            h.derivative(3, y) * np.einsum("ai,aj,ak->aijk", one, one, one),
            *[h.derivative(2, y) * np.einsum(f"{spec}->aijk", one, two) for spec in ("ai,ajk", "aj,aik", "ak,aij")],
            h.derivative(1, y) * three,
        )

    return (first, second, third)[order - 1]


def composed(f: Function, h: Smooth) -> Function:
    """The function h of the value of f."""

    def of(*xs: Any) -> Any:
        return h(f(*xs))

    return of


def _size(probe: Probe) -> float:
    """The size of the value, by which the other function is scaled; one if it is zero."""
    return float(np.max(np.abs(probe.value), initial=0.0)) or 1.0


def _column(place: Place, order: int) -> Array:
    """The value, with one more axis for each axis of the point."""
    return np.asarray(place.value(), np.float64).reshape(-1, *[1] * order)


def _derivative(probe: Probe, place: Place, f: Function, order: int = 1) -> Array:
    return place.derivative(order, probe.modes[0], f, probe.value.shape)


def _sum_law(probe: Probe, claim: Claim, function: Function, terms: Terms) -> Iterator[Finding]:
    """The derivative of a function against a sum of terms, unless powers of the value leave the range of its dtype."""
    largest = float(np.finfo(probe.value.dtype).max) ** _RANGE
    if not 1 / largest < _size(probe) < largest:
        return
    probe.refuse_large(claim.order)
    equation = Equation(
        lambda place: _derivative(probe, place, function, claim.order),
        lambda place: sum(terms(place), np.zeros(())),
        lambda place: sum(map(np.abs, terms(place)), np.zeros(())),
        composed=True,
        smooth=True,
    )
    yield agree(probe, claim, equation, probe.entries.of_tensor(claim.order))
