"""What is known at the end of the way of a trace: the compiled plan for what is asked there.

Owns how plans are kept there. Imports walks and requests. Invariant: a plan at the end of a way is the one that the
graph of this way finds, and its inputs are the values at the places where the leaves of this graph stand.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from einsumad.frontend.cache import RunnablePlan, count_found
from einsumad.frontend.requests import Ready
from einsumad.frontend.tracing import Trace, Variables
from einsumad.frontend.values import known_value
from einsumad.frontend.walking import Walk
from einsumad.graph import Node, fresh_leaf


class End(NamedTuple):
    """A plan, for each of its inputs the place of its value or a number, and the trace over leaves without values."""

    plan: RunnablePlan
    inputs: tuple[int | np.ndarray, ...]
    trace: Trace

    def outputs(self, walk: Walk) -> tuple[Any, ...]:
        """The outputs of the plan for the values of a walk that came here."""
        count_found()
        return self.plan(*[walk.value(x) if type(x) is int else x for x in self.inputs])


def end_of(walk: Walk, ready: Ready, trace: Trace) -> End | None:
    """The end of a walk, from the plan that was found for its trace; None if an input stands nowhere on the walk."""
    places = walk.places()
    inputs: list[int | np.ndarray] = []
    for leaf in ready.inputs:
        if leaf in places:
            inputs.append(places[leaf])
        elif leaf.key[0] == "number":
            inputs.append(known_value(leaf))
        else:
            return None
    variables = Variables(tuple(map(_like, trace.variables.leaves)), (), trace.variables.tree)
    return End(ready.plan, tuple(inputs), Trace(variables, tuple(map(_like, trace.outputs)), trace.tree))


def _like(node: Node) -> Any:
    return fresh_leaf(node.shape, node.dtype)
