"""Freshness: what a system keeps between calls must not outlive what it was made for.

Owns this law. Imports agreement and the transforms. Invariant: the expected side is computed by a function object that
the system has never seen (where it takes any), on arrays that it has never seen; for values, by no system at all.

Kept are traces, plans, compiled code and values, found again by function, shape or identity: each of these is made
stale.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from einsumad.testing.point import Array
from einsumad.testing.properties.agreement import Claim, Equation, agree, offered
from einsumad.testing.properties.place import Place, flat
from einsumad.testing.properties.plain import plain_noise, plain_value
from einsumad.testing.properties.probe import Probe
from einsumad.testing.properties.transforms import Asked, arrays_of, transforms
from einsumad.testing.report import Finding
from einsumad.testing.systems.base import Function

NAME = "freshness"

_FACTOR = 1 - 2.0**-4


def freshness(probe: Probe) -> Iterator[Finding]:
    """Arrays that are overwritten, and a captured number that changes, between two calls of the same function."""
    plain = plain_value(probe, replace(probe.at, arrays=_moved(probe.at)))
    every = [*enumerate(transforms(probe, probe.case.function))]
    overwritten = [
        _arrays_overwritten(probe, number, asked, without_system=asked.name == "value" and plain is not None)
        for number, asked in every
    ]
    captured = [
        _number_changed(probe, number, asked)
        for number, asked in every
        if probe.case.system.any_function and asked.name not in probe.modes[1:]
    ]
    yield from offered(*overwritten, *captured)


def _arrays_overwritten(probe: Probe, number: int, asked: Asked, *, without_system: bool) -> Iterator[Finding]:
    claim = Claim(NAME, asked.order, asked.name, "new arrays, after the old ones were overwritten")
    yield _same(probe, claim, _overwritten(probe, number, without_system=without_system))


def _number_changed(probe: Probe, number: int, asked: Asked) -> Iterator[Finding]:
    claim = Claim(NAME, asked.order, asked.name, "a new function, after a captured number changed")
    yield _same(probe, claim, _captured(probe, number))


def _moved(place: Place) -> tuple[Array, ...]:
    return tuple([np.asarray(array * _FACTOR, array.dtype) for array in place.arrays])


def _overwritten(probe: Probe, number: int, *, without_system: bool) -> Equation:
    """Arrays whose contents change between two calls, against new arrays for a new function."""

    def again(place: Place) -> Array:
        asked = _transform(probe, place, place.original, number)
        arrays = place.fresh()
        _ask(place, asked, arrays)
        for array, entries in zip(arrays, _moved(place), strict=True):
            array[...] = entries
        return _ask(place, asked, arrays)

    def new(place: Place) -> Array:
        if without_system:
            value = plain_value(probe, replace(place, arrays=_moved(place)))
            return flat(() if value is None else (value,))
        function = _renewed(place.original) if probe.case.system.any_function else place.original
        return _ask(place, _transform(probe, place, function, number), _moved(place))

    return Equation(again, new, composed=without_system, noise=_noise(probe) if without_system else None)


def _noise(probe: Probe) -> Callable[[], Array]:
    return lambda: plain_noise(probe).reshape(-1)


def _captured(probe: Probe, number: int) -> Equation:
    """A number that the function captures and that changes between two calls, against a new function."""

    def again(place: Place) -> Array:
        f, factor = place.original, [1.0]

        def capturing(*xs: Any) -> Any:
            return f(*[x * factor[0] for x in xs])

        asked = _transform(probe, place, capturing, number)
        _ask(place, asked, place.fresh())
        factor[0] = _FACTOR
        return _ask(place, asked, place.fresh())

    def new(place: Place) -> Array:
        f = place.original

        def constant(*xs: Any) -> Any:
            return f(*[x * _FACTOR for x in xs])

        return _ask(place, _transform(probe, place, constant, number), place.fresh())

    return Equation(again, new)


def _renewed(f: Function) -> Function:
    def renewed(*xs: Any) -> Any:
        return f(*xs)

    return renewed


def _transform(probe: Probe, place: Place, f: Function, number: int) -> Asked:
    return list(transforms(probe, f, place.computing))[number]


def _ask(place: Place, asked: Asked, arrays: tuple[Array, ...]) -> Array:
    return flat(arrays_of(asked.call(arrays, tuple([place.near(direction).copy() for direction in asked.directions]))))


def _same(probe: Probe, claim: Claim, equation: Equation) -> Finding:
    def cause(*_: Array) -> str:
        return "stale value: a result of an earlier call was given again"

    return agree(probe, claim, equation, lambda k: f"entry {k}", cause)
