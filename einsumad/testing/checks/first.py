"""Gradients and Jacobians written by hand, or by any tool, against the function they belong to.

Owns :func:`check_user_gradient` and :func:`check_jacobian`. Imports calls, claims, expectations, the diagnosis.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from typing import Any

import numpy as np

from einsumad.errors import ShapeError
from einsumad.testing.checks.call import Argnums, Call, call_of
from einsumad.testing.checks.claims import MisfitError, parts_of, reader
from einsumad.testing.checks.diagnose import causes_of, misfit_finding
from einsumad.testing.checks.matrix import Label, Outcome, claimed_matrix, compare_matrix
from einsumad.testing.checks.rate import check_rate
from einsumad.testing.checks.reference import convention_of, expectation_of
from einsumad.testing.checks.settings import TAYLOR
from einsumad.testing.checks.shrink import with_small_case
from einsumad.testing.checks.steady import unsteady_findings
from einsumad.testing.point import Array
from einsumad.testing.report import Finding, Report


def check_user_gradient(
    f: Callable[..., Any],
    g: Callable[..., Any] | bool,
    *args: Any,
    argnums: Argnums = 0,
    kwargs: Mapping[str, Any] | None = None,
    **options: Any,
) -> Report:
    """Check ``g(*args)``, the gradient of the scalar function ``f(*args)``, at the arguments given.

    The gradient has the shape of the argument at `argnums`; for a tuple of positions it is a tuple, for a container of
    arrays a container. With ``g=True`` f returns the pair of value and gradient, as for SciPy's ``jac=True``. Complex
    arguments are pairs of real ones, and their gradient is ``df/dRe + i df/dIm``. Further options are the fields of
    :class:`Settings`. Raises ``TypeError`` for integer arguments; all else is in the report.

    >>> import numpy as np
    >>> from einsumad.testing import check_user_gradient
    >>> print(check_user_gradient(lambda x: np.sum(x**2), lambda x: x, np.array([1.0, 2.0]), minimal=False))
    The derivative of the function is wrong: gradient, order 1, as given, against whole-number differences: WRONG...
    """
    if g is True:
        call = call_of(_first_of(f), args, kwargs, argnums, options)
        return check_first(call, _second_of(f), "gradient", True)
    if not callable(g):
        raise TypeError(f"the gradient has to be a function (or True), got {type(g).__name__}")
    return check_first(call_of(f, args, kwargs, argnums, options), g, "gradient", g)


def check_jacobian(
    f: Callable[..., Any],
    jacobian: Callable[..., Any],
    *args: Any,
    argnums: Argnums = 0,
    kwargs: Mapping[str, Any] | None = None,
    **options: Any,
) -> Report:
    """Check ``jacobian(*args)``: axes of the value of f, then axes of the argument at `argnums`.

    For a tuple of positions a tuple of arrays. See :func:`check_user_gradient`.

    >>> import numpy as np
    >>> from einsumad.testing import check_jacobian
    >>> bool(check_jacobian(np.sin, lambda x: np.diag(np.cos(x)), np.array([1.0, 2.0])))
    True
    """
    if not callable(jacobian):
        raise TypeError(f"the Jacobian has to be a function, got {type(jacobian).__name__}")
    return check_first(call_of(f, args, kwargs, argnums, options), jacobian, "jacobian", jacobian)


def _first_of(pair: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(pair)
    def value(*args: Any, **kwargs: Any) -> Any:
        return _pair_of(pair(*args, **kwargs))[0]

    return value


def _pair_of(answer: Any) -> tuple[Any, Any]:
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        raise TypeError(f"with g=True the function has to return value and gradient, got {type(answer).__name__}")
    return answer[0], answer[1]


def _second_of(pair: Callable[..., Any]) -> Callable[..., Any]:
    def gradient(*args: Any, **kwargs: Any) -> Any:
        return _pair_of(pair(*args, **kwargs))[1]

    return gradient


def check_first(call: Call, claim: Callable[..., Any], what: str, given: object) -> Report:
    """Check a first derivative in full; `given` is what stands for it in a small case, a function or True."""
    refused = call.refusal()
    if refused is not None:
        return refused
    report = call.report(first_findings(call, claim, what))
    return with_small_case(call, report, lambda smaller: check_first(smaller, claim, what, given), what, claim=given)


def first_findings(call: Call, claim: Callable[..., Any], what: str) -> list[Finding]:
    """The findings about a first derivative: shape, values, dtype."""
    subject = call.subject
    shape = subject.shape
    if what == "gradient":
        if subject.output.size != 1:
            raise ShapeError(f"{call.name} has the shape {shape}, and a gradient needs one number: use check_jacobian")
        shape = ()
    if subject.output.dtype.kind == "c":
        raise ShapeError(f"{call.name} has complex values: check its real and imaginary parts, or use check_jvp")
    label = Label(what, 1, "as given", shape)
    with_kwargs = _bound(claim, call.kwargs)
    refused = unsteady_findings(call, lambda args: with_kwargs(*args), what, 1)
    if refused:
        return refused
    read = reader(with_kwargs, call.arguments_at, call.point, shape, what)
    try:
        claimed = claimed_matrix(call.point, read, np.result_type(float, *call.point.arrays), call.settings.seed)
        parts = parts_of(with_kwargs(*call.arguments_at(call.point.vector)), call.point, what)
    except MisfitError as misfit:
        return [misfit_finding(call, misfit, label)]
    precision = [np.finfo(p.dtype).eps for p in (*parts, *call.point.arrays) if p.dtype.kind in "fc"]
    claimed = replace(claimed, unit=float(max([*precision, np.finfo(float).eps])))
    contract = [] if computes_narrower(call) else dtype_finding(call, parts, label)
    if call.settings.against == TAYLOR:
        return [check_rate(call, subject, claimed, label), *contract]
    if subject.single and not call.settings.single and call.settings.against in ("auto", "differences"):
        return [too_coarse(call, label), *contract]
    expectation = expectation_of(call, subject)
    outcome = compare_matrix(expectation, claimed, label, convention_of(call, expectation))
    found = with_dtype_cause(causes_of(call, outcome, label), parts)
    return [found, *single_precision_finding(call, outcome, parts, label), *contract]


def _bound(claim: Callable[..., Any], kwargs: Mapping[str, Any]) -> Callable[..., Any]:
    return (lambda *args: claim(*args, **kwargs)) if kwargs else claim


def computes_narrower(call: Call) -> bool:
    """Whether the function itself answers in less precision than its arguments have, as JAX does by default."""
    value = call.subject.output.dtype
    return any(np.finfo(value).bits < np.finfo(own.dtype).bits for own in call.point.arrays)


def too_coarse(call: Call, label: Label) -> Finding:
    """The finding about a function whose differences are too coarse to be compared with unasked."""
    hint = " (JAX computes in double precision if jax_enable_x64 is set)" if "jax" in sys.modules else ""
    detail = (
        f"{call.name} computes in {call.subject.wide_output.dtype} whatever it is given, and differences of it are "
        f"coarse: pass single=True to compare with them anyway, or against= a derivative in double precision{hint}"
    )
    return Finding(label.claim, label.order, label.mode, "differences", "undecided", detail=detail)


def dtype_finding(call: Call, parts: list[Array], label: Label) -> list[Finding]:
    """What is wrong with the dtypes of a derivative: a narrower one than the argument's, or a complex one."""
    for part, own, name in zip(parts, call.point.arrays, call.point.names, strict=True):
        narrower = part.dtype.kind in "fc" and np.finfo(part.dtype).bits < np.finfo(own.dtype).bits
        if narrower or (part.dtype.kind == "c" and own.dtype.kind == "f"):
            detail = f"the {label.claim} has dtype {part.dtype} for the {own.dtype} argument {name}"
            cause = "wrong dtype: a derivative has the dtype of its argument, and this one was changed on the way"
            return [Finding("dtype", label.order, label.mode, "the argument", "wrong", detail=detail, cause=cause)]
    return []


def with_dtype_cause(finding: Finding, parts: list[Array]) -> Finding:
    """A wrong finding with the dtype of the answer as its likely cause, where that is no floating one."""
    if finding.verdict != "wrong" or not any(part.dtype.kind in "iub" for part in parts):
        return finding
    cause = "wrong dtype: the derivative was put into an array of whole numbers, which cuts it off"
    return replace(finding, cause=cause)


def single_precision_finding(call: Call, outcome: Outcome, parts: list[Array], label: Label) -> list[Finding]:
    """Values for arguments in double precision that are all numbers of single precision, and off by that much."""
    if any(array.dtype != np.float64 for array in (*parts, *call.point.arrays)):
        return []
    values = np.concatenate([part.reshape(-1) for part in parts]) if parts else np.zeros(0)
    with np.errstate(all="ignore"):
        if values.size == 0 or np.any(values != values.astype(np.float32)):
            return []
        gap = np.abs(outcome.found - outcome.expected)
        largest = np.nanmax(np.abs(outcome.expected), initial=0.0)
        off = gap > 10 * outcome.error + 1e-9 * np.abs(outcome.expected) + 1e-11 * largest
        off &= (gap < 1e-5 * np.abs(outcome.expected)) & (outcome.found != 0)
    if outcome.finding.verdict != "right" or not off.any():
        return []
    row, column = (int(k) for k in np.unravel_index(np.argmax(np.where(off, gap, -1)), gap.shape))
    detail = f"the {label.claim} holds numbers of single precision, which are off by {gap[row, column]:.1g}"
    cause = "single precision: it is computed or stored in float32 on the way"
    return [Finding("precision", label.order, label.mode, outcome.finding.against, "wrong", detail=detail, cause=cause)]
