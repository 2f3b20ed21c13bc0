"""The checks of a battery, each a function of an operation, arguments and a seed that gives a report.

Owns how a check of an operation is made. Imports the public checks, the properties and the adapter for derivatives
written by hand. Invariant: nothing here draws arguments, knows of pytest, or looks for a small case: Hypothesis does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from einsumad.testing.checks import (
    check_derivatives,
    check_hessian,
    check_hvp,
    check_jacobian,
    check_jvp,
    check_user_gradient,
    check_vjp,
)
from einsumad.testing.checks.call import Call
from einsumad.testing.checks.reference import on_leaves
from einsumad.testing.operations.arguments import call_by_hand, call_of_system, in_dtype
from einsumad.testing.operations.by_hand import MODE, system_by_hand
from einsumad.testing.operations.exact import check_conventions
from einsumad.testing.operations.operation import Operation
from einsumad.testing.operations.outside import check_domain
from einsumad.testing.properties import Case, run_properties
from einsumad.testing.report import Finding, Report
from einsumad.testing.systems import EINSUMAD, System, system

_BY_HAND: Mapping[str, Callable[..., Report]] = {
    "gradient": check_user_gradient,
    "jacobian": check_jacobian,
    "hessian": check_hessian,
    "hvp": check_hvp,
    "jvp": check_jvp,
    "vjp": check_vjp,
}
_SECOND = ("hessian", "hvp")
_CONTRACT = ("shapes and dtypes",)


def draws(name: str) -> bool:
    """Whether a check needs arguments."""
    return name != "conventions"


def run_check(operation: Operation, name: str, args: Sequence[Any], seed: int) -> Report:
    """The report of one of the checks of an operation, by its name, at these arguments.

    >>> import numpy as np
    >>> square = Operation("square", np.square, lambda rng: (rng.standard_normal(3),))
    >>> run_check(square, "order 1", (np.array([1.0, 2.0]),), 0).verdict
    'right'
    """
    if name == "preflight":
        report = _preflight(operation, args)
    elif name == "conventions":
        report = check_conventions(operation)
    elif name == "domain":
        report = check_domain(operation, args, seed)
    elif name in _BY_HAND:
        report = _by_hand(operation, name, args, seed)
    elif name.startswith("order "):
        report = _order(operation, int(name.removeprefix("order ")), args, seed)
    elif name in [np.dtype(dtype).name for dtype in operation.dtypes]:
        report = _single(operation, name, args, seed)
    else:
        report = _law(operation, name, args, seed)
    return replace(report, subject=operation.name)


def _settings(operation: Operation, seed: int) -> dict[str, Any]:
    options = {key: value for key, value in operation.options.items() if key != "modes"}
    own = {"kink": operation.kink, "manifold": operation.manifold, "minimal": False}
    return {"seed": seed, **options, **own}


def _argnums(operation: Operation) -> dict[str, Any]:
    return {} if operation.argnums is None else {"argnums": operation.argnums}


def _by_hand(operation: Operation, name: str, args: Sequence[Any], seed: int) -> Report:
    """A derivative written by hand; a second one is compared with the gradient where that is right."""
    options = _settings(operation, seed) | _argnums(operation)
    check, derivative = _BY_HAND[name], operation.by_hand[name]
    if name not in _SECOND or operation.gradient is None:
        return check(operation.value, derivative, *args, **options)
    report = check(operation.value, derivative, *args, gradient=operation.gradient, **options)
    if any(finding.claim not in (name, "symmetry") for finding in report.wrong):
        return check(operation.value, derivative, *args, **options)
    return report


def _order(operation: Operation, order: int, args: Sequence[Any], seed: int) -> Report:
    """All modes of one order; those below belong to other checks."""
    report = _orders(operation, order, args, seed, ())
    if report.verdict == "refused":
        return report
    return replace(report, findings=tuple([finding for finding in report.findings if finding.order == order]))


def _orders(operation: Operation, order: int, args: Sequence[Any], seed: int, laws: Sequence[str]) -> Report:
    return check_derivatives(
        operation.value,
        *args,
        order=order,
        modes=operation.options.get("modes"),
        using=system(operation.using or EINSUMAD),
        properties=laws,
        **_settings(operation, seed),
        **_argnums(operation),
    )


def _single(operation: Operation, dtype: str, args: Sequence[Any], seed: int) -> Report:
    """All derivatives in another precision."""
    rounded = in_dtype(operation, args, dtype)
    with np.errstate(all="ignore"):
        finite = bool(np.all(np.isfinite(np.asarray(operation.value(*rounded)))))
    if not finite:
        detail = f"the value is not finite in {dtype}"
        return Report(operation.name, (Finding("value", 0, dtype, "itself", "undecided", detail=detail),))
    reports = [_by_hand(operation, name, rounded, seed) for name in operation.by_hand]
    if operation.using is not None:
        reports.append(_orders(operation, operation.order, rounded, seed, _CONTRACT))
    return reports[0].joined(reports[1:])


def _law(operation: Operation, name: str, args: Sequence[Any], seed: int) -> Report:
    """A property, of the derivatives written by hand and of those of the system."""
    findings: list[Finding] = []
    if name in operation.laws_by_hand:
        call = call_by_hand(operation, args)
        findings += _property(operation, name, system_by_hand(operation, call), call, seed)
    if name in operation.laws_of_system:
        call = call_of_system(operation, args)
        findings += _property(operation, name, system(operation.using or EINSUMAD), call, seed)
    return Report(operation.name, tuple(findings))


def _property(operation: Operation, name: str, library: System, call: Call, seed: int) -> tuple[Finding, ...]:
    by_hand = library.modes == (MODE,)
    second = operation.hessian is not None or operation.hvp is not None
    case = Case(
        library,
        on_leaves(call),
        tuple([np.asarray(part) for part in call.point.split(call.point.vector, wide=False)]),
        seed,
        min(operation.order, 1 + second) if by_hand else operation.order,
        library.modes if by_hand else tuple(operation.options.get("modes", ())),
        operation.name,
        operation.batched,
        call.point.names,
    )
    return run_properties(case, [name])


def _preflight(operation: Operation, args: Sequence[Any]) -> Report:
    """What a look at the function and its arguments brings up."""
    call = call_of_system(operation, args) if operation.using is not None else call_by_hand(operation, args)
    refused = call.refusal()
    if refused is not None:
        return refused
    looks = Finding("preflight", 0, "value", "repeated calls", "right", call.subject.output.size)
    return Report(operation.name, (looks,), call.notes)
