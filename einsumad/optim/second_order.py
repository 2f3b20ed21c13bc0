"""Newton's method on Hessians in their structure.

Owns :func:`newton_step` and :func:`newton`. Imports the other modules of this folder and the frontend. Invariant: no
Hessian is made dense unless that is its structure.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from einsumad import frontend as ea
from einsumad.frontend.transforms import Argnums
from einsumad.optim.descent import Model, Point, descend, one_step
from einsumad.optim.problem import Problem, problem_of
from einsumad.optim.records import Limits, Result, Step
from einsumad.optim.vectors import joined, rounding_of


def newton_step(
    f: Callable[..., Any],
    *args: Any,
    argnums: Argnums = 0,
    damping: float = 0.0,
    memory_limit: int | None = None,
) -> Step:
    """One step of Newton's method for a scalar function: ``x - (H + damping · 1)⁻¹ g``, with H in its structure.

    `args` are the arguments of f. The step starts at the one that `argnums` names, an array of any shape or a tree of
    arrays (at several for a tuple of positions); the others stay as they are. Where ``H + damping · 1`` is not positive
    definite, more damping is added until it is, and the :class:`Step` says how much. Whether f decreases is not
    checked: :func:`newton` does.

    Raises ``ValueError`` where f or its gradient are not finite, :class:`DifferentiationError` (a ``TypeError``) if the
    argument is not floating-point, :class:`ShapeError` if it has no entries, and :class:`LinearAlgebraError` if no
    damping makes H positive definite. (Nocedal and Wright, Numerical Optimization, 2nd ed. 2006, section 3.4.)

    >>> import numpy as np, einsumad as ea
    >>> step = ea.optim.newton_step(lambda x, t: np.sum((x - t) ** 2), np.zeros(2), np.array([1.0, 3.0]))
    >>> step.x, step.value, step.damping
    (array([1., 3.]), 10.0, 0.0)
    """
    problem = problem_of(f, args, argnums, False, memory_limit)
    return one_step(_model(problem), problem.start, damping)


def newton(
    f: Callable[..., Any],
    *args: Any,
    argnums: Argnums = 0,
    damping: float = 0.0,
    gtol: float | None = None,
    maxiter: int = 100,
    memory_limit: int | None = None,
) -> Result:
    """A local minimum of a scalar function by damped Newton steps that are solved in the structure of the Hessian.

    Arguments are as for :func:`newton_step`. `damping` is that of the first step. After each step it follows from the
    ratio of the actual to the predicted decrease; a step that does not decrease f is taken back and damped more. With
    a definite Hessian it falls to zero, so that convergence is quadratic at last. (Nocedal and Wright, Numerical
    Optimization, 2nd ed. 2006: a trust region, algorithm 4.1 and section 4.3, whose multiplier is set directly.)

    The run ends when no entry of the gradient is above `gtol` (default: 1.5e-8, in float32 3.5e-4), when the value
    cannot be decreased in working precision, or after `maxiter` steps. A saddle is not taken for a minimum:
    ``success`` is False there. f is traced at every point, so control flow on values is allowed.

    Raises as :func:`newton_step` for a bad start; what happens later is told by ``message``.

    >>> import numpy as np, einsumad as ea
    >>> def rosenbrock(x):
    ...     return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)
    >>> result = ea.optim.newton(rosenbrock, np.full(1000, 0.9))
    >>> result.success, result.x.round(6)[:3]
    (True, array([1., 1., 1.]))
    """
    limits = Limits(gtol, maxiter)
    problem = problem_of(f, args, argnums, False, memory_limit)
    return descend(_model(problem), problem.start, damping, limits)


def _model(problem: Problem) -> Model:
    return Model(partial(_evaluate, problem), problem.layout, problem.memory_limit, start=0.0, convex=False)


def _evaluate(problem: Problem, x: np.ndarray) -> Point:
    function = ea.value_grad_and_hessian(problem.function, compressed=True, memory_limit=problem.memory_limit)
    value, gradient, hessian = function(problem.layout.unflatten(x))
    return Point(x, float(value), rounding_of(value), joined(gradient, "the gradient"), lambda: hessian)
