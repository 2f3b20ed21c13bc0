"""The three problems of the tensor-calculus paper on fixed small data: what golden files and hash seeds are run on.

Run as a program it prints plan, source and the bits of the result of each, for comparison between processes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import einsumad as ea


class Problem(NamedTuple):
    """A transform and the arguments it is called with."""

    transform: Callable[..., Any]
    arguments: tuple[Any, ...]

    def plan(self) -> str:
        """What would be computed, with the candidates and every step."""
        return str(ea.explain(self.transform, *self.arguments))

    def source(self) -> str:
        """The Python text of the compiled plan."""
        return ea.compile(self.transform).program(*self.arguments).plan.source

    def bits(self) -> str:
        """A digest of the result to the last bit."""
        flat = [np.ascontiguousarray(part) for part in flattened(self.transform(*self.arguments))]
        return hashlib.sha256(b"".join([part.tobytes() for part in flat])).hexdigest()


def flattened(result: Any) -> list[Any]:
    """The arrays of a nested tuple."""
    return [part for inner in result for part in flattened(inner)] if isinstance(result, tuple) else [result]


def logistic() -> Problem:
    """``Σ log(exp(−y ⊙ (X w)) + 1)``, written naively."""
    rng = np.random.default_rng(0)
    X, y, w = rng.normal(size=(20, 10)), np.sign(rng.normal(size=20)), rng.normal(size=10)

    def loss(w):
        return np.sum(np.log(np.exp(-y * (X @ w)) + 1))

    return Problem(ea.value_grad_and_hessian(loss), (w,))


def factorisation() -> Problem:
    """``‖T − U Vᵀ‖²_Ω`` with respect to U and V."""
    rng = np.random.default_rng(1)
    U, V, T = rng.normal(size=(12, 5)), rng.normal(size=(10, 5)), rng.normal(size=(12, 10))
    O = (rng.random((12, 10)) < 0.5).astype(float)  # noqa: E741 (its name in the paper is Ω)

    def loss(U, V):
        return np.sum((O * (T - U @ V.T)) ** 2)

    return Problem(ea.hessian(loss, (0, 1)), (U, V))


def network() -> Problem:
    """Three ReLU layers with softmax cross-entropy, with respect to the first."""
    rng = np.random.default_rng(2)
    x, target = rng.normal(size=(6, 4)), np.eye(4)[rng.integers(0, 4, 6)]
    W1, W2, W3 = (rng.normal(size=(4, 4)) / 2 for _ in range(3))

    def loss(W1):
        logits = np.maximum(np.maximum(x @ W1, 0) @ W2, 0) @ W3
        return np.sum(np.log(np.sum(np.exp(logits), axis=1))) - np.sum(target * logits)

    return Problem(ea.hessian(loss), (W1,))


PROBLEMS = {"logistic": logistic, "factorisation": factorisation, "network": network}

if __name__ == "__main__":
    for name, make in PROBLEMS.items():
        problem = make()
        print(name, problem.plan(), problem.source(), problem.bits(), sep="\n")
