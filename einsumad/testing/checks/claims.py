"""What a user's function returns, put into one matrix: entries of the value by entries of the point.

Owns the reading of gradients, Jacobians and Hessians. Imports points and the errors. Invariant: an answer of another
shape than the derivative has is never reshaped to fit; it is a :class:`MisfitError`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from einsumad.frontend.trees import flatten
from einsumad.testing.point import Array, Point, count


class MisfitError(Exception):
    """A claim of the wrong shape or structure: the message says which, `found` is the array if there is one."""

    def __init__(self, message: str, found: Array | None = None, part: int = 0) -> None:
        super().__init__(message)
        self.found = found
        self.part = part


def parts_of(answer: Any, point: Point, what: str) -> list[Array]:
    """The arrays of an answer, one for each array of the point."""
    if answer is None:
        raise MisfitError(f"the {what} returned None")
    if len(point.arrays) == 1:
        return [_single(answer, what)]
    leaves, _ = flatten(answer)
    if len(leaves) != len(point.arrays):
        raise MisfitError(f"the {what} returned {len(leaves)} arrays for the {len(point.arrays)} of the arguments")
    return [_single(leaf, what) for leaf in leaves]


def _single(answer: Any, what: str) -> Array:
    if hasattr(answer, "toarray"):
        return np.asarray(answer.toarray())
    while isinstance(answer, (tuple, list)) and len(answer) == 1 and isinstance(answer[0], np.ndarray):
        answer = answer[0]
    try:
        array = np.asarray(answer)
    except ValueError:
        array = np.asarray(None)
    if array.dtype.kind not in "fciub" or (isinstance(answer, (tuple, list)) and array.dtype == object):
        if isinstance(answer, (tuple, list)):
            told = f"the {what} returned {len(answer)} parts for one array: name all arguments in argnums=(0, 1, ...)"
            raise MisfitError(told)
        raise MisfitError(f"the {what} returned {type(answer).__name__}, which is no array of numbers")
    return array


def matrix_of(parts: Sequence[Array], point: Point, output_shape: tuple[int, ...], what: str) -> Array:
    """The matrix of a derivative given as one array for each array of the point."""
    blocks = []
    rows = count(output_shape)
    for k, (part, own) in enumerate(zip(parts, point.arrays, strict=True)):
        wanted = (*output_shape, *own.shape)
        if part.shape != wanted:
            raise MisfitError(f"the {what} has shape {part.shape}, and {wanted} is right for {point.names[k]}", part, k)
        flat = part.reshape(rows, own.size)
        if own.dtype.kind == "c":
            flat = np.concatenate([flat.real, flat.imag], axis=1)
        elif flat.dtype.kind == "c":
            if np.any(flat.imag != 0):
                raise MisfitError(f"the {what} is complex for the real argument {point.names[k]}", part, k)
            flat = flat.real
        blocks.append(flat.astype(np.float64))
    return np.concatenate(blocks, axis=1) if blocks else np.zeros((rows, 0))


def native(matrix: Array, point: Point, output_shape: tuple[int, ...], part: int) -> Array:
    """The array of a matrix that belongs to one array of the point, in its own shape."""
    start = sum(point.sizes[:part])
    block = matrix[:, start : start + point.sizes[part]]
    own = point.arrays[part]
    if own.dtype.kind == "c":
        block = block[:, : own.size] + 1j * block[:, own.size :]
    return block.reshape((*output_shape, *own.shape))


def reader(
    claim: Callable[..., Any],
    arguments_at: Callable[[Array], tuple[Any, ...]],
    point: Point,
    output_shape: tuple[int, ...],
    what: str,
) -> Callable[[Array], Array]:
    """The function from a vector of entries to the matrix that a claim gives there."""

    def read(vector: Array) -> Array:
        with np.errstate(all="ignore"):
            answer = claim(*arguments_at(vector))
        return matrix_of(parts_of(answer, point, what), point, output_shape, what)

    return read
