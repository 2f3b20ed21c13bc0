"""Derivatives that are known exactly, at the points where somebody had to decide what they are.

Owns this check. Imports the arguments, the adapter and reports. Invariant: every derivative of the operation that has
the order of a convention is compared, in every mode; NaN and infinities have to be where they are expected.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from einsumad.frontend.trees import flatten
from einsumad.testing.checks.call import Call
from einsumad.testing.checks.reference import on_leaves
from einsumad.testing.operations.arguments import call_by_hand, call_of_system
from einsumad.testing.operations.by_hand import system_by_hand
from einsumad.testing.operations.operation import Convention, Operation
from einsumad.testing.point import Array, subscript
from einsumad.testing.report import Finding, Report
from einsumad.testing.systems import System, system

_ROUNDING = 1024.0


def check_conventions(operation: Operation) -> Report:
    """Compare the derivatives of an operation with all its conventions."""
    found = [finding for convention in operation.conventions for finding in _findings(operation, convention)]
    return Report(operation.name, tuple(found))


def _findings(operation: Operation, convention: Convention) -> Iterator[Finding]:
    compared = 0
    for library, call in _systems(operation, convention):
        for mode in library.modes:
            arrays = [np.asarray(part) for part in call.point.split(call.point.vector, wide=False)]
            try:
                with np.errstate(all="ignore"):
                    nested = library.derivative(on_leaves(call), arrays, convention.order, mode)
            except NotImplementedError:
                continue
            compared += 1
            yield _finding(nested, convention, f"{library.name}, {mode}")
    if not compared:
        raise ValueError(
            f"operation {operation.name!r}: nothing gives the derivative of order {convention.order} that the "
            f"convention {convention.name!r} is about: give one by hand, or a system in using="
        )


def _systems(operation: Operation, convention: Convention) -> Iterator[tuple[System, Call]]:
    if operation.by_hand:
        call = call_by_hand(operation, convention.args)
        yield system_by_hand(operation, call), call
    if operation.using is not None:
        yield system(operation.using), call_of_system(operation, convention.args)


def _finding(nested: Any, convention: Convention, mode: str) -> Finding:
    head = ("convention", convention.order, mode, convention.name)
    found = [np.asarray(leaf) for leaf in flatten(nested)[0]]
    expected = [np.asarray(leaf) for leaf in flatten(convention.expected)[0]]
    shapes = [[array.shape for array in arrays] for arrays in (found, expected)]
    if shapes[0] != shapes[1]:
        detail = f"the derivative has the shapes {shapes[0]}, and the convention {shapes[1]}"
        return Finding(*head, "wrong", 1, 0, 1, detail=detail, cause="wrong shape: one of them has another one")
    entries = sum([array.size for array in expected])
    for part, (one, other) in enumerate(zip(found, expected, strict=True)):
        wrong, tolerance = _wrong(one, other, convention.tolerance)
        if wrong.any():
            worst = int(np.argmax(wrong.reshape(-1)))
            index = subscript(one.shape, worst)
            index = f"block {part}{index}" if len(found) > 1 else index
            values = (one.reshape(-1)[worst].item(), other.reshape(-1)[worst].item())
            bound = float(tolerance.reshape(-1)[worst])
            return Finding(*head, "wrong", entries, 0, int(wrong.sum()), index, *values, 0.0, bound)
    return Finding(*head, "right", entries)


def _wrong(found: Array, expected: Array, allowed: float) -> tuple[Array, Array]:
    """Where an array is not what is expected, and the tolerance: rounding of the entry and of the largest one."""
    unit = float(np.finfo(found.dtype).eps) if found.dtype.kind in "fc" else float(np.finfo(float).eps)
    size = np.where(np.isfinite(expected), np.abs(expected), 0.0)
    tolerance = allowed + unit * (_ROUNDING * size + np.max(size, initial=0.0))
    with np.errstate(all="ignore"):
        same = (found == expected) | (np.isnan(found) & np.isnan(expected)) | (np.abs(found - expected) <= tolerance)
    return ~same, np.asarray(tolerance)
