"""Products with a Jacobian at one point: pushforward and pullback.

Owns :func:`jvp` and :func:`vjp`. Imports the transforms. Invariant: the value and the product belong to one trace.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from einsumad.frontend.met import in_trace
from einsumad.frontend.tracing import Trace, taken_apart
from einsumad.frontend.transforms import NO_DIRECTION, Transform
from einsumad.frontend.trees import flatten, unflatten
from einsumad.planning import Request


def _positions(primals: Sequence[Any], name: str) -> tuple[int, ...]:
    if not primals:
        raise TypeError(f"{name} needs at least one primal")
    return tuple(range(len(primals)))


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
    positions = _positions(primals, "jvp")
    push = Transform(f, "jvp", Request("jvp"), positions, memory_limit, _both, False, direction="tangent")
    return push(*primals, tuple(tangents))  # type: ignore[no-any-return]


def _both(found: Trace, flat: Sequence[Any]) -> tuple[Any, Any]:
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
    positions = _positions(primals, "vjp")
    value = Transform(f, "vjp", Request("derivatives", (0,)), positions, memory_limit, _value, False)
    pull = Transform(f, "vjp", Request("vjp"), positions, memory_limit, _cotangents, False, direction="cotangent")
    given = taken_apart(primals, positions)
    came = None if in_trace() else value.on_walk(given, {})
    if came is not None:
        found = value.answer_on_walk(given, *came, NO_DIRECTION)
        return found, lambda cotangent: pull.answer_on_walk(given, *came, flatten(cotangent))
    traced = value.traced(primals, {})
    return value.answer(traced, NO_DIRECTION), lambda cotangent: pull.answer(traced, flatten(cotangent))


def _value(found: Trace, flat: Sequence[Any]) -> Any:
    return unflatten(found.tree, flat)


def _cotangents(found: Trace, flat: Sequence[Any]) -> Any:
    pulled = found.variables.unflatten(flat)
    return pulled[0] if len(pulled) == 1 else pulled
