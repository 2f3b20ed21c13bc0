"""The method of Gauss and Newton for small networks: the whole matrix, damped after Levenberg and Marquardt.

Owns :class:`GaussNewton`. Imports the optimiser, objectives and updates. Invariant: the smaller of two systems is
solved, that of the parameters or that of the outputs, and nothing over the limit of memory is computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from einsumad import frontend as ea
from einsumad.errors import LinearAlgebraError, MemoryLimitError
from einsumad.optim.curvature.damped import Damped
from einsumad.optim.curvature.flat import joined, parted, places_of
from einsumad.optim.curvature.hyperparameters import above_zero, or_none
from einsumad.optim.curvature.objective import Objective, Values, loss_of
from einsumad.optim.curvature.optimizer import Direction, Point, Region, SecondOrderOptimizer, State
from einsumad.optim.curvature.updates import damped_solution, dual_solution
from einsumad.optim.first_order.groups import Check, at_least_zero, flag
from einsumad.planning import checked_limit, physical_memory, readable_bytes

_ENTRY = np.dtype(np.float64).itemsize
_COPIES = 2
"""How many matrices there are at once: that of the plan, and that which is factorised."""


class GaussNewton(SecondOrderOptimizer):
    """Steps that solve ``(JᵀLJ + λ 1) p = -g``, with the Jacobian J of the outputs and the Hessian L of their loss.

    It is for networks of up to some thousand parameters. The damping λ follows from the ratio of the actual to the
    predicted decrease; a step that does not lower the loss on the batch is tried again with more. Where the batch has
    fewer outputs than there are parameters, the same step comes from a system of their number.

    - `damping`: that of the first step (default: a thousandth of the largest entry of the diagonal).
    - `compressed`: keep the matrix in its structure and solve by that, which saves memory and time where it is a
      Kronecker product, sparse, or cheap to eliminate in parts; of most networks it is dense.
    - `memory_limit`: bytes for the matrix (default: the machine's memory); more raises :class:`MemoryLimitError`.

    Source: Levenberg 1944, Marquardt 1963; Schraudolph, Fast curvature matrix-vector products for second-order gradient
    descent, 2002; Nocedal and Wright, Numerical Optimization, 2nd ed. 2006, section 10.3. An example is that of
    :class:`Objective`.
    """

    hyperparameters: ClassVar[Mapping[str, Check]] = {
        "lr": above_zero,
        "damping": or_none(at_least_zero),
        "compressed": flag,
        "memory_limit": lambda _, limit: checked_limit(limit),
    }
    initial_state: ClassVar[Mapping[str, Any]] = {"damping": None}

    def __init__(
        self,
        params: Any,
        lr: float = 1.0,
        *,
        damping: float | None = None,
        compressed: bool = False,
        memory_limit: int | None = None,
    ) -> None:
        super().__init__(params, {"lr": lr, "damping": damping, "compressed": compressed, "memory_limit": memory_limit})

    def region(self, objective: Objective, point: Point, state: State) -> Region:
        """The system of the parameters, in its structure or not, or that of the outputs."""
        group = self.param_groups[0]
        if group["compressed"]:
            return _Structured(objective, point, state, group)
        parameters, outputs = point.gradient.size, np.size(point.outputs)
        dual = isinstance(point.outputs, np.ndarray) and outputs < parameters
        _check_memory(outputs if dual else parameters, parameters, group["memory_limit"])
        return (_Dual if dual else _Primal)(objective, point, state, group)

    def checked_state(self, state: State) -> State:
        """A state whose damping is a number of at least 0, or None."""
        or_none(at_least_zero)("damping", state["damping"])
        return super().checked_state(state)


def gauss_newton_blocks(objective: Objective, values: Values, args: tuple[Any, ...]) -> list[list[Any]]:
    """The blocks of ``JᵀLJ`` on and below the diagonal, each a matrix."""
    values, loss = list(values), loss_of(objective)
    blocks = ea.gauss_newton(lambda v: objective.outputs(v, *args), loss=lambda z: loss(z, *args))(values)
    return [
        [np.reshape(blocks[i][j], (values[i].size, values[j].size)) for j in range(i + 1)] for i in range(len(values))
    ]


def gauss_newton_tensor(objective: Objective, values: Values, args: tuple[Any, ...]) -> Any:
    """``JᵀLJ`` in its structure."""
    loss = loss_of(objective)
    transform = ea.gauss_newton(lambda v: objective.outputs(v, *args), loss=lambda z: loss(z, *args), compressed=True)
    return transform(list(values))


def gram_and_curvature(objective: Objective, values: Values, args: tuple[Any, ...]) -> tuple[Any, Any, Any, Any]:
    """``J Jᵀ`` and L as matrices, the gradient of the loss in the outputs, and the diagonal of ``JᵀLJ``."""
    values, loss = list(values), loss_of(objective)

    def outputs(v: Values) -> Any:
        return objective.outputs(v, *args)

    at = outputs(values)
    parts = ea.jacobian(outputs)(values)
    axes = [list(range(at.ndim, part.ndim)) for part in parts]
    products = [np.tensordot(part, part, (over, over)) for part, over in zip(parts, axes, strict=True)]
    gram = sum(products[1:], products[0])
    curvature = ea.hessian(lambda z: loss(z, *args))(at)
    gradient = ea.grad(lambda z: loss(z, *args))(at)
    diagonal = ea.gauss_newton_diagonal(outputs, loss=lambda z: loss(z, *args))(values)
    square = (at.size, at.size)
    return np.reshape(gram, square), np.reshape(curvature, square), np.reshape(gradient, -1), joined(diagonal)


def pulled_back(objective: Objective, values: Values, vector: Any, args: tuple[Any, ...]) -> Any:
    """``Jᵀ w`` for outputs that are one array."""
    values = list(values)
    at, pullback = ea.vjp(lambda v: objective.outputs(v, *args), values)
    return joined(pullback(np.reshape(vector, at.shape)))


class _Matrix(Damped):
    """A region that keeps its damping and nothing else."""

    def kept(self) -> State:
        return {}


class _Primal(_Matrix):
    """The matrix of the parameters, made once and factorised for each damping."""

    def __init__(self, objective: Objective, point: Point, state: State, group: dict[str, Any]) -> None:
        blocks = objective.ask(gauss_newton_blocks, point.values, point.args)
        places = places_of([array.shape for array in point.values])
        self._matrix = np.zeros((point.gradient.size, point.gradient.size))
        for rows, parts in zip(places, blocks, strict=True):
            for columns, part in zip(places, parts, strict=False):
                self._matrix[rows, columns] = part
        self._gradient = point.gradient.astype(np.float64)
        scale = float(np.max(np.diagonal(self._matrix)))
        super().__init__(scale, point.gradient.dtype, state["damping"], group["damping"])

    def direction(self) -> Direction | None:
        try:
            return solved(-damped_solution(self._matrix, self._gradient, self.damping), self._gradient, self.damping)
        except np.linalg.LinAlgError:
            return None


class _Structured(_Matrix):
    """The matrix of the parameters in its structure."""

    def __init__(self, objective: Objective, point: Point, state: State, group: dict[str, Any]) -> None:
        self._matrix = objective.ask(gauss_newton_tensor, point.values, point.args)
        self._point, self._limit = point, group["memory_limit"]
        scale = float(np.max(joined(self._matrix.diagonal())))
        super().__init__(scale, point.gradient.dtype, state["damping"], group["damping"])

    def direction(self) -> Direction | None:
        right = parted(self._point.gradient, self._point.values)
        try:
            found = self._matrix.solve(right, damping=self.damping, definite=True, memory_limit=self._limit)
        except LinearAlgebraError:
            return None
        return solved(-joined(found).astype(np.float64), self._point.gradient.astype(np.float64), self.damping)


class _Dual(_Matrix):
    """The system of the outputs, from which the step is pulled back."""

    def __init__(self, objective: Objective, point: Point, state: State, group: dict[str, Any]) -> None:
        gram, curvature, residual, diagonal = objective.ask(gram_and_curvature, point.values, point.args)
        self._gram, self._curvature = np.asarray(gram, np.float64), np.asarray(curvature, np.float64)
        self._residual, self._dtype = np.asarray(residual, np.float64), point.gradient.dtype
        self._gradient = point.gradient.astype(np.float64)
        self._objective, self._point = objective, point
        super().__init__(float(np.max(diagonal)), self._dtype, state["damping"], group["damping"])

    def direction(self) -> Direction | None:
        try:
            found = dual_solution(self._gram, self._curvature, self._residual, self.damping)
        except np.linalg.LinAlgError:
            return None
        point = self._point
        pulled = self._objective.ask(pulled_back, point.values, found.astype(self._dtype), point.args)
        return solved(-np.asarray(pulled, np.float64), self._gradient, self.damping)


def solved(vector: np.ndarray, gradient: np.ndarray, damping: float) -> Direction:
    """The solution of a damped system as a direction: ``pᵀBp = -gᵀp - λ pᵀp``."""
    slope = float(gradient @ vector)
    return Direction(vector, slope, -slope - damping * float(vector @ vector))


def _check_memory(size: int, parameters: int, limit: int | None) -> None:
    most, needed = physical_memory() if limit is None else limit, _COPIES * _ENTRY * size * size
    if needed > most:
        of = "parameters" if size == parameters else "outputs of the batch"
        raise MemoryLimitError(
            f"GaussNewton: a matrix for the {size} {of} takes {readable_bytes(needed)}, over the limit of "
            f"{readable_bytes(most)}: use KFAC, whose matrices are those of layers, or NewtonCG with "
            "curvature='gauss_newton', which has none"
        )
