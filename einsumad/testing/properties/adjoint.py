"""The adjoint identity: pullback and pushforward are transposes of each other.

Owns this law. Imports agreement. Invariant: cotangents are random with mixed signs, so that what is lost under the
cotangent of ones only (a normalised output has a constant sum) is seen.

``<u, J v> = <Jᵀ u, v>`` for all u and v (A. Griewank, A. Walther, *Evaluating Derivatives*, 2008, section 3.3).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from einsumad.errors import ShapeError
from einsumad.testing.point import Array
from einsumad.testing.properties.agreement import Claim, Equation, agree
from einsumad.testing.properties.place import Place, flat
from einsumad.testing.properties.probe import Probe
from einsumad.testing.report import Finding

NAME = "adjoint identity"


def adjoint_identity(probe: Probe) -> Iterator[Finding]:
    """``<u, J v> = <Jᵀ u, v>``, J v by `jvp` and Jᵀ u by `vjp`, for several u and v at once."""
    claim = Claim(NAME, 1, "jvp", "vjp")

    def cause(found: Array, expected: Array) -> str:
        ones = np.ones(probe.value.shape, probe.value.dtype)
        of_ones = agree(probe, claim, _equation(probe, (ones,) * len(probe.tangents)), _pair)
        return "ones cotangent only: the pullback is right for the cotangent of ones and for no other" * (
            of_ones.verdict == "right" and found.size > 0 and expected.size > 0
        )

    yield agree(probe, claim, _equation(probe, probe.cotangents), _pair, cause)


def _pair(position: int) -> str:
    return f"direction {position}"


def _equation(probe: Probe, cotangents: tuple[Array, ...]) -> Equation:
    """Both sides of the identity, one entry for each pair of a cotangent and a tangent."""
    pairs = tuple(zip(cotangents, probe.tangents, strict=True))

    def pushed(place: Place) -> Array:
        return np.array([_dot(place.near(u), place.jvp(v)) for u, v in pairs])

    def pulled(place: Place) -> Array:
        return np.array([_dot(flat(place.vjp(u)), flat([place.near(t) for t in v])) for u, v in pairs])

    def terms(place: Place) -> Array:
        return np.array(
            [
                _dot(np.abs(u), np.abs(place.jvp(v))) + _dot(np.abs(flat(place.vjp(u))), np.abs(flat(v)))
                for u, v in pairs
            ]
        )

    return Equation(pushed, pulled, terms)


def _dot(one: Array, other: Array) -> float:
    """The inner product in double precision."""
    if one.shape != other.shape:
        raise ShapeError(f"a tangent or cotangent has shape {one.shape} where {other.shape} is right")
    return float(np.sum(np.asarray(one, np.float64) * other))
