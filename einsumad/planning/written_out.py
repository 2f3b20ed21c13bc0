"""Where unit tensors may be written out, if compression is off.

Owns that decision. Imports the options and what may be infinite. Invariant: a stored zero meets no factor that may be
infinite though all arguments are finite: 0 times infinity is NaN where a unit tensor gives 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from einsumad.graph import Node, topological
from einsumad.planning.finiteness import infinite_among
from einsumad.planning.options import PlannerOptions, in_force, planner_options


def options_for(roots: Sequence[Node]) -> PlannerOptions:
    """The options in force, with compression where something that the roots are made of may be infinite."""
    if in_force().compression or not infinite_among(topological(roots)):
        return in_force()
    return planner_options(compression=True)
