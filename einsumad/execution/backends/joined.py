"""Sums of parts that lie at places of their own along an axis.

Owns this operation. Imports the plan and the context. Invariant: nothing is written into an array; parts that do not
meet are joined, and only those that do are added up.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from einsumad.execution.backends.array_library import Array, Home
from einsumad.execution.backends.context import Context, Operation, permuted
from einsumad.graph import Shape
from einsumad.planning.kernels import Joined
from einsumad.planning.steps import Step


def joined(step: Step, kernel: Joined, context: Context) -> Operation:
    """The operands times their coefficients, each at its place, joined in as few rows as they need, which are added."""
    home, along, shape = context.home, kernel.along, step.shape
    rows: list[tuple[int, list[tuple[int | None, int]]]] = []  # where a row ends; operands, or zeros, and their lengths
    spans = [
        (start, start + context.shapes[context.register(step, k)][labels.index(along)], k)
        for k, (labels, start) in enumerate(zip(kernel.inputs, kernel.starts, strict=True))
    ]
    for start, end, k in sorted(spans):
        free = next((row for row, (reached, _) in enumerate(rows) if reached <= start), len(rows))
        if free == len(rows):
            rows.append((0, []))
        reached, parts = rows[free]
        rows[free] = (end, [*parts, (None, start - reached), (k, end - start)])
    filled = [[part for part in (*parts, (None, shape[along] - end)) if part[1]] for end, parts in rows]
    turns = [permuted(home, [labels.index(axis) for axis in range(len(shape))]) for labels in kernel.inputs]
    wholes = [context.whole(step, k) for k in range(len(spans))]

    def scaled(k: int, x: Any) -> Array:
        found, coefficient = turns[k](wholes[k](x)), kernel.coefficients[k]
        return found if coefficient == 1 else -found if coefficient == -1 else coefficient * found

    def run(*operands: Any) -> Array:
        total: Any = None
        for parts in filled:
            pieces = [
                _zeros(home, shape, along, n, step.dtype) if k is None else scaled(k, operands[k]) for k, n in parts
            ]
            row = home.xp.concat(pieces, axis=along) if len(pieces) > 1 else pieces[0]
            total = row if total is None else total + row
        return home.cast(total, step.dtype)

    return run


def _zeros(home: Home, shape: Shape, along: int, count: int, dtype: np.dtype) -> Array:
    return home.full((*shape[:along], count, *shape[along + 1 :]), 0, dtype)
