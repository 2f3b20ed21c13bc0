"""The method of Levenberg and Marquardt on Gauss–Newton matrices in their structure.

Owns :func:`gauss_newton_step` and :func:`levenberg_marquardt`. Imports the other modules of this folder and the
frontend. Invariant: neither the Jacobian nor its product with its transpose is made dense unless that is its structure.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from einsumad import frontend as ea
from einsumad.frontend.transforms import Argnums
from einsumad.frontend.trees import flatten as leaves_of
from einsumad.optim.descent import Model, Point, descend, one_step
from einsumad.optim.problem import Problem, problem_of
from einsumad.optim.records import Limits, Result, Step
from einsumad.optim.vectors import joined, rounding_of

Loss: TypeAlias = Callable[[Any], Any] | None
"""A scalar function of what the residuals return; None for half the sum of their squares."""


def gauss_newton_step(
    residuals: Callable[..., Any],
    *args: Any,
    argnums: Argnums = 0,
    loss: Loss = None,
    damping: float = 0.0,
    memory_limit: int | None = None,
) -> Step:
    """One step of Gauss and Newton for ½ Σ r²: ``x - (JᵀJ + damping · 1)⁻¹ Jᵀr``, with JᵀJ in its structure.

    `residuals` returns r, an array of any shape or a tree of arrays. With a `loss` of r, a number, it is that which
    decreases, and the matrix is ``JᵀLJ`` with its second derivative L. Everything else, the other arguments and the
    errors included, is as for :func:`newton_step`; ``value`` is ½ Σ r². Where JᵀJ is singular more damping is added
    until it is positive definite. (Nocedal and Wright, Numerical Optimization, 2nd ed. 2006, section 10.3.)

    >>> import numpy as np, einsumad as ea
    >>> A, b = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([1.0, 3.0, 5.0])
    >>> ea.optim.gauss_newton_step(lambda x: A @ x - b, np.zeros(2)).x.round(12)
    array([1., 2.])
    """
    problem = problem_of(residuals, args, argnums, False, memory_limit)
    return one_step(_model(problem, loss), problem.start, damping)


def levenberg_marquardt(
    residuals: Callable[..., Any],
    *args: Any,
    argnums: Argnums = 0,
    loss: Loss = None,
    damping: float | None = None,
    gtol: float | None = None,
    maxiter: int = 100,
    memory_limit: int | None = None,
) -> Result:
    """A local minimum of ½ Σ r² by damped Gauss–Newton steps that are solved in the structure of JᵀJ.

    Arguments are as for :func:`gauss_newton_step`. `damping` is that of the first step (default: a thousandth of the
    largest entry of the diagonal of JᵀJ). After each step it follows from the ratio of the actual to the predicted
    decrease; a step that does not decrease the value is taken back and damped more. It is a multiple of the identity:
    scale parameters whose sizes differ by orders of magnitude. It never quite reaches zero, so directions in which
    nothing changes, such as a common shift of everything, do no harm. (Levenberg 1944, Marquardt 1963; Nocedal and
    Wright, Numerical Optimization, 2nd ed. 2006, section 10.3.)

    The run ends as that of :func:`newton` does. In the :class:`Result`, ``value`` is ½ Σ r², as the cost of SciPy's
    ``least_squares``.

    >>> import numpy as np, einsumad as ea
    >>> def residuals(params, t, y):
    ...     return params["a"] * np.exp(-params["k"] * t) - y
    >>> t = np.linspace(0, 2, 9)
    >>> result = ea.optim.levenberg_marquardt(residuals, {"a": 1.0, "k": 1.0}, t, 3 * np.exp(-0.5 * t))
    >>> result.success, {name: round(float(value), 6) for name, value in result.x.items()}
    (True, {'a': 3.0, 'k': 0.5})
    """
    limits = Limits(gtol, maxiter)
    problem = problem_of(residuals, args, argnums, False, memory_limit)
    return descend(_model(problem, loss), problem.start, damping, limits)


def _model(problem: Problem, loss: Loss) -> Model:
    evaluate = partial(_evaluate, problem, loss)
    return Model(evaluate, problem.layout, problem.memory_limit, start=1e-3, convex=loss is None)


def _evaluate(problem: Problem, loss: Loss, x: np.ndarray) -> Point:
    at = problem.layout.unflatten(x)
    total = partial(_half_squares, problem.function) if loss is None else partial(_loss_of, loss, problem.function)
    value, gradient = ea.value_and_grad(total, memory_limit=problem.memory_limit)(at)
    transform = ea.gauss_newton(problem.function, loss=loss, compressed=True, memory_limit=problem.memory_limit)
    matrix = partial(transform, at)
    return Point(x, float(value), rounding_of(value), joined(gradient, "the gradient"), matrix)


def _loss_of(loss: Callable[[Any], Any], residuals: Callable[..., Any], x: Any) -> Any:
    return loss(residuals(x))


def _half_squares(residuals: Callable[..., Any], x: Any) -> Any:
    """Half the sum of the squares of all residuals."""
    leaves, _ = leaves_of(residuals(x))
    return 0.5 * sum([np.sum(leaf * leaf) for leaf in leaves])
