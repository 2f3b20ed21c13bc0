"""Unit tensors that are written out, with compression off: their zeros meet no factor that may be infinite."""

from __future__ import annotations

import numpy as np
import pytest

import einsumad as ea
from einsumad.functions import apply, call
from einsumad.graph import Node, multiply
from einsumad.planning import options_for, options_in_force
from tests.planning.products import variable

pytestmark = pytest.mark.whole_planner  # sets the options itself

MODES = ("forward", "reverse", "cross-country")
X = np.array([0.0, 0.7, 1.3])
x, A = variable("x", (3,), float), variable("A", (3, 3), float)


def entry(u):
    return u[1] ** 2 * u[2]


def places(u):
    return np.sum(np.sqrt(u + 1)[[1, 2, 1]])


def chosen(u):
    return np.sum(np.where(np.arange(3) > 0, u, 1.0) ** 2)


@pytest.fixture(autouse=True)
def _without_compression():
    with ea.planner_options(compression=False):
        yield


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("read", [entry, places, chosen])
def test_an_infinite_slope_that_nothing_reads_does_not_contribute(read, mode):
    """``x log x`` at 0, against the same with 1 in the place of 0."""

    def f(x):
        return read(x * np.log(x))

    for order in (1, 2, 3):
        expected = ea.derivative(f, order=order)(np.where(X == 0, 1.0, X))
        np.testing.assert_allclose(ea.derivative(f, order=order, mode=mode)(X), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("mode", MODES)
def test_a_hessian_by_hand(mode):
    """``Σ (x log x)²`` without the first entry."""
    slope = 1 + np.log(X[1:])
    expected = np.diag([0, *(2 * slope**2 + 2 * np.log(X[1:]))])
    np.testing.assert_allclose(ea.hessian(lambda x: chosen(x * np.log(x)), mode=mode)(X), expected, rtol=1e-12)


def curved(x):
    return np.sum(np.tanh(x) ** 2)


def of_curved(x):
    t = np.tanh(x)
    return (1 - t**2) * (2 - 6 * t**2)


def test_a_finite_hessian_that_a_program_multiplies_with_what_is_infinite():
    """The Hessian alone is written out; beside a logarithm its deltas rename, as one sees in a diagonal."""
    with np.errstate(all="ignore"):
        found = ea.compile(lambda x: ea.hessian(curved)(x) @ np.log(x))(X)
        np.testing.assert_allclose(found, of_curved(X) * np.log(X), rtol=1e-12)


def test_symbols():
    s = ea.variable("s", (3,))
    second = ea.diff(curved(s), s, s)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(ea.evaluate(second @ np.log(s), {s: X}), of_curved(X) * np.log(X), rtol=1e-12)


@pytest.mark.parametrize(
    ("f", "stored"),
    [
        (curved, True),
        (lambda x: np.sum(np.log(x) ** 2), False),
        (lambda x: np.sum(np.arctan(x)), True),  # its derivative is a quotient, whose divisor is at least 1
        (lambda x: np.sum(1 / (2 + np.sin(x))), False),  # here that is not known
    ],
)
def test_where_deltas_are_stored(f, stored):
    """Where everything stays finite; the plan is that with compression elsewhere."""
    without = str(ea.explain(ea.hessian(f), X).plan)
    with ea.planner_options(compression=True):
        assert (str(ea.explain(ea.hessian(f), X).plan) != without) is stored


NODES = {
    "a variable": (x, False),
    "a product": (multiply(x, apply("tanh", x)), False),
    "a logarithm inside": (multiply(x, apply("sin", apply("log", x))), True),
    "a comparison with it": (apply("greater", apply("log", x), x), True),
    "an inverse": (call("inverse", A), True),
}


@pytest.mark.parametrize("name", NODES)
def test_options_for_nodes(name):
    node, infinite = NODES[name]
    assert isinstance(node, Node)
    assert options_for([x, node]) == ea.planner_options(compression=infinite)
    with ea.planner_options(compression=True, sharing=False) as options:
        assert options_for([node]) == options == options_in_force()
