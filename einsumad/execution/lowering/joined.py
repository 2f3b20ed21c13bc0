"""Sums of parts that lie at places of their own along an axis: each is written, or added, where it belongs.

Owns these statements. Imports operands and source text. Invariant: no part is made as large as the whole, and zeros are
written only where something is missing or added up.
"""

from __future__ import annotations

from itertools import pairwise

from einsumad.execution.lowering.operands import Registers, permuted, register_of, whole
from einsumad.execution.source import dtype_text, register_name, shape_text
from einsumad.graph import Number
from einsumad.planning.kernels import Joined
from einsumad.planning.steps import Step


def lower_joined(step: Step, kernel: Joined, registers: Registers) -> list[str]:
    """The result allocated; then part by part, those that are whole first."""
    name, length = register_name(step.register), step.shape[kernel.along]
    spans = []
    for k, (labels, start) in enumerate(zip(kernel.inputs, kernel.starts, strict=True)):
        spans.append((start, start + registers.shapes[register_of(step, k)][labels.index(kernel.along)]))
    order = sorted(range(len(spans)), key=lambda k: (spans[k] != (0, length), spans[k]))
    apart = all(spans[one][1] <= spans[other][0] for one, other in pairwise(order))
    covered = apart and sum([end - start for start, end in spans]) == length
    begins_whole = spans[order[0]] == (0, length)
    made = "empty" if covered or begins_whole else "zeros"
    lines = [f"{name} = np.{made}({shape_text(step.shape)}, {dtype_text(step.dtype)})"]
    for position, k in enumerate(order):
        start, end = spans[k]
        turned = [kernel.inputs[k].index(axis) for axis in range(len(step.shape))]
        text = permuted(whole(register_of(step, k), registers), turned)
        place = f"{name}[{':, ' * kernel.along}{start}:{end}]"
        lines.append(_put(place, text, kernel.coefficients[k], new=apart or (begins_whole and not position)))
    return lines


def _put(place: str, text: str, coefficient: Number, *, new: bool) -> str:
    """The statement that writes a part to its place, or adds it there."""
    scaled = text if abs(coefficient) == 1 else f"{abs(coefficient)!r} * {text}"
    if new:
        return f"{place} = {'-' if coefficient < 0 else ''}{scaled}"
    return f"{place} {'-' if coefficient < 0 else '+'}= {scaled}"
