"""Contractions of two tensors as matrix products on reshaped views.

Owns the choice of the matrix product. Imports operands and source text. Invariant: integers never go
through floating point; an operand is copied only if axes that have to become one do not lie side by side in
its memory.
"""

from __future__ import annotations

from math import prod
from string import ascii_lowercase

import numpy as np

from einsumad.execution.lowering.operands import LONG, Registers, permuted, register_of, whole
from einsumad.execution.source import dtype_text, register_name, shape_text
from einsumad.graph import Labels
from einsumad.notation import to_einsum
from einsumad.planning.kernels import Contract
from einsumad.planning.steps import Step
from einsumad.records import record

_SMALL_MATRIX, _MANY = 24, 64
_FEW_ROWS = 128
"""Rows of a matrix up to which OpenBLAS, in single precision, takes 1.2 to 1.8 times as long for it times a longer
transposed one as for the transposed product. If that is not transposed it takes as long in either way; then it is that
what meets in a network lies in memory in the same order.
"""
_WORTH_A_CALL = 256
"""Entries of a matrix from which a product for each one of a stack costs less than a copy of the stack."""
_SMALL_PRODUCT, _MANY_ROWS = 10**6, 40
"""Products of entries up to which OpenBLAS has kernels for small matrices, and rows from which a copy pays.

The kernel of a matrix times a transposed one takes 1.4 times as long as the others there, or more; where there are no
such kernels, the copy takes a few percent of the product.
"""


@record
class Side:
    """One operand: its expression, its labels, the same in order of memory, and those that only it has.

    Windows that overlap are copied by every product, whatever their order.
    """

    text: str
    labels: Labels
    memory: Labels
    free: Labels
    windows: bool

    def size(self, sizes: dict[int, int]) -> int:
        """The number of entries."""
        return prod([sizes[label] for label in self.labels])


def lower_contract(step: Step, kernel: Contract, registers: Registers) -> list[str]:
    """The statements of a contraction, which note the order of its axes in memory."""
    text, labels = product_text(step, kernel, registers)
    registers.orders[step.register] = labels
    order = [labels.index(axis) for axis in range(len(labels))]
    return [f"{register_name(step.register)} = {permuted(text, order)}"]


def product_text(step: Step, kernel: Contract, registers: Registers) -> tuple[str, Labels]:
    """The expression of the product, and the labels of its axes, which are in order of memory."""
    left, right, sizes = _sides(step, kernel, registers)
    ndim = len(step.shape)
    batch = tuple([label for label in range(ndim) if label in left.labels and label in right.labels])
    if _is_turned(left, right, batch, ndim, sizes):
        left, right = right, left
    summed = _order_of_summed(left, right, ndim, sizes)
    if step.dtype == np.float32 and not (batch or kernel.symmetric) and _has_few_rows(left, right, summed, sizes):
        left, right = right, left
    if batch:
        natural = (*batch, *left.free, *right.free)
        if left.free or right.free:
            return _batched_product(left, right, batch, summed, sizes), natural
        return _dot_products(left, right, batch, summed, dtype_text(step.dtype)), natural
    if not kernel.symmetric and left.free and right.free and left.windows != right.windows:
        return _product_of_windows(left, right, summed, sizes)
    stacks = [] if kernel.symmetric else [(left, right), (right, left)]
    for stack, other in sorted(stacks, key=lambda pair: -pair[0].size(sizes)):
        if _is_stack(stack, summed, sizes) and _adjacent(other.memory, other.free):
            return _stacked_product(stack, other, summed, sizes)
    if kernel.symmetric:
        rows, columns = _matrix(left, left.free, summed, sizes), _matrix(right, summed, right.free, sizes)
        return f"gram({rows}, {columns})", (*left.free, *right.free)
    return _matrix_product(left, right, summed, sizes), (*left.free, *right.free)


def _is_turned(left: Side, right: Side, batch: Labels, ndim: int, sizes: dict[int, int]) -> bool:
    """Whether the right operand stands first: that gives the axes in order, or at least a long one as the last.

    A vector stands on the right.
    """
    if not (left.free and right.free):
        return bool(right.free)
    if (*batch, *left.free, *right.free) == tuple(range(ndim)):
        return False
    in_order = (*batch, *right.free, *left.free) == tuple(range(ndim))
    return in_order or sizes[right.free[-1]] < LONG <= sizes[left.free[-1]]


def _has_few_rows(left: Side, right: Side, summed: Labels, sizes: dict[int, int]) -> bool:
    """Whether a large product of a matrix of few rows is better computed transposed."""
    if left.windows or right.windows or not (_is_matrix(left, summed) and _is_matrix(right, summed)):
        return False
    rows, inner, columns = (prod(_sizes(labels, sizes)) for labels in (left.free, summed, right.free))
    return 2 * rows <= min(2 * _FEW_ROWS, columns) and rows * inner * columns > _SMALL_PRODUCT


def _sides(step: Step, kernel: Contract, registers: Registers) -> tuple[Side, Side, dict[int, int]]:
    sizes: dict[int, int] = {}
    sides: list[Side] = []
    for position, (labels, other) in enumerate(((kernel.left, kernel.right), (kernel.right, kernel.left))):
        register = register_of(step, position)
        sizes.update(zip(labels, registers.shapes[register], strict=True))
        memory = tuple([labels[axis] for axis in registers.orders[register]])
        free = tuple([label for label in memory if label not in other])
        sides.append(Side(whole(register, registers), labels, memory, free, register in registers.windows))
    return sides[0], sides[1], sizes


def _order_of_summed(left: Side, right: Side, ndim: int, sizes: dict[int, int]) -> Labels:
    """The order of the summed labels that lets the larger operand stay as it is."""
    candidates = [tuple([label for label in side.memory if label >= ndim]) for side in (left, right)]

    def copied(order: Labels) -> int:
        return sum([side.size(sizes) for side in (left, right) if not _is_matrix(side, order)])

    return min(candidates, key=copied)


def _is_matrix(side: Side, summed: Labels) -> bool:
    return _adjacent(side.memory, summed) and _adjacent(side.memory, side.free)


def _adjacent(labels: Labels, run: Labels) -> bool:
    """Whether the run of labels lies side by side, in its order."""
    if len(run) < 2:
        return True
    start = labels.index(run[0])
    return labels[start : start + len(run)] == run


def _is_stack(side: Side, summed: Labels, sizes: dict[int, int]) -> bool:
    """Whether the summed labels lie between free ones, with large matrices behind the first of those."""
    if _is_matrix(side, summed) or not _adjacent(side.memory, summed):
        return False
    start = side.memory.index(summed[0])
    return prod(_sizes(side.memory[start:], sizes)) >= _WORTH_A_CALL


def _stacked_product(stack: Side, other: Side, summed: Labels, sizes: dict[int, int]) -> tuple[str, Labels]:
    """The other operand as a matrix times each matrix of the stack."""
    start = stack.memory.index(summed[0])
    before, behind = stack.memory[:start], stack.memory[start + len(summed) :]
    order = [stack.labels.index(label) for label in stack.memory]
    matrices = _merged(permuted(stack.text, order), [before, summed, behind], sizes)
    first = _matrix(other, other.free, summed, sizes)
    labels = (*before, *other.free, *behind)
    text = f"np.matmul({first}, {matrices})"
    if len(before) == len(behind) == 1 and len(other.free) < 2:
        return text, labels
    return f"{text}.reshape({shape_text(_sizes(labels, sizes))})", labels


def _product_of_windows(left: Side, right: Side, summed: Labels, sizes: dict[int, int]) -> tuple[str, Labels]:
    """The product in the order in which the windows are copied in long runs: the longer last axis is the last one."""
    windows, other = (left, right) if left.windows else (right, left)
    if sizes[summed[-1]] > sizes[windows.free[-1]]:
        texts = [permuted(s.text, [s.labels.index(label) for label in (*s.free, *summed)]) for s in (windows, other)]
        labels = (*windows.free, *other.free)
        text = f"windows_dot({texts[0]}, {texts[1]}, {len(windows.free)}, {len(other.free)})"
    else:
        first, second = _matrix(other, other.free, summed, sizes), _matrix(windows, summed, windows.free, sizes)
        labels = (*other.free, *windows.free)
        text = f"{first}.dot({second})"
    return f"{text}.reshape({shape_text(_sizes(labels, sizes))})", labels


def _matrix_product(left: Side, right: Side, summed: Labels, sizes: dict[int, int]) -> str:
    """Matrix times matrix, matrix times vector, or the dot product of two vectors."""
    first = _matrix(left, left.free, summed, sizes)
    second = _matrix(right, summed, right.free, sizes)
    if second.endswith(".T") and not first.endswith(".T") and _is_turned_first(left, right, summed, sizes):
        second = f"{second}.copy()"
    text = f"{first}.dot({second})"
    if len(left.free) > 1 or len(right.free) > 1:
        text = f"{text}.reshape({shape_text(_sizes((*left.free, *right.free), sizes))})"
    return text


def _is_turned_first(left: Side, right: Side, summed: Labels, sizes: dict[int, int]) -> bool:
    """Whether a product is small enough, and a transposed right operand small enough beside the left one."""
    rows, inner, columns = (prod(_sizes(labels, sizes)) for labels in (left.free, summed, right.free))
    return rows >= max(_MANY_ROWS, columns) and rows * inner * columns <= _SMALL_PRODUCT


def _sizes(labels: Labels, sizes: dict[int, int]) -> tuple[int, ...]:
    return tuple([sizes[label] for label in labels])


def _matrix(side: Side, rows: Labels, columns: Labels, sizes: dict[int, int]) -> str:
    """The operand as a matrix, or as a vector if one of rows and columns has no labels."""
    groups = [labels for labels in (rows, columns) if labels]
    if side.memory == columns + rows and len(groups) == 2:
        order = [side.labels.index(label) for label in side.memory]
        if side.labels == rows + columns:
            return _merged(side.text, groups, sizes)
        return f"{_merged(permuted(side.text, order), [columns, rows], sizes)}.T"
    order = [side.labels.index(label) for labels in groups for label in labels]
    return _merged(permuted(side.text, order), groups, sizes)


def _merged(text: str, groups: list[Labels], sizes: dict[int, int]) -> str:
    """The expression with the axes of each group as one."""
    if all(len(labels) == 1 for labels in groups):
        return text
    shape = tuple([prod(_sizes(labels, sizes)) for labels in groups])
    return f"{text}.reshape({shape_text(shape) if len(shape) > 1 else -1})"


def _batched_product(left: Side, right: Side, batch: Labels, summed: Labels, sizes: dict[int, int]) -> str:
    """Matrix products for each index of the batch."""
    if _are_small_vector_products(left, right, batch, summed, sizes):
        natural = (*batch, *left.free, *right.free)
        return f'np.einsum("{to_einsum([left.labels, right.labels], natural)}", {left.text}, {right.text})'
    first = _stack(left, batch, left.free, summed, sizes)
    second = _stack(right, batch, summed, right.free, sizes)
    text = f"np.matmul({first}, {second})"
    if len(left.free) == len(right.free) == 1:
        return text
    return f"{text}.reshape({shape_text(_sizes((*batch, *left.free, *right.free), sizes))})"


def _are_small_vector_products(left: Side, right: Side, batch: Labels, summed: Labels, sizes: dict[int, int]) -> bool:
    """Whether many small matrices meet a vector each: a plain loop takes half the time of BLAS then."""
    free = left.free or right.free
    if (left.free and right.free) or prod(_sizes((*free, *summed), sizes)) > _SMALL_MATRIX:
        return False
    return prod(_sizes(batch, sizes)) >= _MANY and len({*batch, *free, *summed}) <= len(ascii_lowercase)


def _stack(side: Side, batch: Labels, rows: Labels, columns: Labels, sizes: dict[int, int]) -> str:
    """The operand as a stack of matrices, copied if each matrix would lie scattered in memory."""
    order = [side.labels.index(label) for label in (*batch, *rows, *columns)]
    text = permuted(side.text, order)
    if side.memory[-1] in batch:
        text = f"np.ascontiguousarray({text})"
    if len(rows) == len(columns) == 1:
        return text
    if len(rows) + len(columns) == 1:
        return f"{text}[..., :, None]" if rows else f"{text}[..., None, :]"
    matrix = (prod(_sizes(rows, sizes)), prod(_sizes(columns, sizes)))
    return f"{text}.reshape({shape_text((*_sizes(batch, sizes), *matrix))})"


def _dot_products(left: Side, right: Side, batch: Labels, summed: Labels, dtype: str) -> str:
    """Dot products along the last axis, or entrywise products summed along another."""
    if len(summed) == 1 and left.memory[-1] == right.memory[-1] == summed[0]:
        texts = [permuted(s.text, [s.labels.index(label) for label in (*batch, *summed)]) for s in (left, right)]
        return f"np.vecdot({texts[0]}, {texts[1]})"
    place = left.memory
    first, other = (permuted(side.text, [side.labels.index(label) for label in place]) for side in (left, right))
    axes = [axis for axis, label in enumerate(place) if label in summed]
    axis = axes[0] if len(axes) == 1 else tuple(axes)
    kept = tuple([label for label in place if label not in summed])
    if (
        axis == 0 and "float" in dtype and len(place) <= len(ascii_lowercase)
    ):  # added up row by row in any case, here without the products
        letters = ascii_lowercase[: len(place)]
        text = f'np.einsum("{letters},{letters}->{letters[1:]}", {first}, {other})'
    else:
        text = f"np.add.reduce({first} * {other}, axis={axis}, dtype={dtype})"
    return permuted(text, [kept.index(label) for label in batch])
