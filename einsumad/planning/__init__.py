"""Planning: which order of products, which pairwise steps, what they cost.

Imports graph, functions, calculus and rewriting. A plan is frozen data that can be printed.
"""

from einsumad.planning.captured import SetApart, set_apart
from einsumad.planning.contraction import binarise
from einsumad.planning.cost import Cost, total_cost
from einsumad.planning.derivations import REQUESTS, Derived, Request, derive
from einsumad.planning.distribution import distribute
from einsumad.planning.expansion import expand
from einsumad.planning.guards import guarded
from einsumad.planning.held import products_held
from einsumad.planning.indices import Index, cuttable_indices
from einsumad.planning.lengths import cheaper, length_of_parts, within
from einsumad.planning.limited import plan_within
from einsumad.planning.machine import Machine, calibrated, machine_in_force, set_machine
from einsumad.planning.memory import checked_limit, physical_memory
from einsumad.planning.options import (
    PlannerOptions,
    PlanningKey,
    option_names,
    planner_options,
    planning_key,
    progress_of_functions,
    progress_of_jacobians,
)
from einsumad.planning.options import in_force as options_in_force
from einsumad.planning.parts import ADDED_AT_ONCE, SplitPlan, SweepPlan, split_plan
from einsumad.planning.plan import Plan, make_plan
from einsumad.planning.primitives import Factor, layout
from einsumad.planning.refusal import refusal
from einsumad.planning.resolve import resolve
from einsumad.planning.splitting import Cut, cut
from einsumad.planning.steps import Step
from einsumad.planning.stored import PlanFolder, loaded, plan_cache
from einsumad.planning.strategy import STRATEGIES, Candidate, Choice, Kept, Strategy, jacobian
from einsumad.planning.sweeps import Sweeps, sweeps_through
from einsumad.planning.text import readable_bytes, readable_seconds
from einsumad.planning.written_out import options_for

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
    "Kept",
    "Machine",
    "Plan",
    "PlanFolder",
    "PlannerOptions",
    "PlanningKey",
    "Request",
    "SetApart",
    "SplitPlan",
    "Step",
    "Strategy",
    "SweepPlan",
    "Sweeps",
    "binarise",
    "calibrated",
    "cheaper",
    "checked_limit",
    "cut",
    "cuttable_indices",
    "derive",
    "distribute",
    "expand",
    "guarded",
    "jacobian",
    "layout",
    "length_of_parts",
    "loaded",
    "machine_in_force",
    "make_plan",
    "option_names",
    "options_for",
    "options_in_force",
    "physical_memory",
    "plan_cache",
    "plan_within",
    "planner_options",
    "planning_key",
    "products_held",
    "progress_of_functions",
    "progress_of_jacobians",
    "readable_bytes",
    "readable_seconds",
    "refusal",
    "resolve",
    "set_apart",
    "set_machine",
    "split_plan",
    "sweeps_through",
    "total_cost",
    "within",
]
