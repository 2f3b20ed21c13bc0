"""Masks on factors that may be infinite: only there, and only what says where the rest of the product is not zero."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad.execution import compile_plan
from einsumad.execution.reference import evaluate
from einsumad.functions import apply, call, elementwise_function, stays_finite, value_function
from einsumad.functions.finite import FINITE
from einsumad.graph import BOOL, Einsum, Leaf, Node, add, affine, einsum, leaf, multiply, ones, selection, unit
from einsumad.graph.verify import verify
from einsumad.planning import make_plan
from einsumad.planning.guards import guarded
from einsumad.planning.primitives import is_mask


def variable(name: str, *shape: int, dtype: Any = float) -> Leaf:
    return leaf(shape, dtype, ("variable", name), name)


x, A, m, n = variable("x", 3), variable("A", 2, 3), variable("m", 2, dtype=BOOL), variable("n", 3, dtype=BOOL)
LOG, TANH = apply("log", x), apply("tanh", x)
SUM = einsum([m, A], [(0,), (0, 1)], (1,))
SHIFT = affine(3, [3], [1], 1, float)


def with_factor(factor: Node) -> dict[str, Node]:
    """Products in which a sum over selected terms, or over no terms, meets the factor."""
    return {
        "a sum": multiply(SUM, factor),
        "in one product": einsum([m, A, factor], [(0,), (0, 1), (1,)], (1,)),
        "over other indices": einsum([m, factor], [(0,), (1,)], (1,)),
        "two sums": multiply(add([SUM, einsum([n, A], [(1,), (0, 1)], (1,))]), factor),
        "a sum that an index leads to": multiply(einsum([SHIFT, TANH], [(0, 1), (1,)], (0,)), factor),
        "a diagonal and another": einsum(
            [add([einsum([unit(3, 2, float), SUM], [(0, 1), (0,)], (0, 1)), SHIFT]), factor], [(0, 1), (0,)], (0, 1)
        ),
    }


@pytest.mark.parametrize("name", with_factor(LOG))
def test_nothing_is_added_for_finite_factors(name: str) -> None:
    node = with_factor(TANH)[name]
    assert guarded([node]) == (node,)


def run(node: Node, values: dict[Leaf, Any]) -> Any:
    inputs = list(values)
    return compile_plan(make_plan([node], inputs))(*values.values())[0]


@pytest.mark.parametrize("name", with_factor(LOG))
def test_where_nothing_is_selected_the_product_is_zero(name: str) -> None:
    """At the place where the factor is infinite the product is what it is beside a finite factor: zero."""
    node = with_factor(LOG)[name]
    verify(guarded([node]))
    nothing = {A: np.ones((2, 3)), m: np.zeros(2, bool), n: np.zeros(3, bool)}
    expected = evaluate([node], nothing | {x: np.array([1.0, 1.0, 2.0])})[0]
    assert np.array_equal(run(node, nothing | {x: np.array([0.0, 1.0, 2.0])}), expected)


@pytest.mark.parametrize("name", with_factor(LOG))
def test_values_stay(name: str) -> None:
    node = with_factor(LOG)[name]
    values = {A: np.ones((2, 3)), m: np.array([True, False]), n: np.array([True, False, True]), x: np.arange(1.0, 4)}
    assert guarded([node]) != (node,)
    np.testing.assert_allclose(run(node, values), evaluate([node], values)[0], rtol=1e-12)


@pytest.mark.parametrize("name", sorted(FINITE))
def test_functions_that_count_as_finite_are(name: str) -> None:
    points = np.array([-1e30, -700.0, -1.0, -1e-30, 0.0, 1e-30, 1.0, 700.0, 1e30])
    arity = elementwise_function(name).arity
    params = (1,) if name == "round_decimals" else ()
    assert np.isfinite(value_function(name, params, arity)(*np.meshgrid(*[points] * arity))).all()


@pytest.mark.parametrize(("exponent", "finite"), [(3, True), (0.5, False), (-2, False)])
def test_powers_with_whole_exponents_stay_finite(exponent: float, finite: bool) -> None:
    assert stays_finite(apply("power", x, params=(exponent,))) is finite


SQUARE = apply("square", x)
ONE = ones((3,), float)
TWICE = einsum([ONE], [(0,)], (0,), 2)


@pytest.mark.parametrize(
    ("node", "finite"),
    [
        (apply("sqrt", x), False),
        (apply("sqrt", SQUARE), True),
        (apply("norm_root", add([SQUARE, ONE])), True),
        (apply("power", SQUARE, params=(1.5,)), True),
        (apply("power", SQUARE, params=(-0.5,)), False),
        (apply("power", add([SQUARE, TWICE]), params=(-0.5,)), True),
        (apply("reciprocal", SQUARE), False),
        (apply("reciprocal", add([SQUARE, ONE])), True),
        (apply("reciprocal", add([x, ONE])), False),
        (apply("reciprocal", add([SQUARE, einsum([ONE], [(0,)], (0,), -2)])), False),
        (apply("reciprocal", apply("maximum_constant", x, TWICE)), True),
        (apply("reciprocal", apply("maximum", x, ONE)), True),
        (apply("reciprocal", apply("maximum", x, SQUARE)), False),
        (apply("reciprocal", apply("minimum", x, ONE)), False),
    ],
)
def test_roots_and_quotients_stay_finite_where_signs_are_known(node: Node, finite: bool) -> None:
    assert stays_finite(node) is finite


@pytest.mark.parametrize("name", with_factor(LOG))
def test_nothing_is_added_for_a_scale_that_cannot_be_infinite(name: str) -> None:
    node = with_factor(apply("reciprocal", apply("maximum_constant", apply("norm_root", SQUARE), ONE)))[name]
    assert guarded([node]) == (node,)


def test_a_softmax_stays_finite() -> None:
    z = variable("z", 2, 3)
    lower = einsum([call("logsumexp", z), ones((3,), float)], [(0,), (1,)], (0, 1), -1)
    assert not stays_finite(apply("exp", z))
    assert stays_finite(apply("exp", add([z, lower])))


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse", "cross-country"])
def test_two_maps_that_give_one_index_may_lead_nowhere(mode: Any) -> None:
    """A gather with duplicates of constants and of the variable: only what the variable reaches is looked at."""
    x = np.array([1.0, 2.0])

    def f(x: Any) -> Any:
        return np.sum(np.sqrt(np.concatenate([np.zeros(2), x, x[:1]])[[0, 2, 4, 3]]))

    expected = np.diag([-0.5, -0.25 * 2**-1.5])
    np.testing.assert_allclose(ea.derivative(f, order=2, mode=mode)(x), expected, atol=1e-15)


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse", "cross-country"])
def test_a_slice_of_constants_alone_among_what_is_gathered(mode: Any) -> None:
    places = np.array([[2, 1, 0], [3, 2, 1]])

    def f(x: Any) -> Any:
        padded = np.concatenate([np.concatenate([x[:1], np.zeros(2)])[1:], x])
        return np.sum(padded[places] ** 2)

    found = ea.derivative(f, order=2, mode=mode)(np.array([1.0, 2.0]))
    np.testing.assert_array_equal(found, np.diag([4.0, 2.0]))


@pytest.mark.parametrize(("largest", "beaten"), [("max_reduce", "less"), ("min_reduce", "greater")])
def test_one_over_a_count_of_ties_stays_finite(largest: str, beaten: str) -> None:
    """An extremum is reached by at least one entry; by none of others, and a level of others may be out of reach."""
    z, other = variable("z", 2, 3), variable("other", 2, 3)

    def share(entries: Node, level: Node, *, coefficient: float = 1) -> Node:
        spread = einsum([level, ones((3,), float)], [(0,), (1,)], (0, 1), coefficient)
        reached = apply("logical_not", apply(beaten, entries, spread))
        return apply("reciprocal", einsum([reached], [(0, 1)], (0,), 1, float))

    assert stays_finite(share(z, call(largest, z)))
    assert not stays_finite(share(z, call(largest, other)))
    assert not stays_finite(share(z, call(largest, z), coefficient=2))
    opposite = "min_reduce" if largest == "max_reduce" else "max_reduce"
    assert not stays_finite(share(z, call(opposite, z)))
    square = variable("square", 3, 3)
    level = einsum([call(largest, square), ones((3,), float)], [(1,), (0,)], (0, 1))  # of the rows, laid along columns
    reached = apply("logical_not", apply(beaten, square, level))
    assert not stays_finite(apply("reciprocal", einsum([reached], [(0, 1)], (1,), 1, float)))


def test_the_gradient_of_pooled_windows_needs_no_masks_but_those_of_ties() -> None:
    z = np.arange(16.0).reshape(4, 4) % 5
    c = np.array([[1.0, 2.0], [3.0, 4.0]])

    def f(z: Any) -> Any:
        return np.sum(c * np.max(z.reshape(2, 2, 2, 2), axis=(1, 3)))

    assert not [step for step in ea.explain(ea.grad(f), z).plan.steps if "greater" in str(step.kernel)]
    blocks = z.reshape(2, 2, 2, 2)
    reached = blocks == blocks.max(axis=(1, 3), keepdims=True)
    expected = c[:, None, :, None] * reached / reached.sum(axis=(1, 3), keepdims=True)
    np.testing.assert_allclose(ea.grad(f)(z), expected.reshape(4, 4), rtol=1e-15)


def test_a_product_by_itself_takes_no_mask() -> None:
    """Where the one factor is zero by selection, the other is too."""
    y = einsum([SUM, apply("reciprocal", variable("scale"))], [(0,), ()], (0,))
    (safe,) = guarded([y])
    assert safe != y
    assert guarded([multiply(y, y)]) == (multiply(safe, safe),)


def test_what_a_mask_does_not_reach_is_multiplied_first_by_what_lies_between() -> None:
    """``out[k] = Σ over o, a of log(x)[o] w[o, a] mask[a, k] r[a, k]``: the mask selects from ``log(x) w``."""
    w, mask, r = variable("w", 3, 2), variable("mask", 2, 4, dtype=BOOL), variable("r", 2, 4)
    node = einsum([LOG, w, mask, r], [(1,), (1, 2), (2, 0), (2, 0)], (0,))
    (new,) = guarded([node])
    assert isinstance(new, Einsum)
    assert einsum([LOG, w], [(0,), (0, 1)], (1,)) in new.operands
    assert not [operand for operand in new.operands if is_mask(operand) and operand is not mask]
    verify((new,))
    values = np.array([0.0, 2.0, 3.0]), np.arange(6.0).reshape(3, 2) + 1, np.zeros((2, 4), bool), np.ones((2, 4))
    values[2][1, 2] = True
    values[1][0, 1] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.log(values[0])[:, None, None] * values[1][:, :, None] * values[3]
    expected = np.where(values[2], terms, 0).sum((0, 1))
    assert np.isnan(expected[2])
    assert not expected[[0, 1, 3]].any()
    np.testing.assert_array_equal(run(node, dict(zip((x, w, mask, r), values, strict=True))), expected)


def test_a_mask_that_all_factors_hold_is_left_out() -> None:
    """``log(x)²``: the logarithm is selected where it is made, and zero elsewhere. An input may be anything there."""
    chosen = multiply(n, LOG)
    product = einsum([n, chosen, chosen], [(0,), (0,), (0,)], (0,))
    assert guarded([product]) == (multiply(chosen, chosen),)
    for other in (x, apply("log", x)):
        beside = einsum([n, chosen, other], [(0,), (0,), (0,)], (0,))
        assert guarded([beside]) == (beside,)


def test_numbers_beside_factors_that_hold_a_mask_are_selected_by_themselves() -> None:
    flag, number = variable("flag", dtype=BOOL), variable("number")
    chosen = einsum([flag, LOG], [(), (0,)], (0,))
    product = einsum([flag, number, chosen, chosen], [(), (), (0,), (0,)], (0,))
    selected = einsum([flag, number], [(), ()], ())
    assert guarded([product]) == (einsum([selected, chosen, chosen], [(), (0,), (0,)], (0,)),)


def test_what_is_picked_takes_no_mask_of_where_it_is_picked() -> None:
    """``out[r] = log(A)[i, j]`` where ``3 i + j = k[r]``: it is read there, and nothing is spread over A."""
    k = leaf((5,), int, ("variable", "k"), "k")
    numbered, picked = affine(6, [2, 3], [3, 1], 0, float), selection(k, 6, float)
    node = einsum([apply("log", A), numbered, picked], [(1, 2), (3, 1, 2), (0, 3)], (0,))
    assert guarded([node]) == (node,)
    spread = einsum([apply("log", A), numbered, picked], [(0, 1), (3, 0, 1), (2, 3)], (0, 1))
    assert guarded([spread]) != (spread,)


def test_what_is_picked_by_summed_indices_is_read_before_it_meets_a_count() -> None:
    """``sum_r [q = k[r]] w[r] log(A)[i, j] B[q]`` where ``q = 3 i + j``: a count is zero where nothing is picked."""
    k, w, others = leaf((4,), int, ("variable", "k"), "k"), variable("w", 4), variable("B", 6)
    numbered, picked = affine(6, [2, 3], [3, 1], 0, float), selection(k, 6, float)
    inputs = [(1, 2), (0, 1, 2), (3, 0), (3,), (0,)]
    node = einsum([apply("log", A), numbered, picked, w, others], inputs, (0,))
    (found,) = guarded([node])
    assert isinstance(found, Einsum)
    read = einsum([apply("log", A), numbered, picked], [(1, 2), (3, 1, 2), (0, 3)], (0,))
    assert read in found.operands
    values = {
        A: np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 5.0]]),
        k: np.array([1, 3, 3, 5]),
        w: np.arange(1.0, 5),
        others: np.ones(6),
    }
    np.testing.assert_allclose(run(node, values), [0, 0, 0, 5 * np.log(3), 0, 4 * np.log(5)], rtol=1e-14)
