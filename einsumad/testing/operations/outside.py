"""The declared domain of an operation: outside of it the value is NaN or an exception, never a number.

Owns this check. Imports the arguments and reports. Invariant: one entry of one argument is outside at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from einsumad.frontend.trees import flatten, leaf_names, unflatten
from einsumad.testing.operations.arguments import intervals
from einsumad.testing.operations.operation import Operation
from einsumad.testing.point import subscript
from einsumad.testing.report import Finding, Report

_DISTANCES = (1.0, 2.0**-10)


def check_domain(operation: Operation, args: Sequence[Any], seed: int) -> Report:
    """Move a random entry of each argument to either side of its interval, far and near."""
    rng = np.random.default_rng([seed, 11])
    findings = []
    for position, interval in enumerate(intervals(operation, args)):
        if interval is None:
            continue
        for where, moved, entry in _moved(args, position, interval, rng):
            findings.append(_finding(operation, where, moved, entry))
    return Report(operation.name, tuple(findings))


def _moved(
    args: Sequence[Any], position: int, interval: tuple[float, float], rng: np.random.Generator
) -> Iterator[tuple[str, tuple[Any, ...], float]]:
    """The arguments with one entry outside: which entry, all arguments, and what the entry is."""
    leaves, tree = flatten(args[position])
    names = leaf_names(args[position], f"argument {position}")
    for k, leaf in enumerate(leaves):
        array = np.asarray(leaf)
        if array.dtype.kind != "f" or array.size == 0:
            continue
        for bound, side in ((interval[0], -1.0), (interval[1], 1.0)):
            if not np.isfinite(bound):
                continue
            for distance in _DISTANCES:
                entry = int(rng.integers(array.size))
                changed = array.copy()
                changed.reshape(-1)[entry] = bound + side * distance * max(1.0, abs(bound))
                given = changed if isinstance(leaf, np.ndarray) else changed[()]
                argument = unflatten(tree, [*leaves[:k], given, *leaves[k + 1 :]])
                where = names[k] + subscript(array.shape, entry)
                yield where, (*args[:position], argument, *args[position + 1 :]), float(changed.reshape(-1)[entry])


def _finding(operation: Operation, where: str, args: tuple[Any, ...], entry: float) -> Finding:
    head = ("domain", 0, "value", "NaN or an exception")
    try:
        with np.errstate(all="ignore"):
            value = np.asarray(operation.value(*args))
    except Exception:  # noqa: BLE001 - a refusal of any kind is one
        return Finding(*head, "right", 1)
    if value.dtype.kind in "fc" and np.any(np.isnan(value)):
        return Finding(*head, "right", 1)
    detail = f"outside of the domain, with {entry:.10g} at {where}, the value is finite or infinite and no NaN"
    return Finding(*head, "wrong", 1, 0, 1, detail=detail, cause="wrong branch: bad arguments are not refused")
