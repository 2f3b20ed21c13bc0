"""Forms with their arrays, and expressions over slots computed for them.

Owns that record and the compiled plans of operations on it. Imports forms, planning and execution. Invariant: a plan is
found again by the expression, which holds no values, and the planner's options; arrays are read-only.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from einsumad.compressed.forms import Form, position_of, terms_of
from einsumad.compressed.operations import applied
from einsumad.errors import ShapeError, TracingError
from einsumad.execution import BlockwisePlan, CompiledPlan, compile_planned
from einsumad.graph import Leaf, Node, leaves
from einsumad.planning import PlanningKey, plan_within, planner_options, planning_key
from einsumad.records import record


@record
class Structured:
    """A form, and the array of each of its slots."""

    form: Form
    arrays: tuple[Any, ...]

    def compute(self, nodes: Sequence[Node], memory_limit: int | None = None) -> tuple[np.ndarray, ...]:
        """The values of expressions over the slots."""
        return compute(nodes, self.arrays, memory_limit)


def compute(nodes: Sequence[Node], arrays: Sequence[Any], memory_limit: int | None = None) -> tuple[np.ndarray, ...]:
    """The values of expressions over slots."""
    plan, positions = _compiled(tuple(nodes), memory_limit, planning_key())
    given = [arrays[position] for position in positions]
    if not all(isinstance(array, (np.ndarray, np.generic)) for array in given):
        raise TracingError(
            "a derivative in its structure depends on a traced value here, so its numbers are not known: take the "
            "dense derivative to compute with it inside of a traced function, or return the tensor from the function "
            "that ea.compile traces and compute outside"
        )
    return plan(*given)


def structured(node: Node, arrays: Sequence[Any], rows: int, symmetric: bool = False) -> Structured:
    """The structure of an expression over slots, with the values of its cores."""
    form, cores = _in_terms(node, rows, symmetric, planning_key())
    made = iter(compute([core for core in cores if not isinstance(core, Leaf)], arrays))
    held = [arrays[position_of(core)] if isinstance(core, Leaf) else read_only(next(made)) for core in cores]
    return Structured(form, tuple(held))


def read_only(array: Any) -> Any:
    """The array, protected from writing; NumPy's scalars are so already."""
    if isinstance(array, np.ndarray):
        array.flags.writeable = False
    return array


def times(held: Structured, array: np.ndarray) -> np.ndarray:
    """The tensor times an array over its columns and further axes."""
    form = held.form
    columns = form.shape[form.rows :]
    if array.shape[: len(columns)] != columns:
        raise ShapeError(f"H @ v needs first axes {columns}, those of the columns, got shape {array.shape}")
    node = applied(form, len(held.arrays), array.shape[len(columns) :])
    return compute([node], [*held.arrays, np.asarray(array, form.dtype)])[0]


@lru_cache(maxsize=512)
def _in_terms(node: Node, rows: int, symmetric: bool, _: PlanningKey) -> tuple[Form, tuple[Node, ...]]:
    found = terms_of(node, rows)
    return found.form(symmetric), found.cores


@lru_cache(maxsize=1024)
def _compiled(
    nodes: tuple[Node, ...], memory_limit: int | None, _: PlanningKey
) -> tuple[CompiledPlan | BlockwisePlan, tuple[int, ...]]:
    inputs = sorted(leaves(nodes), key=position_of)
    with planner_options(compression=True):
        plan = plan_within(nodes, inputs, memory_limit)
    return compile_planned(plan), tuple([position_of(leaf) for leaf in inputs])
