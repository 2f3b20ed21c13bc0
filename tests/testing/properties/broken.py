"""Systems with one thing wrong: this library with a transform replaced."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from einsumad.testing.systems import EINSUMAD, System


def on_blocks(nested: Any, change: Callable[[Any], Any]) -> Any:
    """Nested tuples with every array changed."""
    if isinstance(nested, tuple):
        return tuple([on_blocks(part, change) for part in nested])
    return change(nested)


def with_derivative(change: Callable[..., Any], name: str = "broken") -> System:
    """The system whose derivatives are changed: ``change(nested, f, arrays, order, mode)``."""

    def derivative(f, arrays, order, mode):
        return change(EINSUMAD.derivative(f, arrays, order, mode), f, arrays, order, mode)

    return replace(EINSUMAD, name=name, derivative=derivative)


def with_vjp(change: Callable[..., Any]) -> System:
    """The system whose pullback is changed: ``change(pull, u)`` with ``pull(u)`` the right cotangents."""

    def vjp(f, arrays, cotangent):
        value, _ = EINSUMAD.vjp(f, arrays, cotangent)
        return value, change(lambda u: EINSUMAD.vjp(f, arrays, u)[1], cotangent)

    return replace(EINSUMAD, name="broken", vjp=vjp)


def with_jvp(change: Callable[..., Any]) -> System:
    """The system whose pushforward is changed: ``change(push, vs)`` with ``push(vs)`` the right tangent."""

    def jvp(f, arrays, tangents):
        value, _ = EINSUMAD.jvp(f, arrays, tangents)
        return value, change(lambda vs: EINSUMAD.jvp(f, arrays, vs)[1], tangents)

    return replace(EINSUMAD, name="broken", jvp=jvp)


def with_extra(name: str, change: Callable[[Any], Any]) -> System:
    """The system with the answer of one further transform changed."""
    right = EINSUMAD.extras[name]
    return replace(
        EINSUMAD, name="broken", extras={**EINSUMAD.extras, name: lambda f, arrays: change(right(f, arrays))}
    )


def scaled(factor: float) -> Callable[..., Any]:
    return lambda nested, *_: on_blocks(nested, lambda block: np.asarray(block * factor, np.asarray(block).dtype))


def in_mode(wanted: str, change: Callable[..., Any]) -> Callable[..., Any]:
    return lambda nested, f, arrays, order, mode: change(nested, f, arrays, order, mode) if mode == wanted else nested


def in_order(wanted: int, change: Callable[..., Any]) -> Callable[..., Any]:
    return lambda nested, f, arrays, order, mode: change(nested, f, arrays, order, mode) if order == wanted else nested


def only_lower(nested, _f, arrays, order, _mode):
    """One triangle of the Hessian of a function of one vector."""
    if order != 2 or arrays[0].ndim != 1:
        return nested
    return on_blocks(nested, np.tril)


def by_value(nested, f, arrays, _order, _mode):
    """A derivative that is off by an amount that depends on the value, so that it is not linear in the function."""
    value = np.asarray(EINSUMAD.evaluate(f, arrays))
    factor = 1 + 0.1 * np.tanh(float(np.sum(value)))
    return on_blocks(nested, lambda block: block * factor)


def by_position(nested, _f, arrays, order, _mode):
    """A derivative that is off by an amount that depends on where an entry of the first array is."""
    weights = 1 + 0.1 * np.arange(arrays[0].size).reshape(arrays[0].shape)
    return nested if order != 1 else (nested[0] * weights, *nested[1:])


def rows_weighted(nested, *_):
    """A Hessian in one array whose rows are off by different amounts."""
    return on_blocks(nested, lambda block: block * (1 + 0.1 * np.arange(len(block)))[:, None])


def by_argument(nested, _f, arrays, order, _mode):
    """A derivative that is evaluated a little elsewhere."""
    return nested if order != 1 else (nested[0] * (1 + 0.1 * arrays[0]), *nested[1:])


def leaking(nested, _f, arrays, order, _mode):
    """A derivative with something between the items of a batch."""
    crowded = order == 1 and arrays[0].ndim > 0 and arrays[0].shape[0] > 1
    return on_blocks(nested, lambda block: block + 0.01) if crowded else nested


def never_zero(nested, *_):
    """A derivative that is one where it should be zero throughout."""
    return on_blocks(nested, lambda block: block if np.any(block) else np.ones_like(block))


def double(nested, *_):
    """A derivative in double precision, whatever it is a derivative of."""
    return on_blocks(nested, lambda block: np.asarray(block, np.float64))


def output_last(nested, f, arrays, _order, _mode):
    """A derivative with the axes of the value behind those of the arrays."""
    rank = np.ndim(EINSUMAD.evaluate(f, arrays))
    return on_blocks(nested, lambda block: np.moveaxis(block, range(rank), range(-rank, 0)))


def ones_only(pull, u):
    """A pullback that sums its cotangent: right for the cotangent of ones alone."""
    return on_blocks(pull(np.ones_like(u)), lambda block: np.asarray(block * u.dtype.type(np.mean(u)), block.dtype))


def clipped(pull, u):
    """A pullback that clips gradients on the way."""
    return pull(np.clip(u, -0.9, 0.9))


def shifted(push, vs):
    """A pushforward that is not zero at zero."""
    return push(vs) + np.asarray(0.5, vs[0].dtype)


def mutating_arguments(transform):
    def mutating(f, arrays, *rest):
        answer = transform(f, arrays, *rest)
        for array in arrays:
            np.add(array, 1, out=array)
        return answer

    return mutating


def mutating_directions(f, arrays, tangents):
    answer = EINSUMAD.jvp(f, arrays, tangents)
    for tangent in tangents:
        np.multiply(tangent, 2, out=tangent)
    return answer


class Random:
    """A system that adds noise to its derivatives."""

    def __init__(self, size):
        self.rng, self.size = np.random.default_rng(0), size

    def derivative(self, f, arrays, order, mode):
        factor = 1 + self.size * self.rng.standard_normal()
        return on_blocks(EINSUMAD.derivative(f, arrays, order, mode), lambda block: block * factor)


class Buffered:
    """A system that gives away the buffer it writes its next result to."""

    def __init__(self):
        self.buffers = {}

    def evaluate(self, f, arrays):
        value = EINSUMAD.evaluate(f, arrays)
        buffer = self.buffers.setdefault(value.shape, value)
        buffer[...] = value
        return buffer


class Cached:
    """A system that remembers derivatives by the key made of function and arrays."""

    def __init__(self, key):
        self.key, self.known = key, {}

    def derivative(self, f, arrays, order, mode):
        key = (self.key(f, arrays), len(arrays), order, mode)
        if key not in self.known:
            self.known[key] = (EINSUMAD.derivative(f, arrays, order, mode), f, arrays)
        return on_blocks(self.known[key][0], np.copy)

    def evaluate(self, f, arrays):
        key = (self.key(f, arrays), len(arrays), 0, "")
        if key not in self.known:
            self.known[key] = (EINSUMAD.evaluate(f, arrays), f, arrays)
        return self.known[key][0].copy()


def same_memory(f, arrays, cotangent):
    """A pullback whose parts are one array."""
    value, pulled = EINSUMAD.vjp(f, arrays, cotangent)
    return value, tuple([pulled[0]] * len(pulled))
