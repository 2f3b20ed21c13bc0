"""Plans that stay within a limit of memory.

Owns the choice between the whole plan and one in parts. Imports plans and their parts. Invariant: the outputs are those
of the whole plan up to rounding; a plan over the limit is refused before anything is allocated.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from einsumad.graph import Leaf, Node
from einsumad.planning.lengths import cheaper, within
from einsumad.planning.memory import physical_memory
from einsumad.planning.parts import SplitPlan
from einsumad.planning.plan import Plan, make_plan
from einsumad.planning.refusal import DENSE, IN_PARTS, IN_STRUCTURE, WHOLE, refusal
from einsumad.planning.written_out import options_for

_LEAST_PEAK = 2**21
"""Plans that take fewer bytes at once are not cut to save memory: the calls would cost more than it is worth."""
_UNLIMITED = 2**62


def plan_within(
    roots: Sequence[Node], inputs: Sequence[Leaf], memory_limit: int | None = None, *, structured: bool = False
) -> Plan | SplitPlan:
    """The plan for the roots, in parts of an index if the whole is over the limit (default: the machine's memory).

    It is in parts below the limit too where that keeps the memory near that of inputs and results and takes hardly
    longer. Raises :class:`MemoryLimitError` if no plan stays within the limit; `structured` roots are parts of results
    that keep their structure, and the advice is another one then.
    """
    limit = physical_memory() if memory_limit is None else memory_limit
    with options_for(roots):
        return _within(roots, inputs, limit, structured=structured)


def _within(roots: Sequence[Node], inputs: Sequence[Leaf], limit: int, *, structured: bool) -> Plan | SplitPlan:
    whole = make_plan(roots, inputs, _UNLIMITED)
    if whole.peak_bytes <= limit:
        wanted = _wanted(roots, inputs)
        if whole.peak_bytes <= wanted:
            return whole
        return cheaper(roots, inputs, wanted, whole) or whole
    found, least = within(roots, inputs, limit, whole.peak_bytes)
    if found is not None:
        return found
    if 4 * _bytes(roots) >= least:
        advice = IN_STRUCTURE if structured else DENSE
    else:
        advice = WHOLE if least == whole.peak_bytes else IN_PARTS
    raise refusal(whole.steps, whole.outputs, least, limit, advice)


def _wanted(roots: Sequence[Node], inputs: Sequence[Leaf]) -> int:
    """The bytes that are not worth less: with the inputs beside them, somewhat under twice inputs and results."""
    return max(_LEAST_PEAK, _bytes(inputs) * 7 // 8 + _bytes(roots) * 3 // 2)


def _bytes(nodes: Sequence[Node]) -> int:
    return sum([prod(node.shape) * node.dtype.itemsize for node in nodes])
