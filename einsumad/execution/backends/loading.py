"""The way to plans for other libraries, whose operations are loaded when the first of them is made.

Owns that delay. Imports the plan. Invariant: programs on NumPy arrays load nothing of it.
"""

from __future__ import annotations

from importlib import import_module

from einsumad.execution.backends.array_library import Home
from einsumad.execution.backends.array_plan import ArrayPlan
from einsumad.planning.plan import Plan


def ready_for(plan: Plan, home: Home) -> ArrayPlan:
    """The plan for a place. Raises :class:`TracingError` for functions that the library has not."""
    found: ArrayPlan = import_module("einsumad.execution.backends.operations").ready_for(plan, home)
    return found
