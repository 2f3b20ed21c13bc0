"""The oracle itself, against values worked out by hand and against np.einsum."""

from fractions import Fraction

import numpy as np
import pytest

from einsumad.execution.reference import evaluate
from einsumad.functions import apply
from einsumad.graph import add, affine, einsum, leaf, ones, selection, unit, zero


def variable(name, *shape, dtype=float):
    return leaf(shape, dtype, ("variable", name), name)


def test_product_agrees_with_numpy():
    rng = np.random.default_rng(0)
    a, b = variable("a", 3, 4, 3), variable("b", 4, 5)
    x, y = rng.normal(size=(3, 4, 3)), rng.normal(size=(4, 5))
    node = einsum([a, b], [(0, 1, 0), (1, 2)], (2, 0), 2)
    (value,) = evaluate([node], {a: x, b: y})
    np.testing.assert_allclose(value, 2 * np.einsum("iji,jk->ki", x, y))


def test_a_mask_selects_before_anything_is_summed():
    mask, a, b = variable("m", 3, dtype=bool), variable("a", 3), variable("b", 3, 2)
    node = einsum([mask, a, b], [(0,), (0,), (0, 1)], (1,))
    values = {mask: [True, False, True], a: [1, np.inf, 2], b: [[1, 2], [0, np.nan], [3, 4]]}
    np.testing.assert_array_equal(evaluate([node], values)[0], [7, 10])


def test_structural_tensors():
    index = variable("i", 2, dtype=int)
    nodes = [
        unit(2, 3, float),
        ones((2,), bool),
        zero((2, 1), np.float32),
        affine(3, (2,), (-1,), 2, float),
        selection(index, 3, int),
    ]
    values = evaluate(nodes, {index: [2, 0]})
    assert [v.dtype for v in values] == [n.dtype for n in nodes]
    assert values[0].nonzero()[0].tolist() == [0, 1]
    assert values[0].sum() == 2
    assert values[1].tolist() == [True, True]
    assert values[2].tolist() == [[0], [0]]
    assert values[3].tolist() == [[0, 0], [0, 1], [1, 0]]
    assert values[4].tolist() == [[0, 0, 1], [1, 0, 0]]


def test_a_structural_zero_wins_over_nan():
    a = variable("a", 2)
    diagonal = einsum([a, unit(2, 2, float)], [(0,), (0, 1)], (0, 1))
    value = evaluate([diagonal], {a: [np.nan, np.inf]})[0]
    assert value[0, 1] == value[1, 0] == 0
    assert np.isnan(value[0, 0])


def test_exact_numbers():
    a, b = variable("a", 2, dtype=int), variable("b", 2, dtype=int)
    big = 10**30
    product = einsum([a, b], [(0,), (0,)], ())
    half = einsum([a, ones((), float)], [(0,), ()], (0,), 0.5, float)
    third = apply("reciprocal", apply("square", a))
    values = {a: [big, 3], b: [big, 1]}
    dot, halves, thirds = evaluate([product, half, third], values, exact=True)
    assert dot == big**2 + 3
    assert halves.tolist() == [Fraction(big, 2), Fraction(3, 2)]
    assert thirds.tolist() == [Fraction(1, big**2), Fraction(1, 9)]


def test_exact_refuses_what_is_not_rational():
    a = variable("a")
    with pytest.raises(TypeError, match="exp leaves the rational numbers"):
        evaluate([apply("exp", a)], {a: 1}, exact=True)


def test_sum_and_functions_keep_the_dtype():
    a, m = variable("a", 2, dtype=np.float32), variable("m", 2, dtype=bool)
    nodes = [apply("exp", a), add([a, apply("tanh", a)]), einsum([m], [(0,)], (0,), 2, np.float32)]
    values = evaluate(nodes, {a: [0, 1], m: [True, False]})
    assert {v.dtype for v in values} == {np.dtype(np.float32)}
    assert values[2].tolist() == [2, 0]
