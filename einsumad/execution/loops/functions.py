"""Entrywise kernels as expressions of numbers.

Owns the text of each. Imports the kernels and source text. Invariant: an expression gives what NumPy gives for every
number, infinities, NaN and their signs included, up to the last digits of functions; numbers have the plan's dtype.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from einsumad.execution.source import dtype_text, typed_number
from einsumad.graph import BOOL, Number
from einsumad.planning.kernels import Apply, Choose, Fill, Group, Sum
from einsumad.planning.steps import Step

Typed: TypeAlias = Callable[[Number], str]


def _maximum(_: Typed, x: str, y: str) -> str:
    return f"({x} if {x} >= {y} or {x} != {x} else {y})"


def _minimum(_: Typed, x: str, y: str) -> str:
    return f"({x} if {x} <= {y} or {x} != {x} else {y})"


ARITHMETIC: dict[str, Callable[..., str]] = {
    "abs": lambda _, x: f"abs({x})",
    "equal": lambda _, x, y: f"({x} == {y})",
    "greater": lambda _, x, y: f"({x} > {y})",
    "greater_equal": lambda _, x, y: f"({x} >= {y})",
    "less": lambda _, x, y: f"({x} < {y})",
    "less_equal": lambda _, x, y: f"({x} <= {y})",
    "logical_not": lambda _, x: f"(not {x})",
    "maximum": _maximum,
    "maximum_constant": _maximum,
    "minimum": _minimum,
    "minimum_constant": _minimum,
    "norm_root": lambda _, x: f"np.sqrt({x})",
    "not_equal": lambda _, x, y: f"({x} != {y})",
    "reciprocal": lambda n, x: f"({n(1)} / {x})",
    "relu": lambda n, x: _maximum(n, x, n(0)),
    "sqrt": lambda _, x: f"np.sqrt({x})",
    "square": lambda _, x: f"({x} * {x})",
}
"""Functions that Numba compiles to few instructions, of numbers in the dtype of the plan and of operands."""

_LIBRARY = ("arctan", "cos", "cosh", "exp", "expm1", "log", "log1p", "logaddexp", "sin", "sinh", "tan", "tanh")
FUNCTIONS: dict[str, Callable[..., str]] = {
    **ARITHMETIC,
    **{name: (lambda _, *x, name=name: f"np.{name}({', '.join(x)})") for name in _LIBRARY},
    "sigmoid": lambda n, x: f"({n(1)} / ({n(1)} + np.exp({n(0)} - {x})))",
    "softplus": lambda n, x: f"np.logaddexp({n(0)}, {x})",
}
"""These, and those of which NumPy's own loops are faster on many entries."""


def value(step: Step, terms: Sequence[str]) -> str:
    """The entry of a step, of which the entries of the operands are given."""
    match step.kernel:
        case Apply(function=function):
            return FUNCTIONS[function](lambda number: typed_number(number, step.dtype), *terms)
        case Choose(coefficients=coefficients):
            chosen = [_scaled(c, term, step.dtype) for c, term in zip(coefficients, terms[1:], strict=True)]
            return f"({chosen[0]} if {terms[0]} else {chosen[1]})"
        case Sum(coefficients=coefficients):
            if step.dtype == BOOL:
                return f"({' or '.join(terms)})"
            ordered = sorted(zip(coefficients, terms, strict=True), key=lambda term: term[0] < 0)
            return " + ".join([_scaled(c, term, step.dtype) for c, term in ordered])
        case Group():
            return _product(step, step.kernel, terms)
        case Fill(value=number):
            return typed_number(number, step.dtype)
    raise AssertionError(step.kernel)


def scaled(text: str, coefficient: Number, before: np.dtype, dtype: np.dtype) -> str:
    """An entry times a number, in another dtype if that is another one."""
    found = _scaled(coefficient, text, np.result_type(before, dtype))
    return found if before == dtype else f"{dtype_text(dtype)}({found})"


def _scaled(coefficient: Number, term: str, dtype: np.dtype) -> str:
    if abs(coefficient) == 1:
        return term if coefficient > 0 else f"(-{term})"
    return f"{typed_number(coefficient, dtype)} * {term}"


def _product(step: Step, kernel: Group, terms: Sequence[str]) -> str:
    """Factors and divisors in the order of the kernel, masks last."""
    if step.dtype == BOOL:
        return f"({' and '.join(terms)})"
    text = ""
    for k, term in enumerate(terms):
        if k in kernel.masks:
            continue
        if k in kernel.divisors:
            text = f"{text or typed_number(1, step.dtype)} / {term}"
        else:
            text = f"{text} * {term}" if text else term
    if not kernel.masks:
        return text
    held = " and ".join([terms[k] for k in kernel.masks])
    return f"({text or typed_number(1, step.dtype)} if {held} else {typed_number(0, step.dtype)})"
