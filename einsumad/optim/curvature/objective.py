"""What a second-order optimiser minimises: outputs of the parameters, and a loss of them.

Owns :class:`Objective`, and the plans that all optimisers ask of it. Imports the transforms, compilation and vectors.
Invariant: a plan is made once for each form of the arguments, and kept with the objective; no batch is captured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from einsumad import frontend as ea
from einsumad.optim.curvature.flat import joined, parted

Values = Sequence[Any]
Question = Callable[..., Any]
"""A function of an objective, the values of the parameters and further arrays, such as its value or its gradient."""


class Objective:
    """``loss(outputs(values, *batch), *batch)``, where values is the list of the arrays of the parameters.

    Both functions are written with NumPy and return arrays, the loss a number. A single function that returns the loss
    itself is an objective too, for those optimisers that need no Gauss–Newton matrix. What is computed of an objective
    is compiled and kept with it: make it once, and hand the batches over to the steps.

    >>> import numpy as np, einsumad.nn as nn
    >>> from einsumad import optim
    >>> x = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> objective = optim.Objective(lambda values, x, y: x @ values[0], lambda z, x, y: np.sum((z - y) ** 2))
    >>> w = nn.Parameter(np.zeros(2))
    >>> optimizer = optim.GaussNewton([w], damping=1e-12)
    >>> float(optimizer.step(objective, x, x @ np.array([2.0, 3.0])))
    38.0
    >>> w.data.round(6)
    array([2., 3.])

    `memory_limit` holds for each plan, in bytes (default: the machine's memory). A subclass may say whose values these
    are, in `parameters`.
    """

    def __init__(
        self, outputs: Callable[..., Any], loss: Callable[..., Any] | None = None, *, memory_limit: int | None = None
    ) -> None:
        for name, function in (("outputs", outputs), ("loss", loss)):
            if function is not None and not callable(function):
                raise TypeError(f"{name} of an objective is a function, got {type(function).__name__}")
        self.outputs, self.loss, self.memory_limit = outputs, loss, memory_limit
        self.parameters: tuple[Any, ...] | None = None
        self._plans: dict[Question, Callable[..., Any]] = {}

    @property
    def is_composed(self) -> bool:
        """Whether outputs and loss are known apart, as Gauss–Newton matrices need them."""
        return self.loss is not None

    def arguments(self, *batch: Any) -> tuple[Any, ...]:
        """What the functions are called with after the values, or the outputs: the batch as it is."""
        return batch

    def at(self, values: Values, args: tuple[Any, ...]) -> Any:
        """The value for plain or traced arrays."""
        outputs = self.outputs(values, *args)
        return outputs if self.loss is None else self.loss(outputs, *args)

    def ask(self, question: Question, *args: Any) -> Any:
        """What a question has for an answer here, by its plan."""
        if question not in self._plans:
            self._plans[question] = ea.compile(lambda *given: question(self, *given), memory_limit=self.memory_limit)
        return self._plans[question](*args)


def value(objective: Objective, values: Values, args: tuple[Any, ...]) -> Any:
    """The value."""
    return objective.at(values, args)


def value_and_gradient(objective: Objective, values: Values, args: tuple[Any, ...]) -> tuple[Any, Any, Any]:
    """The value, the outputs (None for an objective that is one function), and the gradient as a vector."""
    gradient = ea.grad(lambda v: objective.at(v, args))(list(values))
    if objective.loss is None:
        return objective.at(values, args), None, joined(gradient)
    outputs = objective.outputs(values, *args)
    return objective.loss(outputs, *args), outputs, joined(gradient)


def hessian_product(objective: Objective, values: Values, vector: Any, args: tuple[Any, ...]) -> Any:
    """``H v``, with vectors in the order of the parameters."""
    values = list(values)
    return joined(ea.hvp(lambda v: objective.at(v, args))(values, parted(vector, values)))


def gauss_newton_product(objective: Objective, values: Values, vector: Any, args: tuple[Any, ...]) -> Any:
    """``Jᵀ L J v`` with the Jacobian J of the outputs and the Hessian L of the loss in them.

    It takes one forward and one reverse sweep. Where the loss is convex in the outputs no curvature is negative.

    Source: N. N. Schraudolph, Fast curvature matrix-vector products for second-order gradient descent, 2002.
    """
    values = list(values)

    def outputs(v: Values) -> Any:
        return objective.outputs(v, *args)

    at, tangent = ea.jvp(outputs, (values,), (parted(vector, values),))
    turned = ea.hvp(lambda z: loss_of(objective)(z, *args))(at, tangent)
    return joined(ea.vjp(outputs, values)[1](turned))


def loss_of(objective: Objective) -> Callable[..., Any]:
    """The loss of the outputs. Raises :class:`ValueError` where it is not known apart from them."""
    if objective.loss is None:
        raise ValueError(
            "a Gauss-Newton matrix needs outputs and loss apart: make the objective of both, Objective(outputs, loss); "
            "NewtonCG with curvature='hessian' takes one function"
        )
    return objective.loss
