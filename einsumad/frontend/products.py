"""Products with a Jacobian at one point: pushforward and pullback.

Owns :func:`jvp` and :func:`vjp`. Imports tracing and requests. Invariant: the value and the product belong to one
trace.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from einsumad.frontend.mapped import copies_within
from einsumad.frontend.requests import Asked, answer, direction_nodes
from einsumad.frontend.tracing import Trace, trace
from einsumad.frontend.transforms import check_outputs, parameter_names
from einsumad.frontend.trees import flatten, unflatten
from einsumad.planning import Request, checked_limit


def _trace_all(f: Callable[..., Any], primals: Sequence[Any], name: str, memory_limit: int | None) -> Trace:
    if not primals:
        raise TypeError(f"{name} needs at least one primal")
    with copies_within(memory_limit):
        found = trace(f, primals, {}, tuple(range(len(primals))), parameter_names(f))
    check_outputs(found, name)
    return found


def jvp(
    f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], *, memory_limit: int | None = None
) -> tuple[Any, Any]:
    """The value of f at the primals and its pushforward of the tangents: ``(value, tangent)``.

    `primals` and `tangents` are tuples of the same structure and shapes.

    >>> import numpy as np, einsumad as ea
    >>> value, tangent = ea.jvp(np.sin, (np.zeros(2),), (np.ones(2),))
    >>> tangent
    array([1., 1.])
    """
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise TypeError("jvp needs a tuple of primals and a tuple of tangents")
    limit = checked_limit(memory_limit)
    found = _trace_all(f, primals, "jvp", limit)
    variables = found.variables
    directions = direction_nodes(flatten(tuple(tangents)), variables.leaves, "tangent", variables.tree)
    flat = answer(Asked(Request("jvp"), found.outputs, variables, directions), limit)
    count = len(found.outputs)
    return unflatten(found.tree, flat[:count]), unflatten(found.tree, flat[count:])


def vjp(f: Callable[..., Any], *primals: Any, memory_limit: int | None = None) -> tuple[Any, Callable[[Any], Any]]:
    """The value of f at the primals and its pullback: ``(value, pullback)``.

    ``pullback(cotangent)`` gives the cotangent of the primal, a tuple when there are several.

    >>> import numpy as np, einsumad as ea
    >>> value, pullback = ea.vjp(np.sin, np.zeros(2))
    >>> pullback(np.array([1.0, 2.0]))
    array([1., 2.])
    """
    limit = checked_limit(memory_limit)
    found = _trace_all(f, primals, "vjp", limit)
    flat = answer(Asked(Request("derivatives", (0,)), found.outputs, found.variables), limit)

    def pullback(cotangent: Any) -> Any:
        given = direction_nodes(flatten(cotangent), found.outputs, "cotangent", found.tree)
        pulled = answer(Asked(Request("vjp"), found.outputs, found.variables, given), limit)
        result = found.variables.unflatten(pulled)
        return result[0] if len(primals) == 1 else result

    return unflatten(found.tree, flat), pullback
