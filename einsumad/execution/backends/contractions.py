"""Two operands multiplied and summed, as matrix products.

Owns these operations. Imports the plan and the context. Invariant: whole numbers are multiplied as such: libraries do
not take them for matrix products on every device.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from einsumad.execution.backends.array_library import Array, Home
from einsumad.execution.backends.context import Context, Operation, permuted
from einsumad.execution.backends.entrywise import group
from einsumad.execution.selected import selected_product_in
from einsumad.graph import Labels, Shape
from einsumad.planning.cost import Cost
from einsumad.planning.kernels import Contract, Group, Selected, Sliced
from einsumad.planning.steps import Step


def contract(step: Step, kernel: Contract, context: Context) -> Operation:
    """The sum over the labels that both have and the result has not."""
    home = context.home
    registers = [context.register(step, k) for k in range(2)]
    first, second = (context.whole(step, k) for k in range(2))
    sizes: dict[int, int] = {}
    for labels, register in zip((kernel.left, kernel.right), registers, strict=True):
        sizes.update(zip(labels, context.shapes[register], strict=True))
    ndim = len(step.shape)
    batch = tuple([label for label in range(ndim) if label in kernel.left and label in kernel.right])
    summed = tuple([label for label in kernel.left if label >= ndim])
    free = [tuple([label for label in side if label not in other]) for side, other in _both(kernel)]
    left = _matrices(home, kernel.left, (batch, free[0], summed), sizes)
    right = _matrices(home, kernel.right, (batch, summed, free[1]), sizes)
    labels = (*batch, *free[0], *free[1])
    shape = tuple([sizes[label] for label in labels])
    turn = permuted(home, [labels.index(axis) for axis in range(ndim)])
    product = home.xp.matmul if step.dtype.kind == "f" else _multiplied(home, step)

    def run(x: Array, y: Array) -> Array:
        return turn(home.xp.reshape(product(left(first(x)), right(second(y))), shape))

    return run


def selected(step: Step, kernel: Selected, context: Context) -> Operation:
    """The sum over terms where masks hold: a plain product, unless that has a NaN."""
    xp, either = context.home.xp, context.home.array_library.either
    multiply = contract(step, kernel.contract, context)
    wholes = [context.whole(step, k) for k in range(len(step.operands))]
    labels = (kernel.contract.left, kernel.contract.right, *kernel.masks)

    def run(*operands: Array) -> Array:
        product = multiply(*operands[:2])
        given = [whole(x) for whole, x in zip(wholes, operands, strict=True)]
        undefined = xp.any(xp.isnan(product))
        return either(undefined, lambda: selected_product_in(xp, given, labels, len(step.shape)), lambda: product)

    return run


def _both(kernel: Contract) -> list[tuple[Labels, Labels]]:
    return [(kernel.left, kernel.right), (kernel.right, kernel.left)]


def _matrices(home: Home, labels: Labels, groups: tuple[Labels, Labels, Labels], sizes: dict[int, int]) -> Operation:
    """An operand as a stack of matrices: its batch, rows and columns."""
    batch, rows, columns = groups
    turn = permuted(home, [labels.index(label) for label in (*batch, *rows, *columns)])
    shape = (*_sizes(batch, sizes), prod(_sizes(rows, sizes)), prod(_sizes(columns, sizes)))
    if len(rows) == len(columns) == 1:
        return turn
    return lambda x: home.xp.reshape(turn(x), shape)


def _sizes(labels: Labels, sizes: dict[int, int]) -> Shape:
    return tuple([sizes[label] for label in labels])


def _multiplied(home: Home, step: Step) -> Operation:
    native = home.array_library.native(step.dtype)
    return lambda x, y: home.xp.sum(x[..., :, :, None] * y[..., None, :, :], axis=-2, dtype=native)


def sliced(step: Step, kernel: Sliced, context: Context) -> Operation:
    """A contraction with a product that is never whole: one index of an axis of the result after the other."""
    home, at = context.home, kernel.at
    sides = [kernel.contract.left, kernel.contract.right]
    product, other = sides[kernel.position], sides[1 - kernel.position]
    held = [*[tuple([product[axis] for axis in axes]) for axes in kernel.group.inputs], other]
    wholes = [context.whole(step, k) for k in range(len(held))]
    axes = [labels.index(at) if at in labels else None for labels in held]
    local = _Local(context)
    read = [local.add(context.register(step, k), axis) for k, axis in enumerate(axes)]
    inputs = tuple([_without(labels, product.index(at)) for labels in kernel.group.inputs])
    weighted = Group(inputs, kernel.group.masks, kernel.group.divisors)
    sizes: dict[int, int] = {}
    for labels, k in zip(held, range(len(held)), strict=True):
        sizes.update(zip(labels, context.shapes[context.register(step, k)], strict=True))
    shape = tuple([sizes[label] for label in product if label != at])
    inner = local.step(weighted, read[:-1], shape, step)
    multiply = group(inner, weighted, local.context())
    pair = [inner.register, read[-1]] if kernel.position == 0 else [read[-1], inner.register]
    summing = Contract(_without(sides[0], at), _without(sides[1], at))
    kept = tuple([size for axis, size in enumerate(step.shape) if axis != at])
    total = contract(local.step(summing, pair, kept, step), summing, local.context())
    moving = [k for k, axis in enumerate(axes) if axis is not None]

    def run(*operands: Any) -> Array:
        given = [whole(x) for whole, x in zip(wholes, operands, strict=True)]
        parts = [home.xp.moveaxis(given[k], axes[k], 0) for k in moving]

        def body(*some: Array) -> Array:
            now = list(given)
            for k, part in zip(moving, some, strict=True):
                now[k] = part
            weights = multiply(*now[:-1])
            return total(weights, now[-1]) if kernel.position == 0 else total(now[-1], weights)

        return home.xp.moveaxis(home.array_library.over_slices(body, parts, step.shape[at]), 0, at)

    return run


def _without(labels: Sequence[int], gone: int) -> Labels:
    """The labels but for one, those above it moved down."""
    return tuple([label - (label > gone) for label in labels if label != gone])


class _Local:
    """The registers of a plan, and those that stand for slices."""

    def __init__(self, outer: Context) -> None:
        self.outer = outer
        self.shapes = list(outer.shapes)
        self.dtypes = list(outer.dtypes)

    def add(self, register: int, axis: int | None) -> int:
        """A register for one index of an axis of another, or for the whole of it."""
        shape = self.shapes[register]
        self.shapes.append(shape if axis is None else (*shape[:axis], *shape[axis + 1 :]))
        self.dtypes.append(self.dtypes[register])
        return len(self.shapes) - 1

    def step(self, kernel: Group | Contract, operands: list[int], shape: Shape, like: Step) -> Step:
        """A step of its own."""
        self.shapes.append(shape)
        self.dtypes.append(like.dtype)
        return Step(len(self.shapes) - 1, kernel, tuple(operands), shape, shape, like.dtype, Cost(), None, ())

    def context(self) -> Context:
        """All registers so far, each kept in its full shape."""
        shapes = tuple(self.shapes)
        return Context(self.outer.home, shapes, shapes, tuple(self.dtypes))
