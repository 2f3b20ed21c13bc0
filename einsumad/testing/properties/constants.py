"""What a function does not depend on has the derivative zero, of the right shape and dtype.

Owns these laws. Imports agreement and the contract. Invariant: zeros are exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from einsumad.testing.point import Array
from einsumad.testing.properties.agreement import Claim, Equation, agree, offered
from einsumad.testing.properties.contract import complaints, derivative_blocks
from einsumad.testing.properties.place import Place, flat
from einsumad.testing.properties.probe import Probe
from einsumad.testing.report import Finding
from einsumad.testing.systems.base import Function

CONSTANT, UNUSED = "constant function", "unused argument"

_EXTRA = 2


def constant_function(probe: Probe) -> Iterator[Finding]:
    """The derivatives, tangents and cotangents of a function that always returns the value of the case."""
    value = probe.value

    def constant(*_: Any) -> Any:
        return value.copy()

    yield from offered(_derivatives(probe, constant), _pushed(probe, constant), _pulled(probe, constant))


def _derivatives(probe: Probe, constant: Function) -> Iterator[Finding]:
    for order in range(1, probe.case.order + 1):
        for mode in probe.modes:
            probe.refuse_large(order)
            nested = probe.case.system.derivative(constant, probe.at.fresh(), order, mode)
            blocks = list(derivative_blocks(nested, probe.value, probe.arrays, order))
            yield from complaints(Claim(CONSTANT, order, mode, "zeros of its shape and dtype"), blocks)
            claim = Claim(CONSTANT, order, mode, "zero")
            yield agree(probe, claim, _zero(flat([array for _, array, *_ in blocks])), _entry)


def _pushed(probe: Probe, constant: Function) -> Iterator[Finding]:
    tangent = probe.at.jvp(probe.tangents[0], constant)
    yield agree(probe, Claim(CONSTANT, 1, "jvp", "zero"), _zero(tangent), probe.entries.of_value)


def _pulled(probe: Probe, constant: Function) -> Iterator[Finding]:
    pulled = flat(probe.at.vjp(probe.cotangents[0], constant))
    yield agree(probe, Claim(CONSTANT, 1, "vjp", "zero"), _zero(pulled), probe.entries.of_point)


def _entry(position: int) -> str:
    return f"entry {position}"


def _zero(found: Array) -> Equation:
    return Equation(lambda _: found, lambda _: np.zeros(found.shape))


def unused_argument(probe: Probe) -> Iterator[Finding]:
    """The derivatives with respect to one more array, which the function does not look at."""
    dtype = probe.arrays[0].dtype if probe.arrays else np.dtype(np.float64)
    extra = probe.rng.uniform(1, 2, _EXTRA).astype(dtype)

    def wider(*xs: Any) -> Any:
        return probe.case.function(*xs[:-1])

    def widened(place: Place) -> Place:
        return replace(place, arrays=(*place.arrays, extra), original=wider)

    def padded() -> Iterator[Finding]:
        for order in range(1, min(probe.case.order, 2) + 1):
            for mode in probe.modes if order == 1 else probe.modes[:1]:
                claim = Claim(UNUSED, order, mode, "zeros beside the other derivatives")
                yield agree(probe, claim, _padded(probe, widened, order, mode), _entry)

    def pushed() -> Iterator[Finding]:
        v = probe.tangents[0]
        equation = Equation(lambda place: widened(place).jvp((*v, extra)), lambda place: place.jvp(v))
        yield agree(probe, Claim(UNUSED, 1, "jvp", "the tangent without it"), equation, probe.entries.of_value)

    def pulled() -> Iterator[Finding]:
        part = widened(probe.at).vjp(probe.cotangents[0])[-1]
        yield agree(probe, Claim(UNUSED, 1, "vjp", "zero"), _zero(part), _entry)

    yield from offered(padded(), pushed(), pulled())


def _padded(probe: Probe, widened: Any, order: int, mode: str) -> Equation:
    def expected(place: Place) -> Array:
        tensor = probe.tensor(place, order, mode)
        return np.pad(tensor, [(0, 0), *[(0, _EXTRA)] * order])

    return Equation(lambda place: widened(place).derivative(order, mode, None, probe.value.shape), expected)
