"""Plans that go through an index part by part, against the reference interpreter and whole plans."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import einsumad as ea
from einsumad.errors import MemoryLimitError, ShapeError
from einsumad.execution import BlockwisePlan, CompiledPlan, compile_split, compile_within
from einsumad.execution.reference import evaluate
from einsumad.functions import apply, call
from einsumad.graph import add, affine, einsum, leaves, multiply, ones, scale, selection, unit
from einsumad.planning import cuttable_indices, length_of_parts, make_plan, split_plan
from einsumad.planning.kernels import Call
from einsumad.planning.lengths import ways
from tests.execution.graphs import graphs
from tests.planning.products import products, random_values, variable

MANY = settings(max_examples=max(120, settings().max_examples))
ROWS = 7


def in_parts(roots, way, length, hoisted=True):
    inputs = leaves(roots)
    plan = compile_split(split_plan(way, inputs, length, hoisted=hoisted))
    return lambda values: plan(*[np.asarray(values[node]) for node in inputs])


def sizes(*roots):
    return [index.size for index in cuttable_indices(roots)]


def check(roots, values, exact=False):
    """Every index that can be cut, in parts of each length."""
    expected = evaluate(roots, values, exact=exact)
    for way in ways(roots):
        for length in range(1, way.index.size):
            found = in_parts(roots, way, length, hoisted=length != 2)(values)
            for root, value, wanted in zip(roots, found, expected, strict=True):
                assert (np.shape(value), value.dtype) == (root.shape, root.dtype)
                if exact:
                    assert (value == wanted).all()
                elif np.isfinite(wanted).all():
                    size, rtol = np.abs(wanted).max(initial=1), 1e-7 if root.dtype == np.float64 else 2e-2
                    if root.dtype == np.float64 or size < 1e4:
                        np.testing.assert_allclose(value, wanted, rtol=rtol, atol=rtol * size)


@pytest.mark.fuzz
@MANY
@given(graphs())
def test_random_graphs(graph):
    check(graph.roots, graph.values)


@pytest.mark.fuzz
@MANY
@given(products(dtypes=(np.int64,), coefficients=(1, -1, 3)))
def test_integer_products_are_exact(case):
    if case.node.dtype.kind == "i":
        check([case.node], case.values, exact=True)


def _shifted(matrix):
    return add([matrix, einsum([unit(2, 2, matrix.dtype)], [(0, 1)], (0, 1), 3)])


@st.composite
def data_losses(draw):
    """Sums over samples of functions of rows: kept, summed, summed beside other terms, counted into groups."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    dtype = draw(st.sampled_from([np.float64, np.float32]))
    X, w, g = variable("X", (ROWS, 2), dtype), variable("w", (2,), dtype), variable("g", (ROWS,), np.int64)
    values = {X: random_values(rng, X.shape, dtype), w: random_values(rng, w.shape, dtype)}
    values[g] = rng.integers(0, 3, ROWS)
    z = einsum([X, w], [(0, 1), (1,)], (0,))
    z = draw(st.sampled_from([z, apply("tanh", z), multiply(z, apply("greater", z, scale(0, z)))]))
    table = selection(g, 3, dtype)
    pieces = [
        z,
        einsum([z], [(0,)], ()),
        einsum([z, X], [(0,), (0, 1)], (1,), 2),
        einsum([z, table], [(0,), (0, 1)], (1,)),
        einsum([z, X, unit(ROWS, 2, dtype), X], [(0,), (0, 1), (0, 2), (2, 3)], (1, 3)),
        add([einsum([z, X], [(0,), (0, 1)], (1,)), w]),
        add([einsum([z, X], [(0,), (0, 1)], (1,)), einsum([z, z, X], [(0,), (0,), (0, 1)], (1,), -1)]),
        add([einsum([z, table], [(0,), (0, 1)], (1,)), scale(3, ones((3,), dtype))]),
        einsum([w], [(0,)], (), 5),
        einsum([z, unit(ROWS, 2, dtype)], [(0,), (0, 1)], (0, 1)),
        call("logsumexp", multiply(X, X)),
        apply("exp", scale(0.1, einsum([z], [(0,)], ()))),
        einsum([z, z, apply("tanh", einsum([z, X], [(0,), (0, 1)], (1,)))], [(0,), (1,), (2,)], (2,)),
        einsum([X, apply("tanh", einsum([z, X], [(0,), (0, 1)], (1,)))], [(0, 1), (1,)], (0,)),
        einsum(
            [X, X, call("inverse", _shifted(einsum([X, X], [(0, 1), (0, 2)], (1, 2))))],
            [(0, 1), (0, 2), (2, 3)],
            (3, 1),
        ),
        einsum(
            [z, apply("reciprocal", einsum([z, apply("greater", z, scale(0, z))], [(0,), (0,)], ()))], [(0,), ()], (0,)
        ),
        einsum(
            [apply("exp", w), call("inverse", _shifted(einsum([w, w], [(0,), (1,)], (0, 1)))), X],
            [(0,), (0, 1), (2, 1)],
            (2,),
        ),
    ]
    return draw(st.lists(st.sampled_from(pieces), min_size=1, max_size=4)), values


@pytest.mark.fuzz
@MANY
@given(data_losses())
def test_sums_over_samples(case):
    check(*case)


X, w, g = variable("X", (ROWS, 2), np.float64), variable("w", (2,), np.float64), variable("g", (ROWS,), np.int64)
z = einsum([X, w], [(0, 1), (1,)], (0,))


def test_an_index_that_is_kept_or_summed_last_can_be_cut():
    assert ROWS in sizes(einsum([z], [(0,)], ()))
    assert ROWS in sizes(apply("exp", z))
    assert ROWS in sizes(add([einsum([z, X], [(0,), (0, 1)], (1,)), w]))
    assert ROWS in sizes(einsum([z, selection(g, 3, np.float64)], [(0,), (0, 1)], (1,)))


@pytest.mark.parametrize(
    "root",
    [
        call("logsumexp", z),
        einsum([z, affine(ROWS, (ROWS - 1,), (1,), 1, np.float64)], [(0,), (0, 1)], (1,)),
        add([einsum([z, unit(ROWS, 2, np.float64)], [(0,), (0, 1)], (0, 1)), unit(ROWS, 2, np.float64)]),
        einsum([apply("greater", z, scale(0, z)), z], [(0,), (1,)], ()),
        call("inverse", einsum([z, z], [(0,), (1,)], (0, 1))),
    ],
    ids=["logsumexp", "shifted", "delta in a sum", "two labels", "inverse"],
)
def test_an_index_that_meets_itself_is_not_cut(root):
    assert ROWS not in sizes(root)


def test_what_follows_on_a_sum_is_computed_after_it():
    total = einsum([z], [(0,)], ())
    centred = add([z, scale(-1, einsum([total, ones((ROWS,), np.float64)], [(), (0,)], (0,)))])
    for roots, often in [((total, scale(2, apply("exp", total))), 1), ((apply("tanh", centred),), 2)]:
        (way,) = [way for way in ways(roots) if way.index.size == ROWS]
        assert len(way.ends) == often
        check(list(roots), {X: np.arange(14.0).reshape(7, 2), w: np.array([0.5, -0.25])})


def test_sums_that_are_added_are_one_sum():
    """So one tensor is kept for them; a summand that is no sum is added at the end."""
    terms = [einsum([z, X], [(0,), (0, 1)], (1,)), einsum([z, z, X], [(0,), (0,), (0, 1)], (1,), -1)]
    for root, late in [(add(terms), 0), (add([*terms, w]), 1)]:
        (way,) = [way for way in ways([root]) if way.index.size == ROWS]
        assert len(way.ends[0]) == 1
        assert len(split_plan(way, leaves([root]), 3).after.steps) == late


def test_a_selection_outside_of_a_product_stays_whole():
    table = selection(g, 2, np.float64)
    assert ROWS not in sizes(add([table, X]))
    assert ROWS not in sizes(table, einsum([z, table], [(0,), (0, 1)], (1,)))


def outer_products(n, memory_limit=None):
    """The Gram matrix of outer products of rows, whose whole plan holds n times as much as its inputs."""
    A, B = variable("A", (n, 30), np.float64), variable("B", (n, 30), np.float64)
    outer = apply("exp", einsum([A, B], [(0, 1), (0, 2)], (0, 1, 2)))
    return compile_within([einsum([outer], [(0, 1, 2)], (1, 2))], [A, B], memory_limit)


def test_large_plans_are_cut_and_small_ones_are_not():
    plan = outer_products(2000)
    assert isinstance(plan, BlockwisePlan)
    assert plan.plan.count > 1
    assert isinstance(outer_products(10), CompiledPlan)
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(2000, 30)), rng.normal(size=(2000, 30))
    (value,) = plan(A, B)
    np.testing.assert_allclose(value, np.exp(A[:, :, None] * B[:, None]).sum(axis=0), rtol=1e-12)
    assert value.flags.writeable


def test_a_memory_limit_makes_smaller_parts_or_is_refused():
    needed = outer_products(2000, 2**20).plan.peak_bytes
    assert needed <= 2**20
    with pytest.raises(MemoryLimitError):
        outer_products(2000, 2**13)


def test_no_part_has_a_single_value():
    for size in range(9, 4000):
        for parts in (2, 3, 7, 64, size):
            length = length_of_parts(size, parts)
            assert 1 < length < size
            assert size % length != 1


@pytest.mark.parametrize("n", [1999, 2001, 2011])
def test_a_nan_in_the_last_part_stays(n):
    plan = outer_products(n)
    assert isinstance(plan, BlockwisePlan)
    assert plan.plan.size % plan.plan.length != 1
    A, B = np.ones((n, 30)), np.ones((n, 30))
    A[-1, 0] = np.nan
    (value,) = plan(A, B)
    assert np.isnan(value[0]).all()
    assert np.isfinite(value[1:]).all()


def test_inputs_are_checked():
    plan = outer_products(2000)
    with pytest.raises(ShapeError, match="2 inputs"):
        plan(np.ones((2000, 30)))
    with pytest.raises(ShapeError, match=r"\(2000, 30\)"):
        plan(np.ones((2000, 30)), np.ones((2001, 30)))


def test_structured_hessians_take_little_memory_and_say_so():
    rng = np.random.default_rng(0)
    n = 80000
    X, group, y = rng.normal(size=(n, 5)), rng.integers(0, 200, n), rng.poisson(1.0, n)

    def loss(b, u):
        z = X @ b + u[group]
        return np.sum(np.exp(z) - y * z) + np.sum(u**2)

    b, u = 0.1 * rng.normal(size=5), 0.1 * rng.normal(size=200)
    H = ea.hessian(loss, (0, 1), compressed=True)(b, u)
    G = ea.hessian(loss, (0, 1))(b, u)
    for i in range(2):
        for j in range(2):
            np.testing.assert_allclose(H[i, j].dense(), G[i][j], rtol=1e-10, atol=1e-9)
    text = str(ea.explain(ea.hessian(loss, (0, 1), compressed=True), b, u))
    assert f"parts of an index of {n}" in text
    assert "candidates, by their work without the structure:\ncandidate" in text
    assert "without the structure" not in str(ea.explain(ea.hessian(loss, (0, 1)), b, u))


def of_rows():
    """A sum over rows with factors that depend on no row, and its leaves: X, K, A and B."""
    X, K = variable("X", (900, 90), np.float64), variable("K", (90, 90), np.float64)
    A, B = variable("A", (90, 300), np.float64), variable("B", (300, 90), np.float64)
    rows = apply("exp", einsum([X, call("inverse", K)], [(0, 1), (1, 2)], (0, 2)))
    moved = apply("sin", einsum([X, A, B], [(0, 1), (1, 2), (2, 3)], (0, 3)))
    return einsum([rows, moved], [(0, 1), (0, 1)], (1,)), (X, K, A, B)


def by_rows(root):
    (way,) = [way for way in ways([root]) if way.index.size == 900]
    return way


@pytest.mark.whole_planner
def test_work_that_does_not_depend_on_the_index_is_not_repeated():
    """The inverse, and a product of two factors that meet before the rows do, are computed once, before all parts."""
    root, _ = of_rows()
    way, inputs = by_rows(root), leaves([root])
    for length in (100, 250, 449):
        (sweep,) = split_plan(way, inputs, length).sweeps
        assert [leaf.shape for leaf in sweep.part.inputs[len(sweep.reads) :]] == [(90, 90)] * 2
    assert not any(isinstance(step.kernel, Call) for step in sweep.part.steps)
    (anew,) = split_plan(way, inputs, 100, hoisted=False).sweeps
    assert any(isinstance(step.kernel, Call) for step in anew.part.steps)
    assert split_plan(way, inputs, 100).flops < make_plan([root], inputs).flops * 1.1


def test_work_before_all_parts_is_right():
    root, (X, K, A, B) = of_rows()
    way, inputs = by_rows(root), leaves([root])
    rng = np.random.default_rng(0)
    values = {node: rng.normal(size=node.shape) / 10 for node in inputs}
    values[K] += 3 * np.eye(90)
    x, k, a, b = (values[node] for node in (X, K, A, B))
    expected = np.sum(np.exp(x @ np.linalg.inv(k)) * np.sin(x @ (a @ b)), axis=0)
    for length in (100, 250, 449):
        np.testing.assert_allclose(in_parts([root], way, length)(values)[0], expected, rtol=1e-9)


def test_what_depends_on_the_length_alone_is_not_taken_out():
    """A row that is spread along the index and then summed has no leaf that is cut, and still a length."""
    spread = apply("exp", einsum([w, ones((ROWS,), np.float64)], [(1,), (0,)], (0, 1)))
    root = einsum([add([X, spread])], [(0, 1)], (1,))
    both = add([einsum([spread], [(0, 1)], (1,)), einsum([add([X, spread]), X], [(0, 1), (0, 1)], (1,))])
    check([root, both], {X: np.arange(14.0).reshape(7, 2), w: np.array([0.5, -0.25])})


def test_a_plan_over_the_limit_does_without_holding_what_is_large():
    """Held before all parts, the table would take more than the limit; each part makes what it needs of it."""
    u, v = variable("u", (200,), np.float64), variable("v", (200,), np.float64)
    X = variable("X", (4000, 200), np.float64)
    table = apply("exp", einsum([u, v], [(0,), (1,)], (0, 1)))
    root = einsum([X, table, X], [(0, 1), (1, 2), (0, 2)], (0,))
    for limit in (800_000, 1_500_000):
        plan = compile_within([apply("tanh", root)], [X, u, v], limit)
        assert isinstance(plan, BlockwisePlan)
        assert plan.plan.peak_bytes <= limit


@pytest.mark.fuzz
@MANY
@given(graphs(), st.floats(0, 1))
def test_random_graphs_within_a_limit(graph, share):
    """Plans under limits between that of the whole and nothing keep to them, or are refused with a limit that does."""
    inputs = leaves(graph.roots)
    whole = make_plan(graph.roots, inputs).peak_bytes
    limit = max(1, int(whole * share))
    try:
        plan = compile_within(graph.roots, inputs, limit)
    except MemoryLimitError as error:
        limit = int(str(error).partition("memory_limit=")[2].split()[0])
        plan = compile_within(graph.roots, inputs, limit)
    assert plan.plan.peak_bytes <= limit
    expected = evaluate(graph.roots, graph.values)
    for root, value, wanted in zip(graph.roots, plan(*[graph.values[node] for node in inputs]), expected, strict=True):
        assert (np.shape(value), value.dtype) == (root.shape, root.dtype)
        if np.isfinite(wanted).all():
            size = np.abs(wanted).max(initial=1)
            if root.dtype == np.float64 or size < 1e4:
                rtol = 1e-7 if root.dtype == np.float64 else 2e-2
                np.testing.assert_allclose(value, wanted, rtol=rtol, atol=rtol * size)
