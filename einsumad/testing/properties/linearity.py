"""Linearity of derivatives in their directions.

Owns these laws. Imports agreement. Invariant: the two directions and their factors are random; the combination is
rounded to the dtype of the arrays once, before any side is computed.

``J (a v + b w) = a J v + b J w`` for tangents and the same for cotangents; a zero direction gives zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from einsumad.testing.point import Array
from einsumad.testing.properties.agreement import Claim, Equation, Locate, agree
from einsumad.testing.properties.place import Place, flat
from einsumad.testing.properties.probe import Probe
from einsumad.testing.report import Finding

TANGENT, COTANGENT = "linearity in the tangent", "linearity in the cotangent"

_FACTORS = (1.25, -0.75)

Apply = Callable[[Place, tuple[Array, ...]], Array]


def linearity_in_the_tangent(probe: Probe) -> Iterator[Finding]:
    """The pushforward of a combination of tangents, and of none."""

    def push(place: Place, tangents: tuple[Array, ...]) -> Array:
        return place.jvp(tangents).reshape(-1)

    yield from _laws(probe, Claim(TANGENT, 1, "jvp", "the combination"), push, probe.tangents, probe.entries.of_value)


def linearity_in_the_cotangent(probe: Probe) -> Iterator[Finding]:
    """The pullback of a combination of cotangents, and of none."""

    def pull(place: Place, cotangents: tuple[Array, ...]) -> Array:
        return flat(place.vjp(cotangents[0]))

    directions = [(u,) for u in probe.cotangents]
    yield from _laws(probe, Claim(COTANGENT, 1, "vjp", "the combination"), pull, directions, probe.entries.of_point)


def _laws(
    probe: Probe, claim: Claim, apply: Apply, directions: Sequence[tuple[Array, ...]], locate: Locate
) -> Iterator[Finding]:
    v, w = directions[:2]
    a, b = _FACTORS
    together = tuple([(a * one + b * other).astype(one.dtype) for one, other in zip(v, w, strict=True)])
    equation = Equation(
        lambda place: apply(place, together),
        lambda place: a * apply(place, v) + b * apply(place, w),
        lambda place: np.abs(a * apply(place, v)) + np.abs(b * apply(place, w)),
        composed=True,
    )
    yield agree(probe, claim, equation, locate)
    none = tuple([np.zeros_like(one) for one in v])
    zero = Equation(lambda place: apply(place, none), lambda place: 0 * apply(place, v), composed=True)
    yield agree(probe, Claim(claim.name, 1, claim.mode, "zero for a zero direction"), zero, locate)
