"""One step of a plan: a kernel, the registers that it reads and the one that it writes.

Owns the records. Imports the kernels and cost. Invariant: frozen data, made by
:mod:`einsumad.planning.plan` only.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from einsumad.graph import Number, Shape
from einsumad.planning.cost import Cost
from einsumad.planning.kernels import Kernel
from einsumad.records import record


@record
class Constant:
    """An operand that is a number, in the dtype that its node has."""

    value: Number
    dtype: np.dtype


Operand: TypeAlias = int | Constant


@record
class Step:
    """One kernel: reads `operands`, writes `register`.

    `stored` is the shape that is kept: it broadcasts to `shape` where the value does not vary along an
    axis. `takes` is the operand whose memory the result takes over, `frees` are the registers that nothing
    reads later.
    """

    register: int
    kernel: Kernel
    operands: tuple[Operand, ...]
    shape: Shape
    stored: Shape
    dtype: np.dtype
    cost: Cost
    takes: int | None
    frees: tuple[int, ...]
