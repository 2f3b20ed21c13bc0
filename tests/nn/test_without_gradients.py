"""Parameters where no gradients are wanted: they are arrays, also within functions that are traced."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad import nn

BY_OPERATORS = {
    "p * 2.0": lambda p: p * 2.0,
    "2.0 - p": lambda p: 2.0 - p,
    "p @ p": lambda p: p @ p,
    "-p": lambda p: -p,
    "abs(p)": abs,
    "p**2": lambda p: p**2,
    "p > 1.5": lambda p: p > 1.5,
}


@pytest.mark.parametrize("name", BY_OPERATORS)
def test_operators_without_gradients_give_arrays_within_traced_functions_too(name: str) -> None:
    p = nn.Parameter(np.array([1.0, 2.0]))
    expected = BY_OPERATORS[name](p.data)

    def f(x: Any) -> Any:
        y = x * 3.0
        with nn.no_grad():
            found = BY_OPERATORS[name](p)
        assert type(found) is type(expected)
        return np.sum(y * found)

    gradient = ea.grad(f)
    for _ in range(4):
        np.testing.assert_array_equal(gradient(np.array([0.3, 0.4])), 3 * expected * np.ones(2))
    with nn.no_grad():
        assert type(ea.grad(lambda x: np.sum(BY_OPERATORS[name](p) * x))(np.array([0.3, 0.4]))) is np.ndarray
