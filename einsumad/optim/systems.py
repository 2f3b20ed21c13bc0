"""What ``scipy.optimize.root`` and ``least_squares`` are called with.

Owns :func:`root_arguments` and :func:`least_squares_arguments`. Imports the other modules of this folder and the
frontend. Invariant: residuals are the entries of f's output in the order of its tree, and the rows of the Jacobian.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from einsumad import frontend as ea
from einsumad.errors import ShapeError
from einsumad.frontend.transforms import Argnums
from einsumad.frontend.trees import flatten as leaves_of
from einsumad.optim.arguments import Arguments
from einsumad.optim.methods import LEAST_SQUARES, ROOT, named
from einsumad.optim.problem import Problem, problem_of
from einsumad.optim.vectors import joined, layout_of

_Function = Callable[..., Any]


def root_arguments(
    f: Callable[..., Any],
    *args: Any,
    method: str = "hybr",
    argnums: Argnums = 0,
    compiled: bool = False,
    memory_limit: int | None = None,
) -> Arguments:
    """The arguments that ``scipy.optimize.root`` needs to solve f = 0 with an exact Jacobian.

    f returns an array of any shape or a tree of arrays, in all with as many entries as the unknowns (for "lm" at least
    as many). The Jacobian goes to "hybr" and "lm"; the other methods take none. Everything else, the other arguments
    and the errors included, is as for :func:`minimize_arguments`; with too many or too few equations SciPy's first call
    raises :class:`ShapeError`.

    >>> import numpy as np, einsumad as ea
    >>> from scipy.optimize import root
    >>> def equations(X, A):
    ...     return X @ X - A
    >>> problem = ea.optim.root_arguments(equations, np.eye(2), np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> X = problem.unflatten(root(**problem).x)
    >>> (X @ X).round(8)
    array([[2., 1.],
           [1., 2.]])
    """
    method = named(ROOT, method, "root")
    problem = problem_of(f, args, argnums, compiled, memory_limit)
    given = {"fun": _residuals(problem, square=method != "lm"), "method": method}
    if ROOT[method].first:
        given["jac"] = _jacobian(problem)
    return Arguments("root", problem.start, given, problem.layout)


def least_squares_arguments(
    f: Callable[..., Any],
    *args: Any,
    method: str = "trf",
    argnums: Argnums = 0,
    dense: bool = True,
    compiled: bool = False,
    memory_limit: int | None = None,
) -> Arguments:
    """The arguments that ``scipy.optimize.least_squares`` needs to minimise ½ Σ f² with an exact Jacobian.

    f returns the residuals, an array of any shape or a tree of arrays. The Jacobian is a matrix or, with
    ``dense=False`` for "trf" and "dogbox", a ``LinearOperator`` that multiplies by forward and by reverse mode and
    stores nothing; SciPy then solves with "lsmr". Everything else, the other arguments and the errors included,
    is as for :func:`minimize_arguments`.

    >>> import numpy as np, einsumad as ea
    >>> from scipy.optimize import least_squares
    >>> def residuals(params, t, y):
    ...     return params["a"] * np.exp(-params["k"] * t) - y
    >>> t = np.linspace(0, 2, 9)
    >>> start = {"a": 1.0, "k": 1.0}
    >>> problem = ea.optim.least_squares_arguments(residuals, start, t, 3 * np.exp(-0.5 * t))
    >>> result = least_squares(**problem, bounds=(0, np.inf))
    >>> problem.unflatten(result.x.round(6))
    {'a': np.float64(3.0), 'k': np.float64(0.5)}
    """
    method = named(LEAST_SQUARES, method, "least_squares")
    if not dense and method == "lm":
        raise ValueError("dense=False: 'lm' takes a matrix only; 'trf' and 'dogbox' take an operator")
    problem = problem_of(f, args, argnums, compiled, memory_limit)
    jac = _jacobian(problem) if dense else _operator(problem)
    given = {"fun": _residuals(problem, square=False), "method": method, "jac": jac}
    return Arguments("least_squares", problem.start, given, problem.layout)


def _residuals(problem: Problem, *, square: bool) -> _Function:
    function, layout = problem.prepared(problem.function), problem.layout

    def fun(x: Any) -> np.ndarray:
        values = joined(function(layout.unflatten(x)), "what f returns")
        if square and values.size != layout.size:
            raise ShapeError(
                f"f returns {values.size} numbers, but there are {layout.size} unknowns: root needs as many"
            )
        return values

    return fun


def _jacobian(problem: Problem) -> _Function:
    function = problem.prepared(ea.jacobian(problem.function, memory_limit=problem.memory_limit))
    layout = problem.layout

    def jac(x: Any) -> np.ndarray:
        blocks, _ = leaves_of(function(layout.unflatten(x)))
        return layout.matrix(blocks)

    return jac


def _operator(problem: Problem) -> _Function:
    function, layout, limit = problem.function, problem.layout, problem.memory_limit
    push = problem.prepared(lambda at, v: ea.jvp(function, (at,), (v,), memory_limit=limit)[1])
    at_point = _compiled_pullback(problem) if problem.compiled else partial(ea.vjp, function, memory_limit=limit)

    def jac(x: Any) -> Any:
        at = layout.unflatten(x)
        value, pullback = at_point(at)
        rows = layout_of(value, "what f returns")
        return importlib.import_module("scipy.sparse.linalg").LinearOperator(
            shape=(rows.size, layout.size),
            matvec=lambda v: joined(push(at, layout.unflatten(v)), "the product"),
            rmatvec=lambda u: joined(pullback(rows.unflatten(u)), "the product"),
            dtype=np.float64,
        )

    return jac


def _compiled_pullback(problem: Problem) -> _Function:
    """What :func:`einsumad.vjp` gives at a point, from functions that are traced once."""
    function, limit = problem.function, problem.memory_limit
    values = problem.prepared(function)
    pull = problem.prepared(lambda at, u: ea.vjp(function, at, memory_limit=limit)[1](u))
    return lambda at: (values(at), partial(pull, at))
