"""Values: a system computes what the function computes, whichever transform gives the value.

Owns this law. Imports agreement. Invariant: where the function itself is not finite, a system may know better.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from einsumad.testing.point import Array
from einsumad.testing.properties.agreement import Claim, Equation, agree, offered
from einsumad.testing.properties.place import Place
from einsumad.testing.properties.plain import plain_noise, plain_value
from einsumad.testing.properties.probe import Probe
from einsumad.testing.report import Finding

NAME = "value"


def values(probe: Probe) -> Iterator[Finding]:
    """The value of the system against that of the function, and the values that come with products against it."""
    yield from offered(_against_the_function(probe), _with_product(probe, "jvp"), _with_product(probe, "vjp"))


def _against_the_function(probe: Probe) -> Iterator[Finding]:
    if plain_value(probe, probe.at) is not None:
        equation = Equation(
            lambda place: place.value(),
            lambda place: _plain(probe, place),
            composed=True,
            noise=lambda: plain_noise(probe),
        )
        yield agree(probe, Claim(NAME, 0, "value", "the function itself"), equation, probe.entries.of_value)


def _with_product(probe: Probe, name: str) -> Iterator[Finding]:
    claim = Claim(NAME, 0, f"value from {name}", "the value alone")
    value = _of_jvp(probe) if name == "jvp" else _of_vjp(probe)
    yield agree(probe, claim, Equation(value, lambda place: place.value()), probe.entries.of_value)


def _plain(probe: Probe, place: Place) -> Array:
    value = plain_value(probe, place)
    if value is None:
        raise ArithmeticError("the function is not defined here")
    return value


def _of_jvp(probe: Probe) -> Callable[[Place], Array]:
    def value(place: Place) -> Array:
        return place.computing.jvp(place.original, place.fresh(), probe.tangents[0])[0]

    return value


def _of_vjp(probe: Probe) -> Callable[[Place], Array]:
    def value(place: Place) -> Array:
        return place.computing.vjp(place.original, place.fresh(), probe.cotangents[0].copy())[0]

    return value
