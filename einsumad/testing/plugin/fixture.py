"""The object that the fixture ``derivatives`` gives to tests.

Owns it, and which options of the marker go to which check. Imports the checks and the records. Invariant: a check
through the fixture raises unless the derivative is right (or undecided, if that is not refused), and leaves a record.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from difflib import get_close_matches
from typing import Any

from einsumad.testing.checks import (
    Settings,
    check_derivatives,
    check_hessian,
    check_hvp,
    check_jacobian,
    check_jvp,
    check_scipy,
    check_user_gradient,
    check_vjp,
)
from einsumad.testing.plugin.noting import failure_of, noted
from einsumad.testing.report import Report

SETTINGS = frozenset([field.name for field in fields(Settings)])
BY_HAND = SETTINGS | {"argnums"}
BY_SYSTEM = SETTINGS | {"argnums", "order", "modes", "using", "properties"}
MARKER = BY_SYSTEM | {"strict"}
"""The options that the marker takes; each check gets those it knows."""

_NAMELESS = "the function"


def complaint(args: Sequence[Any], options: Mapping[str, Any]) -> str:
    """What is wrong with the arguments of a marker, or nothing."""
    if args:
        return f"the marker derivative takes keyword arguments only, got {args[0]!r}: write order={args[0]!r}, say"
    for name in options:
        if name not in MARKER:
            near = get_close_matches(name, MARKER, n=2)
            hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(sorted(MARKER))}"
            return f"the marker derivative has no option {name!r}: {hint}"
    return ""


class Derivatives:
    """Checks of derivatives that raise in the test and count in the summary.

    `defaults` gives the options of the marker of the running test, `test` its name; both are asked at every check.
    Every method takes the arguments of the check of the same name in :mod:`einsumad.testing`, and ``strict=True``,
    which also refuses a derivative about which nothing could be decided. They return the report.

    >>> import numpy as np
    >>> derivatives = Derivatives(dict, lambda: "test_loss")
    >>> report = derivatives.gradient(lambda x: np.sum(x**2), lambda x: 2 * x, np.array([1.0, 2.0]))
    >>> report.verdict
    'right'
    """

    def __init__(self, defaults: Callable[[], Mapping[str, Any]], test: Callable[[], str]) -> None:
        self._defaults = defaults
        self._test = test

    def __repr__(self) -> str:
        return "derivatives"

    def check(self, f: Callable[..., Any], *args: Any, **options: Any) -> Report:
        """All derivatives that a system has of f: see :func:`einsumad.testing.check_derivatives`."""
        __tracebackhide__ = True
        return self._run("derivatives", check_derivatives, (f, *args), BY_SYSTEM, options)

    def gradient(self, f: Callable[..., Any], g: Callable[..., Any] | bool, *args: Any, **options: Any) -> Report:
        """A gradient: see :func:`einsumad.testing.check_user_gradient`."""
        __tracebackhide__ = True
        return self._run("gradient", check_user_gradient, (f, g, *args), BY_HAND, options)

    def jacobian(self, f: Callable[..., Any], jacobian: Callable[..., Any], *args: Any, **options: Any) -> Report:
        """A Jacobian: see :func:`einsumad.testing.check_jacobian`."""
        __tracebackhide__ = True
        return self._run("jacobian", check_jacobian, (f, jacobian, *args), BY_HAND, options)

    def hessian(self, f: Callable[..., Any], hessian: Callable[..., Any], *args: Any, **options: Any) -> Report:
        """A Hessian: see :func:`einsumad.testing.check_hessian`."""
        __tracebackhide__ = True
        return self._run("hessian", check_hessian, (f, hessian, *args), BY_HAND, options)

    def hvp(self, f: Callable[..., Any], hvp: Callable[..., Any], *args: Any, **options: Any) -> Report:
        """Hessian-vector products: see :func:`einsumad.testing.check_hvp`."""
        __tracebackhide__ = True
        return self._run("hvp", check_hvp, (f, hvp, *args), BY_HAND, options)

    def jvp(self, f: Callable[..., Any], jvp: Callable[..., Any], *args: Any, **options: Any) -> Report:
        """A pushforward: see :func:`einsumad.testing.check_jvp`."""
        __tracebackhide__ = True
        return self._run("jvp", check_jvp, (f, jvp, *args), BY_HAND, options)

    def vjp(self, f: Callable[..., Any], vjp: Callable[..., Any], *args: Any, **options: Any) -> Report:
        """A pullback: see :func:`einsumad.testing.check_vjp`."""
        __tracebackhide__ = True
        return self._run("vjp", check_vjp, (f, vjp, *args), BY_HAND, options)

    def scipy(self, fun: Callable[..., Any], x0: Any, **options: Any) -> Report:
        """What is handed to SciPy: see :func:`einsumad.testing.check_scipy`."""
        __tracebackhide__ = True
        return self._run("scipy", check_scipy, (fun, x0), SETTINGS, options)

    def _run(
        self,
        name: str,
        check: Callable[..., Report],
        args: tuple[Any, ...],
        known: frozenset[str],
        options: Mapping[str, Any],
    ) -> Report:
        __tracebackhide__ = True
        marked = self._defaults()
        given = {key: value for key, value in marked.items() if key in known} | dict(options)
        strict = given.pop("strict", marked.get("strict", False))
        given.setdefault("minimal", not inside_hypothesis())
        subject = _named(args[0], self._test())
        source = str(getattr(args[0], "__module__", None) or type(args[0]).__module__)
        report = noted(lambda: check(*args, **given), name, subject, source)
        failure = failure_of(report, strict=strict)
        if failure is not None:
            raise failure
        return report


def inside_hypothesis() -> bool:
    """Whether Hypothesis is trying an example, which it makes small by itself."""
    hypothesis = sys.modules.get("hypothesis")
    return hypothesis is not None and bool(hypothesis.currently_in_test_context())


def _named(function: Any, test: str) -> str:
    name = str(getattr(function, "__name__", type(function).__name__))
    return f"a function in {test}" if name == "<lambda>" else name
