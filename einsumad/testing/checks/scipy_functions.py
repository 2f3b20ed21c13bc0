"""The derivatives that are handed to SciPy's optimisers, checked as SciPy will call them.

Owns :func:`check_scipy`. Imports the other checks. Invariant: the functions are called as ``scipy.optimize`` calls
them: ``fun(x, *args)``, ``jac(x, *args)``, ``hess(x, *args)``, ``hessp(x, p, *args)``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np

from einsumad.testing.checks.first import check_jacobian, check_user_gradient
from einsumad.testing.checks.hessian import check_hessian, check_hvp
from einsumad.testing.report import Report

_PAIR = 2


def check_scipy(
    fun: Callable[..., Any],
    x0: Any,
    *,
    args: Any = (),
    jac: Callable[..., Any] | bool | None = None,
    hess: Callable[..., Any] | None = None,
    hessp: Callable[..., Any] | None = None,
    **options: Any,
) -> Report:
    """Check what is given of `jac`, `hess` and `hessp` for ``scipy.optimize.minimize``, ``root`` or ``least_squares``.

    With ``jac=True`` fun returns the pair of value and gradient. For a function with one number as its value `jac` is
    its gradient, for one with a vector its Jacobian. `hess` may return an array, a sparse matrix or a LinearOperator.
    Further options are the fields of :class:`Settings`.

    >>> import numpy as np
    >>> from scipy.optimize import rosen, rosen_der, rosen_hess, rosen_hess_prod
    >>> from einsumad.testing import check_scipy
    >>> bool(check_scipy(rosen, np.array([1.2, 0.7, -0.4]), jac=rosen_der, hess=rosen_hess, hessp=rosen_hess_prod))
    True
    """
    for name, given in (("jac", jac), ("hess", hess), ("hessp", hessp)):
        if not (given is None or callable(given) or (name == "jac" and isinstance(given, bool))):
            raise TypeError(f"{name} has to be a function, got {given!r}: SciPy's own differences need no check")
    if not jac and hess is None and hessp is None:
        raise TypeError("check_scipy needs at least one of jac, hess and hessp")
    x = np.atleast_1d(np.asarray(x0))
    x = x.astype(np.float64) if x.dtype.kind in "iu" else x
    args = tuple(args) if isinstance(args, (tuple, list)) else (args,)
    value = _bound(_part(fun, 0) if jac is True else fun, args)
    derivative = _part(fun, 1) if jac is True else jac
    known = _bound(derivative, args) if callable(derivative) else None
    reports = []
    if known is not None and hess is None and hessp is None:
        check = check_user_gradient if np.size(value(x.copy())) == 1 else check_jacobian
        reports.append(check(value, known, x, **options))
    if hess is not None:
        reports.append(check_hessian(value, _bound(hess, args), x, gradient=known, **options))
    if hessp is not None:
        reports.append(check_hvp(value, _with_vector(hessp, args), x, gradient=known, **options))
    return reports[0].joined(reports[1:])


def _part(fun: Callable[..., Any], which: int) -> Callable[..., Any]:
    @wraps(fun)
    def part(*args: Any) -> Any:
        answer = fun(*args)
        if not isinstance(answer, (tuple, list)) or len(answer) != _PAIR:
            raise TypeError(f"with jac=True fun has to return value and gradient, got {type(answer).__name__}")
        return answer[which]

    return part


def _bound(fun: Callable[..., Any], args: Sequence[Any]) -> Callable[..., Any]:
    if not args:
        return fun

    @wraps(fun)
    def of_x(x: Any) -> Any:
        return fun(x, *args)

    return of_x


def _with_vector(hessp: Callable[..., Any], args: Sequence[Any]) -> Callable[..., Any]:
    if not args:
        return hessp

    @wraps(hessp)
    def of_x(x: Any, p: Any) -> Any:
        return hessp(x, p, *args)

    return of_x
