"""What a transform would do: the expression, the candidates with their costs, the choice, and every step.

Owns :func:`explain`. Imports transforms and planning. Invariant: explaining runs no step of the plan and fills no
cache.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from importlib import import_module
from itertools import count
from typing import Any

import numpy as np

from einsumad import compressed
from einsumad.execution.backends import shape_and_dtype
from einsumad.frontend.cache import Derivation, Part, build_with_rules, compiled_anew
from einsumad.frontend.compile import Compiled
from einsumad.frontend.lifting import array_names
from einsumad.frontend.requests import build_derivation
from einsumad.frontend.structured import structured_derivation
from einsumad.frontend.tracing import Trace, trace
from einsumad.frontend.transforms import Transform, parameter_names
from einsumad.frontend.trees import flatten
from einsumad.graph import Leaf, Node, display, leaf, structural_key, substitute
from einsumad.planning import (
    Choice,
    Machine,
    Plan,
    Request,
    SplitPlan,
    binarise,
    distribute,
    expand,
    machine_in_force,
    readable_bytes,
    readable_seconds,
    total_cost,
)
from einsumad.records import record


@record
class Explanation:
    """What is computed and how: print it, or let a notebook show it."""

    title: str
    outputs: tuple[Node, ...]
    choices: tuple[Choice, ...]
    plan: Plan | SplitPlan
    parts: tuple[Part, ...] = ()
    notes: tuple[str, ...] = ()
    machine: Machine = field(default_factory=machine_in_force)

    def __str__(self) -> str:
        parts = [self.title, *self.expressions(), *self.notes, *self.candidates(), str(self.plan), self.estimate()]
        return "\n".join(parts)

    def estimate(self) -> str:
        """How long the plan is estimated to take, and on which machine."""
        return f"about {readable_seconds(self.plan.cost.seconds(self.machine))} on the {self.machine.name} machine"

    def expressions(self) -> list[str]:
        """The outputs in index notation, and in matrix notation where they have one; or their structure."""
        if self.parts:
            return [compressed.structure_text(part.form) for part in self.parts if part.form is not None]
        return [display.expression_text(node) for node in self.outputs]

    def candidates(self) -> list[str]:
        """A line for each order of multiplication that was compared, which is done by the work for dense tensors."""
        lines: list[str] = []
        for choice in self.choices:
            if self.parts and len(choice.candidates) > 1:
                lines.append("candidates, by their work without the structure:")
            for candidate in choice.candidates:
                mark = "  <- chosen" if candidate.mode == choice.mode else ""
                cost = candidate.cost
                lines.append(
                    f"candidate {candidate.mode:<13} {cost.flops:>12,} flops "
                    f"{cost.bytes:>12,} bytes {cost.calls:>4} calls "
                    f"{readable_seconds(cost.seconds(self.machine)):>8}{mark}"
                )
            if not choice.candidates:
                lines.append(f"order {choice.mode}")
        return lines

    def _repr_html_(self) -> str:
        return f"<pre>{import_module('html').escape(str(self))}</pre>"


def explain(g: Callable[..., Any], *args: Any, **kwargs: Any) -> Explanation:
    """What ``g(*args)`` would compute: expression, candidates with costs, the choice, and the steps of the plan.

    `g` is a transform, a compiled function, or any traceable function.

    >>> import numpy as np, einsumad as ea
    >>> print(ea.explain(ea.hessian(lambda x: np.sum(x**2)), np.ones(3)).outputs[0].shape)
    (3, 3)
    """
    if isinstance(g, Compiled):
        return _explained(g.function, g.memory_limit, args, kwargs)
    return _explained(g, g.memory_limit if isinstance(g, Transform) else None, args, kwargs)


def _explained(g: Callable[..., Any], limit: int | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Explanation:
    function = g.function if isinstance(g, Transform) else g
    with array_names(captured_names(function)):
        if isinstance(g, Transform):
            asked, found = g.ask(*args, **kwargs)
            request, roots, directions = asked.request, asked.roots, asked.directions
        else:
            found = _trace_floats(g, args, kwargs)
            request, roots, directions = Request("derivatives", (0,)), found.outputs, ()
    graph: tuple[Node, ...] = (*roots, *found.variables.leaves, *directions)
    _, met = structural_key(graph)
    named = _named_slots(met)
    over_slots = substitute(graph, dict(zip(met, named, strict=True)))
    counts = (len(roots), len(found.variables.leaves))
    in_structure = isinstance(g, Transform) and g.in_structure is not None
    build = structured_derivation if in_structure else build_derivation
    derivation, _ = build_with_rules(lambda: build(request, over_slots, named, counts))
    runnable = compiled_anew(derivation, limit)
    plan = runnable.plan
    notes = _saved_bytes(derivation) if in_structure else _saved_work(request, over_slots, named, counts, plan)
    return Explanation(_title(g, found), derivation.outputs, derivation.choices, plan, derivation.parts, notes)


_WHOLE: Mapping[str, Request] = {
    "hessian-diagonal": Request("derivatives", (2,)),
    "laplacian": Request("derivatives", (2,)),
    "gauss-newton-diagonal": Request("gauss-newton"),
}
"""The requests that ask for a part of a matrix, and those for the whole."""


def _saved_bytes(derivation: Derivation) -> tuple[str, ...]:
    """How much less the structure of all results takes than the dense tensors."""
    forms = [part.form for part in derivation.parts if part.form is not None]
    stored = {
        place: compressed.bytes_of(leaf) for part in derivation.parts if part.form for place, leaf in _places(part)
    }
    dense, held = sum([compressed.bytes_of(form.node) for form in forms]), sum(stored.values())
    if held >= dense:
        return (f"the structure gives no saving: {readable_bytes(held)} are stored, dense {readable_bytes(dense)}",)
    return (f"the structure saves {1 - held / dense:.3%} of {readable_bytes(dense)}",)


def _places(part: Part) -> list[tuple[int, Leaf]]:
    return list(zip(part.places, compressed.slots_of(part.form).values(), strict=True)) if part.form is not None else []


def _saved_work(
    request: Request, graph: tuple[Node, ...], slots: tuple[Leaf, ...], counts: tuple[int, int], plan: Plan | SplitPlan
) -> tuple[str, ...]:
    """How much less work a part of a matrix takes than the whole."""
    whole = _WHOLE.get(request.kind)
    if whole is None:
        return ()
    derivation, _ = build_with_rules(lambda: build_derivation(whole, graph, slots, counts))
    cost = total_cost(binarise(distribute(expand(derivation.outputs))))
    if plan.flops >= cost.flops:
        return (f"the structure gives no saving: {plan.flops:,} flops, as the whole matrix ({cost.flops:,})",)
    return (f"the whole matrix would take {cost.flops:,} flops",)


def captured_names(function: Any) -> dict[int, str]:
    """Names of the arrays that a function captures, by identity."""
    if isinstance(function, Transform):
        return captured_names(function.function)
    if not inspect.isfunction(function):
        return {}
    captured = inspect.getclosurevars(function)
    found = {**captured.globals, **captured.nonlocals}
    return {id(value): name for name, value in found.items() if isinstance(value, np.ndarray)}


def _named_slots(met: Sequence[Leaf]) -> tuple[Leaf, ...]:
    """Slots under the names of the leaves; numbers are called by their value, other nameless arrays x0, x1, ..."""
    taken = {node.name for node in met}
    free = (name for name in (f"x{k}" for k in count()) if name not in taken)
    slots: list[Leaf] = []
    for position, node in enumerate(met):
        name = node.name or (f"{node.key[1]:.6g}" if node.key[0] == "number" else next(free))
        slots.append(leaf(node.shape, node.dtype, ("slot", position), name, node.facts))
    return tuple(slots)


def _trace_floats(f: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Trace:
    def is_float(arg: Any) -> bool:
        found, _ = flatten(arg)
        return bool(found) and all(shape_and_dtype(value)[1].kind == "f" for value in found)

    positions = tuple([k for k, arg in enumerate(args) if is_float(arg)])
    if not positions:
        raise TypeError("explain needs an argument of floating dtype")
    return trace(f, args, kwargs, positions, parameter_names(f), differentiated=False)


def _title(g: Any, found: Trace) -> str:
    of = getattr(g.function if isinstance(g, Transform) else g, "__name__", "function")
    if not isinstance(g, Transform):
        return f"value of {of}"
    with_respect_to = ", ".join([node.name or "?" for node in found.variables.leaves])
    return f"{g.name} of {of} with respect to {with_respect_to}"
