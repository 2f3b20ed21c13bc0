"""Planning: which order of products, which pairwise steps, what they cost.

Imports graph, functions, calculus and rewriting. A plan is frozen data that can be printed.
"""

from einsumad.planning.contraction import binarise
from einsumad.planning.cost import Cost, total_cost
from einsumad.planning.derivations import REQUESTS, Derived, Request, derive
from einsumad.planning.expansion import expand
from einsumad.planning.indices import Index, cuttable_indices
from einsumad.planning.lengths import Whole, cheaper, length_of_parts, within
from einsumad.planning.memory import physical_memory
from einsumad.planning.parts import ADDED_AT_ONCE, SplitPlan, SweepPlan, split_plan
from einsumad.planning.plan import Plan, make_plan
from einsumad.planning.primitives import Factor, layout
from einsumad.planning.refusal import refusal
from einsumad.planning.resolve import resolve
from einsumad.planning.splitting import Cut, cut
from einsumad.planning.steps import Step
from einsumad.planning.strategy import STRATEGIES, Candidate, Choice, Strategy, jacobian
from einsumad.planning.sweeps import Sweeps, sweeps_through
from einsumad.planning.text import readable_bytes

__all__ = [
    "ADDED_AT_ONCE",
    "REQUESTS",
    "STRATEGIES",
    "Candidate",
    "Choice",
    "Cost",
    "Cut",
    "Derived",
    "Factor",
    "Index",
    "Plan",
    "Request",
    "SplitPlan",
    "Step",
    "Strategy",
    "SweepPlan",
    "Sweeps",
    "Whole",
    "binarise",
    "cheaper",
    "cut",
    "cuttable_indices",
    "derive",
    "expand",
    "jacobian",
    "layout",
    "length_of_parts",
    "make_plan",
    "physical_memory",
    "readable_bytes",
    "refusal",
    "resolve",
    "split_plan",
    "sweeps_through",
    "total_cost",
    "within",
]
