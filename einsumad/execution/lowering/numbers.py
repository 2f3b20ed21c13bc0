"""Numbers that arrays meet, as arrays without axes that are made once.

Owns which numbers of a statement these are. Imports registers and kernels. Invariant: values and dtypes are as without
it. NumPy makes such an array of each Python number at each call, which takes a quarter of the time of a step on small
arrays.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from einsumad.execution.lowering.operands import Registers
from einsumad.execution.source import dtype_text
from einsumad.graph import BOOL
from einsumad.planning.kernels import Apply, Choose, Group, Layout, Sum
from einsumad.planning.steps import Step

_NUMBER = re.compile(r"(?<![\w.])(?<!float32\()(?<!float64\()-?\d+(?:\.\d+(?:e[+-]?\d+)?|e[+-]?\d+)(?![\w.])")
_KERNELS = (Apply, Choose, Group, Layout, Sum)


def with_named_numbers(lines: Sequence[str], step: Step, registers: Registers) -> list[str]:
    """The statements of a step, with names for numbers where all that these meet are arrays of one floating dtype."""
    if not isinstance(step.kernel, _KERNELS) or not step.stored:
        return list(lines)
    read = [operand for operand in step.operands if isinstance(operand, int)]
    floats = {registers.dtypes[operand] for operand in read if registers.dtypes[operand] != BOOL}
    if len(floats) != 1 or not all(registers.stored[operand] for operand in read):
        return list(lines)
    (dtype,) = floats
    if dtype.kind != "f" or step.dtype not in (dtype, BOOL):
        return list(lines)

    def named(found: re.Match[str]) -> str:
        made = f"np.array({found[0]}, {dtype_text(dtype)})"
        return registers.numbers.setdefault(made, f"c{len(registers.numbers)}")

    return [line if "special." in line else _NUMBER.sub(named, line) for line in lines]
