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

CALLED = {
    "pushforward": "as jvp(primals, tangents), with the tuple of all arguments and that of the tangents",
    "pullback": "as vjp(primals, cotangent), with the tuple of all arguments",
    "product": "as hvp(*args, v)",
}
"""How claims are called that take more than the arguments of the function."""


def unsteady_findings(call: Call, claim: Callable[[Sequence[Any]], Any], what: str, order: int) -> list[Finding]:
    """The refusal of a claim that gives two answers or writes to its arguments; `claim` takes all of them at once.

    An exception of the claim comes through, with a note on how it was called.
    """
    vector = call.point.vector
    first_args, second_args, untouched = (call.arguments_at(vector) for _ in range(3))
    try:
        with np.errstate(all="ignore"):
            first, second = claim(first_args), claim(second_args)
    except Exception as error:
        error.add_note(f"raised by the {what}, called {CALLED.get(what, 'with the arguments of the function')}")
        raise
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
