"""Autograd as a system under test, or as a reference.

Owns its record. Imports the contract of adapters. Invariant: one block of a derivative is one composition of Jacobians,
each in the array its axes belong to.

Functions are written with ``autograd.numpy``. A derivative of order k is ``autograd.jacobian`` repeated ("reverse", and
"auto", as not every function has a forward rule) or one ``make_jvp`` an entry ("forward").
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from itertools import product
from typing import Any

import numpy as np

from einsumad.testing.point import Array, count
from einsumad.testing.systems.base import Function, System
from einsumad.testing.systems.contract import (
    MODES,
    calling,
    copies,
    differentiable,
    direction,
    load,
    not_real,
    numpy_array,
    numpy_arrays,
    one_value,
    request,
    scalar,
    tangents_of,
)

_NAME = "autograd"
_NAMESPACE = "autograd.numpy"


def _session() -> AbstractContextManager[None]:
    """Errors get a note; a constant, which is nothing unusual among derivatives of higher order, gets no warning."""
    return calling(_NAME, _NAMESPACE, ignored="Output seems independent of input")


def _single(f: Function) -> Function:
    """The function, with one array as its value."""

    def checked(*xs: Any) -> Any:
        return one_value(f(*xs), _NAME)

    return checked


def _evaluate(f: Function, arrays: Sequence[Array]) -> Array:
    load(_NAME)
    with _session():
        return numpy_array(_single(f)(*copies(arrays)))


def _real_value(f: Function, arrays: Sequence[Array]) -> Array:
    """The value at the arrays, which has to have a derivative."""
    value = _evaluate(f, arrays)
    if value.dtype.kind != "f":
        raise not_real(value.dtype, _NAME)
    return value


def _derivative(f: Function, arrays: Sequence[Array], order: int, mode: str) -> Any:
    request(order, mode, _NAME)
    if order == 0:
        return _evaluate(f, arrays)
    primals = differentiable(arrays)
    autograd = load(_NAME)
    value = _real_value(f, primals)
    jacobian = _forward_jacobian if mode == "forward" else autograd.jacobian

    def block(chosen: tuple[int, ...]) -> Array:
        shape = value.shape + sum([primals[position].shape for position in chosen], ())
        if not count(shape):  # autograd stacks the rows or columns, and there has to be one
            return np.zeros(shape, value.dtype)
        differentiated = _single(f)
        for position in chosen:
            differentiated = jacobian(differentiated, position)
        return numpy_array(differentiated(*copies(primals)))

    with _session():
        blocks: list[Any] = [block(chosen) for chosen in product(range(len(primals)), repeat=order)]
    for _ in range(order):
        blocks = [tuple(blocks[start : start + len(primals)]) for start in range(0, len(blocks), len(primals))]
    return blocks[0]


def _forward_jacobian(f: Function, position: int) -> Callable[..., Any]:
    """The Jacobian in one array, one tangent for each of its entries; it can be differentiated again."""
    autograd, anp, vspace = load(_NAME), load(_NAMESPACE), load("autograd.extend").vspace

    def jacobian(*xs: Any) -> Any:
        pushforward = autograd.make_jvp(f, position)(*xs)
        space = vspace(xs[position])
        columns = [pushforward(unit)[1] for unit in space.standard_basis()]
        return anp.reshape(anp.stack(columns, axis=-1), anp.shape(columns[0]) + space.shape)

    return jacobian


def _jvp(f: Function, arrays: Sequence[Array], tangents: Sequence[Array]) -> tuple[Array, Array]:
    primals = differentiable(arrays)
    directions = tangents_of(tangents, primals)
    autograd = load(_NAME)
    _real_value(f, primals)
    with _session():
        value, tangent = autograd.make_jvp(_single(f), _all(primals))(*primals)(tuple(directions))
        return numpy_array(value), numpy_array(tangent)


def _vjp(f: Function, arrays: Sequence[Array], cotangent: Array) -> tuple[Array, tuple[Array, ...]]:
    primals = differentiable(arrays)
    autograd = load(_NAME)
    value = _real_value(f, primals)
    pulled_back = direction(cotangent, value.shape, "the cotangent").astype(value.dtype)
    with _session():
        pullback, value = autograd.make_vjp(_single(f), _all(primals))(*primals)
        return numpy_array(value), numpy_arrays(pullback(pulled_back))


def _hvp(f: Function, arrays: Sequence[Array], tangents: Sequence[Array]) -> tuple[Array, ...]:
    """Reverse over reverse: the pullback of the gradient, which is its pushforward as Hessians are symmetric."""
    primals = differentiable(arrays)
    directions = tangents_of(tangents, primals)
    autograd = load(_NAME)
    scalar(_real_value(f, primals).shape)
    with _session():
        gradient = autograd.grad(_single(f), _all(primals))
        pullback, _ = autograd.make_vjp(gradient, _all(primals))(*primals)
        return tuple(numpy_arrays(pullback(tuple(directions))))


def _all(arrays: Sequence[Array]) -> tuple[int, ...]:
    return tuple(range(len(arrays)))


AUTOGRAD = System(_NAME, MODES, _evaluate, _derivative, _jvp, _vjp, _hvp)
