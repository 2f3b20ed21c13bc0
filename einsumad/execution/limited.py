"""Compiled plans, whole or in parts.

Owns what is made of either. Imports planning and compiled plans. Invariant: the outputs are those of the whole plan up
to rounding.
"""

from __future__ import annotations

from collections.abc import Sequence

from einsumad.execution.blockwise import BlockwisePlan, compile_split
from einsumad.execution.compiled import CompiledPlan, compile_plan
from einsumad.graph import Leaf, Node
from einsumad.planning import Plan, SplitPlan, plan_within


def compile_planned(plan: Plan | SplitPlan, *, loops: bool = False) -> CompiledPlan | BlockwisePlan:
    """A plan as a function; with `loops` Numba compiles its loops."""
    return compile_split(plan, loops=loops) if isinstance(plan, SplitPlan) else compile_plan(plan, loops=loops)


def compile_within(
    roots: Sequence[Node], inputs: Sequence[Leaf], memory_limit: int | None = None, *, structured: bool = False
) -> CompiledPlan | BlockwisePlan:
    """The compiled plan for the roots, in parts of an index if the whole is over the limit: see :func:`plan_within`."""
    return compile_planned(plan_within(roots, inputs, memory_limit, structured=structured))
