"""Regions of loops, run by Python: their text against the reference interpreter and the plan in calls of NumPy.

Python does not look at types, by which Numba decides: so those of operands are checked, and a product of vectors is a
number and nothing else.
"""

from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import einsumad as ea
from einsumad.execution import compile_plan, compiled
from einsumad.execution.loops import regions
from einsumad.execution.reference import evaluate
from einsumad.functions import apply, call
from einsumad.graph import add, einsum, leaf, leaves, multiply
from einsumad.planning import make_plan
from tests.execution.graphs import graphs
from tests.execution.small_programs import check_small_program, numbers_and_single_axes
from tests.execution.strict_loops import strict_loop_compiler
from tests.planning.products import products

MANY = settings(max_examples=max(150, settings().max_examples))
RNG = np.random.default_rng(3)


@pytest.fixture(scope="module", autouse=True)
def by_python():
    """Regions as Python runs them, from the first step on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "loop_compiler", strict_loop_compiler)
        patch.setattr(import_module("einsumad.frontend.compile"), "check_numba", lambda: None)
        patch.setattr(regions, "_LEAST_STEPS", 1)
        yield


def variable(name, *shape, dtype=np.float64):
    return leaf(shape, np.dtype(dtype), ("variable", name))


def run(roots, values, loops=True):
    inputs = leaves(roots)
    plan = compile_plan(make_plan(roots, inputs), loops=loops)
    return plan, plan(*[np.asarray(values[node]) for node in inputs])


def check(roots, values, rtol=None):
    plan, found = run(roots, values)
    _, expected = run(roots, values, loops=False)
    for root, one, other in zip(roots, found, expected, strict=True):
        assert (np.shape(one), one.dtype) == (root.shape, root.dtype)
        np.testing.assert_array_equal(np.isnan(one), np.isnan(other))
        tolerance = rtol or (1e-9 if root.dtype == np.float64 else 5e-3)
        if np.isfinite(other).all():
            size = np.abs(other).max(initial=1)
            if root.dtype == np.float64 or size < 1e4:
                np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance * size)
    arrays = [one for one in found if isinstance(one, np.ndarray)]
    assert all(one.flags.writeable for one in arrays)
    assert not any(np.may_share_memory(a, b) for k, a in enumerate(arrays) for b in arrays[:k])
    return plan


@pytest.mark.fuzz
@MANY
@given(graphs())
def test_random_graphs(graph):
    check(graph.roots, graph.values)


@pytest.mark.fuzz
@MANY
@given(products(dtypes=(np.float64,), coefficients=(1, -1, 3)))
def test_random_products(case):
    _, (found,) = run([case.node], case.values)
    (expected,) = evaluate([case.node], case.values)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


A, B, V = variable("a", 4, 5), variable("b", 5, 6), variable("v", 5)
C = variable("c", 3, 4, 5)
VALUES = {node: RNG.normal(size=node.shape) for node in (A, B, C, V)}


@pytest.mark.parametrize("work", [0, 10**6])
@pytest.mark.parametrize(
    ("factors", "labels", "result"),
    [
        ((A, B), ((0, 2), (2, 1)), (0, 1)),
        ((A, B), ((1, 2), (2, 0)), (0, 1)),
        ((A, V), ((0, 1), (1,)), (0,)),
        ((V, V), ((0,), (0,)), ()),
        ((C, A), ((0, 2, 3), (1, 3)), (0, 1, 2)),
        ((C, A), ((0, 2, 3), (2, 3)), (0,)),
        ((C, B), ((0, 1, 3), (3, 2)), (2, 1, 0)),
        ((C, C), ((0, 2, 3), (1, 2, 3)), (0, 1)),
        ((C, C), ((2, 0, 3), (2, 1, 3)), (1, 0)),
        ((C, A), ((0, 1, 2), (1, 2)), (0, 1)),
        ((A, A), ((0, 1), (0, 1)), ()),
    ],
)
def test_contractions(factors, labels, result, work, monkeypatch):
    """As matrix products of BLAS, and as loops, with what follows on them."""
    monkeypatch.setattr("einsumad.execution.loops.products._SMALL", work)
    product = einsum(factors, labels, result)
    roots = [
        product,
        apply("tanh", product),
        einsum([product], [tuple(range(len(result)))], tuple(range(len(result)))[::-1]),
    ]
    plan = check(roots, VALUES, rtol=1e-13)
    assert "@loop" in plan.source
    np.testing.assert_allclose(run(roots, VALUES)[1][0], evaluate(roots, VALUES)[0], rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["log_softmax", "logsumexp", "max_reduce", "min_reduce"])
def test_rows(name, dtype):
    special = [0.0, 1.0, -2.0, np.inf, -np.inf, np.nan]
    x = variable("x", 40, 3, dtype=dtype)
    values = {x: np.array([[special[k % 6], special[k // 6 % 6], special[k // 3 % 6]] for k in range(40)], dtype)}
    root = call(name, x)
    plan, (found,) = run([root, apply("exp", root)], values)[0], run([root], values)[1]
    assert "@loop" in plan.source
    np.testing.assert_allclose(found, evaluate([root], values)[0], rtol=1e-6 if dtype == np.float32 else 1e-15)


def test_what_is_read_behind_a_region_is_returned_views_too():
    x = variable("x", 3, 4)
    y = apply("exp", x)
    turned = einsum([y], [(0, 1)], (1, 0))
    odd = apply("erf", turned)  # SciPy has this
    values = {x: RNG.normal(size=(3, 4))}
    plan = check([odd, y, apply("square", turned), add([turned, turned])], values)
    assert plan.source.count("@loop") >= 1
    assert "special.erf" in plan.source


@pytest.mark.parametrize("shape", [(0,), (0, 3), (1, 1), (1, 0, 2)])
def test_empty_and_single_axes(shape):
    x = variable("x", *shape)
    labels = tuple(range(len(shape)))
    y = apply("exp", apply("square", x))
    roots = [
        y,
        einsum([y, x], [labels, labels], ()),
        einsum([y], [labels], labels[:1]),
        einsum([y, x], [labels] * 2, labels[1:]),
    ]
    check(roots, {x: np.ones(shape)})


def test_operands_in_any_order_of_memory_are_read_and_kept():
    x = variable("x", 6, 7)
    roots = [apply("square", add([apply("exp", x), apply("tanh", x)]))]
    whole = RNG.normal(size=(7, 12))
    for given_ in (whole[:, ::2].T, np.asfortranarray(whole[:, :6].T), whole[::-1, :6].T):
        kept = given_.copy()
        _, (found,) = run(roots, {x: given_})
        np.testing.assert_allclose(found, (np.exp(kept) + np.tanh(kept)) ** 2, rtol=1e-13)
        np.testing.assert_array_equal(given_, kept)


def networks():
    X, T = RNG.normal(size=(6, 5)), RNG.normal(size=(6, 4))

    def net(W1, W2):
        hidden = np.maximum(X @ W1, 0)
        out = np.tanh(hidden @ W2)
        peak = np.max(out, axis=1, keepdims=True)
        return np.sum(np.log(np.sum(np.exp(out - peak), axis=1)) + peak[:, 0]) - np.sum(out * T)

    return net, (RNG.normal(size=(5, 3)), RNG.normal(size=(3, 4)))


@pytest.mark.parametrize("transform", [ea.grad, ea.hessian, ea.value_and_grad])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_networks(transform, dtype):
    net, weights = networks()
    weights = tuple(weight.astype(dtype) for weight in weights)
    f = transform(net, (0, 1))
    expected = f(*weights)
    fast = ea.compile(f, numba=True)
    assert "@loop" in fast.program(*weights).plan.source
    found = fast(*weights)
    for one, other in zip(_flat(found), _flat(expected), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(
            one, other, rtol=2e-4 if dtype == np.float32 else 1e-11, atol=1e-5 if dtype == np.float32 else 1e-12
        )


def _flat(tree):
    return [leaf for part in tree for leaf in _flat(part)] if isinstance(tree, tuple) else [tree]


@given(st.integers(0, 2**32))
@settings(max_examples=30)
def test_masks_and_choices(seed):
    rng = np.random.default_rng(seed)
    special = np.array([0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan])

    def f(x, y):
        both = (x > y) & ~(x == 0) | (y <= -1)
        return np.where(both, x * y, y - x) * np.sign(y) + np.maximum(x, y) / np.minimum(y, 2.0), both

    args = rng.choice(special, size=(2, 5, 4))
    for one, other in zip(ea.compile(f, numba=True)(*args), ea.compile(f)(*args), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.fuzz
@given(st.integers(0, 2**32))
@MANY
def test_random_programs_on_few_entries(seed):
    check_small_program(seed)


@pytest.mark.parametrize("case", numbers_and_single_axes(), ids=lambda case: case[0])
def test_numbers_and_single_axes(case):
    _, f, *args = case
    fast = ea.compile(f, numba=True)
    assert "@loop" in fast.program(*args).plan.source
    for one, other in zip(_flat(fast(*args)), _flat(ea.compile(f)(*args)), strict=True):
        assert (np.shape(one), one.dtype) == (np.shape(other), other.dtype)
        np.testing.assert_allclose(one, other, rtol=1e-5 if one.dtype == np.float32 else 1e-11)


def test_memory_that_a_region_takes_over_is_declared():
    x = variable("x", 20, 30)
    outside = apply("erf", x)  # SciPy has this
    plan = check([apply("tanh", multiply(outside, apply("exp", x)))], {x: RNG.normal(size=(20, 30))})
    assert "writes=(1,)" in plan.source
