"""The arguments of an operation: which are differentiated, in which dtype, inside which domain.

Owns these questions. Imports the records and trees. Invariant: arguments that are handed on are never changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from einsumad.frontend.trees import flatten, leaf_names, unflatten
from einsumad.testing.checks.call import Argnums, Call, call_of
from einsumad.testing.operations.operation import Operation
from einsumad.testing.point import Array, subscript


def positions_of(operation: Operation, args: Sequence[Any]) -> Argnums:
    """The positions that a system differentiates: those of the operation, or all with a floating entry."""
    if operation.argnums is not None:
        return operation.argnums
    return tuple([position for position, argument in enumerate(args) if any(map(_floating, flatten(argument)[0]))])


def _floating(leaf: Any) -> bool:
    return not isinstance(leaf, str) and np.asarray(leaf).dtype.kind in "fc"


def call_by_hand(operation: Operation, args: Sequence[Any]) -> Call:
    """The call that derivatives written by hand belong to."""
    return call_of(operation.value, args, None, 0 if operation.argnums is None else operation.argnums, {})


def call_of_system(operation: Operation, args: Sequence[Any]) -> Call:
    """The call that a system differentiates."""
    return call_of(operation.value, args, None, positions_of(operation, args), {})


def in_dtype(operation: Operation, args: Sequence[Any], dtype: str) -> tuple[Any, ...]:
    """The arguments in another precision; entries strictly inside the domain stay inside when they are rounded."""
    return tuple(
        [
            _cast(argument, np.dtype(dtype), interval)
            for argument, interval in zip(args, intervals(operation, args), strict=True)
        ]
    )


def _cast(argument: Any, dtype: np.dtype[Any], interval: tuple[float, float] | None) -> Any:
    leaves, tree = flatten(argument)
    return unflatten(tree, [_rounded(leaf, dtype, interval) if _floating(leaf) else leaf for leaf in leaves])


def _rounded(leaf: Any, dtype: np.dtype[Any], interval: tuple[float, float] | None) -> Any:
    array = np.asarray(leaf)
    with np.errstate(over="ignore"):
        rounded = array.astype(np.result_type(dtype, 1j) if array.dtype.kind == "c" else dtype)
    if interval is not None and rounded.dtype.kind == "f":
        low, high = interval
        rounded = np.where((array > low) & (rounded <= low), np.nextafter(rounded, dtype.type(np.inf)), rounded)
        rounded = np.where((array < high) & (rounded >= high), np.nextafter(rounded, dtype.type(-np.inf)), rounded)
    return rounded if isinstance(leaf, np.ndarray) else rounded[()]


def intervals(operation: Operation, args: Sequence[Any]) -> tuple[tuple[float, float] | None, ...]:
    """The interval of each argument; those that the domain does not mention have none."""
    given = operation.domain or ()
    if len(given) > len(args):
        raise ValueError(
            f"operation {operation.name!r}: the domain has {len(given)} intervals, the sample {len(args)} arguments"
        )
    return (*given, *[None] * (len(args) - len(given)))


def refuse_outside(operation: Operation, args: Sequence[Any]) -> None:
    """Raise ``ValueError`` for arguments outside of the declared domain: sample and domain contradict each other."""
    for position, (argument, interval) in enumerate(zip(args, intervals(operation, args), strict=True)):
        if interval is None:
            continue
        for name, array in arrays_of(argument, f"argument {position}"):
            inside = (array >= interval[0]) & (array <= interval[1])
            if not np.all(inside):
                entry = int(np.argmin(inside.reshape(-1)))
                raise ValueError(
                    f"operation {operation.name!r}: the sample has {array.reshape(-1)[entry]} at "
                    f"{name}{subscript(array.shape, entry)}, outside of the domain [{interval[0]}, {interval[1]}]: "
                    "mend one of them"
                )


def arrays_of(argument: Any, name: str) -> list[tuple[str, Array]]:
    """The real floating arrays of an argument with their names."""
    leaves, _ = flatten(argument)
    pairs = zip(leaf_names(argument, name), leaves, strict=True)
    return [(label, np.asarray(leaf)) for label, leaf in pairs if _floating(leaf) and np.isrealobj(leaf)]
