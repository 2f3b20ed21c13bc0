"""Whether a claim is a function at all: the same answer twice, and nothing written to its arguments.

Owns this look. Imports calls. Invariant: a claim that is neither is refused, like a function that is neither.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from einsumad.frontend.trees import flatten
from einsumad.testing.checks.call import Call
from einsumad.testing.report import Finding


def unsteady_findings(call: Call, claim: Callable[[Sequence[Any]], Any], what: str, order: int) -> list[Finding]:
    """The refusal of a claim that gives two answers or writes to its arguments; `claim` takes all of them at once."""
    vector = call.point.vector
    first_args, second_args, untouched = (call.arguments_at(vector) for _ in range(3))
    with np.errstate(all="ignore"):
        first, second = claim(first_args), claim(second_args)
    if not _same(first_args, untouched):
        return [_refused(what, order, "mutation", "writes to its arguments: let it work on copies")]
    if not _same(first, second):
        return [_refused(what, order, "nondeterministic", "gives two answers to one question: fix its random numbers")]
    return []


def _refused(what: str, order: int, kind: str, detail: str) -> Finding:
    return Finding("preflight", order, kind, "two calls", "refused", detail=f"the {what} {detail}")


def _same(first: Any, second: Any) -> bool:
    """Whether two answers are equal entry by entry, not-a-number included."""
    one, other = (_arrays(answer) for answer in (first, second))
    return len(one) == len(other) and all(map(_equal, one, other))


def _arrays(answer: Any) -> list[Any]:
    return [leaf.toarray() if hasattr(leaf, "toarray") else leaf for leaf in flatten(answer)[0]]


def _equal(one: Any, other: Any) -> bool:
    first, second = np.asarray(one), np.asarray(other)
    if first.dtype.kind not in "fciub" or second.dtype.kind not in "fciub":
        return True
    floating = first.dtype.kind in "fc" and second.dtype.kind in "fc"
    return np.array_equal(first, second, equal_nan=floating)
