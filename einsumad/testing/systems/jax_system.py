"""JAX as a system under test, or as a reference.

Owns its record. Imports the contract of adapters. Invariant: 64-bit arrays stay 64-bit, whatever the user's setting,
and the setting is as before after each call.

Functions are written with ``jax.numpy``. A derivative of order k is ``jacfwd`` repeated ("forward"), ``jacrev``
repeated ("reverse"), or ``jacrev`` once and then ``jacfwd`` ("auto"); products of Hessians are forward over reverse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from einsumad.testing.point import Array
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
    representable,
    request,
    scalar,
    tangents_of,
)

_NAME = "jax"


@contextmanager
def _session(arrays: Sequence[Array]) -> Iterator[tuple[Any, list[Any]]]:
    """JAX and the arrays in it, with 64-bit numbers if the arrays have them, and matrix products in full precision.

    Without 64-bit arrays the user's setting stays, so that arrays a function makes have the dtypes its user knows.
    """
    representable(arrays, _NAME)
    jax = load("jax")
    with calling(_NAME, "jax.numpy"), jax.default_matmul_precision("float32"), _widths(arrays, jax):
        yield jax, [jax.numpy.array(array) for array in arrays]


def _widths(arrays: Sequence[Array], jax: Any) -> AbstractContextManager[Any]:
    """The context in which JAX has 64-bit numbers, where they are needed; older versions have it in another place."""
    if not any(array.dtype.itemsize >= (16 if array.dtype.kind == "c" else 8) for array in arrays):
        return nullcontext()
    switch = getattr(jax, "enable_x64", None)
    context: AbstractContextManager[Any] = (load("jax.experimental").enable_x64 if switch is None else switch)(True)
    return context


def _real(f: Function, jax: Any) -> Function:
    """The function, with a value that has a derivative."""

    def checked(*xs: Any) -> Any:
        value = jax.numpy.asarray(one_value(f(*xs), _NAME))
        if not jax.numpy.issubdtype(value.dtype, jax.numpy.floating):
            raise not_real(value.dtype, _NAME)
        return value

    return checked


def _evaluate(f: Function, arrays: Sequence[Array]) -> Array:
    with _session(copies(arrays)) as (_, xs):
        return numpy_array(one_value(f(*xs), _NAME))


def _derivative(f: Function, arrays: Sequence[Array], order: int, mode: str) -> Any:
    request(order, mode, _NAME)
    if order == 0:
        return _evaluate(f, arrays)
    with _session(differentiable(arrays)) as (jax, xs):
        transforms: dict[str, Callable[..., Any]] = {"forward": jax.jacfwd, "reverse": jax.jacrev}
        everything = tuple(range(len(xs)))
        differentiated = transforms["reverse" if mode == "auto" else mode](_real(f, jax), argnums=everything)
        for _ in range(order - 1):
            differentiated = transforms["forward" if mode == "auto" else mode](differentiated, argnums=everything)
        return numpy_arrays(differentiated(*xs))


def _jvp(f: Function, arrays: Sequence[Array], tangents: Sequence[Array]) -> tuple[Array, Array]:
    primals = differentiable(arrays)
    directions = tangents_of(tangents, primals)
    with _session(primals) as (jax, xs):
        value, tangent = jax.jvp(_real(f, jax), tuple(xs), tuple([jax.numpy.array(vector) for vector in directions]))
        return numpy_array(value), numpy_array(tangent)


def _vjp(f: Function, arrays: Sequence[Array], cotangent: Array) -> tuple[Array, tuple[Array, ...]]:
    with _session(differentiable(arrays)) as (jax, xs):
        value, pullback = jax.vjp(_real(f, jax), *xs)
        pulled = pullback(jax.numpy.array(direction(cotangent, value.shape, "the cotangent"), dtype=value.dtype))
        return numpy_array(value), numpy_arrays(pulled)


def _hvp(f: Function, arrays: Sequence[Array], tangents: Sequence[Array]) -> tuple[Array, ...]:
    primals = differentiable(arrays)
    directions = tangents_of(tangents, primals)
    with _session(primals) as (jax, xs):
        real = _real(f, jax)

        def of_scalar(*variables: Any) -> Any:
            value = real(*variables)
            scalar(value.shape)
            return value

        gradient = jax.grad(of_scalar, argnums=tuple(range(len(xs))))
        _, products = jax.jvp(gradient, tuple(xs), tuple([jax.numpy.array(vector) for vector in directions]))
        return tuple(numpy_arrays(products))


JAX = System(_NAME, MODES, _evaluate, _derivative, _jvp, _vjp, _hvp)
