"""What is wrong is refused, with what to do; trees and vectors go into each other."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import einsumad as ea

ADAPTERS = (ea.optim.minimize_arguments, ea.optim.root_arguments, ea.optim.least_squares_arguments)


def square(x: Any) -> Any:
    return np.sum(x**2)


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize(
    ("start", "error", "message"),
    [
        (np.arange(3), ea.DifferentiationError, r"argument 0 has dtype int64.*np.asarray\(x, float\)"),
        ({"a": 1.0, "b": [True]}, ea.DifferentiationError, r"argument 0\['b'\]\[0\] has dtype bool"),
        (np.ones(2, complex), ea.DifferentiationError, "complex128"),
        ("text", ea.DifferentiationError, "<U4"),
        ({}, ea.ShapeError, "argument 0 has no entries"),
        (None, ea.ShapeError, "argument 0 has no entries"),
        (np.ones((0, 3)), ea.ShapeError, "argument 0 has no entries"),
        (ea.tensor(np.ones(2)), TypeError, "argument 0 is a tensor"),
    ],
)
def test_where_no_search_can_start(adapter: Any, start: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        adapter(square, start)


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_methods_functions_and_positions(adapter: Any) -> None:
    with pytest.raises(TypeError, match=r"method of .* has to be a name, got 3"):
        adapter(square, np.ones(2), method=3)
    with pytest.raises(ValueError, match="has no method 'simplex'"):
        adapter(square, np.ones(2), method="simplex")
    with pytest.raises(TypeError, match="has to be a function, got ndarray"):
        adapter(np.ones(2), square)
    with pytest.raises(TypeError, match="argnums names argument 1, but 1 arguments of f are given"):
        adapter(square, np.ones(2), argnums=1)
    with pytest.raises(TypeError, match="pass x0"):
        adapter(square)
    with pytest.raises(TypeError, match="argnums must be"):
        adapter(square, np.ones(2), argnums=None)


def test_near_names_and_any_case() -> None:
    for wrong, right in (("trust_exact", "'trust-exact'"), ("LBFGS", "'L-BFGS-B'"), ("neldermead", "'Nelder-Mead'")):
        with pytest.raises(ValueError, match=f"did you mean .*{right}"):
            ea.optim.minimize_arguments(square, np.ones(2), method=wrong)
    with pytest.raises(ValueError, match="'krylov'"):
        ea.optim.root_arguments(square, np.ones(2), method="krilov")
    assert ea.optim.minimize_arguments(square, np.ones(2), method="l-bfgs-b")["method"] == "L-BFGS-B"
    assert ea.optim.least_squares_arguments(square, np.ones(2), method="TRF")["method"] == "trf"


@pytest.mark.parametrize(
    ("method", "dense"), [("trust-exact", False), ("BFGS", True), ("BFGS", False), ("Powell", True), (None, True)]
)
def test_a_hessian_that_the_method_does_not_take(method: str | None, dense: bool) -> None:
    with pytest.raises(ValueError, match=f"dense={dense}: .* Newton-CG, .*take"):
        ea.optim.minimize_arguments(square, np.ones(2), method=method, dense=dense)


@pytest.mark.parametrize("method", ["BFGS", "Powell"])
def test_a_function_with_more_than_one_number(method: str) -> None:
    with pytest.raises(ea.EinsumadError, match="sum it"):
        minimize(**ea.optim.minimize_arguments(lambda x: x**2, np.ones(2), method=method))


def test_values_that_are_no_numbers() -> None:
    for value in (None, 1j, "text"):

        def f(_: Any, value: Any = value) -> Any:
            return value

        with pytest.raises(TypeError, match="the value of f has dtype"):
            ea.optim.minimize_arguments(f, np.ones(2), method="Powell")["fun"](np.ones(2))
        with pytest.raises(TypeError, match="what f returns has"):
            ea.optim.root_arguments(f, np.ones(2))["fun"](np.ones(2))


def test_the_mapping_and_its_text() -> None:
    problem = ea.optim.minimize_arguments(square, np.ones((2, 2)), method="dogleg")
    assert list(problem) == ["fun", "x0", "method", "jac", "hess"]
    assert len(problem) == 5
    assert repr(problem) == (
        "<arguments of scipy.optimize.minimize for 4 unknowns: fun, x0, method='dogleg', jac, hess>"
    )
    with pytest.raises(KeyError):
        problem["hessp"]


def test_vectors_and_trees() -> None:
    tree = {"b": (np.arange(2.0), [3.0]), "a": np.array([[4.0], [5.0]], np.float32), "none": None}
    vector, unflatten = ea.optim.flatten(tree)
    np.testing.assert_array_equal(vector, [4, 5, 0, 1, 3])
    back = unflatten(vector)
    assert back["none"] is None
    assert (back["a"].dtype, back["a"].shape, back["b"][1]) == (np.float32, (2, 1), [3.0])
    with pytest.raises(ea.ShapeError, match="4 entries, expected 5"):
        unflatten(vector[:4])
    with pytest.raises(TypeError, match="complex128"):
        unflatten(vector + 1j)


def test_trees_like_the_argument() -> None:
    problem = ea.optim.minimize_arguments(square, {"a": np.ones((2, 3)), "b": 1.0})
    low = problem.flatten({"a": np.arange(3), "b": -np.inf})
    np.testing.assert_array_equal(low, [0, 1, 2, 0, 1, 2, -np.inf])
    with pytest.raises(ea.ShapeError, match=r"leaf 0 has shape \(2,\), expected \(2, 3\)"):
        problem.flatten({"a": np.ones(2), "b": 1.0})
    with pytest.raises(TypeError, match="structure"):
        problem.flatten([np.ones((2, 3)), 1.0])


def test_scipy_is_not_loaded_before_it_is_called() -> None:
    program = (
        "import sys, numpy as np, einsumad as ea; loaded = 'einsumad.optim' in sys.modules; "
        "ea.optim.minimize_arguments(np.sum, np.ones(2))['fun'](np.ones(2)); print(loaded, 'scipy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
