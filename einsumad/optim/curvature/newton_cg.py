"""Newton's method with truncated steps: products with the curvature, and nothing that is larger than the parameters.

Owns :class:`NewtonCG`. Imports the optimiser, objectives and updates. Invariant: no matrix is formed.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any, ClassVar

import numpy as np

from einsumad.optim.curvature.hyperparameters import above_zero, whole
from einsumad.optim.curvature.objective import Objective, gauss_newton_product, hessian_product
from einsumad.optim.curvature.optimizer import Direction, Point, Region, SecondOrderOptimizer, State
from einsumad.optim.curvature.updates import accepted_radius, forcing_term, rejected_radius, steihaug
from einsumad.optim.first_order.groups import Check, at_least_zero

_PRODUCTS = {"hessian": hessian_product, "gauss_newton": gauss_newton_product}


def _curvature(name: str, kind: Any) -> str:
    if kind not in _PRODUCTS:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, _PRODUCTS))}, got {kind!r}")
    return str(kind)


class NewtonCG(SecondOrderOptimizer):
    """Truncated Newton steps within a region: conjugate gradients on products with the curvature of the batch.

    - `curvature`: "hessian", or "gauss_newton" for ``JᵀLJ``, which has no negative curvature where the loss is convex
      in the outputs. Along negative curvature a step goes to the boundary, so that saddles are left.
    - `radius`: how long the first step may be. It grows and shrinks with the ratio of the actual to the predicted
      decrease; a step that does not lower the loss on the batch is tried again, shorter.
    - `max_products`: the most products for a direction. How exactly Newton's equation is solved follows from how fast
      the gradient falls, so that convergence is superlinear at last.

    Steps are made by :meth:`step`; memory is a few times that of the parameters.

    Source: T. Steihaug, The conjugate gradient method and trust regions in large scale optimization, 1983; Nocedal and
    Wright, Numerical Optimization, 2nd ed. 2006, section 7.1; J. Martens, Deep learning via Hessian-free optimization,
    2010; Eisenstat and Walker, Choosing the forcing terms in an inexact Newton method, 1996.

    >>> import numpy as np, einsumad.nn as nn
    >>> from einsumad import optim
    >>> objective = optim.Objective(lambda v: 100 * (v[0][1] - v[0][0] ** 2) ** 2 + (1 - v[0][0]) ** 2)
    >>> p = nn.Parameter(np.array([-1.2, 1.0]))
    >>> optimizer = optim.NewtonCG([p])
    >>> losses = [float(optimizer.step(objective)) for _ in range(40)]
    >>> p.data.round(6)
    array([1., 1.])
    """

    hyperparameters: ClassVar[Mapping[str, Check]] = {
        "lr": above_zero,
        "curvature": _curvature,
        "radius": above_zero,
        "max_products": whole,
    }
    initial_state: ClassVar[Mapping[str, Any]] = {"radius": None, "norm": None, "forcing": None}

    def __init__(
        self, params: Any, lr: float = 1.0, *, curvature: str = "hessian", radius: float = 1.0, max_products: int = 100
    ) -> None:
        super().__init__(params, {"lr": lr, "curvature": curvature, "radius": radius, "max_products": max_products})

    @property
    def needs_outputs(self) -> bool:
        """Whether the curvature is that of Gauss and Newton."""
        return bool(self.param_groups[0]["curvature"] == "gauss_newton")

    def region(self, objective: Objective, point: Point, state: State) -> Region:
        """The ball around the point."""
        return _Ball(objective, point, state, self.param_groups[0])

    def checked_state(self, state: State) -> State:
        """A state whose numbers are above 0, or None."""
        for name in ("radius", "norm", "forcing"):
            if state[name] is not None:
                at_least_zero(name, state[name])
        return super().checked_state(state)


class _Ball(Region):
    """Steps that are not longer than a radius."""

    def __init__(self, objective: Objective, point: Point, state: State, group: dict[str, Any]) -> None:
        self._gradient = point.gradient.astype(np.float64)
        self._norm = float(np.linalg.norm(self._gradient))
        self._radius: float = group["radius"] if state["radius"] is None else state["radius"]
        self._forcing = forcing_term(self._norm, state["norm"], state["forcing"])
        self._most = group["max_products"]
        question = _PRODUCTS[group["curvature"]]
        dtype = point.gradient.dtype
        self._product = lambda v: objective.ask(question, point.values, v.astype(dtype), point.args)

    def direction(self) -> Direction:
        found = steihaug(self._product, self._gradient, self._radius, self._forcing, self._most)
        return Direction(found.vector, found.slope, found.curvature, found.reason in ("boundary", "curvature"))

    def accepted(self, direction: Direction, ratio: float) -> State:
        length = float(np.linalg.norm(direction.vector))
        return self._state(accepted_radius(self._radius, ratio, length, direction.is_cut))

    def rejected(self, direction: Direction | None, failures: int) -> None:  # noqa: ARG002 (of the base)
        length = self._radius if direction is None else float(np.linalg.norm(direction.vector))
        self._radius = rejected_radius(min(length, self._radius) if isfinite(length) else self._radius)

    def given_up(self) -> State:
        return self._state(self._radius)

    def _state(self, radius: float) -> State:
        return {"radius": radius, "norm": self._norm, "forcing": self._forcing}
