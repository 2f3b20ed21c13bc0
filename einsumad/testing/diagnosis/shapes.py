"""Hypotheses on derivatives of the wrong shape, and on entries that are not finite or all zero.

Owns these rules. Imports the evidence and the wording. Invariant: a wrong shape is never passed over: `wrong_shape`
fits whenever the shapes differ; the more specific rules also compare the values.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, permutations
from math import prod

import numpy as np

from einsumad.testing.diagnosis.evidence import Array, Cause, Comparison, agrees
from einsumad.testing.diagnosis.wording import entries

_MOST_AXES = 6
_SAMPLE = 32


def missing_sum_of_shape(c: Comparison) -> Cause | None:
    """Summed (or averaged) over axes that the argument does not have, the claimed array is right."""
    if c.same_shape:
        return None
    for axes in _subsets(c.found.ndim):
        lengths = prod([c.found.shape[k] for k in axes])
        kept = [n for k, n in enumerate(c.found.shape) if k not in axes]
        if lengths < 2 or not _same_but_for_ones(kept, c.expected.shape):
            continue
        total = np.sum(c.found, axis=axes).reshape(c.expected.shape)
        spread = np.sum(np.abs(c.found), axis=axes).reshape(c.expected.shape)
        where = f"axis {axes[0]}" if len(axes) == 1 else f"axes {', '.join(map(str, axes))}"
        shapes = f"shape {c.found.shape} has to become {c.expected.shape}"
        if agrees(c, total, spread):
            return Cause(
                "missing sum over a broadcast axis",
                f"summed over {where}, the claimed derivative is right, and its {shapes}: likely the argument was "
                "broadcast, and the contributions of its copies have to be added up",
            )
        if agrees(c, total / lengths, spread / lengths):
            return Cause(
                "missing sum over a broadcast axis",
                f"averaged over {where}, the claimed derivative is right, and its {shapes}: likely a mean over the "
                "copies of the argument is missing",
            )
    return None


def transposed_shape(c: Comparison) -> Cause | None:
    """The entries are right, with the axes in another order, or stored in the order of columns."""
    if c.same_shape or c.found.size != c.expected.size:
        return None
    if c.found.ndim == c.expected.ndim <= _MOST_AXES:
        for order in permutations(range(c.found.ndim)):
            if tuple([c.found.shape[k] for k in order]) == c.expected.shape and agrees(c, c.found.transpose(order)):
                return Cause(
                    "transposed",
                    f"with its axes in the order {order} the claimed derivative of shape {c.found.shape} is right: "
                    f"likely a transpose is missing, or one too many; the shape has to be {c.expected.shape}",
                )
    if min(c.found.ndim, c.expected.ndim) < 2 and _moved_by_reading(c):
        return Cause(
            "transposed",
            f"read column by column, the claimed derivative of shape {c.found.shape} is right: likely "
            f"reshape(..., order='F') and the row-major order are mixed; the shape has to be {c.expected.shape}",
        )
    return None


def _moved_by_reading(c: Comparison) -> bool:
    return not agrees(c, c.found.reshape(c.expected.shape)) and agrees(c, c.found.reshape(c.expected.shape, order="F"))


def wrong_shape(c: Comparison) -> Cause | None:
    """The shapes differ; the sentence says how the values are related."""
    if c.same_shape:
        return None
    shapes = f"the claimed derivative has shape {c.found.shape}, but it has to have shape {c.expected.shape}"
    if c.found.size == c.expected.size and agrees(c, c.found.reshape(c.expected.shape)):
        if _same_but_for_ones(c.found.shape, c.expected.shape):
            hint = "the values are right: likely axes of length 1 were lost or added, keep them with keepdims=True"
        else:
            hint = "the values are right in row-major order: likely a reshape is missing"
        return Cause("wrong shape", f"{shapes}; {hint}")
    for hint, part in _READINGS:
        candidate = part(c)
        if candidate is not None and agrees(c, candidate):
            return Cause("wrong shape", f"{shapes}; {hint}")
    return Cause("wrong shape", f"{shapes}{_contracted(c)}")


def _contracted(c: Comparison) -> str:
    outputs = len(c.evidence.output_shape)
    reduced = np.where(c.compared, c.expected, np.nan)
    known = reduced.shape[:outputs] == c.evidence.output_shape
    if outputs and known and reduced.shape[outputs:] == c.found.shape and np.any(c.compared):
        total = np.sum(reduced, axis=tuple(range(outputs)))
        gap = np.abs(total - c.found) <= np.sum(c.tolerance, axis=tuple(range(outputs)))
        if np.all(gap | np.isnan(total)) and np.any(~np.isnan(total)):
            return "; it is the sum over all outputs: likely a gradient of the sum was taken where a Jacobian was due"
    return ": likely the wrong thing is returned, or an axis is reduced too much or too little"


def _broadcast(c: Comparison) -> Array | None:
    """The claimed array stretched to the right shape."""
    try:
        return np.broadcast_to(c.found, c.expected.shape)
    except ValueError:
        return None


def _on_the_diagonal(c: Comparison) -> Array | None:
    """The claimed array as the diagonal of a Jacobian or Hessian."""
    size = c.found.size
    if c.expected.shape != c.found.shape * 2 or size < 2:
        return None
    return np.diag(c.found.reshape(-1)).reshape(c.expected.shape)


_READINGS: tuple[tuple[str, Callable[[Comparison], Array | None]], ...] = (
    ("the values are right but not spread over all axes: likely np.broadcast_to is missing", _broadcast),
    ("it is the diagonal of what it should be: likely np.diag is missing", _on_the_diagonal),
)


def _subsets(ndim: int) -> list[tuple[int, ...]]:
    """All non-empty sets of axes, small ones first."""
    if ndim > _MOST_AXES:
        return [(k,) for k in range(ndim)]
    return [axes for count in range(1, ndim + 1) for axes in combinations(range(ndim), count)]


def _same_but_for_ones(one: tuple[int, ...] | list[int], other: tuple[int, ...] | list[int]) -> bool:
    return [n for n in one if n != 1] == [n for n in other if n != 1]


def not_a_number(c: Comparison) -> Cause | None:
    """NaN or infinity where a finite value is expected."""
    if not c.same_shape:
        return None
    bad = c.compared & ~np.isfinite(c.found)
    if not np.any(bad):
        return None
    nan, infinite = np.any(np.isnan(c.found[bad])), np.any(np.isinf(c.found[bad]))
    what = "NaN or infinite" if nan and infinite else "NaN" if nan else "infinite"
    rest = c.compared & ~bad
    others = (
        "" if not np.any(rest) else ", and others are wrong too" if np.any(c.wrong & rest) else ", others are right"
    )
    at_zero = c.x.shape == bad.shape and c.x.size > 0 and np.any(c.x[bad] == 0)
    if at_zero:
        where = "the argument itself is 0 there" if np.all(c.x[bad] == 0) else "the argument is 0 in some of them"
        guess = f"{where}, likely a log, root, norm, power or division at 0, or 0 times infinity"
    else:
        guess = "likely a log, root, norm or division at 0, an overflowing exp, or 0 times infinity"
    return Cause("not a number", f"the claimed derivative is {what} in {entries(bad)}{others}: {guess}")


def zero(c: Comparison) -> Cause | None:
    """All entries are zero."""
    if not np.any(c.wrong) or np.any(c.given) or not np.all(c.found[c.compared] == 0):
        return None
    which = "none should be" if np.all(c.nonzero) else f"{entries(c.nonzero)} should not be"
    return Cause(
        "zero",
        f"all entries are 0, but {which}: likely the argument is detached, copied, rounded or treated as a constant on "
        "the way",
    )
