"""Expectations for a call: from oracles, from another library, or from a function that is known to be right.

Owns the meaning of ``against``. Imports expectations and systems. Invariant: what a reference gives is read like a
claim, so a reference of the wrong shape is refused and never compared.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from einsumad.errors import ShapeError, TracingError
from einsumad.testing.checks.call import Call
from einsumad.testing.checks.claims import MisfitError, reader
from einsumad.testing.checks.expectation import (
    Direction,
    Expectation,
    directions_of,
    expect,
    expect_matrix,
    natural_derivative,
    surroundings_of,
)
from einsumad.testing.checks.matrix import claimed_matrix
from einsumad.testing.checks.settings import LIBRARIES
from einsumad.testing.comparison import Claimed
from einsumad.testing.point import Array
from einsumad.testing.subject import Subject
from einsumad.testing.systems import EINSUMAD, System, flat_tensor, system


def expectation_of(call: Call, subject: Subject, order: int = 1, extra: tuple[Direction, ...] = ()) -> Expectation:
    """What the first derivative of the subject has to be; the subject is a derivative of the call, or the function."""
    natural = None
    if order > 1:
        plain = surroundings_of(call.subject, call.settings)
        natural = natural_derivative(plain.value, plain.scales, order - 1)
    base = surroundings_of(subject, call.settings, natural)
    directions = (*directions_of(base, call.settings), *extra)
    against = call.settings.against
    if callable(against):
        right = _given(call, subject, against)
        return expect_matrix(base, call.settings, directions, right, getattr(against, "__name__", "the reference"))
    if against in LIBRARIES:
        right = by_library(call, system(against), order)
        return expect_matrix(base, call.settings, directions, right, f"{against}'s derivative")
    return expect(base, call.settings, directions)


def _given(call: Call, subject: Subject, against: Callable[..., Any]) -> Claimed:
    read = reader(against, call.arguments_at, subject.point, subject.shape, "reference")
    try:
        return claimed_matrix(subject.point, read, np.dtype(float), call.settings.seed)
    except MisfitError as misfit:
        raise ShapeError(f"{misfit}: the reference in against= has to give the derivative that is checked") from None


def by_library(call: Call, library: System, order: int) -> Claimed:
    """The derivative of that order of the call's function by a library: one matrix, last axis entries of the point."""
    point = call.point
    if point.is_complex:
        raise TypeError(f"against={library.name!r} needs real arguments: use another oracle")
    function = on_leaves(call)
    shapes = [array.shape for array in point.arrays]

    def read(vector: Array) -> Array:
        arrays = [np.asarray(part) for part in point.split(vector, wide=False)]
        nested = library.derivative(function, arrays, order, library.modes[0])
        tensor = flat_tensor(nested, call.subject.shape, shapes, order)
        return tensor.reshape(prod(tensor.shape[:-1]), point.size).astype(np.float64)

    dtype = np.result_type(*point.arrays)
    return claimed_matrix(point, read, dtype, call.settings.seed)


def on_leaves(call: Call) -> Callable[..., Any]:
    """The function of the arrays of the point alone, without their containers."""
    point, chosen = call.point, call.subject.function

    def function(*arrays: Any) -> Any:
        return chosen(*point.in_containers(arrays))

    return function


def convention_of(call: Call, expectation: Expectation, order: int = 1) -> Claimed | None:
    """This library's derivative, if the policy asks for it and there is a kink to ask about."""
    if call.settings.kink != "convention" or not any(e.kink.any() for e in expectation.estimates):
        return None
    try:
        return by_library(call, EINSUMAD, order)
    except TracingError as error:
        raise TracingError(f"kink='convention' needs a function that einsumad differentiates: {error}") from error
