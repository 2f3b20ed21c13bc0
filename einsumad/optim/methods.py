"""The derivatives that each method of SciPy takes.

Owns the tables. Imports nothing of the package. Invariant: what a method is not said to take it would ignore with a
warning, or refuse.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any


@dataclass(frozen=True, slots=True)
class Takes:
    """Whether a method takes first derivatives, and second ones as a matrix or as a product with a vector."""

    first: bool = False
    matrix: bool = False
    product: bool = False


_NONE, _FIRST = Takes(), Takes(first=True)
_MATRIX, _BOTH = Takes(first=True, matrix=True), Takes(first=True, matrix=True, product=True)

MINIMIZE: Mapping[str, Takes] = {
    "Nelder-Mead": _NONE,
    "Powell": _NONE,
    "CG": _FIRST,
    "BFGS": _FIRST,
    "Newton-CG": _BOTH,
    "L-BFGS-B": _FIRST,
    "TNC": _FIRST,
    "COBYLA": _NONE,
    "COBYQA": _NONE,
    "SLSQP": _FIRST,
    "trust-constr": _BOTH,
    "dogleg": _MATRIX,
    "trust-ncg": _BOTH,
    "trust-exact": _MATRIX,
    "trust-krylov": _BOTH,
}
"""The methods of ``scipy.optimize.minimize``."""

BY_DEFAULT = _FIRST
"""What BFGS, L-BFGS-B and SLSQP take, between which ``minimize`` chooses where no method is named."""

CUSTOM = _BOTH
"""What ``minimize`` hands on to a method that is a function."""

ROOT: Mapping[str, Takes] = {
    "hybr": _FIRST,
    "lm": _FIRST,
    **dict.fromkeys(("broyden1", "broyden2", "anderson", "linearmixing", "diagbroyden", "excitingmixing"), _NONE),
    **dict.fromkeys(("krylov", "df-sane"), _NONE),
}
"""The methods of ``scipy.optimize.root``, whose Jacobian is always a matrix."""

LEAST_SQUARES = ("trf", "dogbox", "lm")
"""The methods of ``scipy.optimize.least_squares``. All take a matrix; an operator, all but "lm"."""


def named(table: Collection[str], method: Any, caller: str) -> str:
    """The name of the method as the table has it; SciPy reads names without regard to case."""
    names = {name.lower(): name for name in table}
    if not isinstance(method, str):
        raise TypeError(f"method of {caller} has to be a name, got {method!r}")
    if method.lower() not in names:
        near = [names[name] for name in get_close_matches(method.lower(), names, n=3)]
        hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"it has {', '.join(map(repr, table))}"
        raise ValueError(f"scipy.optimize.{caller} has no method {method!r}: {hint}")
    return names[method.lower()]


def second_derivatives(method: str, takes: Takes, dense: bool | None) -> tuple[str, ...]:
    """The keywords that second derivatives are handed over by: where there is a choice, `dense` or else a product."""
    if dense is None:
        return ("hessp",) if takes.product else ("hess",) if takes.matrix else ()
    if not (takes.matrix if dense else takes.product):
        what = "a dense Hessian" if dense else "products with the Hessian"
        able = [name for name, other in MINIMIZE.items() if (other.matrix if dense else other.product)]
        raise ValueError(f"dense={dense}: {method} takes no {what.removeprefix('a ')}; {', '.join(able)} take {what}")
    return ("hess",) if dense else ("hessp",)
