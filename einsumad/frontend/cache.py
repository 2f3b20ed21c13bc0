"""Derivations and compiled plans, found again by the structure of the graph they were made for.

Owns the cache and its counters. Imports planning and execution. Invariant: what is cached is a pure function of its
key: a structural key, which is blind to the identity of leaves, the request and the planner's options; values never
enter. What it depends
on beside the key are derivative rules of users' functions: these are traced anew whenever an entry is found, and the
entry is only used if they come out the same.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from einsumad.execution import BlockwisePlan, CompiledPlan, compile_planned
from einsumad.execution.backends import ArrayPlan, Home, ready_for
from einsumad.frontend.recording import Captured, Rule, captured_by, keep, recording
from einsumad.frontend.timing import seconds_spent, spending
from einsumad.graph import Leaf, Node, leaves
from einsumad.locks import module_lock
from einsumad.planning import (
    Choice,
    PlanningKey,
    loaded,
    make_plan,
    options_in_force,
    plan_within,
    planner_options,
    planning_key,
)
from einsumad.records import record

if TYPE_CHECKING:
    from einsumad.compressed import Form

_MOST_ENTRIES = 1024


@record(eq=True, repr=True)
class Statistics:
    """How often something was derived, planned and compiled, and how often it was found again, in this process.

    And the seconds that it took to call functions on traced values, to derive, to plan and to compile, each without
    what it does of the others: a first call is slower than the next by what it adds to them. `loaded` derivations and
    plans were read from files (:func:`einsumad.plan_cache`).
    """

    derived: int = 0
    planned: int = 0
    found: int = 0
    tracing: float = 0.0
    deriving: float = 0.0
    planning: float = 0.0
    compiling: float = 0.0
    loaded: int = 0


Which: TypeAlias = tuple[int, ...] | None
"""The positions of some outputs; None for all."""


RunnablePlan: TypeAlias = CompiledPlan | BlockwisePlan | ArrayPlan


class Part(NamedTuple):
    """A result over outputs: itself if it has no form, otherwise the structure of that form.

    `places` has the position of each array among the outputs, or ``~k`` where it is the value of slot k.
    """

    form: Form | None
    places: tuple[int, ...]


@record(frozen=False, eq=True, repr=True)
class Derivation:
    """Outputs in normal form over slot leaves, and the compiled plan for them, made on first use.

    `rules` are the rules of users that were used; the last slots stand for what they captured. Where results are kept
    in their structure, `parts` has their forms.
    """

    slots: tuple[Leaf, ...]
    outputs: tuple[Node, ...]
    choices: tuple[Choice, ...] = ()
    rules: tuple[Rule, ...] = ()
    parts: tuple[Part, ...] = ()
    plans: dict[tuple[int | None, Which, Home | None, PlanningKey], tuple[RunnablePlan, tuple[int, ...]]] = field(
        default_factory=dict
    )

    def read(self, which: Which = None) -> tuple[int, ...]:
        """The positions of the slots that the outputs, or those at some positions, depend on: the inputs of a plan."""
        reached = set(leaves(self.chosen(which)))
        return tuple([position for position, slot in enumerate(self.slots) if slot in reached])

    def chosen(self, which: Which) -> tuple[Node, ...]:
        """The outputs, or those at some positions."""
        return self.outputs if which is None else tuple([self.outputs[k] for k in which])


_entries: OrderedDict[object, Derivation] = OrderedDict()
_lock = module_lock()
_counts = dict.fromkeys(("derived", "planned", "found"), 0)


def statistics() -> Statistics:
    """The counts and times so far: compare two of them to see whether a step derived or planned anything anew.

    >>> import numpy as np, einsumad as ea
    >>> x, gradient = np.ones(3), ea.grad(lambda x: np.sum(x**2))
    >>> _ = gradient(x)
    >>> before = ea.statistics()
    >>> _ = gradient(x)
    >>> ea.statistics().derived - before.derived
    0
    """
    with _lock:
        counted = (_counts["derived"], _counts["planned"], _counts["found"])
    spent = seconds_spent()
    return Statistics(*counted, spent["tracing"], spent["deriving"], spent["planning"], spent["compiling"], loaded())


F = TypeVar("F", bound=Callable[[], None])
_cleared_too: list[Callable[[], None]] = []


def run(
    derivation: Derivation,
    found: Sequence[Leaf],
    value: Callable[[Leaf], Any],
    memory_limit: int | None,
    which: Which = None,
    *,
    home: Home | None = None,
) -> tuple[Any, ...]:
    """The outputs for the values of what stands for the slots, as leaves do; only those that are read are asked for.

    They are arrays at a home, if one is given, otherwise NumPy's.
    """
    plan, read = compiled(derivation, memory_limit, which, home)
    return plan(*[value(found[position]) for position in read])


def find_or_derive(key: object, build: Callable[[], Derivation]) -> tuple[Derivation, tuple[Leaf, ...]]:
    """The derivation of this key under the options in force, built if it is not known, and what rules of users capture.

    That is captured now, for the last slots. The least recently used derivations are forgotten.
    """
    key = (key, planning_key())
    with _lock:
        entry = _entries.get(key)
    if entry is not None:
        captured = Captured(entry.rules, ()).now()
        if captured is not None:
            keep(Captured(entry.rules, captured))
            with _lock:
                _counts["found"] += 1
                if key in _entries:
                    _entries.move_to_end(key)
            return entry, captured
    built, captured = build_with_rules(build)
    with _lock:
        _counts["derived"] += 1
        if built.rules:
            _entries[key] = built
        else:
            built = _entries.setdefault(key, built)
        while len(_entries) > _MOST_ENTRIES:
            _entries.popitem(last=False)
    return built, captured


def count_found() -> None:
    """Count a derivation that was found by other means than its key."""
    with _lock:
        _counts["found"] += 1


def build_with_rules(build: Callable[[], Derivation]) -> tuple[Derivation, tuple[Leaf, ...]]:
    """A new derivation with slots for what rules of users captured, and these leaves."""
    with spending("deriving"), recording() as used:
        built = build()
    found = captured_by(tuple(used.values()))
    slots = built.slots + found.leaves
    return Derivation(slots, built.outputs, built.choices, found.rules, built.parts), found.leaves


def compiled(
    derivation: Derivation, memory_limit: int | None, which: Which = None, home: Home | None = None
) -> tuple[RunnablePlan, tuple[int, ...]]:
    """The compiled plan of a derivation under a memory limit, and the positions of the slots that it reads."""
    with _lock:
        key = (memory_limit, which, home, planning_key())
        known = derivation.plans.get(key)
        if known is None:
            _counts["planned"] += 1
            known = compiled_anew(derivation, memory_limit, which, home), derivation.read(which)
            derivation.plans[key] = known
    return known


def compiled_anew(
    derivation: Derivation, memory_limit: int | None, which: Which = None, home: Home | None = None
) -> RunnablePlan:
    """A plan of a derivation, whose inputs are the slots that are read."""
    inputs = [derivation.slots[position] for position in derivation.read(which)]
    outputs = derivation.chosen(which)
    structured = bool(derivation.parts)
    compression = structured or options_in_force().compression
    with spending("planning"), planner_options(compression=compression):
        if home is not None:
            whole = make_plan(outputs, inputs, memory_limit)
        else:
            plan = plan_within(outputs, inputs, memory_limit, structured=structured)
    with spending("compiling"):
        return compile_planned(plan) if home is None else ready_for(whole, home)


def clear() -> None:
    """Forget everything that was derived."""
    with _lock:
        _entries.clear()
    for also in _cleared_too:
        also()


def cleared_too(forget: F) -> F:
    """Let this forget what else leads to derivations when they are forgotten."""
    _cleared_too.append(forget)
    return forget
