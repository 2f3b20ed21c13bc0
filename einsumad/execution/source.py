"""Python text from steps: names, number literals, and functions of bounded length.

Owns how generated source looks. Imports nothing of the package above the graph. Invariant: the text is a
function of the plan alone, and holds register names, NumPy calls, numbers and names of catalogue functions
only.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf, isnan

import numpy as np

from einsumad.graph import Number, Shape
from einsumad.records import record

_STEPS_IN_A_FUNCTION = 2000


def register_name(register: int) -> str:
    """The variable that holds a register."""
    return f"t{register}"


def number_text(value: Number, dtype: np.dtype) -> str:
    """The number as a Python literal, which NumPy lets take the dtype of what it meets."""
    if dtype.kind == "b":
        return str(bool(value))
    if dtype.kind in "iu":
        return repr(int(value))
    value = float(value)
    if isnan(value):
        return "np.nan"
    if isinf(value):
        return "np.inf" if value > 0 else "-np.inf"
    return repr(value)


def typed_number(value: Number, dtype: np.dtype) -> str:
    """The number as a NumPy scalar of the dtype."""
    return typed(number_text(value, dtype), dtype)


def typed(text: str, dtype: np.dtype) -> str:
    """A scalar expression converted to the dtype."""
    return f"{dtype_text(dtype)}({text})"


def dtype_text(dtype: np.dtype) -> str:
    """The dtype as an expression."""
    return "np.bool_" if dtype.kind == "b" else f"np.{dtype.name}"


def shape_text(shape: Shape) -> str:
    """The shape as an expression."""
    return repr(tuple(shape))


@record
class Written:
    """The statements of a step or a run of steps, what they make and read, and what nothing reads afterwards."""

    registers: tuple[int, ...]
    reads: tuple[int, ...]
    lines: tuple[str, ...]
    frees: tuple[int, ...]


def assemble(inputs: int, body: Sequence[Written], results: Sequence[str], outputs: Sequence[int]) -> str:
    """The module text: a function ``plan`` of the inputs, cut into parts where it is long.

    Parts hand registers on in a dictionary, from which a part takes out what it is the last to read.
    """
    parameters = ", ".join([register_name(k) for k in range(inputs)])
    returned = "(" + ", ".join(results) + ("," if len(results) == 1 else "") + ")"
    if len(body) <= _STEPS_IN_A_FUNCTION:
        lines = [f"def plan({parameters}):"]
        for written in body:
            lines += [f"    {line}" for line in written.lines]
        return "\n".join([*lines, f"    return {returned}", ""])
    parts = [body[k : k + _STEPS_IN_A_FUNCTION] for k in range(0, len(body), _STEPS_IN_A_FUNCTION)]
    lines = []
    for number, part in enumerate(parts):
        lines += _part(number, part, inputs)
    held = ", ".join([f"{k}: {register_name(k)}" for k in range(inputs)])
    lines += [f"def plan({parameters}):", f"    r = {{{held}}}"]
    lines += [f"    part{number}(r)" for number in range(len(parts))]
    lines += [f"    {register_name(k)} = r[{k}]" for k in dict.fromkeys(outputs) if k >= inputs]
    return "\n".join([*lines, f"    return {returned}", ""])


def _part(number: int, part: Sequence[Written], inputs: int) -> list[str]:
    """One function over the dictionary of registers."""
    made = {register for written in part for register in written.registers}
    freed = {register for written in part for register in written.frees}
    needed = dict.fromkeys([r for written in part for r in written.reads if r not in made])
    lines = [f"def part{number}(r):"]
    for register in needed:
        last = register in freed and register >= inputs
        lines.append(f"    {register_name(register)} = r{f'.pop({register})' if last else f'[{register}]'}")
    for written in part:
        lines += [f"    {line}" for line in written.lines]
    lines += [f"    r[{register}] = {register_name(register)}" for register in sorted(made - freed)]
    return [*lines, ""]
