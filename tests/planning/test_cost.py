"""What steps cost: counted by hand, and added up to seconds for a machine."""

from __future__ import annotations

import numpy as np
import pytest

import einsumad as ea
from einsumad.functions import apply
from einsumad.graph import einsum, multiply, ones, unit
from einsumad.planning import Cost, Machine, binarise, total_cost
from einsumad.planning.cost import kernel_cost, step_cost, summed
from einsumad.planning.kernels import Sum
from tests.planning.products import variable

A, B = variable("a", (20, 30), float), variable("b", (30, 40), np.float64)
PRODUCT = einsum([A, B], [(0, 1), (1, 2)], (0, 2))


def test_a_matrix_product():
    flops = 2 * 20 * 30 * 40
    assert step_cost(PRODUCT) == Cost(flops, 8 * (600 + 1200 + 800), 1, products=flops)


def test_nothing_is_stored_of_leaves_and_little_of_deltas():
    assert total_cost([A]) == Cost()
    (diagonal,) = binarise([einsum([A, unit(20, 2, float)], [(0, 1), (0, 2)], (0, 2, 1))])
    assert step_cost(diagonal).flops == 0
    assert total_cost([PRODUCT, apply("exp", PRODUCT)]).calls == 2


def test_a_stack_of_products_starts_each_of_them():
    x, y = variable("x", (500, 3, 4), float), variable("y", (500, 4, 2), float)
    cost = step_cost(einsum([x, y], [(0, 1, 3), (0, 3, 2)], (0, 1, 2)))
    assert (cost.calls, cost.loops) == (1, 1000)
    assert step_cost(einsum([x, variable("z", (4, 2), float)], [(0, 1, 3), (3, 2)], (0, 1, 2))).loops == 0


def test_rows_that_a_vector_is_multiplied_with():
    x, v = variable("x", (50, 6, 7), float), variable("v", (7,), float)
    cost = step_cost(einsum([x, v], [(0, 1, 2), (2,)], (0, 1, 2)))
    assert (cost.flops, cost.calls, cost.loops) == (50 * 6 * 7, 1, 50 * 6)
    assert step_cost(multiply(x, x)).loops == 0


@pytest.mark.parametrize(
    ("labels", "rows"), [((0,), 50), ((0, 1), 300), ((1, 2), 50), ((2,), 300), ((1,), 300), ((0, 2, 1), 300), ((), 0)]
)
def test_a_row_goes_over_axes_that_each_operand_has_or_lacks(labels, rows):
    sizes = (50, 6, 7)
    x, y = variable("x", sizes, float), variable("y", [sizes[label] for label in labels], float)
    assert step_cost(einsum([x, y], [(0, 1, 2), labels], (0, 1, 2))).loops == rows


@pytest.mark.parametrize(("side", "far"), [(362, 0), (363, 3 * 8 * 363**2)])
def test_large_tensors_are_far(side, far):
    x, y = (variable(name, (side, side), float) for name in "xy")
    cost = step_cost(multiply(x, y))
    assert (cost.bytes, cost.far) == (3 * 8 * side**2, far)


@pytest.mark.parametrize(("coefficients", "calls"), [((1, 1), 1), ((1, -1), 1), ((-1, -1), 2), ((2, -1), 2), ((1,), 1)])
def test_a_sum_that_is_negative_has_its_sign_turned(coefficients, calls):
    shapes, kernel = [(4, 4)] * len(coefficients), Sum(coefficients)
    assert kernel_cost(kernel, tuple(shapes), (128,) * len(coefficients), (4, 4), np.dtype(float)).calls == calls


def test_views_move_nothing():
    big = variable("x", (1000, 1000), float)
    assert step_cost(einsum([big], [(0, 1)], (1, 0))) == Cost(calls=1)


def test_seconds_are_a_sum():
    machine = Machine(
        products_per_second=1,
        flops_per_second=10,
        near_bytes_per_second=100,
        far_bytes_per_second=50,
        seconds_per_call=1000,
        seconds_per_loop=10000,
    )
    cost = Cost(flops=7, bytes=900, calls=3, products=5, far=100, loops=2)
    assert cost.seconds(machine) == pytest.approx(5 + 2 / 10 + 800 / 100 + 100 / 50 + 3000 + 20000)
    assert summed([cost, cost]) == cost + cost == Cost(14, 1800, 6, 10, 200, 4)
    assert summed([]) == Cost()


@pytest.mark.whole_planner
def test_layers_of_a_gradient_are_matrix_products():
    """A chain of eight factors: no order of it has a tensor of three indices."""
    rng = np.random.default_rng(2)
    n = 20
    x, weights = rng.normal(size=(n, n)), rng.normal(size=(4, n, n))

    def loss(first):
        a = x
        for w in (first, *weights[1:]):
            a = np.tanh(a @ w)
        return np.sum(np.log(np.sum(np.exp(a), axis=1)))

    plan = ea.explain(ea.grad(loss), weights[0]).plan
    assert max([len(step.shape) for step in plan.steps]) == 2
    assert plan.cost.products == 8 * 2 * n**3


def test_ones_are_numbers():
    assert step_cost(ones((1000, 1000), float)) == Cost()


def test_repeated_work_counts_all_that_it_is_made_of():
    one = Cost(7, 11, 2, 5, 3, 4)
    assert one.repeated(3) == one + one + one
    assert one.repeated(0) == Cost()
    assert one.repeated(3).seconds() == pytest.approx(3 * one.seconds())
