"""Products with masks, sums and choices, entry by entry.

Owns these operations. Imports the plan and the context. Invariant: small operands meet each other before they meet
large ones; a mask selects, and is never multiplied.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from operator import add, mul, sub
from typing import Any

import numpy as np

from einsumad.execution.backends.array_library import Array, Home
from einsumad.execution.backends.context import Context, Operation, lined_up
from einsumad.graph import BOOL, Number
from einsumad.planning.kernels import Choose, Group, Sum
from einsumad.planning.steps import Constant, Operand, Step


def group(step: Step, kernel: Group, context: Context) -> Operation:
    """The entrywise product of the operands, those in `divisors` dividing, where all in `masks` hold."""
    home, ndim = context.home, len(step.shape)
    shapes = [context.shape_of(operand) for operand in step.operands]
    lines = [lined_up(home, labels, shape, ndim) for labels, shape in zip(kernel.inputs, shapes, strict=True)]
    numbers = [(k, o.dtype) for k, o in enumerate(step.operands) if isinstance(o, Constant)]
    met = [k for k in range(len(lines)) if k not in kernel.masks]
    size = max([prod(shapes[k]) for k in met], default=1)
    order = sorted(met, key=lambda k: _rank(prod(shapes[k]), size, k in kernel.divisors))
    divisors = frozenset(kernel.divisors)

    def run(*operands: Any) -> Array:
        given = list(operands)
        for k, dtype in numbers:
            given[k] = home.array(given[k], dtype)
        terms = [line(x) for line, x in zip(lines, given, strict=True)]
        if step.dtype == BOOL:
            return _all(home, terms)
        if not order:
            return home.cast(_all(home, terms), step.dtype)
        value: Any = None
        for k in order:
            if k in divisors:
                value = (1.0 if value is None else value) / terms[k]
            else:
                value = terms[k] if value is None else value * terms[k]
        value = home.cast(value, step.dtype)
        masks = [terms[k] for k in kernel.masks]
        return home.where(_all(home, masks), value, 0, step.dtype) if masks else value

    return run


def _rank(size: int, whole: int, divides: bool) -> tuple[bool, int]:
    return (True, 0) if divides or size == whole else (False, size)


def _all(home: Home, masks: Sequence[Array]) -> Array:
    found = masks[0]
    for mask in masks[1:]:
        found = home.xp.logical_and(found, mask)
    return found


def sum_of(step: Step, kernel: Sum, context: Context) -> Operation:
    """The operands times their coefficients, added up: smaller ones first, numbers of Python last."""
    home, dtype = context.home, step.dtype
    if dtype == BOOL:
        return _any(context.home)
    if all(isinstance(operand, Constant) for operand in step.operands):
        return lambda *numbers: home.full(step.stored, _total(kernel.coefficients, numbers, dtype), dtype)
    places = sorted(range(len(step.operands)), key=lambda k: _place(step.operands[k], context))
    terms = [(k, kernel.coefficients[k]) for k in places]

    def run(*operands: Any) -> Array:
        value: Any = None
        for k, coefficient in terms:
            x = operands[k]
            if value is not None:
                value = sub(value, x) if coefficient == -1 else add(value, _times(coefficient, x))
            else:
                value = _times(coefficient, x)
        return home.cast(value, dtype)

    return run


def _place(operand: Operand, context: Context) -> tuple[bool, int]:
    return isinstance(operand, Constant), prod(context.shape_of(operand))


def _times(coefficient: Number, x: Any) -> Any:
    if coefficient == 1:
        return x
    return -x if coefficient == -1 else mul(x, coefficient)


def _total(coefficients: Sequence[Number], numbers: Sequence[Any], dtype: np.dtype) -> Number:
    with np.errstate(all="ignore"):
        found = sum([dtype.type(c) * dtype.type(x) for c, x in zip(coefficients, numbers, strict=True)], dtype.type(0))
    total: Number = found.item()
    return total


def _any(home: Home) -> Operation:
    def run(*operands: Any) -> Array:
        found, *others = [home.array(x, BOOL) for x in operands]
        for other in others:
            found = home.xp.logical_or(found, other)
        return found

    return run


def choose(step: Step, kernel: Choose, context: Context) -> Operation:
    """The second operand where the first holds, else the third, each times its coefficient."""
    home, ndim = context.home, len(step.shape)
    shapes = [context.shape_of(operand) for operand in step.operands]
    lines = [lined_up(home, labels, shape, ndim) for labels, shape in zip(kernel.inputs, shapes, strict=True)]
    fixed = [isinstance(operand, Constant) for operand in step.operands]

    def run(*operands: Any) -> Array:
        mask, *values = [x if number else line(x) for line, x, number in zip(lines, operands, fixed, strict=True)]
        yes, no = [_times(c, x) for c, x in zip(kernel.coefficients, values, strict=True)]
        return home.cast(home.where(home.array(mask, BOOL), yes, no, step.dtype), step.dtype)

    return run
