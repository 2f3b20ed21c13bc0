"""A factor that was selected by a mask is not selected by it again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad.planning.kernels import Group

rng = np.random.default_rng(0)
W, V, X = rng.normal(size=(4, 5)), rng.normal(size=(5, 3)), rng.normal(size=(6, 4))
b = rng.normal(size=5)


def network(W: Any, b: Any, V: Any) -> Any:
    """Its cotangent behind the mask is read twice: by the bias, and by the product with the inputs."""
    return np.sum(np.tanh(np.maximum(X @ W + b, 0) @ V))


@pytest.mark.whole_planner
def test_one_selection_for_both_gradients() -> None:
    plan = ea.explain(ea.grad(network, argnums=(0, 1, 2)), W, b, V).plan
    assert sum([len(step.kernel.masks) for step in plan.steps if isinstance(step.kernel, Group)]) == 1


def test_gradients_are_those_by_hand() -> None:
    hidden = X @ W + b
    output = np.tanh(np.maximum(hidden, 0) @ V)
    back = (1 - output**2) @ V.T * (hidden > 0)
    expected = X.T @ back, back.sum(axis=0), np.maximum(hidden, 0).T @ (1 - output**2)
    for found, wanted in zip(ea.grad(network, argnums=(0, 1, 2))(W, b, V), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("order", [1, 2])
def test_what_is_not_selected_contributes_nothing_beside_it(order: int) -> None:
    """The product that holds the mask meets one that is infinite where the mask is false."""

    def f(x: Any) -> Any:
        inside = np.where(x > 0, np.sqrt(x), 0.0)
        return np.sum(inside * np.where(x > 0, 1 / x, 0.0)) + np.sum(inside) ** 2

    x = np.array([0.0, 4.0, 0.0, 1.0])
    found = ea.derivative(f, order=order)(x)
    rest = ea.derivative(lambda y: np.sum(np.sqrt(y) / y) + np.sum(np.sqrt(y)) ** 2, order=order)(x[[1, 3]])
    kept = np.ix_(*[[1, 3]] * order)
    np.testing.assert_allclose(found[kept], rest, rtol=1e-12)
    others = np.array(found)
    others[kept] = 0
    assert not np.any(others)
