"""Sums with terms on diagonals: added in place, and in entrywise products computed in one pass."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import einsumad as ea
from einsumad.execution.reference import evaluate
from einsumad.graph import Labels, add, einsum, ones, unit
from einsumad.planning import make_plan
from einsumad.planning.kernels import Patched, Place
from tests.execution.test_compiled import run
from tests.planning.products import random_values, variable

MANY = settings(max_examples=max(150, settings().max_examples))
X = np.random.default_rng(6).normal(size=7)


def kernels(roots, leaves):
    return [type(step.kernel) for step in make_plan(roots, leaves).steps]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_hessian_of_logsumexp(dtype):
    def f(x):
        return np.log(np.sum(np.exp(x)))

    x = X.astype(dtype)
    p = np.exp(x) / np.exp(x).sum()
    found = ea.hessian(f)(x)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, np.diag(p) - np.outer(p, p), rtol=0, atol=1e-6 if dtype == np.float32 else 1e-15)


@pytest.mark.whole_planner
def test_hessian_of_logsumexp_is_one_pass_and_its_diagonal():
    plan = ea.explain(ea.hessian(lambda x: np.log(np.sum(np.exp(x)))), X).plan
    assert [type(step.kernel) for step in plan.steps].count(Patched) == 1
    assert sum(len(step.shape) == 2 and step.stored == (7, 7) for step in plan.steps) == 1


def test_the_diagonal_loses_no_digits():
    """``p (1 - p)`` where p is almost one: as ``p - p²`` half of the digits would be gone."""
    p = np.array([1 - 2.0**-30, 2.0**-31, 2.0**-31])

    def f(p):
        return p[:, None] * (np.eye(3) - p)

    found = ea.compile(f)(p)
    assert found[0, 0] == p[0] * (1 - p[0])
    np.testing.assert_array_equal(found, p[:, None] * (np.eye(3) - p))


def test_softmax_of_many_rows():
    def f(Z):
        return np.sum(np.log(np.sum(np.exp(Z), axis=1)))

    Z = np.random.default_rng(0).normal(size=(4, 5))
    P = np.exp(Z) / np.exp(Z).sum(axis=1, keepdims=True)
    expected = np.einsum("bd,bi,ij->bidj", np.eye(4), P, np.eye(5)) - np.einsum("bd,bi,bj->bidj", np.eye(4), P, P)
    np.testing.assert_allclose(ea.hessian(f)(Z), expected, rtol=0, atol=1e-15)


def with_a_diagonal(core, scale):
    """A matrix product and a term on its diagonal, values of the leaves, and what the sum is for them."""
    A, d, B = variable("A", (4, 4), float), variable("d", (4,), float), variable("B", (4, 4), float)
    inner = einsum([A, B], [(0, 2), (2, 1)], (0, 1))
    placed = (
        einsum([d, unit(4, 2, float)], [(0,), (0, 1)], (0, 1), scale)
        if core
        else einsum([unit(4, 2, float)], [(0, 1)], (0, 1), scale)
    )
    leaves = [A, d, B] if core else [A, B]
    values = {leaf: random_values(np.random.default_rng(1), leaf.shape, float) for leaf in leaves}
    expected = values[A] @ values[B] + scale * (np.diag(values[d]) if core else np.eye(4))
    return add([inner, placed]), values, expected


@pytest.mark.parametrize("scale", [1, -1, 2.5])
@pytest.mark.parametrize("core", [True, False])
def test_a_term_on_a_diagonal_is_added(core, scale):
    root, values, expected = with_a_diagonal(core, scale)
    (value,) = run([root], values)
    np.testing.assert_allclose(value, expected, rtol=1e-14)


@pytest.mark.whole_planner
@pytest.mark.parametrize("scale", [1, -1, 2.5])
@pytest.mark.parametrize("core", [True, False])
def test_a_term_on_a_diagonal_is_added_in_place(core, scale):
    root, values, _ = with_a_diagonal(core, scale)
    assert kernels([root], list(values)).count(Place) == 1


def test_inputs_are_not_written_to():
    A = variable("A", (3, 3), float)
    value = np.arange(9.0).reshape(3, 3)
    (found,) = run([add([A, unit(3, 2, float)])], {A: value})
    np.testing.assert_array_equal(found, np.arange(9.0).reshape(3, 3) + np.eye(3))


def test_what_is_spread_is_made_whole():
    d = variable("d", (3,), float)
    spread = einsum([d, ones((3,), float)], [(1,), (0,)], (0, 1))
    (found,) = run([add([spread, unit(3, 2, float)])], {d: np.array([1.0, 2.0, 3.0])})
    np.testing.assert_array_equal(found, np.tile([1.0, 2.0, 3.0], (3, 1)) + np.eye(3))


def test_a_term_with_other_users_stays_whole():
    A, d = variable("A", (3, 3), float), variable("d", (3,), float)
    placed = einsum([d, unit(3, 2, float)], [(0,), (0, 1)], (0, 1))
    values = {A: np.arange(9.0).reshape(3, 3), d: np.array([1.0, 2.0, 3.0])}
    first, second = run([add([A, placed]), placed], values)
    np.testing.assert_array_equal(first, values[A] + np.diag(values[d]))
    np.testing.assert_array_equal(second, np.diag(values[d]))


@st.composite
def sums(draw):
    """A product of vectors, matrices and a sum of dense and diagonal terms over three axes of one size and a fourth."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, m = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    sizes = {0: n, 1: n, 2: n, 3: m}
    dtype = draw(st.sampled_from([np.float64, np.float32]))
    values = {}

    def tensor(labels: Labels):
        shape = tuple([sizes[label] for label in labels])
        node = variable(f"x{len(values)}", shape, dtype)
        values[node] = random_values(rng, shape, dtype)
        return node

    axes = tuple(draw(st.permutations(range(4)))[: draw(st.integers(2, 4))])
    tied = [label for label in axes if label < 3]
    terms = []
    for _ in range(draw(st.integers(1, 3))):
        held = tuple(sorted(draw(st.sets(st.sampled_from(axes), min_size=1))))
        bare = tuple([axis for axis in axes if axis not in held])
        operands, inputs = [tensor(held)], [held]
        if bare:
            operands.append(ones([sizes[label] for label in bare], dtype))
            inputs.append(bare)
        terms.append(einsum(operands, inputs, axes, draw(st.sampled_from([1, -1, 2])), dtype))
    for _ in range(draw(st.integers(1, 2))):
        if len(tied) > 1:
            delta = tuple(draw(st.permutations(tied))[: draw(st.integers(2, len(tied)))])
            rest = tuple([axis for axis in axes if axis not in delta])
            held = tuple(sorted(draw(st.sets(st.sampled_from([delta[0], *rest])))))
            bare = tuple([axis for axis in rest if axis not in held])
            operands, inputs = [unit(n, len(delta), dtype)], [delta]
            if held:
                operands.append(tensor(held))
                inputs.append(held)
            if bare:
                operands.append(ones([sizes[label] for label in bare], dtype))
                inputs.append(bare)
            terms.append(einsum(operands, inputs, axes, draw(st.sampled_from([1, -1, 0.5])), dtype))
    total = add(terms, dtype)
    factors, places = [total], [axes]
    for _ in range(draw(st.integers(0, 2))):
        held = tuple(sorted(draw(st.sets(st.sampled_from(axes), min_size=1))))
        factors.append(tensor(held))
        places.append(held)
    output = tuple(draw(st.permutations(axes)))
    return einsum(factors, places, output, 1, dtype), values


@pytest.mark.fuzz
@MANY
@given(sums())
def test_random_sums_with_diagonals(case):
    root, values = case
    (found,), (expected,) = run([root], values), evaluate([root], values)
    tolerance = 1e-4 if root.dtype == np.float32 else 1e-12
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
