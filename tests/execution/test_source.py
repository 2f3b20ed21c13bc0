"""The generated source: what it calls, what it never does, and how long programs are cut."""

import sys
import warnings

import numpy as np
import pytest

from einsumad.errors import ShapeError
from einsumad.execution import compile_plan, source
from einsumad.execution.reference import evaluate
from einsumad.functions import apply
from einsumad.graph import add, constant, einsum, fresh_leaf, leaf, leaves, multiply, negate, ones, scale, unit, zero
from einsumad.planning import make_plan
from tests.planning.products import variable
from tests.planning.test_plan import plan_of, weighted_gram


def source_of(*roots):
    return compile_plan(plan_of(*roots)).source


GRAM = """\
c0 = np.array(1.0, np.float64)
c1 = np.array(0.0, np.float64)
c2 = np.array(0.05, np.float64)

def plan(t0, t1):
    t2 = t0.dot(t1)
    t3 = np.divide(c0, c0 + np.exp(c1 - t2), out=t2)
    t4 = c0 - t3
    t5 = np.multiply(t4, t3, t4)
    t6 = np.multiply(t5, c2, t5)
    t7 = t6[:, None] * t0
    t8 = t7.T.dot(t0)
    del t7
    return (t8,)
"""


def test_a_weighted_gram_matrix_is_one_multiplication_and_one_matrix_product():
    assert source_of(weighted_gram()) == GRAM


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numbers_keep_value_and_dtype(dtype):
    """Also small, negative and special ones, beside masks, and beside numbers that are not arrays."""
    x, m = leaf((5,), np.dtype(dtype), ("variable", "x")), leaf((), np.dtype(dtype), ("variable", "m"))
    roots = [
        add([scale(-0.1, x), constant(1e-30, (5,), x.dtype)]),
        apply("maximum", x, constant(-0.3, (5,), x.dtype)),
        apply("less", x, constant(0.1, (5,), x.dtype)),
        scale(0.1, apply("exp", scale(-1e-5, x))),
        multiply(scale(0.1, m), m),
        einsum([scale(0.1, m), x], [(), (0,)], (0,)),
    ]
    inputs = leaves(roots)
    compiled = compile_plan(make_plan(roots, inputs))
    assert "c0 = np.array(" in compiled.source
    values = {x: np.array([0.1, -0.3, 0.7, np.inf, -2.0], dtype), m: np.asarray(0.3, dtype)}
    found = compiled(*[values[node] for node in inputs])
    for one, other, root in zip(found, evaluate(roots, values), roots, strict=True):
        assert one.dtype == root.dtype
        np.testing.assert_allclose(one, other, rtol=2 * np.finfo(dtype).eps)


CONTRACTIONS = [
    ("ij,jk->ik", "t0.dot(t1)"),
    ("ij,jk->ki", "t1.T.dot(t0.T)"),
    ("ji,jk->ik", "t0.T.dot(t1)"),
    ("ij,j->i", "t0.dot(t1)"),
    ("ij,i->j", "t0.T.dot(t1)"),
    ("i,i->", "t0.dot(t1)"),
    ("ij,ij->", "t0.reshape(-1).dot(t1.reshape(-1))"),
    ("ij,ij->i", "np.vecdot(t0, t1)"),
    ("ij,ij->j", 'np.einsum("ab,ab->b", t0, t1)'),
    ("bij,bjk->bik", "np.matmul(t0, t1)"),
    ("bij,bj->bi", "np.matmul(t0, t1[..., :, None]).reshape((2, 3))"),
    ("ijk,jkl->il", "t0.reshape((3, 20)).dot(t1.reshape((20, 6)))"),
    ("kij,kl->ijl", "t0.reshape((5, 12)).T.dot(t1).reshape((3, 4, 6))"),
    ("i,j->ij", "t0[:, None] * t1"),
    ("ij,i->ij", "t1[:, None] * t0"),
    ("ij,j->ij", "t1 * t0"),
]
SIZES = dict(zip("bijkl", (2, 3, 4, 5, 6), strict=True))


@pytest.mark.parametrize(("notation", "expected"), CONTRACTIONS, ids=[notation for notation, _ in CONTRACTIONS])
def test_contractions_are_matrix_products_on_views(notation, expected):
    operands, _, output = notation.partition("->")
    terms = operands.split(",")
    nodes = [fresh_leaf([SIZES[c] for c in term], float) for term in terms]
    node = einsum(nodes, [[ord(c) for c in term] for term in terms], [ord(c) for c in output])
    plan = make_plan([node], nodes)
    compiled = compile_plan(plan)
    rng = np.random.default_rng(0)
    values = [rng.normal(size=n.shape) for n in nodes]
    np.testing.assert_allclose(compiled(*values)[0], np.einsum(notation, *values))
    assert f"= {expected}\n" in compiled.source


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_numbers_divide_as_those_of_numpy_do(dtype):
    nothing = apply("reciprocal", zero((), np.dtype(dtype)))
    a = variable("a", (3,), np.dtype(dtype))
    mask = apply("isnan", a)
    picked = einsum([mask, nothing], [(0,), ()], (0,), 1, np.dtype(dtype))
    quotient = einsum([apply("reciprocal", a), nothing], [(0,), ()], (0,), 1, np.dtype(dtype))
    values = np.array([np.nan, 2, -4], dtype)
    for node, expected in ((picked, [np.inf, 0, 0]), (quotient, [np.nan, np.inf, -np.inf])):
        (found,) = compile_plan(make_plan([node], [a]))(values)
        np.testing.assert_array_equal(found, np.array(expected, dtype), strict=True)


def test_sums_and_quotients_take_memory_over():
    a, b = variable("a", (4,), float), variable("b", (4,), float)
    exp = apply("exp", a)
    text = source_of(add([scale(-1, exp), b, scale(-3, ones((4,), float))]))
    assert "np.subtract(" in text
    assert "* -1" not in text
    assert "/ " in source_of(multiply(a, apply("reciprocal", b)))


def test_user_names_never_enter_the_source():
    x = variable("__import__('os')", (2,), float)
    assert "import" not in source_of(apply("exp", x))


def test_numbers_stay_in_the_dtype_of_what_they_meet():
    x, s = variable("x", (3,), np.float32), variable("s", (), np.float32)
    nodes = [
        scale(0.1, s),
        multiply(scale(0.1, x), x),
        add([s, scale(0.3, ones((), np.float32))]),
        apply("exp", ones((3,), np.float32)),
        einsum([s, x, x], [(), (0,), (0,)], (), 0.1),
        einsum([apply("greater", x, scale(0.5, x))], [(0,)], (), 0.1, np.float32),
        einsum([unit(3, 2, np.float32)], [(0, 1)], (0, 1), 0.1),
        apply("maximum", x, scale(0.1, ones((3,), np.float32))),
    ]
    plan = make_plan(nodes, [x, s])
    outputs = compile_plan(plan)(np.ones(3, np.float32), 0.7)
    assert {output.dtype for output in outputs} == {np.dtype(np.float32)}
    assert [np.shape(output) for output in outputs] == [node.shape for node in nodes]


def test_long_programs_are_cut_and_hand_registers_on(monkeypatch):
    x, y = variable("x", (3,), float), variable("y", (3,), float)
    kept = [apply("sin", x)]
    for k in range(40):
        kept.append(add([apply("tanh", kept[-1]), negate(kept[max(0, k - 30)]), y]))
    roots = [kept[-1], kept[3], einsum([kept[20], kept[-1]], [(0,), (0,)], ())]
    values = {x: np.array([0.1, 0.2, 0.3]), y: np.array([1.0, -1.0, 0.5])}
    whole = compile_plan(plan_of(*roots))
    monkeypatch.setattr(source, "_STEPS_IN_A_FUNCTION", 7)
    parts = compile_plan(plan_of(*roots))
    assert "def part9(r):" in parts.source
    arrays = [values[leaf] for leaf in leaves(roots)]
    for one, other, expected in zip(whole(*arrays), parts(*arrays), evaluate(roots, values), strict=True):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_allclose(one, expected, rtol=1e-12)


def test_a_deep_plan_compiles_and_runs():
    x = variable("x", (3,), float)
    y = x
    for _ in range(4_000):
        y = apply("sin", negate(y))
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(220)
    try:
        (value,) = compile_plan(plan_of(y))(np.ones(3))
    finally:
        sys.setrecursionlimit(limit)
    assert np.isfinite(value).all()


def test_inputs_are_checked():
    x = variable("x", (3,), np.float32)
    compiled = compile_plan(plan_of(apply("exp", x)))
    with pytest.raises(ShapeError, match=r"shape \(3,\) was given a value of shape \(2,\)"):
        compiled(np.ones(2, np.float32))
    with pytest.raises(ShapeError, match="1 inputs, got 2"):
        compiled(np.ones(3), np.ones(3))
    with pytest.raises(ShapeError, match="dtype complex128"):
        compiled(np.ones(3, complex))
    assert compiled([1, 2, 3])[0].dtype == np.float32


def test_warnings_are_silent(recwarn):
    x = variable("x", (2,), float)
    (value,) = compile_plan(plan_of(apply("log", x)))(np.array([0.0, -1.0]))
    assert np.isneginf(value[0])
    assert np.isnan(value[1])
    assert not list(recwarn)


def test_numbers_beyond_single_precision_are_infinite_without_a_warning():
    x = leaf((3,), np.dtype(np.float32), ("variable", "x"))
    root = scale(1e300, x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plan = compile_plan(make_plan([root], [x]))
    assert "c0 = np.array(1e+300" in plan.source
    (found,) = plan(np.array([1, -1, 0], np.float32))
    np.testing.assert_array_equal(found, np.array([np.inf, -np.inf, np.nan], np.float32))
