"""Strategies that may lose digits, with others in reserve.

Owns this choice by numbers. Imports the abstract strategy. Invariant: a factorisation that is returned solves with a
backward error that one step of refinement makes that of rounding.

An update of a matrix that is singular, or nearly so, can be a regular matrix: Woodbury's formula fails then, and the
determinant lemma with it.

Source: E. L. Yip, A note on the stability of solving a rank-p modification of a linear system by the
Sherman-Morrison-Woodbury formula, SIAM J. Sci. Stat. Comput. 7 (1986).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from einsumad.compressed.factorisations import Factorisation
from einsumad.compressed.solving.strategy import Arrays, Strategy, product_of
from einsumad.compressed.values import Structured
from einsumad.errors import LinearAlgebraError

Product: TypeAlias = Callable[[np.ndarray], np.ndarray]


class GuardedStrategy(Strategy):
    """The first of some strategies that works for the numbers at hand; the last need not be rough."""

    rough = True

    def __init__(self, strategies: Sequence[Strategy]) -> None:
        self.strategies = tuple(strategies)
        super().__init__(strategies[0].form, strategies[0].effort)

    def factorise(self, arrays: Arrays) -> Factorisation:
        """The first factorisation that keeps half of the digits."""
        times = product_of(Structured(self.form, tuple(arrays)))
        failure = LinearAlgebraError("no strategy")
        for strategy in self.strategies:
            try:
                found = strategy.factorise(arrays)
            except LinearAlgebraError as error:
                failure = error
                continue
            if not strategy.rough:
                return found
            lost = backward_error(found.solve, times, found.size, found.dtype)
            if lost <= np.sqrt(np.finfo(found.dtype).eps):
                return found
            failure = LinearAlgebraError(
                f"the method {found.method!r} loses too many digits: its backward error is {lost:.3g}; pass damping= "
                'to add a multiple of the identity, or solve with method="cg"'
            )
        raise failure


def backward_error(solve: Product, times: Product, size: int, dtype: np.dtype) -> float:
    """``‖b - M x‖ / (‖M‖ ‖x‖ + ‖b‖)`` for one right-hand side, with the norm of M from one product."""
    if not size:
        return 0.0
    right = np.random.default_rng(0).standard_normal((size, 1)).astype(dtype)
    with np.errstate(all="ignore"):
        solution = solve(right)
        sizes = [float(np.linalg.norm(v)) for v in (right - times(solution), times(right), solution, right)]
        residual, image, length, given = sizes
        error = residual / (image / given * length + given)
    return error if np.isfinite(error) else np.inf
