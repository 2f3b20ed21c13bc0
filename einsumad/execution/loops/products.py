"""Contractions in a region of loops: matrix products of BLAS, or loops where these are small.

Owns the choice, and the text. Imports entries and nests. Invariant: matrices are arrays, or parts of their axes as one,
which lie side by side; nothing is copied to make a matrix.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from einsumad.execution.loops.entries import Arrays, entry
from einsumad.execution.loops.nests import stored, summed
from einsumad.execution.source import dtype_text, register_name, shape_text
from einsumad.graph import Labels, Shape
from einsumad.planning.kernels import Contract
from einsumad.planning.steps import Operand, Step

_SMALL, _MODEST = 2**8, 2**13
"""Products up to which loops take less time than the call of BLAS, and up to which they do where BLAS needs a copy."""


class _Side(NamedTuple):
    """An operand as a matrix: its text, the labels that only it has, and whether these go along the rows."""

    text: str
    free: Labels
    rows_are_free: bool

    def matrix(self, *, rows_are_free: bool) -> str:
        """The matrix, turned if need be; a vector is none."""
        return self.text if not self.free or rows_are_free == self.rows_are_free else f"{self.text}.T"


def lower_contract(step: Step, arrays: Arrays) -> list[str] | None:
    """The statements of a contraction, and where its entries lie; None where NumPy's own ways are better."""
    kernel = step.kernel
    assert isinstance(kernel, Contract)
    sizes = _sizes(step, kernel, arrays)
    work = prod(sizes.values())
    if work > _SMALL and not (kernel.symmetric and work > _MODEST):
        found = _by_blas(step, kernel, arrays, sizes)
        if found is not None:
            return _written(step, *found)
    if work > _MODEST:
        return None
    left, right = [
        entry(operand, labels, arrays, {})
        for operand, labels in zip(step.operands, (kernel.left, kernel.right), strict=True)
    ]
    order = [*range(len(step.shape)), *sorted([label for label in sizes if label >= len(step.shape)])]
    return summed(step, [(label, sizes[label], label) for label in order], f"{left} * {right}")


def _sizes(step: Step, kernel: Contract, arrays: Arrays) -> dict[int, int]:
    found: dict[int, int] = {}
    for operand, labels in zip(step.operands, (kernel.left, kernel.right), strict=True):
        assert isinstance(operand, int)
        found.update(zip(labels, arrays.shapes[operand], strict=True))
    return found


def _by_blas(step: Step, kernel: Contract, arrays: Arrays, sizes: dict[int, int]) -> tuple[str, Labels, Shape] | None:
    """The matrix product, the labels of its result in order of memory, its shape; None if an operand is no matrix."""
    rank = len(step.shape)
    if any(label < rank and label in kernel.right for label in kernel.left):
        return None
    labelled = list(zip(step.operands, (kernel.left, kernel.right), strict=True))
    memory = [tuple([n for n in arrays.places(o, labels) if n is not None]) for o, labels in labelled]  # type: ignore[arg-type] # no numbers
    for over in dict.fromkeys([tuple([n for n in labels if n >= rank]) for labels in memory]):
        if not over:
            return None
        sides = [_side(o, labels, over, arrays, sizes) for (o, _), labels in zip(labelled, memory, strict=True)]
        found = [side for side in sides if side is not None]
        if len(found) == 2:
            if (*found[1].free, *found[0].free) == tuple(range(rank)):
                found.reverse()
            first, second = found[0].matrix(rows_are_free=True), found[1].matrix(rows_are_free=False)
            shape = tuple([prod([sizes[label] for label in side.free]) for side in found if side.free])
            return f"np.dot({first}, {second})", (*found[0].free, *found[1].free), shape
    return None


def _side(operand: Operand, memory: Labels, over: Labels, arrays: Arrays, sizes: dict[int, int]) -> _Side | None:
    """The operand as a matrix, if those of its labels that are summed lie side by side, in this order."""
    free = tuple([label for label in memory if label not in over])
    if len(set(memory)) < len(memory) or memory not in ((*free, *over), (*over, *free)):
        return None
    assert isinstance(operand, int)
    base = arrays.view(operand).base
    rows_are_free = memory == (*free, *over)
    groups = [group for group in ((free, over) if rows_are_free else (over, free)) if group]
    shape = tuple([prod([sizes[label] for label in group]) for group in groups])
    text = register_name(base)
    if shape != arrays.stored[base]:
        text = f"{text}.reshape({shape_text(shape)})"
    return _Side(text, free, rows_are_free)


def _written(step: Step, text: str, memory: Labels, shape: Shape) -> list[str]:
    """The statements of a matrix product of this shape, whose axes are put in order by a copy if they are not."""
    name = register_name(step.register)
    if step.shape and not shape:  # vectors give a number, which has no axes to be laid out anew
        return [f"{name} = np.full({shape_text(step.shape)}, {text}, {dtype_text(step.dtype)})"]
    if memory == tuple(sorted(memory)):
        return [f"{name} = {text}{_reshaped(shape, step.shape)}"]
    sizes = tuple([step.shape[label] for label in memory])
    before = f"m{step.register}"
    indices = ", ".join([f"i{label}" for label in memory])
    return [
        f"{before} = {text}{_reshaped(shape, sizes)}",
        *stored(step, f"{before}[{indices}]"),
    ]


def _reshaped(before: Shape, shape: Shape) -> str:
    return "" if before == shape else f".reshape({shape_text(shape)})"
