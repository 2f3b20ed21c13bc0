"""What captured arrays decide alone: computed once, when a program is made, and not in each call.

Owns which steps of a plan these are. Imports plans. Invariant: a plan that is set apart has the outputs of the whole
one, computed by the same steps; what is held for later calls takes few bytes beside what was captured, and functions of
the user stay where they are called each time.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from einsumad.functions import is_own
from einsumad.graph import leaf
from einsumad.planning.kernels import Call
from einsumad.planning.memory import is_view
from einsumad.planning.plan import Plan, plan_of_steps
from einsumad.planning.steps import Step
from einsumad.records import record

_MOST_BYTES = 2**22
"""What is held at most: arithmetic on more takes little longer than reading its result."""


@record(repr=True)
class SetApart:
    """The steps that no argument changes, and the others.

    `before` takes the captured inputs at the positions `before_reads`; `plan` takes all arguments, the captured inputs
    at the positions `reads`, and then what `before` gives. Positions are those of the whole plan.
    """

    before: Plan
    before_reads: tuple[int, ...]
    plan: Plan
    reads: tuple[int, ...]


def set_apart(whole: Plan, arguments: int, limit: int) -> SetApart | None:
    """The plan in two, where the inputs behind so many arguments are the same in each call; None where none gains.

    What is held stays within the limit beside the peak of the plan.
    """
    held = _held(whole, arguments, min(_MOST_BYTES, limit - whole.peak_bytes))
    if not held:
        return None
    early, late = _steps_for(held, whole), _steps_for(whole.outputs, whole, frozenset(held))
    captured = range(arguments, len(whole.inputs))
    before_reads = [k for k in captured if k in _read(early)]
    reads = [k for k in captured if k in _read(late) or k in whole.outputs]
    before = plan_of_steps(early, [whole.inputs[k] for k in before_reads], before_reads, held)
    kept = [*range(arguments), *reads]
    made = [leaf(step.shape, step.dtype, ("held", k), "made once") for k, step in enumerate(_at(held, whole))]
    plan = plan_of_steps(late, [*[whole.inputs[k] for k in kept], *made], [*kept, *held], whole.outputs)
    return SetApart(before, tuple(before_reads), plan, tuple(reads))


def _at(registers: Sequence[int], plan: Plan) -> list[Step]:
    return [plan.steps[register - len(plan.inputs)] for register in registers]


def _registers(step: Step) -> list[int]:
    return [operand for operand in step.operands if isinstance(operand, int)]


def _read(steps: Sequence[Step]) -> set[int]:
    return {register for step in steps for register in _registers(step)}


def _steps_for(registers: Sequence[int], plan: Plan, known: frozenset[int] = frozenset()) -> list[Step]:
    """The steps that these registers take where some are known."""
    needed, found = set(registers) - known, list[Step]()
    for step in reversed(plan.steps):
        if step.register in needed:
            found.append(step)
            needed.update(set(_registers(step)) - known)
    return found[::-1]


def _held(plan: Plan, arguments: int, room: int) -> list[int]:
    """The outermost of the steps that no argument changes and that are worth holding, in order."""
    unchanging, from_captured = _unchanging(plan, arguments)
    needed, found = set(plan.outputs), list[int]()
    for step in reversed(plan.steps):
        register, size = step.register, prod(step.shape) * step.dtype.itemsize
        if register not in unchanging:
            needed.update(_registers(step))
        elif register in needed:
            if size <= room and register in from_captured and register not in plan.outputs and _computes(step, plan):
                found.append(register)
                room -= size
            else:
                needed.update(_registers(step))
    return found[::-1]


def _unchanging(plan: Plan, arguments: int) -> tuple[set[int], set[int]]:
    """What reads no argument, neither itself nor what it reads, and that of it which reads what was captured."""
    captured = range(arguments, len(plan.inputs))
    unchanging, from_captured = set(captured), set(captured)
    for step in plan.steps:
        read = _registers(step)
        own = isinstance(step.kernel, Call) and is_own(step.kernel.function)
        if not own and unchanging.issuperset(read):
            unchanging.add(step.register)
            if not from_captured.isdisjoint(read):
                from_captured.add(step.register)
    return unchanging, from_captured


def _computes(step: Step, plan: Plan) -> bool:
    """Whether the step makes an array of its own, of which all entries are stored."""
    if not step.shape or step.stored != step.shape:
        return False
    dtypes = [_dtype(register, plan) for register in _registers(step)]
    return not is_view(step.kernel, dtypes, len(step.shape), step.dtype)


def _dtype(register: int, plan: Plan) -> np.dtype:
    inputs = len(plan.inputs)
    return plan.inputs[register].dtype if register < inputs else plan.steps[register - inputs].dtype
