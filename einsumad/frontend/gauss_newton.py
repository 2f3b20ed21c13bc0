"""Gauss–Newton matrices: the curvature that a loss has through the first derivatives of a function alone.

Owns these transforms. Imports transforms, tracing and the structured results. Invariant: the loss is traced on
variables of its own that have the values of the residuals, so a second derivative of the function never enters; in
what is asked leaves of no trace stand for them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from einsumad.errors import DifferentiationError
from einsumad.frontend.requests import Asked
from einsumad.frontend.structured import hessian_of
from einsumad.frontend.tensor import Tensor
from einsumad.frontend.tracing import Trace, trace
from einsumad.frontend.transforms import Argnums, Transform, check_outputs, nested, parameter_names
from einsumad.frontend.trees import unflatten
from einsumad.graph import fresh_leaf, substitute
from einsumad.planning import Request, Strategy


@dataclass(frozen=True)
class GaussNewton(Transform):
    """A Gauss–Newton transform; without a `loss` it is half the sum of squares."""

    loss: Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.loss is not None and not callable(self.loss):
            raise TypeError(f"the loss of {self.name} must be a function, got {type(self.loss).__name__}")

    def ask(self, *args: Any, **kwargs: Any) -> tuple[Asked, Trace]:
        """Trace the function, and the loss on variables with the values of what it returned."""
        asked, found = super().ask(*args, **kwargs)
        if self.loss is None:
            return asked, found
        residuals = unflatten(found.tree, [Tensor(node) for node in found.outputs])
        of_loss = trace(self.loss, [residuals], {}, 0, parameter_names(self.loss))
        if len(of_loss.outputs) != 1 or of_loss.outputs[0].shape != ():
            shapes = [node.shape for node in of_loss.outputs]
            raise DifferentiationError(f"the loss of {self.name} needs one scalar output, got shapes {shapes}: sum it")
        check_outputs(of_loss, f"the loss of {self.name}")
        places = tuple([fresh_leaf(node.shape, node.dtype) for node in found.outputs])
        loss = substitute(of_loss.outputs, dict(zip(of_loss.variables.leaves, places, strict=True)))
        return Asked(self.request, (*found.outputs, *loss), found.variables, places), found


def gauss_newton(
    f: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    loss: Callable[..., Any] | None = None,
    mode: Strategy = "auto",
    compressed: bool = False,
    memory_limit: int | None = None,
) -> Transform:
    """The Gauss–Newton matrix ``Jᵀ L J`` of the residuals that `f` returns, an array or a tree of arrays.

    J is the Jacobian of `f`, and L the Hessian of `loss` in the residuals: without a loss, of half the sum of their
    squares, the identity. Axes, several arguments and `compressed` are as in :func:`hessian`. With the negative
    log-likelihood of an exponential family in its natural parameters as the loss it is the Fisher matrix; with losses
    of single samples as residuals it is the empirical one.

    >>> import numpy as np, einsumad as ea
    >>> ea.gauss_newton(lambda x: np.array([2.0, 3.0]) * x)(np.ones(2))
    array([[4., 0.],
           [0., 9.]])

    Source: N. N. Schraudolph, Fast curvature matrix-vector products for second-order gradient descent, Neural
    Computation 14, 2002, section 3.
    """
    return GaussNewton(
        f,
        "gauss_newton",
        Request("gauss-newton", (), mode),
        argnums,
        memory_limit,
        lambda t, o: nested(t, o, 2),
        False,
        in_structure=hessian_of if compressed else None,
        loss=loss,
    )


def gauss_newton_diagonal(
    f: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    loss: Callable[..., Any] | None = None,
    memory_limit: int | None = None,
) -> Transform:
    """The diagonal of the Gauss–Newton matrix, ``diag(Jᵀ L J)``, in the shape of the argument.

    >>> import numpy as np, einsumad as ea
    >>> ea.gauss_newton_diagonal(lambda x: np.array([2.0, 3.0]) * x)(np.ones(2))
    array([4., 9.])
    """
    return GaussNewton(
        f,
        "gauss_newton_diagonal",
        Request("gauss-newton-diagonal"),
        argnums,
        memory_limit,
        lambda t, o: nested(t, o, 1),
        False,
        loss=loss,
    )
