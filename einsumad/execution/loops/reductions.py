"""Functions of rows in a region of loops.

Owns their text. Imports entries and nests. Invariant: rows with NaN or infinities have the values that NumPy's kernels
give.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from einsumad.execution.loops.entries import Arrays, at, entry
from einsumad.execution.loops.nests import nested
from einsumad.execution.source import dtype_text, register_name, shape_text, typed_number
from einsumad.planning.kernels import Call
from einsumad.planning.steps import Step

_MOST_ENTRIES = 2**11
"""Entries up to which loops take less time than NumPy's kernel."""
_EXTREMA = {"max_reduce": ">", "min_reduce": "<"}


def has_rows(step: Step, arrays: Arrays) -> bool:
    """Whether the step is a function of rows that loops have."""
    if not isinstance(step.kernel, Call) or step.stored != step.shape or step.dtype.kind != "f":
        return False
    if len(step.operands) != 1 or step.kernel.function not in ("log_softmax", "logsumexp", *_EXTREMA):
        return False
    (operand,) = step.operands
    assert isinstance(operand, int)
    shape = arrays.shapes[operand]
    same = arrays.stored[operand] == shape and arrays.dtypes[operand] == step.dtype
    return same and 0 < prod(shape) <= _MOST_ENTRIES


def lower_rows(step: Step, arrays: Arrays) -> list[str]:
    """The function of each row."""
    (operand,) = step.operands
    assert isinstance(operand, int)
    assert isinstance(step.kernel, Call)
    shape, rank = arrays.shapes[operand], len(step.shape)
    batch = len(shape) - 1 if step.kernel.function == "log_softmax" else rank
    text = entry(operand, tuple(range(len(shape))), arrays, {})
    own = [(axis, n) for axis, n in enumerate(shape) if axis >= batch]
    name = register_name(step.register)
    target = at(step.register, range(rank))
    if step.kernel.function in ("log_softmax", "logsumexp"):
        lines = _logsumexp(text, own, step, target)
    else:
        lines = _extremum(text, own, step, target)
    memory = [f"{name} = np.empty({shape_text(step.shape)}, {dtype_text(step.dtype)})"] if rank else []
    return [*memory, *nested([(axis, step.shape[axis]) for axis in range(batch)], lines)]


def _extremum(text: str, own: Sequence[tuple[int, int]], step: Step, target: str) -> list[str]:
    """The first NaN, or the extreme entry."""
    assert isinstance(step.kernel, Call)
    sign = _EXTREMA[step.kernel.function]
    start = typed_number(float("-inf") if sign == ">" else float("inf"), step.dtype)
    better = f"if extreme == extreme and ({text} {sign} extreme or {text} != {text}):"
    return [f"extreme = {start}", *nested(own, [better, f"    extreme = {text}"]), f"{target} = extreme"]


def _logsumexp(text: str, own: Sequence[tuple[int, int]], step: Step, target: str) -> list[str]:
    """The largest entry, and log1p of what the others add to it; or what both leave of each entry."""
    assert isinstance(step.kernel, Call)
    ((axis, n),) = own
    last = [f"{target} = np.log1p(others) + extreme"]
    if step.kernel.function == "log_softmax":
        last = [
            "others = np.log1p(others)",
            f"for i{axis} in range({n}):",
            f"    {target} = ({text} - extreme) - others",
        ]
    zero = typed_number(0, step.dtype)
    return [
        f"extreme = {typed_number(float('-inf'), step.dtype)}",
        "place = 0",
        f"for i{axis} in range({n}):",
        f"    if {text} > extreme or {text} != {text}:",
        f"        extreme = {text}",
        f"        place = i{axis}",
        f"others = {zero}",
        "if np.isfinite(extreme):",
        f"    for i{axis} in range({n}):",
        f"        if i{axis} != place:",
        f"            others += np.exp({text} - extreme)",
        *last,
    ]
