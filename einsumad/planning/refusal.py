"""The error for a plan over the memory limit: what takes most, and what to do.

Owns its text. Imports steps and their text. Invariant: the limit that it names is enough for the same call.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from einsumad.errors import MemoryLimitError
from einsumad.planning.steps import Step
from einsumad.planning.text import readable_bytes, step_text

DENSE = (
    "Ask for a derivative in its structure (compressed=True), or for a product with a vector (hvp, jvp, vjp) instead "
    "of the whole tensor"
)
IN_STRUCTURE = "Ask for a product with a vector (hvp, jvp, vjp) instead of the whole tensor"
WHOLE = f"No index of it can be cut, so it cannot be computed in parts. {IN_STRUCTURE}"
IN_PARTS = f"The smallest parts of an index would need as much. {IN_STRUCTURE}"


def refusal(
    steps: Sequence[Step], outputs: Sequence[int], needed: int, limit: int, advice: str = DENSE
) -> MemoryLimitError:
    """The error for a plan that needs more bytes than the limit."""
    return MemoryLimitError(
        f"the plan would need {readable_bytes(needed)}, over the limit of {readable_bytes(limit)}. "
        f"{_largest(steps, outputs)} {advice}, use smaller arrays, or raise the limit with memory_limit={needed} "
        "(bytes)"
    )


def _largest(steps: Sequence[Step], outputs: Sequence[int]) -> str:
    """The tensor that takes most memory; an output takes all of its shape, even where it was kept smaller till then."""
    if not steps:
        return "It returns copies of the inputs."

    def size(step: Step) -> int:
        return prod(step.shape if step.register in outputs else step.stored) * step.dtype.itemsize

    step = max(steps, key=lambda step: (size(step), -step.register))
    return f"Its largest tensor is {step_text(step)} of shape {step.shape}, {readable_bytes(size(step))}."
