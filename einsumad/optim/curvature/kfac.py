"""Steps by blocks of layers: Kronecker products that are never multiplied out.

Owns :class:`KFAC`. Imports the optimiser, blocks and updates. Invariant: the blocks give a direction only; how far it
is followed, and what is predicted of it, comes from products with the whole Gauss–Newton matrix.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from einsumad.errors import ShapeError
from einsumad.optim.curvature.blocks import layer_blocks, sample_curvature
from einsumad.optim.curvature.damped import Damped
from einsumad.optim.curvature.flat import joined, parted
from einsumad.optim.curvature.hyperparameters import above_zero, or_none, whole
from einsumad.optim.curvature.objective import Objective, gauss_newton_product
from einsumad.optim.curvature.optimizer import Direction, Point, Region, SecondOrderOptimizer, State
from einsumad.optim.curvature.solvers import System, averaged, factors_of, systems_of, text_of
from einsumad.optim.curvature.updates import best_combination
from einsumad.optim.first_order.groups import Check, at_least_zero, flag, share


class KFAC(SecondOrderOptimizer):
    """Steps by the Gauss–Newton matrix of each layer, as a Kronecker product ``G ⊗ A`` of two small matrices.

    A layer is a parameter whose Jacobian is ``B[n,k,o] a[n,i]``: the weight of a linear layer, applied once, wherever
    it is in a network. That is read off the structure of the Jacobian, so it is found in any function. With L, the
    second derivative of the loss in the outputs of a sample, ``G = Σ BᵀLB`` and ``A = mean a aᵀ``; a bias is a further
    input of ones. Other parameters have their own block as a matrix if they have at most `largest` entries, or else its
    diagonal; :attr:`blocks` says what each has. Outputs are one array, with the samples along its first axis; memory
    grows with the samples times the square of the outputs of each.

    The step is the multiple of this direction, and with `momentum` of the step before, that is best for the whole
    Gauss–Newton matrix. The damping λ follows from the ratio of the actual to the predicted decrease; a step that does
    not lower the loss on the batch is tried again with more.

    - `damping`: that of the first step (default: a thousandth of the largest eigenvalue of all blocks).
    - `decay`: the weight of earlier factors in the averages that are used, for small batches such as 0.95; with 0 they
      are those of the batch alone.
    - `largest`: the most entries of a parameter that is no layer, for its block to be a matrix.

    Source: Martens and Grosse, Optimizing neural networks with Kronecker-factored approximate curvature, 2015; the
    exact G: Botev, Ritter and Barber, Practical Gauss-Newton optimisation for deep learning, 2017.

    >>> import numpy as np, einsumad.nn as nn
    >>> from einsumad import optim
    >>> rng = np.random.default_rng(0)
    >>> W, V = (nn.Parameter(rng.normal(size=shape)) for shape in ((3, 2), (1, 3)))
    >>> x = rng.normal(size=(50, 2))
    >>> objective = optim.Objective(
    ...     lambda values, x, y: np.tanh(x @ values[0].T) @ values[1].T, lambda z, x, y: np.mean((z - y) ** 2)
    ... )
    >>> optimizer = optim.KFAC([W, V])
    >>> losses = [float(optimizer.step(objective, x, np.sin(x[:, :1]))) for _ in range(30)]
    >>> losses[-1] < 0.01 * losses[0]
    True
    >>> optimizer.blocks
    ('0: 3×3 ⊗ 2×2', '1: 1×1 ⊗ 3×3')
    """

    hyperparameters: ClassVar[Mapping[str, Check]] = {
        "lr": above_zero,
        "damping": or_none(at_least_zero),
        "momentum": flag,
        "decay": share,
        "largest": whole,
    }
    initial_state: ClassVar[Mapping[str, Any]] = {"damping": None, "before": None, "factors": None, "averaged": 0}

    def __init__(
        self,
        params: Any,
        lr: float = 1.0,
        *,
        damping: float | None = None,
        momentum: bool = True,
        decay: float = 0.0,
        largest: int = 512,
    ) -> None:
        given = {"lr": lr, "damping": damping, "momentum": momentum, "decay": decay, "largest": largest}
        super().__init__(params, given)
        self._shown: tuple[str, ...] = ()

    @property
    def blocks(self) -> tuple[str, ...]:
        """What each parameter has for a block; empty before the first step."""
        return self._shown

    def region(self, objective: Objective, point: Point, state: State) -> Region:
        """The blocks at the point, averaged with earlier ones, and what solves with them."""
        group = self.param_groups[0]
        curvature = objective.ask(sample_curvature, point.values, point.args)
        blocks = objective.ask(layer_blocks, point.values, curvature, group["largest"], point.args)
        self._shown = tuple([text_of(block, place) for place, block in enumerate(blocks)])
        factors = averaged([factors_of(b) for b in blocks], state["factors"], state["averaged"], group["decay"])
        state = {**state, "factors": factors, "averaged": state["averaged"] + 1}
        return _Blocks(objective, point, state, group, systems_of(blocks, factors))

    def checked_state(self, state: State) -> State:
        """A state whose damping is a number of at least 0 or None, and whose step before fits the parameters."""
        or_none(at_least_zero)("damping", state["damping"])
        size = sum([np.size(p.data) for p in self.param_groups[0]["params"]])
        if state["before"] is not None and np.shape(state["before"]) != (size,):
            raise ShapeError(f"the step before has shape {np.shape(state['before'])}, there are {size} parameters")
        return super().checked_state(state)


class _Blocks(Damped):
    """Directions by blocks, followed as far as is best for the whole matrix."""

    def __init__(
        self, objective: Objective, point: Point, state: State, group: Mapping[str, Any], systems: Sequence[System]
    ) -> None:
        dtype = point.gradient.dtype
        self._values, self._systems, self._share = point.values, systems, group["lr"]
        self._gradient = point.gradient.astype(np.float64)
        self._kept = {"factors": state["factors"], "averaged": state["averaged"]}
        if not group["decay"]:
            self._kept = {"factors": None, "averaged": 0}
        self._objective, self._point = objective, point
        self._before: list[np.ndarray] = []
        if group["momentum"] and state["before"] is not None:
            self._before = [np.asarray(state["before"], np.float64)]
        self._images = [self._product(vector) for vector in self._before]
        super().__init__(max([system.scale for system in systems]), dtype, state["damping"], group["damping"])

    def direction(self) -> Direction:
        right = parted(self._gradient, self._values)
        found: dict[int, np.ndarray] = {}
        for system in self._systems:
            found |= system.solve(right, self.damping)
        vectors = [-joined([found[place] for place in range(len(self._values))]), *self._before]
        images = [self._product(vectors[0]), *self._images]
        weights = best_combination(self._gradient, vectors, images, self.damping)
        step, image = (sum([w * v for w, v in zip(weights, parts, strict=True)]) for parts in (vectors, images))
        return Direction(step, float(self._gradient @ step), float(step @ image))

    def _product(self, vector: np.ndarray) -> np.ndarray:
        """The whole Gauss–Newton matrix times a vector."""
        point = self._point
        found = self._objective.ask(gauss_newton_product, point.values, vector.astype(point.gradient.dtype), point.args)
        return np.asarray(found, np.float64)

    def kept(self) -> State:
        return {**self._kept, "before": self._before[0] if self._before else None}

    def after(self, direction: Direction) -> State:
        return {**self._kept, "before": self._share * direction.vector}
