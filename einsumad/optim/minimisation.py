"""What ``scipy.optimize.minimize`` is called with.

Owns :func:`minimize_arguments`. Imports the other modules of this folder and the frontend. Invariant: value and
gradient of a point come from one plan, and SciPy keeps them together as long as it stays there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from einsumad import frontend as ea
from einsumad.errors import ShapeError
from einsumad.frontend.transforms import Argnums
from einsumad.frontend.trees import flatten as leaves_of
from einsumad.optim.arguments import Arguments
from einsumad.optim.methods import BY_DEFAULT, CUSTOM, MINIMIZE, Takes, named, second_derivatives
from einsumad.optim.problem import Problem, problem_of
from einsumad.optim.vectors import joined, real_array

_Function = Callable[..., Any]


def minimize_arguments(
    f: Callable[..., Any],
    *args: Any,
    method: str | Callable[..., Any] | None = None,
    argnums: Argnums = 0,
    dense: bool | None = None,
    compiled: bool = False,
    memory_limit: int | None = None,
) -> Arguments:
    """The arguments that ``scipy.optimize.minimize`` needs to minimise f with exact derivatives.

    `args` are the arguments of f, which returns one number. The search starts at the one that `argnums` names, an array
    of any shape or a tree of arrays (at several for a tuple of positions); the others stay as they are.

    - `method`: a name that SciPy knows; a function, which gets all derivatives; or None: SciPy takes BFGS, L-BFGS-B or
      SLSQP. A method is given what it takes: f alone, ``jac=True`` with value and gradient computed together, ``hess``
      too for dogleg and trust-exact, ``hessp`` too for Newton-CG, trust-ncg, trust-krylov and trust-constr.
    - `dense`: True for ``hess``, a matrix that is symmetric to the last digit, False for ``hessp``, which stores none.
    - `compiled`: f is traced once (:func:`einsumad.compile`), not at every point. Small problems take a fraction of the
      time, but control flow on values raises, and arrays that f captures are read once.

    Raises ``ValueError`` for an unknown method or a form of the Hessian that it does not take,
    :class:`DifferentiationError` (a ``TypeError``) if the start is not floating-point, :class:`ShapeError` if it has no
    entries. Of casts, and of what comes back, see :class:`Arguments`.

    >>> import numpy as np, einsumad as ea
    >>> from scipy.optimize import minimize
    >>> def loss(params, x, y):
    ...     return np.mean((np.tanh(x @ params["W"]) + params["b"] - y) ** 2)
    >>> x = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [2.0, 1.0]])
    >>> y = np.tanh(x @ [0.5, -0.25]) + 2
    >>> problem = ea.optim.minimize_arguments(loss, {"W": np.zeros(2), "b": 0.0}, x, y, method="trust-exact")
    >>> problem.unflatten(minimize(**problem).x.round(4))
    {'W': array([ 0.5 , -0.25]), 'b': np.float64(2.0)}
    """
    method, takes, second = _choice(method, dense)
    problem = problem_of(f, args, argnums, compiled, memory_limit)
    makers = {"hess": _hessian, "hessp": _hessian_product}
    given: dict[str, Any] = {"fun": _value_and_gradient(problem) if takes.first else _value(problem)}
    given |= {} if method is None else {"method": method}
    given |= {"jac": True} if takes.first else {}
    given |= {key: makers[key](problem) for key in second}
    return Arguments("minimize", problem.start, given, problem.layout)


def _choice(method: Any, dense: bool | None) -> tuple[Any, Takes, tuple[str, ...]]:
    """The method as SciPy writes it, what it takes, and the keywords of its second derivatives."""
    if method is None:
        return None, BY_DEFAULT, second_derivatives("what SciPy chooses", BY_DEFAULT, dense)
    if callable(method):
        chosen = second_derivatives("a method of your own", CUSTOM, dense)
        return method, CUSTOM, ("hess", "hessp") if dense is None else chosen
    name = named(MINIMIZE, method, "minimize")
    return name, MINIMIZE[name], second_derivatives(name, MINIMIZE[name], dense)


def _value(problem: Problem) -> _Function:
    function, layout = problem.prepared(problem.function), problem.layout

    def fun(x: Any) -> float:
        value = real_array(function(layout.unflatten(x)), "the value of f")
        if value.shape != ():
            raise ShapeError(f"f has to return one number to be minimised, got shape {value.shape}: sum it")
        return float(value)

    return fun


def _value_and_gradient(problem: Problem) -> _Function:
    function = problem.prepared(ea.value_and_grad(problem.function, memory_limit=problem.memory_limit))
    layout = problem.layout

    def fun(x: Any) -> tuple[float, np.ndarray]:
        value, gradient = function(layout.unflatten(x))
        return float(value), joined(gradient, "the gradient")

    return fun


def _hessian(problem: Problem) -> _Function:
    function = problem.prepared(ea.hessian(problem.function, memory_limit=problem.memory_limit))
    layout = problem.layout

    def hess(x: Any) -> np.ndarray:
        blocks, _ = leaves_of(function(layout.unflatten(x)))
        half = 0.5 * layout.matrix(blocks)
        return half + half.T

    return hess


def _hessian_product(problem: Problem) -> _Function:
    function = problem.prepared(ea.hvp(problem.function, memory_limit=problem.memory_limit))
    layout = problem.layout

    def hessp(x: Any, p: Any) -> np.ndarray:
        return joined(function(layout.unflatten(x), layout.unflatten(p)), "the product")

    return hessp
