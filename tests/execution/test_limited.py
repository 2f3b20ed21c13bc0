"""Dense results within a limit of memory: values of whole plans and of formulas, limits around what is needed."""

import re
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

import numpy as np
import pytest

import einsumad as ea
from einsumad.execution import BlockwisePlan, CompiledPlan, compile_split
from einsumad.frontend import cache
from einsumad.functions import apply
from einsumad.graph import einsum, leaves
from einsumad.planning import split_plan
from einsumad.planning.lengths import ways
from tests.planning.products import variable

RNG = np.random.default_rng(0)
N, K = 20_000, 4
X, Y = RNG.normal(size=(N, K)), np.where(RNG.random(N) < 0.5, -1.0, 1.0)
W = 0.1 * RNG.normal(size=K)
LIMIT = 100_000
"""Less than two vectors with an entry for each row take."""


def logistic(w):
    return np.sum(np.log1p(np.exp(-Y * (X @ w)))) + 0.5 * w @ w


def by_hand(w):
    z = Y * (X @ w)
    s = 1 / (1 + np.exp(z))
    gradient = w - X.T @ (Y * s)
    return np.sum(np.logaddexp(0, -z)) + 0.5 * w @ w, gradient, np.eye(K) + X.T @ ((s * (1 - s))[:, None] * X)


def plan_of(transform, *args):
    return ea.explain(transform, *args).plan


def is_split(transform, *args):
    return hasattr(plan_of(transform, *args), "sweeps")


def same(left, right, rtol=1e-11):
    np.testing.assert_allclose(left, right, rtol=rtol, atol=rtol * np.abs(right).max(initial=0))


def test_value_gradient_and_hessian():
    value, gradient, hessian = by_hand(W)
    v = np.arange(K) - 1.5
    same(ea.compile(logistic, memory_limit=LIMIT)(W), value)
    same(ea.grad(logistic, memory_limit=LIMIT)(W), gradient)
    same(ea.hessian(logistic, memory_limit=LIMIT)(W), hessian)
    same(ea.hvp(logistic, memory_limit=LIMIT)(W, v), hessian @ v)
    same(ea.hessian_diagonal(logistic, memory_limit=LIMIT)(W), np.diag(hessian))
    same(ea.laplacian(logistic, memory_limit=LIMIT)(W), np.trace(hessian))
    for found, expected in zip(ea.value_grad_and_hessian(logistic, memory_limit=LIMIT)(W), by_hand(W), strict=True):
        same(found, expected)
    for found, expected in zip(ea.value_and_grad(logistic, memory_limit=LIMIT)(W), by_hand(W), strict=False):
        same(found, expected)


TRANSFORMS = (ea.grad, ea.hessian, ea.value_and_grad, ea.value_grad_and_hessian, ea.hessian_diagonal, ea.laplacian)


@pytest.mark.whole_planner
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_plans_are_in_parts_where_the_limit_asks_for_it(transform):
    assert is_split(transform(logistic, memory_limit=LIMIT), W)
    assert not is_split(transform(logistic), W)


def test_products_of_a_jacobian():
    tangent = np.arange(K) - 1.5
    value, moved = ea.jvp(logistic, (W,), (tangent,), memory_limit=LIMIT)
    expected, gradient, _ = by_hand(W)
    same(value, expected)
    same(moved, gradient @ tangent)
    value, pullback = ea.vjp(logistic, W, memory_limit=LIMIT)
    same(value, expected)
    same(pullback(np.array(2.0)), 2 * gradient)


def test_parts_of_which_nothing_but_their_number_counts():
    """Where a parameter is added to each sample, a derivative has a term that is the sum of ones."""
    both = lambda limit: ea.value_grad_and_hessian(lambda w: np.sum((X @ w + w[0]) ** 2), memory_limit=limit)  # noqa: E731
    assert is_split(both(LIMIT), W)
    for found, expected in zip(both(LIMIT)(W), both(None)(W), strict=True):
        same(found, expected)
    Z = X + np.eye(K)[0]
    same(both(LIMIT)(W)[2], 2 * Z.T @ Z)


@pytest.mark.whole_planner  # deltas that are stored have an entry for each pair of rows
def test_residuals():
    def residuals(w):
        return np.tanh(X @ w)

    J = (1 - np.tanh(X @ W) ** 2)[:, None] * X
    room = J.nbytes + LIMIT
    same(ea.jacobian(residuals, memory_limit=room)(W), J)
    assert is_split(ea.jacobian(residuals, memory_limit=room), W)
    same(ea.gauss_newton(residuals, memory_limit=LIMIT)(W), J.T @ J)
    third = ea.derivative(lambda w: np.sum(np.tanh(X @ w)), order=3, memory_limit=LIMIT)
    t = np.tanh(X @ W)
    same(third(W), np.einsum("n,ni,nj,nk->ijk", (1 - t**2) * (6 * t**2 - 2), X, X, X))
    assert is_split(third, W)


def test_results_with_the_index_are_laid_side_by_side():
    u = RNG.normal(size=N)
    both = ea.value_and_grad(lambda u: np.sum(np.exp(np.sin(u)) * (X @ W)), memory_limit=N * 8 + LIMIT)
    value, gradient = both(u)
    same(value, np.sum(np.exp(np.sin(u)) * (X @ W)))
    same(gradient, np.exp(np.sin(u)) * np.cos(u) * (X @ W))
    assert is_split(both, u)


def test_functions_of_sums_and_samples_that_need_them():
    """The norm of residuals, and samples standardised by all of them, which takes one sweep and two."""

    def norm(w):
        return np.sqrt(np.mean((X @ w - Y) ** 2))

    def spread(w):
        z = X @ w
        z = (z - np.mean(z)) / np.sqrt(np.mean((z - np.mean(z)) ** 2))
        return np.sum(np.tanh(z) ** 2) / N

    r = X @ W - Y
    same(ea.grad(norm, memory_limit=LIMIT)(W), X.T @ r / np.sqrt(N * np.sum(r**2)))
    for f in (norm, spread):
        for g in (ea.grad, ea.hessian):
            assert is_split(g(f, memory_limit=LIMIT), W)
            same(g(f, memory_limit=LIMIT)(W), g(f)(W), rtol=1e-9)
    assert len(plan_of(ea.grad(norm, memory_limit=LIMIT), W).sweeps) == 1
    assert len(plan_of(ea.grad(spread, memory_limit=LIMIT), W).sweeps) > 1


def test_several_arguments_and_trees():
    def loss(parameters, scale):
        return np.sum(np.exp(scale * np.tanh(X @ parameters["w"] + parameters["b"])))

    given = {"w": W, "b": np.array(0.3)}, np.array(0.5)
    for g in (ea.grad, ea.hessian):
        limited, free = g(loss, (0, 1), memory_limit=LIMIT), g(loss, (0, 1))
        assert is_split(limited, *given)
        for found, expected in zip(_flat(limited(*given)), _flat(free(*given)), strict=True):
            same(found, expected)


def _flat(tree):
    if isinstance(tree, dict):
        return [leaf for key in sorted(tree) for leaf in _flat(tree[key])]
    return [leaf for part in tree for leaf in _flat(part)] if isinstance(tree, tuple) else [tree]


def test_kinks_masks_and_nan():
    data = X.copy()
    data[5, 0], data[7] = np.nan, 0.0
    keep = np.arange(N) % 3 > 0

    def loss(w):
        z = data @ w
        return np.sum(np.where(keep, np.maximum(z, 0) ** 2 + np.abs(z), np.log(-1 - z**2)))

    for g in (ea.grad, ea.hessian):
        assert is_split(g(loss, memory_limit=LIMIT), W)
        np.testing.assert_array_equal(np.isnan(g(loss, memory_limit=LIMIT)(W)), np.isnan(g(loss)(W)))
        assert np.isnan(g(loss)(W)).any()
    data[5, 0] = 1.0
    for g in (ea.grad, ea.hessian):
        found = g(loss, memory_limit=LIMIT)(W)
        assert np.isfinite(found).all()
        same(found, g(loss)(W))


def test_infinite_sums_stay_infinite():
    data = np.ones(N)
    data[[3, N - 1]] = np.inf
    found = ea.value_and_grad(lambda a: np.sum(a * data), memory_limit=60_000)
    value, gradient = found(np.array(2.0))
    assert value == np.inf
    assert gradient == np.inf
    data[3] = -np.inf
    assert np.isnan(found(np.array(2.0))[0])


def test_single_precision():
    data, w = X.astype(np.float32), W.astype(np.float32)

    def loss(w):
        return np.sum(np.log1p(np.exp(-(data @ w))))

    value, gradient, hessian = ea.value_grad_and_hessian(loss, memory_limit=LIMIT // 2)(w)
    assert (value.dtype, gradient.dtype, hessian.dtype) == (np.float32,) * 3
    exact = ea.value_grad_and_hessian(lambda w: np.sum(np.log1p(np.exp(-(data.astype(float) @ w)))))(w.astype(float))
    for found, expected in zip((value, gradient, hessian), exact, strict=True):
        same(found, expected, rtol=3e-6)


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 4, 5])
def test_few_rows(rows):
    """What is too short to be cut is whole, or refused."""
    data = RNG.normal(size=(rows, 300))
    w = RNG.normal(size=300) / 20

    def loss(w):
        return np.sum(np.exp(data @ w)) + np.sum(w**2)

    whole = plan_of(ea.grad(loss), w).peak_bytes
    same(ea.grad(loss, memory_limit=whole)(w), data.T @ np.exp(data @ w) + 2 * w)
    try:
        found = ea.grad(loss, memory_limit=whole - 1)(w)
    except ea.MemoryLimitError:
        return
    same(found, data.T @ np.exp(data @ w) + 2 * w)


@pytest.mark.whole_planner
def test_limits_just_above_and_below():
    limited = lambda limit: ea.hessian(logistic, memory_limit=limit)  # noqa: E731
    whole = plan_of(ea.hessian(logistic), W).peak_bytes
    assert not is_split(limited(whole), W)
    assert is_split(limited(whole - 1), W)
    assert plan_of(limited(whole - 1), W).count == 2
    with pytest.raises(ea.MemoryLimitError) as caught:
        limited(300)(W)
    needed = int(re.search(r"memory_limit=(\d+)", str(caught.value))[1])
    same(limited(needed)(W), by_hand(W)[2])
    with pytest.raises(ea.MemoryLimitError):
        limited(needed - 1)(W)


@pytest.mark.whole_planner
def test_no_more_parts_than_the_limit_asks_for():
    limits = [2_000_000, 500_000, 100_000, 20_000, 5_000]
    plans = [plan_of(ea.hessian(logistic, memory_limit=limit), W) for limit in limits if limit]
    counts = [getattr(plan, "count", 1) for plan in plans]
    assert counts == sorted(counts)
    assert counts[-1] > 64
    for plan, limit in zip(plans, limits, strict=True):
        assert plan.peak_bytes <= limit
        if getattr(plan, "count", 1) > 2:
            assert plan.peak_bytes > limit / 2
        if getattr(plan, "count", 1) > 50:
            assert plan.peak_bytes > 0.95 * limit


@pytest.mark.parametrize("transform", [ea.hessian, ea.value_grad_and_hessian])
def test_what_is_allocated_is_what_was_planned(transform):
    data = RNG.normal(size=(100_000, K))
    limit = 1_000_000
    g = ea.compile(transform(lambda w: np.sum(np.log1p(np.exp(-(data @ w))))), memory_limit=limit)
    g(W)
    tracemalloc.start()
    g(W)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < limit + 100_000  # NumPy's buffers and Python's objects; the whole plan takes 4 MB


@pytest.mark.parametrize(("n", "kind"), [(500, CompiledPlan), (80000, BlockwisePlan)])
def test_compiled_hessians_of_many_samples_are_in_parts(n, kind):
    points, group = RNG.normal(size=(n, 5)), RNG.integers(0, 200, n)

    def loss(b, u):
        z = points @ b + u[group]
        return np.sum(np.exp(0.1 * z)) + np.sum(u**2)

    b, u = RNG.normal(size=5), RNG.normal(size=200)
    transform = ea.hessian(loss, (0, 1), compressed=True)
    fast, dense = ea.compile(transform), ea.compile(ea.hessian(loss, (0, 1)))
    assert isinstance(fast.program(b, u).plan, kind)
    H, G = fast(b, u), transform(b, u)
    for i in range(2):
        for j in range(2):
            same(H[i, j].dense(), G[i, j].dense())
            same(H[i, j].dense(), dense(b, u)[i][j])
    small = ea.compile(transform, memory_limit=100_000)
    assert small.program(b, u).plan.plan.peak_bytes <= 100_000
    same(small(b, u)[0, 1].dense(), G[0, 1].dense())


def test_a_compiled_transform_keeps_its_limit():
    limited = ea.hessian(logistic, memory_limit=LIMIT)
    for fast in (ea.compile(limited), ea.compile(ea.hessian(logistic), memory_limit=LIMIT)):
        assert fast.program(W).plan.plan.count == plan_of(limited, W).count == plan_of(fast, W).count
        same(fast(W), by_hand(W)[2])


@pytest.mark.whole_planner
def test_a_limit_of_the_program_wins_over_that_of_the_transform():
    limited = ea.hessian(logistic, memory_limit=LIMIT)
    assert isinstance(ea.compile(limited, memory_limit=10**9).program(W).plan, CompiledPlan)


def test_dense_forms_of_structured_derivatives_have_the_limit_too():
    A = RNG.normal(size=(300, 20))
    H = ea.hessian(lambda U: np.sum((U @ A.T) ** 2), compressed=True)(RNG.normal(size=(40, 20)))
    with pytest.raises(ea.MemoryLimitError):
        H.dense(memory_limit=10_000)


def test_the_same_bits_each_time_and_in_each_thread():
    transform = ea.value_grad_and_hessian(logistic, memory_limit=50_000)
    first = [array.tobytes() for array in transform(W)]
    assert [array.tobytes() for array in transform(W)] == first
    cache.clear()
    assert [array.tobytes() for array in transform(W)] == first
    contexts = [copy_context() for _ in range(12)]  # with the options of the planner that are in force here
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda context: context.run(transform, W), contexts):
            assert [array.tobytes() for array in found] == first


def test_advice_fits_the_case():
    def outer(x):
        return np.sum(np.exp(np.outer(x, x)) @ np.cumsum(x))

    x = np.linspace(0, 1, 200)
    with pytest.raises(ea.MemoryLimitError, match="compressed=True"):
        ea.hessian(lambda x: np.sum(np.exp(x)), memory_limit=100_000)(x)
    with pytest.raises(ea.MemoryLimitError) as caught:
        ea.hessian(outer, compressed=True, memory_limit=10_000)(x)
    assert "compressed" not in str(caught.value)
    with pytest.raises(ea.MemoryLimitError, match="No index of it can be cut"):
        ea.compile(outer, memory_limit=10_000)(x)


def test_explain_says_how_it_is_split():
    text = str(ea.explain(ea.value_grad_and_hessian(logistic, memory_limit=LIMIT), W))
    plan = plan_of(ea.value_grad_and_hessian(logistic, memory_limit=LIMIT), W)
    assert f"in {plan.count} parts of an index of {N}, each of {plan.length}" in text
    assert "is added up" in text
    assert "for each part:" in text
    assert "after all parts:" in text


@pytest.mark.whole_planner
def test_explain_says_where_parts_are_laid():
    limited = ea.jacobian(lambda w: np.tanh(X @ w), memory_limit=X.nbytes + LIMIT)
    assert "is laid along axis 0" in str(ea.explain(limited, W))


def test_results_do_not_share_memory():
    a = variable("a", (5000,), np.float64)
    node = einsum([apply("exp", a), apply("sin", a)], [(0,), (0,)], (0,))
    total = einsum([node], [(0,)], ())
    roots = [node, node, total, total, a]
    plan = compile_split(split_plan(next(ways(roots)), leaves(roots), 700))
    given = np.linspace(0, 1, 5000)
    kept, again, one, two, same_as_given = plan(given)
    assert not np.shares_memory(kept, again)
    assert not np.shares_memory(same_as_given, given)
    assert one == two
    same(kept, np.exp(given) * np.sin(given))
    np.testing.assert_array_equal(same_as_given, given)


@pytest.mark.parametrize("limit", [0, -1, True, 1.5, "1 MB", [10**6], float("inf")])
def test_a_limit_is_a_number_of_bytes(limit):
    structured = ea.hessian(lambda a, b: np.sum(a**3) * np.sum(b**2), (0, 1), compressed=True)(np.ones(3), np.ones(2))
    for call in (
        lambda: ea.grad(logistic, memory_limit=limit),
        lambda: ea.compile(logistic, memory_limit=limit),
        lambda: ea.jvp(logistic, (W,), (W,), memory_limit=limit),
        lambda: ea.vjp(logistic, W, memory_limit=limit),
        lambda: ea.evaluate(ea.variable("x", 2), memory_limit=limit),
        lambda: np.sum(ea.tensor(W, requires_grad=True) ** 2).backward(memory_limit=limit),
        *[lambda H=H: H.dense(memory_limit=limit) for H in (structured, structured[0, 0])],
        *[lambda H=H: H.inverse(memory_limit=limit) for H in (structured, structured[0, 0])],
        *[lambda H=H: H.logdet(memory_limit=limit) for H in (structured, structured[0, 0])],
    ):
        with pytest.raises(ValueError, match="memory_limit must be a positive number of bytes"):
            call()


def test_a_limit_may_be_an_integer_of_numpy():
    """Whose own arithmetic, in few bits, is not used."""
    fast = ea.compile(ea.grad(logistic), memory_limit=np.uint16(60_000))
    np.testing.assert_array_equal(fast(W), ea.grad(logistic, memory_limit=60_000)(W))
    with pytest.raises(ea.MemoryLimitError, match="over the limit of 100 bytes"):
        ea.hessian(logistic, memory_limit=np.int8(100))(W)
