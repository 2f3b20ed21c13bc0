"""The life of tensors: which step is the last to read one, whose memory a step may take over, and the peak.

Owns liveness and the memory limit. Imports the plan's records. Invariant: memory is taken over only when
nothing else reads it, now or later, and it belongs to the plan; inputs are never written.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from einsumad.functions import elementwise_function
from einsumad.graph import Labels, Leaf, Shape
from einsumad.planning.kernels import Apply, Embed, Group, Kernel, Layout, Merge, Pad, Place, Sum, Take, Window
from einsumad.records import record

_FALLBACK = 16 * 2**30


@record
class Draft:
    """A step before memory is assigned: `operands` are registers, `stored` is the shape that is kept.

    `takeable` are the operands whose entries lie where those of the result lie, in kernels that work in
    place; `scratch` are the bytes that the kernel needs beside operands and result.
    """

    register: int
    kernel: Kernel
    operands: tuple[int, ...]
    takeable: tuple[int, ...]
    shape: Shape
    stored: Shape
    dtype: np.dtype
    operand_dtypes: tuple[np.dtype, ...]
    scratch: int = 0


@record
class Memory:
    """Who takes whose memory, and the peak.

    For each step the register whose memory it takes, and the registers that die; for each output whether it
    is copied; the peak in bytes, and the step at which it occurs.
    """

    taken: list[int | None]
    freed: list[tuple[int, ...]]
    copied: tuple[bool, ...]
    peak: int
    peak_step: int


@lru_cache(maxsize=1)
def physical_memory() -> int:
    """The bytes of memory of this machine, the default limit."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return _FALLBACK


def checked_limit(limit: Any) -> int | None:
    """A limit of memory as a number of bytes, None for that of the machine; :class:`ValueError` for anything else."""
    if limit is None:
        return None
    if isinstance(limit, bool) or not isinstance(limit, (int, np.integer)) or limit <= 0:
        raise ValueError(f"memory_limit must be a positive number of bytes, got {limit!r}")
    return int(limit)  # a small integer of NumPy would overflow where bytes are counted


def is_view(kernel: Kernel, operand_dtypes: Sequence[np.dtype], ndim: int, dtype: np.dtype) -> bool:
    """Whether the step's value shares the memory of its operand."""
    match kernel:
        case Layout():
            plain = kernel.coefficient == 1 and operand_dtypes[0] == dtype
            return plain and all(label < ndim for label in kernel.labels)
        case Embed():
            return not kernel.deltas and bool(operand_dtypes)
        case Window() | Merge():
            return True
    return False


def assign_memory(inputs: Sequence[Leaf], drafts: Sequence[Draft], outputs: Sequence[int]) -> Memory:
    """Who takes whose memory, by one pass over the steps."""
    state = _State(len(inputs), drafts, outputs)
    taken: list[int | None] = []
    freed: list[tuple[int, ...]] = []
    for draft in drafts:
        state.read(draft)
        taken.append(state.enter(draft))
        freed.append(state.bury(draft))
    copied = state.copies(outputs, inputs)
    return Memory(taken, freed, copied, state.peak, state.peak_step)


class _State:
    """Buffers alive while the steps are run through. A buffer is named by the register that allocated it."""

    def __init__(self, inputs: int, drafts: Sequence[Draft], outputs: Sequence[int]) -> None:
        self.inputs = inputs
        self.drafts = drafts
        self.readers = [0] * (inputs + len(drafts))
        for draft in drafts:
            for register in draft.operands:
                self.readers[register] += 1
        for register in outputs:
            self.readers[register] += 1  # never read by a step, so never dead
        self.buffer = list(range(inputs + len(drafts)))
        self.view = [False] * (inputs + len(drafts))
        self.holders = [1] * (inputs + len(drafts))
        self.bytes: dict[int, int] = {}
        self.live = self.peak = self.peak_step = 0

    def read(self, draft: Draft) -> None:
        for register in draft.operands:
            self.readers[register] -= 1

    def enter(self, draft: Draft) -> int | None:
        """Give the step's value a buffer: that of its operand for a view, a dying one, or a new one."""
        register = draft.register
        if is_view(draft.kernel, draft.operand_dtypes, len(draft.shape), draft.dtype):
            self.view[register] = True
            self.buffer[register] = self.buffer[draft.operands[0]]
            self.holders[self.buffer[register]] += 1
            return None
        taken = self._takes(draft)
        if taken is not None:
            self.buffer[register] = self.buffer[taken]
            self.holders[self.buffer[register]] += 1
            return taken
        self.view[register] = _takes_diagonal(draft.kernel)
        size = prod(draft.stored) * draft.dtype.itemsize
        self.bytes[register] = size
        self.live += size
        if self.live + draft.scratch > self.peak:
            self.peak, self.peak_step = self.live + draft.scratch, register - self.inputs
        return None

    def _takes(self, draft: Draft) -> int | None:
        if not draft.takeable or not draft.stored:
            return None
        buffers = [self.buffer[register] for register in draft.operands]
        for register in draft.takeable:
            buffer = self.buffer[register]
            if register < self.inputs or self.view[register] or self.readers[register] or buffer < self.inputs:
                continue
            other = self.drafts[register - self.inputs]
            alone = self.holders[buffer] == 1 and buffers.count(buffer) == 1
            if alone and other.stored == draft.stored and other.dtype == draft.dtype:
                return register
        return None

    def bury(self, draft: Draft) -> tuple[int, ...]:
        """The registers that the step read last."""
        dead = [r for r in dict.fromkeys(draft.operands) if not self.readers[r] and r >= self.inputs]
        for register in dead:
            buffer = self.buffer[register]
            self.holders[buffer] -= 1
            if not self.holders[buffer]:
                self.live -= self.bytes.pop(buffer, 0)
        return tuple(dead)

    def copies(self, outputs: Sequence[int], inputs: Sequence[Leaf]) -> tuple[bool, ...]:
        """Outputs that share memory with an input or another output, or keep more alive than they show."""
        given: set[int] = set()
        copied: list[bool] = []
        for register in outputs:
            buffer = self.buffer[register]
            copy = buffer < self.inputs or buffer in given
            if not copy:
                draft, owner = self.drafts[register - self.inputs], self.drafts[buffer - self.inputs]
                spread = draft.stored != draft.shape or owner.stored != owner.shape
                copy = spread or prod(draft.shape) != prod(owner.stored)
                copy = copy or _takes_diagonal(draft.kernel)
            if copy:
                source = inputs[register] if register < self.inputs else self.drafts[register - self.inputs]
                self.live += prod(source.shape) * source.dtype.itemsize
            given.add(buffer)
            copied.append(copy)
        if self.live > self.peak:
            self.peak, self.peak_step = self.live, len(self.drafts) - 1
        return tuple(copied)


def takeable(kernel: Kernel, operands: Sequence[object]) -> tuple[int, ...]:
    """The registers among the operands that the kernel can write its result to while it reads them."""
    match kernel:
        case Layout():
            places = [kernel.coefficient != 1 and _in_order(kernel.labels)]
        case Group():
            mixed = len(set(operands)) > 1  # powers of one operand meet the others in between: it is read again
            pairs = zip(operands, kernel.inputs, strict=True)
            places = [
                not kernel.masks and _in_order(labels) and not (mixed and operands.count(operand) > 1)
                for operand, labels in pairs
            ]
        case Place():
            places = [True, *[False] * (len(operands) - 1)]
        case Apply():
            places = [elementwise_function(kernel.function).takes_out] * len(operands)
        case _:
            places = [isinstance(kernel, Sum)] * len(operands)
    return tuple([o for o, place in zip(operands, places, strict=True) if place and isinstance(o, int)])


def _in_order(labels: Labels) -> bool:
    return labels == tuple(range(len(labels)))


def _takes_diagonal(kernel: Kernel) -> bool:
    """Whether the value may be a view that NumPy protects from writing, or whose entries share memory."""
    match kernel:
        case Window():
            return True
        case Layout():
            return len(set(kernel.labels)) < len(kernel.labels)
        case Take():
            return any(len(set(labels)) < len(labels) for labels in (kernel.labels, kernel.places))
        case Pad():
            return kernel.place in kernel.labels
    return False
