"""Derivatives written by hand as a system, so that the properties of systems can be asked of them.

Owns this adapter. Imports calls, claims and systems. Invariant: whatever is given answers for itself; the rest follows
from it by linear algebra (``J v``, ``u J``, columns), and what cannot follow raises ``NotImplementedError``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from einsumad.errors import ShapeError
from einsumad.frontend.trees import flatten
from einsumad.testing.checks.call import Call
from einsumad.testing.checks.claims import parts_of
from einsumad.testing.operations.operation import Operation
from einsumad.testing.point import Array
from einsumad.testing.systems import System
from einsumad.testing.systems.base import Function

MODE = "as given"


@dataclass(frozen=True)
class _ByHand:
    """The derivatives of an operation at the arguments of a call, and at others of the same shapes."""

    operation: Operation
    call: Call

    def args(self, arrays: Sequence[Array]) -> tuple[Any, ...]:
        """All arguments, with these arrays in the differentiated ones."""
        arguments = list(self.call.args)
        numbers = self.call.point.numbers
        leaves = [array[()] if number else array for array, number in zip(arrays, numbers, strict=True)]
        chosen = self.call.point.in_containers(leaves)
        for position, value in zip(self.call.positions, chosen, strict=True):
            arguments[position] = value
        return tuple(arguments)

    def evaluate(self, _: Function, arrays: Sequence[Array]) -> Array:
        return np.asarray(self.operation.value(*self.args(arrays)))

    def derivative(self, f: Function, arrays: Sequence[Array], order: int, _: str) -> Any:
        if order == 1:
            return self._first(f, arrays)
        if order == 2:
            return self._second(f, arrays)
        raise NotImplementedError(f"derivatives of order {order} are not written by hand")

    def _first(self, f: Function, arrays: Sequence[Array]) -> tuple[Array, ...]:
        operation = self.operation
        if operation.jacobian is not None:
            return tuple(parts_of(operation.jacobian(*self.args(arrays)), self.call.point, "jacobian"))
        if operation.gradient is not None:
            shape = self.call.subject.shape
            if self.call.subject.output.size != 1:
                raise ShapeError(
                    f"{operation.name} has the shape {shape}, and a gradient needs one number: use jacobian="
                )
            parts = parts_of(operation.gradient(*self.args(arrays)), self.call.point, "gradient")
            return tuple([part.reshape(shape + part.shape) if shape else part for part in parts])
        if operation.jvp is not None:
            columns = [self.jvp(f, arrays, unit)[1] for unit in _units(arrays)]
            return _blocks(columns, self.evaluate(f, arrays).shape, arrays)
        if operation.vjp is not None:
            value = self.evaluate(f, arrays)
            rows = [self.vjp(f, arrays, unit)[1] for (unit,) in _units([value])]
            return tuple(
                [
                    np.stack([np.asarray(row[k]) for row in rows]).reshape(value.shape + array.shape)
                    for k, array in enumerate(arrays)
                ]
            )
        raise NotImplementedError("no first derivative was written by hand")

    def _second(self, f: Function, arrays: Sequence[Array]) -> tuple[tuple[Array, ...], ...]:
        count = len(arrays)
        if self.operation.hessian is not None:
            answer = self.operation.hessian(*self.args(arrays))
            if hasattr(answer, "toarray"):
                answer = answer.toarray()
            elif hasattr(answer, "matvec"):
                answer = answer @ np.eye(sum([array.size for array in arrays]), dtype=arrays[0].dtype)
            blocks = [np.asarray(answer)] if count == 1 else [np.asarray(leaf) for leaf in flatten(answer)[0]]
            return tuple([tuple(blocks[k * count : (k + 1) * count]) for k in range(count)])
        if self.operation.hvp is not None:
            products = [self.hvp(f, arrays, unit) for unit in _units(arrays)]
            return tuple(
                [_blocks([product[k] for product in products], array.shape, arrays) for k, array in enumerate(arrays)]
            )
        raise NotImplementedError("no second derivative was written by hand")

    def jvp(self, f: Function, arrays: Sequence[Array], tangents: Sequence[Array]) -> tuple[Array, Array]:
        value = self.evaluate(f, arrays)
        if self.operation.jvp is not None:
            given = tuple(self.call.point.in_containers(tangents))
            return value, np.asarray(self.operation.jvp(self.args(arrays), given))
        parts = [np.tensordot(j, v, v.ndim) for j, v in zip(self._first(f, arrays), tangents, strict=True)]
        return value, np.asarray(sum(parts[1:], parts[0]))

    def vjp(self, f: Function, arrays: Sequence[Array], cotangent: Array) -> tuple[Array, tuple[Array, ...]]:
        value = self.evaluate(f, arrays)
        if self.operation.vjp is not None:
            answer = self.operation.vjp(self.args(arrays), cotangent)
            return value, tuple(parts_of(answer, self.call.point, "pullback"))
        return value, tuple([np.asarray(np.tensordot(cotangent, j, value.ndim)) for j in self._first(f, arrays)])

    def hvp(self, f: Function, arrays: Sequence[Array], tangents: Sequence[Array]) -> tuple[Array, ...]:
        if self.operation.hvp is not None:
            tangent = self.call.point.in_containers(tangents)
            tangent = tangent if isinstance(self.call.argnums, tuple) else tangent[0]
            return tuple(parts_of(self.operation.hvp(*self.args(arrays), tangent), self.call.point, "product"))
        rows = self._second(f, arrays)
        products = [[np.tensordot(h, v, v.ndim) for h, v in zip(row, tangents, strict=True)] for row in rows]
        return tuple([np.asarray(sum(parts[1:], parts[0])) for parts in products])


def _units(arrays: Sequence[Array]) -> list[list[Array]]:
    """The directions along single entries of some arrays."""
    directions = []
    for position, array in enumerate(arrays):
        for entry in range(array.size):
            direction = [np.zeros_like(each) for each in arrays]
            direction[position].reshape(-1)[entry] = 1
            directions.append(direction)
    return directions


def _blocks(columns: Sequence[Any], shape: tuple[int, ...], arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Columns, one an entry of the arrays, as one block an array."""
    blocks, start = [], 0
    for array in arrays:
        own = [np.asarray(column) for column in columns[start : start + array.size]]
        start += array.size
        block = np.stack(own, axis=-1) if own else np.zeros((*shape, 0), array.dtype)
        blocks.append(block.reshape(shape + array.shape))
    return tuple(blocks)


def system_by_hand(operation: Operation, call: Call) -> System:
    """The system of the derivatives of an operation that were written by hand, at the arguments of a call."""
    own = _ByHand(operation, call)
    return System(
        "by hand", (MODE,), own.evaluate, own.derivative, own.jvp, own.vjp, own.hvp, any_function=False, bitwise=False
    )
