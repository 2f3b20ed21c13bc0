"""What is written along a map is multiplied before with all that makes it smaller."""

import numpy as np
import pytest

import einsumad as ea
from einsumad.graph import leaf
from einsumad.planning.map_costs import written_together
from einsumad.planning.primitives import Factor

RNG = np.random.default_rng(3)


@pytest.mark.parametrize("name", ["compiled", "as it is"])
def test_picked_entries_before_a_product(name):
    x, w, v, g = (RNG.integers(-3, 4, shape).astype(float) for shape in ((8, 12), (300, 12), (40, 300), (8, 40)))

    def loss(w, v):
        h = x @ w.T
        return np.sum(g * ((np.take_along_axis(h, np.argmax(h, axis=1)[:, None], axis=1) * h) @ v.T))

    gradient = ea.grad(loss, argnums=(0, 1))
    of_w, of_v = (ea.compile(gradient) if name == "compiled" else gradient)(w, v)
    h = x @ w.T
    at, rows = np.argmax(h, axis=1), np.arange(8)
    picked = h[rows, at][:, None]
    expected = (g @ v) * picked
    expected[rows, at] += np.sum(h * (g @ v), axis=1)
    np.testing.assert_array_equal(of_w, expected.T @ x)
    np.testing.assert_array_equal(of_v, g.T @ (picked * h))


@pytest.mark.whole_planner
def test_work_grows_with_the_product():
    x, w, v = (RNG.normal(size=shape) for shape in ((8, 12), (300, 12), (40, 300)))

    def loss(w, v):
        h = x @ w.T
        return np.sum(((np.take_along_axis(h, np.argmax(h, axis=1)[:, None], axis=1) * h) @ v.T) ** 2)

    def all_of_it(w, v):
        return loss(w, v), ea.grad(loss, argnums=(0, 1))(w, v), ea.jvp(ea.grad(loss), (w, v), (w, v))[1]

    compiled = ea.compile(all_of_it)
    compiled(w, v)
    (program,) = compiled._by_arrays.values()
    assert program.plan.plan.flops < 20 * 2 * (8 * 12 * 300 + 8 * 300 * 40)
    assert program.plan.plan.peak_bytes < 20 * 8 * (w.size + v.size)


def test_factors_are_added_as_long_as_less_is_written():
    sizes = {0: 5, 1: 7, 2: 9, 3: 11}

    def factor(*labels):
        return Factor(leaf([sizes[label] for label in labels], np.float64, "x"), labels)

    chain = [factor(0, 1), factor(1, 2), factor(2, 3), factor(3)]
    assert written_together(chain, {0}, set(), sizes) == [0, 1, 2, 3]
    assert written_together(chain, {0}, {2}, sizes) == [0]
    assert written_together(chain, {1}, {2}, sizes) == [0, 1]
    assert written_together(chain[1:], {0}, {1}, sizes) == []
    assert written_together([factor(0, 3), factor(3, 1)], {0}, {1}, sizes) == [0, 1]
    assert written_together([factor(0, 1), factor(1, 3)], {0}, {3}, sizes) == [0]
