"""Contractions of two tensors as matrix products on reshaped views.

Owns the choice of the matrix product. Imports operands and source text. Invariant: integers never go
through floating point; an operand is copied only if axes that have to become one do not lie side by side in
it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from einsumad.execution.lowering.operands import (
    Registers,
    in_output_order,
    permuted,
    register_of,
    whole,
)
from einsumad.execution.source import dtype_text, register_name, shape_text
from einsumad.graph import Labels
from einsumad.planning.kernels import Contract
from einsumad.planning.steps import Step


@dataclass(frozen=True, slots=True)
class _Side:
    """One operand: its expression, its labels in order, and those that the other operand lacks."""

    text: str
    labels: Labels
    free: Labels


def lower_contract(step: Step, kernel: Contract, registers: Registers) -> list[str]:
    """The statements of a contraction."""
    ndim = len(step.shape)
    sizes: dict[int, int] = {}
    sides: list[_Side] = []
    for position, labels in enumerate((kernel.left, kernel.right)):
        register = register_of(step, position)
        other = kernel.right if position == 0 else kernel.left
        sizes.update(zip(labels, registers.shapes[register], strict=True))
        free = tuple([label for label in labels if label not in other])
        sides.append(_Side(whole(register, registers), labels, free))
    left, right = sides
    batch = tuple([label for label in range(ndim) if label in left.labels and label in right.labels])
    in_order = (*batch, *right.free, *left.free) == tuple(range(ndim))
    if (in_order and left.free and right.free) or (
        right.free and not left.free
    ):  # a vector stands on the right
        left, right = right, left
    summed = _order_of_summed(left, right, ndim, sizes)
    if not batch:
        text = _matrix_product(left, right, summed, sizes)
    elif left.free or right.free:
        text = _batched_product(left, right, batch, summed, sizes)
    else:
        text = _dot_products(left, right, batch, summed, dtype_text(step.dtype))
    result = (*batch, *left.free, *right.free)
    return [f"{register_name(step.register)} = {in_output_order(text, result)}"]


def _order_of_summed(left: _Side, right: _Side, ndim: int, sizes: dict[int, int]) -> Labels:
    """The order of the summed labels that lets the larger operand stay as it is."""
    candidates = [tuple([label for label in side.labels if label >= ndim]) for side in (left, right)]

    def copied(order: Labels) -> int:
        return sum(
            [
                prod([sizes[label] for label in side.labels])
                for side in (left, right)
                if not (_adjacent(side.labels, order) and _adjacent(side.labels, side.free))
            ]
        )

    return min(candidates, key=copied)


def _adjacent(labels: Labels, run: Labels) -> bool:
    """Whether the run of labels lies side by side, in its order."""
    if len(run) < 2:
        return True
    start = labels.index(run[0])
    return labels[start : start + len(run)] == run


def _matrix_product(left: _Side, right: _Side, summed: Labels, sizes: dict[int, int]) -> str:
    """Matrix times matrix, matrix times vector, or the dot product of two vectors."""
    first = _matrix(left, left.free, summed, sizes)
    second = _matrix(right, summed, right.free, sizes)
    text = f"{first}.dot({second})"
    if len(left.free) > 1 or len(right.free) > 1:
        text = f"{text}.reshape({shape_text(_sizes((*left.free, *right.free), sizes))})"
    return text


def _sizes(labels: Labels, sizes: dict[int, int]) -> tuple[int, ...]:
    return tuple([sizes[label] for label in labels])


def _matrix(side: _Side, rows: Labels, columns: Labels, sizes: dict[int, int]) -> str:
    """The operand as a matrix, or as a vector if one of rows and columns has no labels."""
    groups = [labels for labels in (rows, columns) if labels]
    if side.labels == columns + rows and len(groups) == 2:
        return f"{_merged(side.text, [columns, rows], sizes)}.T"
    order = [side.labels.index(label) for labels in groups for label in labels]
    return _merged(permuted(side.text, order), groups, sizes)


def _merged(text: str, groups: list[Labels], sizes: dict[int, int]) -> str:
    """The expression with the axes of each group as one."""
    if all(len(labels) == 1 for labels in groups):
        return text
    shape = tuple([prod(_sizes(labels, sizes)) for labels in groups])
    return f"{text}.reshape({shape_text(shape) if len(shape) > 1 else -1})"


def _batched_product(left: _Side, right: _Side, batch: Labels, summed: Labels, sizes: dict[int, int]) -> str:
    """Matrix products for each index of the batch."""
    first = _stack(left, batch, left.free, summed, sizes)
    second = _stack(right, batch, summed, right.free, sizes)
    text = f"np.matmul({first}, {second})"
    if len(left.free) == len(right.free) == 1:
        return text
    return f"{text}.reshape({shape_text(_sizes((*batch, *left.free, *right.free), sizes))})"


def _stack(side: _Side, batch: Labels, rows: Labels, columns: Labels, sizes: dict[int, int]) -> str:
    """The operand as a stack of matrices."""
    order = [side.labels.index(label) for label in (*batch, *rows, *columns)]
    text = permuted(side.text, order)
    if len(rows) == len(columns) == 1:
        return text
    if len(rows) + len(columns) == 1:
        return f"{text}[..., :, None]" if rows else f"{text}[..., None, :]"
    matrix = (prod(_sizes(rows, sizes)), prod(_sizes(columns, sizes)))
    return f"{text}.reshape({shape_text((*_sizes(batch, sizes), *matrix))})"


def _dot_products(left: _Side, right: _Side, batch: Labels, summed: Labels, dtype: str) -> str:
    """Dot products along the last axis, or entrywise products summed along another."""
    if len(summed) == 1 and left.labels[-1] == right.labels[-1] == summed[0]:
        texts = [
            permuted(s.text, [s.labels.index(label) for label in (*batch, *summed)]) for s in (left, right)
        ]
        return f"np.vecdot({texts[0]}, {texts[1]})"
    place = left.labels
    other = permuted(right.text, [right.labels.index(label) for label in place])
    axes = [axis for axis, label in enumerate(place) if label in summed]
    axis = axes[0] if len(axes) == 1 else tuple(axes)
    kept = tuple([label for label in place if label not in summed])
    text = f"np.add.reduce({left.text} * {other}, axis={axis}, dtype={dtype})"
    return permuted(text, [kept.index(label) for label in batch])
