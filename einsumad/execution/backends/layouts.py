"""Layouts, embeddings and 0/1 tensors written out.

Owns these operations. Imports the plan and the context. Invariant: zeros beside a diagonal are chosen, not multiplied,
so that infinities and NaN on it stay where they are.
"""

from __future__ import annotations

import numpy as np

from einsumad.execution.backends.array_library import Array, Home
from einsumad.execution.backends.context import Context, Operation, lined_up, permuted
from einsumad.graph import BOOL, Labels, Shape
from einsumad.planning.kernels import AffineMap, Embed, Fill, Inside, Layout, OneHot
from einsumad.planning.steps import Step


def fill(step: Step, kernel: Fill, context: Context) -> Operation:
    """One number everywhere."""
    home = context.home
    return lambda: home.full(step.shape, _number(kernel.value, step.dtype), step.dtype)


def _number(value: float, dtype: np.dtype) -> float:
    return bool(value) if dtype == BOOL else int(value) if dtype.kind in "iu" else float(value)


def layout(step: Step, kernel: Layout, context: Context) -> Operation:
    """Diagonals taken, other labels summed, axes permuted, times a number, cast."""
    home, register = context.home, context.register(step, 0)
    whole, dtype = context.whole(step, 0), context.dtypes[register]
    diagonal, labels = diagonals(home, kernel.labels)
    ndim = len(step.shape)
    axes = tuple([axis for axis, label in enumerate(labels) if label >= ndim])
    kept = tuple([label for label in labels if label < ndim])
    turn = permuted(home, [kept.index(axis) for axis in range(ndim)])
    work = dtype
    if axes:
        work = np.dtype(np.int64) if dtype == BOOL else np.result_type(dtype, step.dtype)
    elif kernel.coefficient != 1:
        work = np.result_type(dtype, step.dtype)
    native = home.array_library.native(work)

    def run(x: Array) -> Array:
        x = home.cast(diagonal(whole(x)), work)
        if axes:
            x = home.xp.sum(x, axis=axes, dtype=native)
        x = turn(x)
        if kernel.coefficient != 1:
            x = -x if kernel.coefficient == -1 else x * kernel.coefficient
        return home.cast(x, step.dtype)

    return run


def diagonals(home: Home, labels: Labels) -> tuple[Operation, Labels]:
    """Takes the entries at which axes of one label have one index; and the labels that are left."""
    moves: list[tuple[int, int]] = []
    left = list(labels)
    while len(set(left)) < len(left):
        twice = next(label for k, label in enumerate(left) if label in left[:k])
        first = left.index(twice)
        second = left.index(twice, first + 1)
        moves.append((first, second))
        left = [*left[:first], *left[first + 1 : second], *left[second + 1 :], twice]

    def run(x: Array) -> Array:
        for first, second in moves:
            x = home.xp.linalg.diagonal(home.xp.moveaxis(x, (first, second), (-2, -1)))
        return x

    return run, tuple(left)


def embed(step: Step, kernel: Embed, context: Context) -> Operation:
    """The operand on diagonals of zeros, or spread over new axes."""
    home, ndim = context.home, len(step.shape)
    if not kernel.deltas:
        return lined_up(home, kernel.labels, context.stored[context.register(step, 0)], ndim)
    if not step.operands and ndim == 2:
        return lambda: _scaled(home.eye(step.shape[0], step.dtype), kernel.coefficient)
    first = {label: delta[0] for delta in kernel.deltas for label in delta}
    places = tuple([first.get(label, label) for label in kernel.labels])
    line = lined_up(home, places, (0,) * len(places), ndim)
    number = _number(kernel.coefficient, step.dtype)
    whole = context.whole(step, 0) if step.operands else None

    def run(*operands: Array) -> Array:
        value = line(whole(operands[0])) if whole is not None else home.full((), number, step.dtype)
        mask = None
        for delta in kernel.deltas:
            held = _delta(home, delta, step.shape)
            mask = held if mask is None else home.xp.logical_and(mask, held)
        return home.whole(home.where(mask, value, 0, step.dtype), step.shape)

    return run


def _scaled(x: Array, coefficient: float) -> Array:
    return x if coefficient == 1 else x * coefficient


def _delta(home: Home, labels: Labels, shape: Shape) -> Array:
    """Where the indices of these axes are equal."""
    axes = [axis_places(home, shape, axis) for axis in labels]
    found = axes[0] == axes[0]
    for axis in axes[1:]:
        found = home.xp.logical_and(found, axes[0] == axis)
    return found


def axis_places(home: Home, shape: Shape, axis: int) -> Array:
    """The indices along an axis, so that they broadcast to the shape."""
    return home.xp.reshape(home.places(shape[axis]), (shape[axis], *[1] * (len(shape) - axis - 1)))


def affine_map(step: Step, kernel: AffineMap, context: Context) -> Operation:
    """One where the first index is an affine function of the others."""
    home = context.home

    def run() -> Array:
        found = axis_places(home, step.shape, 0) == _affine(home, step.shape, 1, kernel.strides, kernel.offset)
        return home.cast(home.whole(found, step.shape), step.dtype)

    return run


def inside(step: Step, kernel: Inside, context: Context) -> Operation:
    """Where an affine function of the indices stays within an axis."""
    home = context.home

    def run() -> Array:
        place = _affine(home, step.shape, 0, kernel.strides, kernel.offset)
        found = home.xp.logical_and(place >= 0, place < kernel.size)
        return home.cast(home.whole(found, step.shape), step.dtype)

    return run


def _affine(home: Home, shape: Shape, first: int, strides: Shape, offset: int) -> Array:
    total = home.full((), offset, np.dtype(np.int64))
    for axis, stride in enumerate(strides, first):
        total = total + stride * axis_places(home, shape, axis)
    return total


def one_hot(step: Step, kernel: OneHot, context: Context) -> Operation:  # noqa: ARG001 (it says nothing more)
    """One where the last index is the value of the operand."""
    home, whole = context.home, context.whole(step, 0)
    wide = np.dtype(np.int64)
    return lambda index: home.cast(home.cast(whole(index), wide)[..., None] == home.places(step.shape[-1]), step.dtype)
