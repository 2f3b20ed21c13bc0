"""Entrywise products of a sum that has a diagonal: all entries as if it had none, then those on the diagonal anew.

Owns these statements. Imports the lowering of groups, runs and diagonals. Invariant: each entry is what the product of
the sum would be; where the diagonal is nothing is added twice, so no digits are lost.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from einsumad.execution.lowering.elementwise import lower_group
from einsumad.execution.lowering.layout import diagonal_text
from einsumad.execution.lowering.operands import Registers, aligned, lined_up, plain
from einsumad.execution.lowering.tiled import is_tiled, lower_run
from einsumad.execution.source import number_text, register_name, shape_text
from einsumad.graph import Labels
from einsumad.notation import to_einsum
from einsumad.planning.kernels import Patched
from einsumad.planning.steps import Constant, Operand, Step
from einsumad.records import replace


def lower_patched(step: Step, kernel: Patched, registers: Registers) -> list[str]:
    """The statements of the product, and of its diagonal."""
    count, name, place = len(kernel.group.inputs), register_name(step.register), kernel.place
    lines = _off_diagonal(step, kernel, registers)
    first = {label: delta[0] for delta in place.deltas for label in delta}
    places = tuple([first.get(axis, axis) for axis in range(len(step.shape))])
    distinct = tuple(dict.fromkeys(places))
    ranks = {label: distinct.index(first.get(label, label)) for label in range(len(step.shape))}
    pairs = zip(step.operands[:count], kernel.group.inputs, strict=True)
    factors = [_on_diagonal(operand, labels, ranks, registers) for operand, labels in pairs]
    placed = number_text(abs(place.coefficient), step.dtype)
    if len(step.operands) > count:
        text = _on_diagonal(step.operands[count], place.labels, ranks, registers)
        placed = text if abs(place.coefficient) == 1 else f"{placed} * {text}"
    factors[kernel.position] = f"({factors[kernel.position]} {'-' if place.coefficient < 0 else '+'} {placed})"
    view = f'np.einsum("{to_einsum([places], distinct)}", {name})'
    return [*lines, f"{view}[...] = {' * '.join(factors)}"]


def _off_diagonal(step: Step, kernel: Patched, registers: Registers) -> list[str]:
    """The statements of the product without the diagonal, in memory of the whole result."""
    name, operands = register_name(step.register), step.operands[: len(kernel.group.inputs)]
    dense = replace(step, operands=operands, kernel=kernel.group)
    if is_tiled((dense,), registers):
        return lower_run((dense,), [step.register], registers).lines
    pairs = zip(operands, kernel.group.inputs, strict=True)
    shapes = [aligned(operand, labels, len(step.shape), registers).shape for operand, labels in pairs]
    lines = lower_group(dense, kernel.group, registers)
    if np.broadcast_shapes(*shapes) != step.shape:
        lines.append(f"{name} = np.broadcast_to({name}, {shape_text(step.shape)}).copy()")
    return lines


def _on_diagonal(operand: Operand, labels: Labels, ranks: Mapping[int, int], registers: Registers) -> str:
    """The operand where tied axes have one index, lined up with the axes of the diagonal."""
    if isinstance(operand, Constant):
        return plain(operand)
    text, stored = register_name(operand), registers.stored[operand]
    held = labels[len(labels) - len(stored) :]
    wide = [k for k, size in enumerate(stored) if size != 1]
    if len(wide) < len(stored):  # nothing varies along the others
        text = f"{text}[{', '.join([':' if size != 1 else '0' for size in stored])}]"
    kept = tuple([ranks[held[k]] for k in wide])
    sizes = dict(zip(kept, [stored[k] for k in wide], strict=True))
    if len(set(kept)) < len(kept):
        text, kept = diagonal_text(text, kept), tuple(dict.fromkeys(kept))
    return lined_up(text, tuple([sizes[rank] for rank in kept]), kept, len(set(ranks.values()))).text
