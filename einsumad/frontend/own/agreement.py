"""Whether the rules of a function agree with each other and with its differences.

Owns this check. Imports the rows, the rules and evaluation. Invariant: what is called wrong differs by more than ten
times the error that differences of two steps show, or, between the rules, by more than rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from einsumad.errors import DifferentiationError, WrongDerivativeError
from einsumad.frontend.evaluation import concrete
from einsumad.frontend.own.definition import called
from einsumad.frontend.own.results import checked_outputs, pack
from einsumad.frontend.own.rows import local_jacobian
from einsumad.frontend.own.rules import Call, Kind
from einsumad.frontend.recording import recording
from einsumad.graph import Node

Array = np.ndarray[Any, Any]
_SAFETY = 10


def check_rules(call: Call, operands: Sequence[Node]) -> None:
    """Raise :class:`WrongDerivativeError` where a rule is wrong at these operands, which have values."""
    definition = call.definition
    kinds: list[Kind] = [kind for kind, rule in (("push", definition.push), ("pull", definition.pull)) if rule]  # type: ignore[misc]
    if not kinds:
        raise DifferentiationError(f"{call.name} has neither push nor pull, so there is nothing to check")
    for group in call.form.groups():
        if call.form.dtypes[group[0]].kind != "f":
            continue
        for position, operand in enumerate(operands):
            if operand.dtype.kind != "f":
                continue
            found = {kind: _claimed(call, kind, group, operands, position) for kind in kinds}
            for first, second in combinations(kinds, 2):
                size = np.abs(found[first]) + np.abs(found[second])
                _compare(f"{first} and {second} of {call.name}", found[first], found[second], _rounding(size), position)
            expected, error = differences(call, group, operands, position)
            for kind in kinds:
                _compare(f"{kind} of {call.name}", found[kind], expected, _SAFETY * error, position)


def _claimed(call: Call, kind: Kind, group: Sequence[int], operands: Sequence[Node], position: int) -> Array:
    with recording():
        value = concrete(local_jacobian(call, kind, group, operands, position))
    assert value is not None
    return value


def _rounding(size: Array) -> Array:
    largest = np.max(size, initial=0.0)
    bound: Array = np.full(size.shape, float(largest) * np.finfo(size.dtype).eps ** 0.5)
    return bound


def differences(call: Call, group: Sequence[int], operands: Sequence[Node], position: int) -> tuple[Array, Array]:
    """Central differences in each entry of an operand, and how far those of twice the step are from them."""
    values = [np.array(concrete(operand)) for operand in operands]
    moved = values[position]
    shape = call.form.group_shape(group)
    columns, errors = [], []
    precision = max(np.finfo(moved.dtype).eps, np.finfo(call.form.dtypes[group[0]]).eps)
    for place in np.ndindex(moved.shape):
        step = precision ** (1 / 3) * max(1.0, abs(float(moved[place])))
        found = [_quotient(call, group, values, (position, place), factor * step) for factor in (1, 2)]
        scale = np.max(np.abs(found[0]), initial=0.0) + np.max(np.abs(found[1]), initial=0.0)
        columns.append(found[0])
        errors.append(np.abs(found[0] - found[1]) + scale * precision ** (2 / 3))
    if not columns:
        return np.zeros((*shape, *moved.shape)), np.zeros((*shape, *moved.shape))
    whole = (*shape, *moved.shape)
    return np.stack(columns, -1).reshape(whole), np.stack(errors, -1).reshape(whole)


def _quotient(
    call: Call, group: Sequence[int], values: list[Array], where: tuple[int, tuple[int, ...]], step: float
) -> Array:
    position, place = where
    ends, sides = [], []
    for sign in (1, -1):
        array = values[position].copy()
        array[place] += sign * step
        ends.append(float(array[place]))
        arguments = call.layout.plain([*values[:position], array, *values[position + 1 :]])
        outputs = checked_outputs(call.name, called(call.definition, *arguments), call.form)
        sides.append(np.asarray(pack([outputs[k] for k in group]), np.float64))
    return np.asarray((sides[0] - sides[1]) / (ends[0] - ends[1]))


def _compare(what: str, found: Array, expected: Array, bound: Array, position: int) -> None:
    gap = np.abs(found - expected)
    wrong = ~(gap <= bound) & ~(np.isnan(found) & np.isnan(expected))
    if not wrong.any():
        return
    place = np.unravel_index(int(np.argmax(np.where(wrong, np.nan_to_num(gap, nan=np.inf), -1))), gap.shape)
    where = f"[{', '.join(str(int(k)) for k in place)}]" if place else ""
    raise WrongDerivativeError(
        f"{what}: the derivative of the value in operand {position} is {found[place]:.6g} at "
        f"{where or 'its only entry'}, expected {expected[place]:.6g}"
    )
