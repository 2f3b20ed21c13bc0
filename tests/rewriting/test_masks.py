"""NaN is not lost, and a mask keeps infinity out: the normal form against the expression as it stands."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from einsumad.execution.reference import evaluate
from einsumad.functions import apply, call
from einsumad.graph import BOOL, Leaf, Node, Zero, add, einsum, leaf, leaves, multiply, scale, topological, unit
from einsumad.rewriting import normalise
from tests.strategies import POSITIVE, Program, affordable, programs

MANY = settings(max_examples=max(250, settings().max_examples))
SEEDS = st.integers(0, 255)


def variable(name: str, *shape: int, dtype: Any = float) -> Leaf:
    return leaf(shape, dtype, ("variable", name), name)


def normal(node: Node) -> Node:
    return normalise([node])[0]


def both(root: Node, values: dict[Leaf, Any]) -> tuple[Any, Any]:
    before, after = evaluate([root, normal(root)], values)
    return before, after


def replaced(program: Program, seed: int, value: float, positive: bool) -> dict[Leaf, Any]:
    """The values of the leaves with two in five replaced."""
    generator = np.random.default_rng(seed)
    found: dict[Leaf, Any] = {}
    for node, held in program.values.items():
        if node.dtype.kind == "f":
            where = generator.uniform(size=held.shape) < 0.4
            found[node] = np.where(where, value, np.abs(held) + 0.5 if positive else held)
        else:
            found[node] = held
    return found


@pytest.mark.fuzz
@MANY
@given(
    programs(
        ("product", "sum", "everywhere", "smooth", "kinked"), most_rank=3, coefficients=POSITIVE, factors=("ones",)
    ),
    SEEDS,
)
def test_nan_is_not_lost(program: Program, seed: int) -> None:
    """Where nothing selects and nothing cancels, a result that is NaN stays NaN."""
    found = normal(program.root)
    affordable(topological([program.root, found]))
    before, after = evaluate([program.root, found], replaced(program, seed, np.nan, False))
    assert np.isnan(after[np.isnan(before)]).all()


@pytest.mark.fuzz
@MANY
@given(programs(("product", "choice", "sum"), most_rank=3, coefficients=POSITIVE), SEEDS)
def test_infinity_is_kept_out(program: Program, seed: int) -> None:
    """Of positive numbers and infinities every NaN is a 0 · inf: rewriting makes none that was not there."""
    found = normal(program.root)
    affordable(topological([program.root, found]))
    before, after = evaluate([program.root, found], replaced(program, seed, np.inf, True))
    known = ~np.isnan(before)
    np.testing.assert_allclose(after[known], before[known], rtol=1e-10)


x, y, A, B = variable("x", 3), variable("y", 3), variable("A", 3, 3), variable("B", 3, 3)
m, n, k = variable("m", 3, dtype=BOOL), variable("n", 3, dtype=BOOL), variable("k", 3, 3, dtype=BOOL)
YES, NO = np.array([True, False, False]), np.array([False, True, False])
HUGE = np.array([2.0, np.inf, np.inf])


def test_common_factors_of_masked_terms() -> None:
    """``x [m] + x [n] y`` where neither is true and x is infinite."""
    root = add([multiply(x, m), multiply(x, n, y)])
    before, after = both(root, {x: HUGE, y: np.ones(3), m: YES, n: NO})
    np.testing.assert_array_equal(before, [2, np.inf, 0])
    np.testing.assert_array_equal(after, before)


def test_common_factors_of_terms_whose_masks_are_summed() -> None:
    """``Σ_k x[i] A[i,k] [k[i,k]] + Σ_k x[i] B[i,k] [k'[i,k]]`` where no entry is selected in a row of infinite x."""
    other = apply("logical_not", k)
    root = add(
        [
            einsum([x, A, k], [(0,), (0, 1), (0, 1)], (0,)),
            einsum([x, B, other, m], [(0,), (0, 1), (0, 1), (1,)], (0,)),
        ]
    )
    nothing = np.zeros((3, 3), bool)
    nothing[2] = True
    values = {x: HUGE, A: np.ones((3, 3)), B: np.ones((3, 3)), k: nothing, m: np.zeros(3, bool)}
    before, after = both(root, values)
    np.testing.assert_array_equal(before, [0, 0, np.inf])
    np.testing.assert_array_equal(after, before)


def test_a_factor_stays_with_the_mask_that_selects_it() -> None:
    """``Σ_k x[i] A[i,k] [k[i,k]] C[k,j]``: x is not pulled out of the sum, which is zero where nothing is selected."""
    C, D = variable("C", 3, 3), variable("D", 3, 3)
    terms = [einsum([x, M, k, N], [(0,), (0, 1), (0, 1), (1, 2)], (0, 2)) for M, N in ((A, C), (B, D))]
    nothing = np.zeros((3, 3), bool)
    nothing[2] = True
    values = {x: HUGE, k: nothing, **{M: np.ones((3, 3)) for M in (A, B, C, D)}}
    before, after = both(add(terms), values)
    np.testing.assert_array_equal(before[:, 0], [0, 0, np.inf])
    np.testing.assert_array_equal(after, before)


def test_masks_on_different_axes() -> None:
    """``A (x[i] [m[i]] y[j] + y[i] [n[j]] x[j])``: zero outside the union of a row and a column."""
    inner = add(
        [
            einsum([x, y, m], [(0,), (1,), (0,)], (0, 1)),
            einsum([y, x, n], [(0,), (1,), (1,)], (0, 1)),
        ]
    )
    root = multiply(A, inner)
    values = {x: np.ones(3), y: np.ones(3), m: YES, n: NO, A: np.full((3, 3), np.inf)}
    found = normal(root)
    assert normal(found) is found
    after = evaluate([found], values)[0]
    outside = ~(YES[:, None] | NO[None, :])
    np.testing.assert_array_equal(after[outside], 0)
    assert np.isinf(after[~outside]).all()


def test_a_mask_on_a_diagonal_is_carried() -> None:
    """``A (Σ terms selected by k[i,i])``: a mask with a repeated index in the disjunction."""
    inner = add([multiply(x, m), einsum([y, k], [(0,), (0, 0)], (0,))])
    root = multiply(x, inner, y)
    found = normal(root)
    assert normal(found) is found
    values = {x: HUGE, y: np.ones(3), m: YES, k: np.diag(NO)}
    after = evaluate([found], values)[0]
    np.testing.assert_array_equal(after, [4, np.inf, 0])


def test_a_mask_that_is_spread_selects_as_it_is() -> None:
    """A mask laid out over further axes is opened: the product holds the mask itself."""
    spread = einsum([m, einsum([n], [(0,)], (0,), 1, BOOL)], [(0,), (1,)], (1, 0), 1, BOOL)
    found = normal(multiply(A, spread))
    assert {m, n} <= set(found.operands)
    values = {A: np.full((3, 3), np.inf), m: YES, n: NO}
    before, after = both(multiply(A, spread), values)
    np.testing.assert_array_equal(after, before)


def test_a_mask_and_its_complement_exclude_each_other() -> None:
    root = multiply(m, x, apply("logical_not", m))
    assert isinstance(normal(root), Zero)


def test_masked_derivatives_that_are_factored_come_to_an_end() -> None:
    """Shared masked factors in sums of products, where pulling the mask out and sharing it again made a circle."""
    t = apply("tanh", multiply(x, m))
    shared = multiply(t, m)
    terms = [multiply(shared, v, m) for v in (x, y)]
    root = add(
        [
            *terms,
            multiply(shared, apply("exp", y), add(terms)),
            einsum([shared, unit(3, 2, float)], [(1,), (1, 0)], (0,)),
        ]
    )
    found = normal(root)
    assert normal(found) is found
    values = {x: np.array([0.5, 1, 2]), y: np.array([1.0, 2, 3]), m: YES}
    before, after = both(root, values)
    np.testing.assert_allclose(after, before)


def test_a_scalar_mask_in_an_inverse_comes_to_an_end() -> None:
    """The smallest graph on which pulling a mask out of a sum went on for ever."""
    z = variable("z", 2)
    truth = apply("greater", variable("t"), variable("t"))
    t = apply("tanh", einsum([z, truth], [(0,), ()], (0,)))
    inverse = call("inverse", add([einsum([t, t], [(0,), (1,)], (0, 1), 0.5), scale(2, _eye())]))
    squared = einsum([inverse, truth, t], [(0, 1), (), (1,)], (0,))
    root = add([multiply(squared, t), einsum([squared, truth, z], [(0,), (), (0,)], (0,), 2)])
    found = normal(root)
    assert normal(found) is found


def _eye() -> Node:
    return einsum([unit(2, 2, float)], [(0, 1)], (0, 1))


@pytest.mark.parametrize(
    "exponents", [(0.5, 0.5), (1.5, 0.5), (0.25, 0.75), (-0.5, -0.5), (-0.5, -1.5), (2.5, 3), (5, 7)], ids=str
)
def test_merged_powers_are_undefined_where_the_powers_are(exponents: tuple[float, float]) -> None:
    """``x**0.5 x**0.5`` is not x: below zero it is not defined."""
    root = multiply(*[apply("power", x, params=(p,)) for p in exponents])
    before, after = both(root, {x: np.array([-2.0, 0.0, 3.0])})
    np.testing.assert_allclose(after, before, rtol=1e-12)


@pytest.mark.parametrize("function", ["sqrt", "norm_root"])
def test_squared_roots_of_what_may_be_negative(function: str) -> None:
    root = multiply(apply(function, x), apply(function, x))
    before, after = both(root, {x: np.array([-2.0, 0.0, 3.0])})
    if function == "sqrt":
        np.testing.assert_allclose(after, before)
    assert after[1] == 0
    assert normal(multiply(*[apply("sqrt", multiply(x, x))] * 2)) is normal(multiply(x, x))


def test_products_of_a_base_and_its_reciprocal_stay_undefined_at_zero() -> None:
    root = multiply(x, apply("reciprocal", x))
    before, after = both(root, {x: np.array([0.0, 1.0, np.inf])})
    np.testing.assert_array_equal(np.isnan(after), np.isnan(before))


def test_leaves_are_found_again() -> None:
    assert set(leaves([normal(multiply(x, y, m))])) == {x, y, m}
