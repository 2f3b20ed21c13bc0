"""Products with sums of terms that are written along an index: nothing larger than the result is stored."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest

import einsumad as ea
from einsumad.execution import compile_plan
from einsumad.execution.reference import evaluate
from einsumad.functions import apply
from einsumad.graph import add, affine, einsum, leaf, leaves, selection, unit
from einsumad.planning import make_plan
from einsumad.planning.distribution import distribute

RNG = np.random.default_rng(11)
N = 12
FIRST, SECOND = np.triu_indices(N, 1)
X = RNG.normal(size=(N, 3)) + 2 * np.arange(N)[:, None]


def energy(x, first=FIRST, second=SECOND):
    apart = x[first] - x[second]
    return np.sum(1 / np.sum(apart * apart, axis=1) ** 2)


def by_pairs(x, first=FIRST, second=SECOND):
    """The Hessian of ``Σ r⁻⁴``, a pair after the other: ``24 r⁻⁸ d dᵀ − 4 r⁻⁶ I`` for both atoms, minus it between."""
    result = np.zeros((len(x), 3, len(x), 3))
    for a, b in zip(first, second, strict=True):
        d = x[a] - x[b]
        block = 24 * np.outer(d, d) / (d @ d) ** 4 - 4 * np.eye(3) / (d @ d) ** 3
        for i, j, sign in ((a, a, 1), (b, b, 1), (a, b, -1), (b, a, -1)):
            result[i, :, j] += sign * block
    return result


def largest(g, *arguments):
    plan = ea.explain(g, *arguments).plan
    return max(prod(step.shape) for step in plan.steps)


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse", "cross-country"])
def test_the_hessian_over_pairs(mode):
    found = ea.hessian(energy, mode=mode)(X)
    np.testing.assert_allclose(found, by_pairs(X), rtol=1e-10, atol=1e-14)


@pytest.mark.whole_planner
def test_nothing_is_larger_than_the_hessian():
    assert largest(ea.hessian(energy), X) <= X.size**2
    assert len(FIRST) * 3 * N * 3 > X.size**2  # what the sum over the terms of all pairs would take


def test_pairs_that_come_again_and_in_both_orders():
    first, second = RNG.integers(0, N, 80), RNG.integers(0, N, 80)
    kept = first != second
    first, second = first[kept], second[kept]
    found = ea.hessian(lambda x: energy(x, first, second))(X)
    np.testing.assert_allclose(found, by_pairs(X, first, second), rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("mode", ["auto", "reverse", "forward"])
def test_third_derivatives(mode):
    """Differences of the Hessian pair by pair."""
    first, second = FIRST[::3], SECOND[::3]
    found = ea.derivative(lambda x: energy(x, first, second), order=3, mode=mode)(X)
    step = 1e-5
    for a, c in ((0, 1), (3, 0), (N - 1, 2)):
        moved = np.zeros_like(X)
        moved[a, c] = step
        expected = (by_pairs(X + moved, first, second) - by_pairs(X - moved, first, second)) / (2 * step)
        np.testing.assert_allclose(found[..., a, c], expected, rtol=1e-6, atol=1e-8)


def test_differences_of_neighbours():
    """Affine maps: ``Σ (x[i+1] − x[i])⁴`` has a Hessian of three diagonals."""
    x = RNG.normal(size=30)
    found = ea.hessian(lambda x: np.sum((x[1:] - x[:-1]) ** 4))(x)
    bend = 12 * np.diff(x) ** 2
    expected = np.diag(np.append(bend, 0) + np.append(0, bend)) - np.diag(bend, 1) - np.diag(bend, -1)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.whole_planner
def test_a_pair_without_a_derivative_leaves_the_others_alone():
    """Two atoms at one place: their blocks have no value, all others do."""
    x = X.copy()
    x[5] = x[4]
    found = ea.hessian(energy)(x)
    pairs = [(a, b) for a, b in zip(FIRST, SECOND, strict=True) if (a, b) != (4, 5)]
    expected = by_pairs(x, *np.array(pairs).T)
    touched = np.zeros((N, N), bool)
    touched[np.ix_([4, 5], [4, 5])] = True
    rest = ~touched
    np.testing.assert_allclose(
        found.transpose(0, 2, 1, 3)[rest], expected.transpose(0, 2, 1, 3)[rest], rtol=1e-10, atol=1e-14
    )
    assert not np.isfinite(found.transpose(0, 2, 1, 3)[touched]).any()


@pytest.mark.whole_planner
def test_an_infinite_factor_stays_where_it_is_selected():
    """``Σ_m w[m] (x[s m] − x[t m])²`` with an infinite weight for one pair, and zero elsewhere for its atoms."""
    weights = np.ones(len(FIRST))
    weights[0] = np.inf
    found = ea.hessian(lambda x: np.sum(weights * (x[FIRST] - x[SECOND]) ** 2))(X[:, 0])
    expected = np.full((N, N), -2.0)
    np.fill_diagonal(expected, 2.0 * (N - 1))
    expected[:2, :2] = [[np.inf, -np.inf], [-np.inf, np.inf]]
    np.testing.assert_array_equal(found, expected)


def test_products_with_a_vector_and_single_precision():
    v = RNG.normal(size=X.shape)
    np.testing.assert_allclose(ea.hvp(energy)(X, v), np.tensordot(by_pairs(X), v, 2), rtol=1e-9)
    single = ea.hessian(energy)(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, by_pairs(X), rtol=1e-2, atol=1e-4)


def graphs():
    """Products over sums that are written along maps: contracted, squared, with a mask, with a delta, small."""
    a, b = leaf((20, 3), float, ("variable", "a")), leaf((20, 3), float, ("variable", "b"))
    s, t = (selection(leaf((20,), int, ("variable", name)), 9, float) for name in "st")
    condition = leaf((20,), bool, ("variable", "c"))
    delta = unit(3, 2, float)
    total = add([einsum([a, s], [(0, 1), (0, 2)], (0, 1, 2)), einsum([b, t], [(0, 1), (0, 2)], (0, 1, 2), -2)])
    deep = add(
        [
            einsum([total, delta], [(0, 1, 2), (1, 3)], range(4)),
            einsum([b, s, delta], [(0, 1), (0, 2), (1, 3)], range(4)),
        ]
    )
    shifted = add([einsum([a, affine(21, (20,), (1,), k, float)], [(0, 1), (2, 0)], (0, 1, 2)) for k in (0, 1)])
    return {
        "contracted": einsum([total, s], [(2, 1, 3), (2, 0)], (0, 1, 3), 3),
        "squared": einsum([total, total], [(0, 1, 2), (0, 3, 4)], (1, 2, 3, 4)),
        "masked": einsum([total, t, condition], [(2, 1, 3), (2, 0), (2,)], (0, 1, 3)),
        "with a delta": einsum([deep, t], [(0, 1, 2, 3), (0, 4)], (1, 2, 3, 4)),
        "shifted": einsum([shifted, a], [(0, 1, 2), (0, 3)], (1, 2, 3)),
        "used elsewhere": add([total, apply("exp", total)]),
    }


@pytest.mark.parametrize("name", graphs())
def test_the_plan_has_the_value_of_the_graph(name):
    root = graphs()[name]
    arrays = {
        "a": RNG.normal(size=(20, 3)),
        "b": RNG.normal(size=(20, 3)),
        "s": RNG.integers(0, 9, 20),
        "t": RNG.integers(0, 9, 20),
        "c": RNG.normal(size=20) > 0,
    }
    inputs = leaves([root])
    values = {node: arrays[node.key[1]] for node in inputs}
    (found,) = compile_plan(make_plan([root], inputs))(*[values[node] for node in inputs])
    np.testing.assert_allclose(found, evaluate([root], values)[0], rtol=1e-12, atol=1e-13)


def test_a_sum_that_is_cheap_to_store_is_left_alone():
    """Long rows meet the sum in a matrix product: terms would each meet them at all places."""
    a, wide = leaf((20, 3), float, ("variable", "a")), leaf((20, 500), float, ("variable", "w"))
    s = selection(leaf((20,), int, ("variable", "s")), 2, float)
    total = add([einsum([a, s], [(0, 1), (0, 2)], (0, 1, 2)), einsum([a, a, s], [(0, 1)] * 2 + [(0, 2)], (0, 1, 2))])
    root = einsum([total, wide], [(0, 1, 2), (0, 3)], (1, 2, 3))
    assert distribute([root]) == (root,)
