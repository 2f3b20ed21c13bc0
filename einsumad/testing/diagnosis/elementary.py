"""Elementary functions of what a derivative may depend on: the factors and terms that can be forgotten.

Owns the table of functions and the quantities that they are applied to. Imports the evidence. Invariant: all values
come in the shape of the derivative.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from einsumad.testing.diagnosis.evidence import Array, Comparison, as_double

Function = Callable[[Array], Array]


def _same(t: Array) -> Array:
    return t


def _cube(t: Array) -> Array:
    return np.asarray(t**3)


def _one_minus(t: Array) -> Array:
    return np.asarray(1 - t)


def _one_plus(t: Array) -> Array:
    return np.asarray(1 + t)


def _one_minus_square(t: Array) -> Array:
    return np.asarray(1 - t**2)


def _one_plus_square(t: Array) -> Array:
    return np.asarray(1 + t**2)


def _root_of_one_minus_square(t: Array) -> Array:
    return np.asarray(np.sqrt(1 - t**2))


def _root_of_one_plus_square(t: Array) -> Array:
    return np.asarray(np.sqrt(1 + t**2))


def _logistic_slope(t: Array) -> Array:
    return np.asarray(t * (1 - t))


def _tanh_slope(t: Array) -> Array:
    return np.asarray(1 - np.tanh(t) ** 2)


def _sigmoid(t: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-t)))


def _sigmoid_slope(t: Array) -> Array:
    return _logistic_slope(_sigmoid(t))


def _bell(t: Array) -> Array:
    return np.exp(-(t**2) / 2)


def _bell_of_square(t: Array) -> Array:
    return np.asarray(np.exp(-(t**2)))


FUNCTIONS: tuple[tuple[str, Function], ...] = (
    ("{}", _same),
    ("{}**2", np.square),
    ("{}**3", _cube),
    ("sqrt({})", np.sqrt),
    ("abs({})", np.abs),
    ("sign({})", np.sign),
    ("1 - {}", _one_minus),
    ("1 + {}", _one_plus),
    ("1 - {}**2", _one_minus_square),
    ("1 + {}**2", _one_plus_square),
    ("{0} (1 - {0})", _logistic_slope),
    ("sqrt(1 - {}**2)", _root_of_one_minus_square),
    ("sqrt(1 + {}**2)", _root_of_one_plus_square),
    ("exp({})", np.exp),
    ("log({})", np.log),
    ("sin({})", np.sin),
    ("cos({})", np.cos),
    ("tan({})", np.tan),
    ("sinh({})", np.sinh),
    ("cosh({})", np.cosh),
    ("tanh({})", np.tanh),
    ("(1 - tanh({})**2)", _tanh_slope),
    ("sigmoid({})", _sigmoid),
    ("sigmoid'({})", _sigmoid_slope),
    ("exp(-{}**2)", _bell_of_square),
    ("exp(-{}**2/2)", _bell),
)
"""Functions whose values, or their reciprocals, are recognised as forgotten factors; {} stands for their argument."""


@dataclass(frozen=True, slots=True)
class Base:
    """A quantity that a factor may depend on: its name, and its values in the shape of the derivative."""

    name: str
    values: Array


def bases(c: Comparison) -> Iterator[Base]:
    """The argument, the value and the other arguments, as far as they fit the shape of the derivative."""
    shape = c.expected.shape
    outputs = len(c.evidence.output_shape)
    yield from _fitting("x", c.x, shape)
    if c.evidence.value is not None:
        value = as_double(c.evidence.value)
        if value.ndim and value.shape == shape:
            yield Base("f(x)", value)
        elif value.ndim and value.shape == shape[: value.ndim] and outputs == value.ndim:
            yield Base("f(x)", np.broadcast_to(value.reshape(value.shape + (1,) * (len(shape) - value.ndim)), shape))
        elif value.ndim == 0:
            yield Base("f(x)", np.broadcast_to(value, shape))
    for k, other in enumerate(c.evidence.point[1:], start=2):
        yield from _fitting(f"y{k}" if len(c.evidence.point) > 2 else "y", as_double(other), shape)
    if c.x.size > 1 and np.all(np.isfinite(c.x)):
        yield Base("norm(x)", np.broadcast_to(np.sqrt(np.sum(np.abs(c.x) ** 2)), shape))
        yield Base("sum(x)", np.broadcast_to(np.sum(c.x), shape))


def _fitting(name: str, array: Array, shape: tuple[int, ...]) -> Iterator[Base]:
    """The array along the last axes, and along the first ones if that differs."""
    if array.shape == shape or (array.ndim and array.shape == shape[len(shape) - array.ndim :]):
        yield Base(name, np.broadcast_to(array, shape))
    if array.ndim and len(shape) > array.ndim and array.shape == shape[: array.ndim]:
        yield Base(name, np.broadcast_to(array.reshape(array.shape + (1,) * (len(shape) - array.ndim)), shape))


def enclosed(text: str) -> str:
    """The text in parentheses, unless it is a name or a call."""
    return text if re.fullmatch(r"[\w']+(\([^()]*\))?", text) else f"({text})"


def factors(base: Base) -> Iterator[tuple[str, Function]]:
    """The functions of a base and their reciprocals, with their texts."""
    for template, function in FUNCTIONS:
        text = template.format(base.name)
        yield text, function

        yield f"1/{enclosed(text)}", _reciprocal(function)


def _reciprocal(function: Function) -> Function:
    def reciprocal(t: Array) -> Array:
        return np.asarray(1 / function(t))

    return reciprocal
