"""Products of matrices in which an infinite entry is met only where it is selected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import einsumad as ea
import einsumad.numpy as enp
from einsumad.execution import compile_plan
from einsumad.execution.reference import evaluate
from einsumad.execution.selected import selected_product
from einsumad.functions import apply
from einsumad.graph import Leaf, Node, einsum, fresh_leaf, leaf, zero
from einsumad.planning import Plan, make_plan
from einsumad.planning.kernels import Contract, Selected
from einsumad.planning.selected import with_selections

GENERATOR = np.random.default_rng(5)
INF, NAN = np.inf, np.nan
X = GENERATOR.uniform(0.5, 2.0, (4, 3)) * np.where(GENERATOR.random((4, 3)) < 0.3, 0, 1)
MASK = GENERATOR.random((4, 6)) < 0.5
WEIGHTS = GENERATOR.uniform(0.5, 2.0, (4, 6))
SQUARE = GENERATOR.random((6, 5)) < 0.5
FEW = GENERATOR.random((4, 1, 2, 3)) < 0.3
INPUTS = {"X": X, "m": MASK, "w": WEIGHTS, "n": SQUARE}

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def picked(m: Any, a: Any, b: Any) -> Any:
    """``sum_k where(m[k,i], a[k,i] b[k,j], 0)``, in which ``a`` is spread over j and ``b`` over i."""
    return enp.sum(enp.where(m[:, :, None], a[:, :, None] * b[:, None, :], 0.0), axis=0)


def spread(m: Any, b: Any) -> Any:
    return enp.sum(enp.where(m[:, :, None], b[:, None, :], 0.0), axis=0)


def term_by_term(m: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """``sum_k a[k,i] b[k,j]`` over those k that the mask selects for i, or for i and j."""
    result = np.zeros((a.shape[1], b.shape[1]), np.result_type(a, b))
    for k, i, j in np.ndindex(len(a), *result.shape):
        if m[k, i, j] if m.ndim > 2 else m[k, i]:
            result[i, j] += a[k, i] * b[k, j]
    return result


def ones_by_term(m: np.ndarray, b: np.ndarray) -> np.ndarray:
    return term_by_term(m, np.ones(m.shape, b.dtype), b)


def inverse(p: dict[str, Any]) -> Any:
    """Weights whose reciprocals are infinite in some places."""
    return 1 / (p["w"] * np.roll(MASK, 1, axis=0))


Case = tuple[Callable[[dict[str, Any]], Any], Callable[[dict[str, Any]], Any]]

CASES: dict[str, Case] = {
    "reciprocals": (lambda p: spread(p["m"], 1 / p["X"]), lambda p: ones_by_term(p["m"], 1 / p["X"])),
    "logarithms": (lambda p: spread(p["m"], enp.log(p["X"])), lambda p: ones_by_term(p["m"], np.log(p["X"]))),
    "weighted": (lambda p: picked(p["m"], p["w"], 1 / p["X"]), lambda p: term_by_term(p["m"], p["w"], 1 / p["X"])),
    "both infinite": (
        lambda p: picked(p["m"], inverse(p), 1 / p["X"]),
        lambda p: term_by_term(p["m"], inverse(p), 1 / p["X"]),
    ),
    "both selected": (
        lambda p: picked(p["m"], p["w"], enp.where(p["n"][:4, :3], 1 / p["X"], 0)),
        lambda p: term_by_term(p["m"][:, :, None] & p["n"][:4, None, :3], p["w"], 1 / p["X"]),
    ),
    "selected by the same mask": (
        lambda p: enp.einsum("ki,kj->ij", enp.where(p["m"], inverse(p), 0), enp.where(p["m"], inverse(p), 0)),
        lambda p: term_by_term(p["m"][:, :, None] & p["m"][:, None, :], inverse(p), inverse(p)),
    ),
    "a chain": (
        lambda p: enp.einsum("ki,il,kj->lj", enp.where(p["m"], p["w"], 0), enp.where(p["n"], 1.0, 0), 1 / p["X"]),
        lambda p: term_by_term(p["m"].astype(int) @ p["n"] > 0, np.where(p["m"], p["w"], 0) @ p["n"], 1 / p["X"]),
    ),
    "batches": (
        lambda p: enp.einsum(
            "bki,bkj->bij",
            enp.where(p["m"].reshape(2, 2, 6), p["w"].reshape(2, 2, 6), 0),
            1 / p["X"].reshape(2, 2, 3),
        ),
        lambda p: np.stack([term_by_term(p["m"][s], p["w"][s], 1 / p["X"][s]) for s in (slice(2), slice(2, 4))]),
    ),
    "two summed axes": (
        lambda p: enp.einsum(
            "bki,bkj->ij", enp.where(p["m"].reshape(2, 2, 6), p["w"].reshape(2, 2, 6), 0), 1 / p["X"].reshape(2, 2, 3)
        ),
        lambda p: term_by_term(p["m"], p["w"], 1 / p["X"]),
    ),
    "spread over an axis of the result": (
        lambda p: enp.sum(enp.where(FEW, p["w"].reshape(4, 1, 2, 3) / p["X"][:, :, None, None], 0.0), axis=-1),
        lambda p: np.sum(np.where(FEW, p["w"].reshape(4, 1, 2, 3) / p["X"][:, :, None, None], 0.0), axis=-1),
    ),
    "one row": (lambda p: spread(p["m"][:1], 1 / p["X"][:1]), lambda p: ones_by_term(p["m"][:1], 1 / p["X"][:1])),
    "one column": (lambda p: spread(p["m"][:, :1], 1 / p["X"]), lambda p: ones_by_term(p["m"][:, :1], 1 / p["X"])),
    "no row": (lambda p: spread(p["m"][:0], 1 / p["X"][:0]), lambda _: np.zeros((6, 3))),
    "no column": (lambda p: spread(p["m"][:, :0], 1 / p["X"]), lambda _: np.zeros((0, 3))),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.longdouble])
@pytest.mark.parametrize("name", CASES)
def test_values(name: str, dtype: Any) -> None:
    f, reference = CASES[name]
    given = {**INPUTS, "X": X.astype(dtype), "w": WEIGHTS.astype(dtype)}
    found = ea.compile(f)(given)
    np.testing.assert_allclose(found, reference(given), rtol=max(50 * float(np.finfo(dtype).eps), 1e-13))


APART = np.array([[1, 1, 0, 0, 0, 0], [0, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 0], [0, 0, 0, 0, 1, 1]], bool)
"""What the second row selects, the last two do not: an infinite entry of it is none of theirs."""
PLACE = np.array([[1.0, 2.0, 0.5], [1.5, 0.0, 2.0], [0.7, 1.2, 3.0], [2.5, 0.4, 1.1]])


def whole(X: Any) -> Any:
    return enp.sum(spread(APART, 1 / X) ** 2 * np.arange(1.0, 4))


def alone(X: Any) -> Any:
    """The same of the selected entries of each column, which reads no others."""
    return sum(enp.sum(enp.sum(1 / X[APART[:, i]], axis=0) ** 2 * np.arange(1.0, 4)) for i in range(6))


def check_where_finite(found: Any, expected: Any, rtol: float = 1e-12) -> None:
    found, expected = np.asarray(found), np.asarray(expected)
    finite = np.isfinite(expected)
    assert 0.3 < finite.mean() < 1
    np.testing.assert_allclose(found[finite], expected[finite], rtol=rtol, atol=rtol / 100)


@pytest.mark.parametrize("mode", ["forward", "reverse", "cross-country"])
def test_derivatives_in_each_mode(mode: str) -> None:
    for transform in (ea.jacobian, ea.hessian):
        expected = transform(alone)(PLACE)
        check_where_finite(transform(whole, mode=mode)(PLACE), expected)
        check_where_finite(ea.compile(transform(whole, mode=mode))(PLACE), expected)


@pytest.mark.parametrize("mode", ["forward", "reverse", "cross-country"])
def test_counts_of_what_is_selected_in_entrywise_products(mode: str) -> None:
    """Terms that are not factored have them there, within the axes of the infinite factor."""
    expected = ea.hessian(alone)(PLACE)
    with ea.planner_options(factoring=False):
        check_where_finite(ea.hessian(whole, mode=mode)(PLACE), expected)


@pytest.mark.whole_planner
@pytest.mark.parametrize(("made", "kept"), [("count", True), ("twice the count", True), ("mask as numbers", False)])
def test_a_count_says_more_than_its_masks(made: str, kept: bool) -> None:
    mask = fresh_leaf((4, 4), bool)
    numbers = einsum([mask], [(0, 1)], (0, 1), 1, float)
    count = einsum([numbers, numbers], [(0, 2), (1, 2)], (0, 1))
    twice = einsum([count], [(0, 1)], (0, 1), 2)
    factor = {"count": count, "twice the count": twice, "mask as numbers": numbers}[made]
    quotient = apply("reciprocal", fresh_leaf((4, 4), float))
    (node,) = with_selections([einsum([factor, quotient], [(0, 1), (0, 1)], (0, 1))])
    assert (apply("greater", factor, zero((4, 4), float)) in node.operands) == kept
    assert len(node.operands) == 2 + kept


@pytest.mark.parametrize("mode", ["forward", "reverse", "cross-country"])
def test_masks_that_stand_on_diagonals(mode: str) -> None:
    """Their products with factors of other axes have a mask of three axes of which two are one."""
    x = np.random.default_rng(0).uniform(0.5, 2.0, 3)
    taken = np.arange(9).reshape(3, 3) % 4 != 1

    def f(x: Any) -> Any:
        branch = (x * np.log(x)) * np.ones((3, 1))
        return np.prod(np.where(taken, branch, np.sum(x**2) + np.ones((3, 3))))

    expected = ea.derivative(f, order=3, mode=mode)(x)
    with ea.planner_options(factoring=False):
        np.testing.assert_allclose(ea.derivative(f, order=3, mode=mode)(x), expected, rtol=1e-10)


@pytest.mark.whole_planner
@pytest.mark.parametrize("mode", ["forward", "reverse", "cross-country"])
def test_structures(mode: str) -> None:
    """Terms that are not factored may keep counts and infinite factors apart, as arrays that nobody looks at."""
    expected = ea.hessian(alone)(PLACE)
    check_where_finite(ea.hessian(whole, mode=mode, compressed=True)(PLACE), expected)
    check_where_finite(ea.compile(ea.hessian(whole, mode=mode, compressed=True))(PLACE), expected)


def test_gradients_and_hessians() -> None:
    for transform in (ea.grad, ea.hessian):
        expected = np.asarray(transform(alone)(PLACE))
        check_where_finite(transform(whole)(PLACE), expected)
        check_where_finite(ea.compile(transform(whole))(PLACE), expected)
    found = ea.grad(whole)(PLACE.astype(np.float32))
    assert found.dtype == np.float32
    check_where_finite(found, ea.grad(alone)(PLACE), 1e-5)


def test_derivatives_of_a_jacobian_of_all_columns() -> None:
    """Each column is a sum over the rows that it selects, and has derivatives there."""
    found = ea.jacobian(lambda X: spread(APART, 1 / X))(PLACE)
    expected = np.zeros((6, 3, 4, 3))
    with np.errstate(divide="ignore"):
        slopes = -1 / PLACE**2
    for k, i, j in np.ndindex(4, 6, 3):
        expected[i, j, k, j] = slopes[k, j] if APART[k, i] else 0
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_a_computed_product_of_zero_and_infinity_is_undefined() -> None:
    a = np.array([[0.0, 0.0], [1.0, 2.0]])
    m = np.array([[True, False], [True, True]])
    b = np.array([[0.0, 1.0], [2.0, 4.0]])
    found = ea.compile(lambda m, a, b: picked(m, a, 1 / b))(m, a, b)
    np.testing.assert_array_equal(found, [[NAN, 0.25], [1.0, 0.5]])


def test_infinities_of_both_signs_are_undefined() -> None:
    m = np.array([[True, True, False], [True, False, False]])
    found = ea.compile(lambda m, b: spread(m, 1 / b))(m, np.array([[0.0, 1.0], [-0.0, NAN]]))
    np.testing.assert_array_equal(found, [[NAN, NAN], [INF, 1.0], [0.0, 0.0]])


def test_each_kind_of_term_alone() -> None:
    """Products of all pairs of kinds, selected or not, are what they are one by one."""
    kinds = np.array([0.0, -0.0, 1.5, -2.0, INF, -INF, NAN])
    for left in (True, False):
        for right in (True, False):
            p, q = np.full((7, 1), left), np.full((1, 7), right)
            found = selected_product([kinds[:, None], kinds[None, :], p, q], [(0, 2), (2, 1), (0, 2), (2, 1)], 2)
            with np.errstate(invalid="ignore"):
                expected = kinds[:, None] * kinds if left and right else np.zeros((7, 7))
            np.testing.assert_array_equal(found, expected)


def plan_of(roots: list[Node], values: dict[Leaf, Any]) -> Plan:
    return make_plan(roots, list(values))


def product(values: dict[Leaf, Any], *, infinite: bool, masked: bool) -> Node:
    def of(x: Any) -> Leaf:
        node = leaf(x.shape, x.dtype, ("variable", f"x{len(values)}"), f"x{len(values)}")
        values[node] = x
        return node

    b = of(X)
    operands: list[Node] = [of(WEIGHTS), apply("reciprocal", b) if infinite else b]
    inputs = [(2, 0), (2, 1)]
    if masked:
        operands.append(of(MASK))
        inputs.append((2, 0))
    return einsum(operands, inputs, (0, 1), 1, np.dtype(float))


@pytest.mark.parametrize(("infinite", "masked"), [(True, True), (True, False), (False, True)])
def test_masks_stay_only_where_they_matter(infinite: bool, masked: bool) -> None:
    values: dict[Leaf, Any] = {}
    root = product(values, infinite=infinite, masked=masked)
    plan = plan_of([root], values)
    kinds = [type(step.kernel) for step in plan.steps]
    assert (Selected in kinds) == (infinite and masked)
    assert (Contract in kinds) != (Selected in kinds)
    np.testing.assert_allclose(compile_plan(plan)(*values.values()), evaluate([root], values), rtol=1e-13)


def test_the_text_shows_the_masks() -> None:
    values: dict[Leaf, Any] = {}
    text = str(plan_of([product(values, infinite=True, masked=True)], values))
    assert "= sum_k [t2[k,i]] t5[k,i] t6[k,j]  float64(6, 3)  144 flops" in text


@pytest.mark.whole_planner
def test_a_mask_as_numbers_is_looked_at_by_none() -> None:
    """The slopes of a network of rectifiers stand beside what exponentials may make infinite."""
    weights = np.random.default_rng(0).normal(size=(4, 5, 5))

    def loss(first: Any) -> Any:
        a = np.ones((6, 5))
        for weight in (first, *weights):
            a = np.maximum(a @ weight, 0)
        return np.sum(np.log(np.sum(np.exp(a), axis=1))) - np.sum(a)

    text = str(ea.explain(ea.value_and_grad(loss), weights[0]))
    assert "!= 0" in text
    assert "> 0" not in text


@pytest.mark.whole_planner
def test_a_selected_gram_matrix_is_one_triangle() -> None:
    """Its product of matrices is symmetric, and stays so where terms are left out."""
    size = (160, 170)
    a, m = GENERATOR.uniform(0.5, 2.0, size), GENERATOR.random(size) < 0.9
    a[3, 4] = a[7, 9] = 0

    def f(a: Any, m: Any) -> Any:
        b = enp.where(m, 1 / a, 0)
        return b.T @ b

    with np.errstate(divide="ignore"):
        b = 1 / a
    expected = np.where(m, np.where(a > 0, b, 0), 0)
    expected = expected.T @ expected
    for k, i in ((3, 4), (7, 9)):
        expected[i, m[k]] = expected[m[k], i] = INF if m[k, i] else expected[i, m[k]]
    assert "sum_k [t0[k,i]] [t0[k,j]] t5[k,i] t5[k,j], symmetric" in str(ea.explain(f, a, m))
    found = ea.compile(f)(a, m)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_array_equal(found, found.T)


@pytest.mark.parametrize("name", ["weighted", "batches", "a chain"])
def test_in_loops(name: str) -> None:
    pytest.importorskip("numba")
    f, reference = CASES[name]
    np.testing.assert_allclose(ea.compile(f, numba=True)(INPUTS), reference(INPUTS), rtol=1e-13)


def test_a_plan_in_parts() -> None:
    x, m, w = (np.tile(array, (100, 1)) for array in (X, MASK, WEIGHTS))
    given = {"X": x, "m": m, "w": w}
    f, reference = CASES["weighted"]
    limited = ea.compile(f, memory_limit=12_000)
    np.testing.assert_allclose(limited(given), reference(given), rtol=1e-12)
