"""Entrywise products that hold another one whole read it, in an order that overflows no more than before."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import einsumad as ea
from einsumad.execution.reference import evaluate
from einsumad.functions import apply
from einsumad.graph import Einsum, einsum, topological
from einsumad.planning.contained import share_contained
from tests.planning.products import random_values, variable

N = 3
A, B, C = (variable(name, (N, N), float) for name in "abc")
ROW = variable("r", (N,), float)
SINE = apply("sin", A)
ONE_OVER = apply("reciprocal", C)
VALUES = {node: random_values(np.random.default_rng(k), node.shape, float) + 3 for k, node in enumerate((A, B, C, ROW))}
HERE = (0, 1)


def entrywise(*factors):
    """The product of tensors with these labels."""
    operands, inputs = zip(*factors, strict=True)
    return einsum(operands, inputs, HERE)


def reads(root, inner):
    """Whether a product with an operand that is the other product."""
    return any(isinstance(node, Einsum) and inner in node.operands for node in topological([root]))


def test_the_product_that_is_held_is_an_operand():
    inner = entrywise((SINE, HERE), (B, HERE))
    outer = entrywise((B, HERE), (C, HERE), (SINE, HERE), (B, HERE))
    for roots in ([inner, outer], [outer, inner]):
        found = dict(zip(roots, share_contained(roots), strict=True))
        assert found[inner] is inner
        assert sorted(node.name for node in found[outer].operands if node is not inner) == ["b", "c"]
        assert reads(found[outer], inner)
        expected = np.sin(VALUES[A]) * VALUES[B] ** 2 * VALUES[C]
        np.testing.assert_allclose(evaluate([found[outer]], VALUES)[0], expected, rtol=1e-14)


def test_it_may_be_turned_and_have_fewer_axes():
    inner = entrywise((apply("sin", B), HERE), (ROW, (0,)))
    outer = entrywise((A, HERE), (ROW, (1,)), (apply("sin", B), (1, 0)))
    _, found = share_contained([inner, outer])
    assert reads(found, inner)
    expected = VALUES[A] * (np.sin(VALUES[B]) * VALUES[ROW][:, None]).T
    np.testing.assert_allclose(evaluate([found], VALUES)[0], expected, rtol=1e-14)


def test_the_largest_is_read_which_reads_the_smaller():
    small = entrywise((SINE, HERE), (B, HERE))
    middle = entrywise((SINE, HERE), (B, HERE), (C, HERE))
    large = entrywise((SINE, HERE), (B, HERE), (C, HERE), (ROW, (0,)))
    _, _, found = share_contained([small, middle, large])
    assert len(found.operands) == 2
    assert reads(found, small)


@pytest.mark.parametrize(
    ("inner", "outer"),
    [
        pytest.param(((SINE, HERE), (SINE, HERE)), ((SINE, HERE), (SINE, HERE), (B, HERE)), id="squares first"),
        pytest.param(((SINE, HERE), (B, HERE)), ((SINE, HERE), (B, HERE), (ONE_OVER, HERE)), id="before a reciprocal"),
        pytest.param(((A, HERE), (B, HERE)), ((A, HERE), (B, HERE), (C, HERE)), id="of inputs"),
        pytest.param(((SINE, HERE), (B, HERE)), ((SINE, HERE), (B, (1, 0)), (C, HERE)), id="turned"),
    ],
)
def test_what_stays(inner, outer):
    roots = (entrywise(*inner), entrywise(*outer))
    assert share_contained(roots) == roots


def test_masks_stay_where_they_are():
    """One product has a mask: nothing of it is read again. One that holds another beside a mask keeps the mask."""
    mask = apply("greater", A, B)
    masked, outer = entrywise((SINE, HERE), (mask, HERE)), entrywise((SINE, HERE), (C, HERE), (mask, HERE))
    assert share_contained([masked, outer]) == (masked, outer)
    inner = entrywise((SINE, HERE), (C, HERE))
    _, found = share_contained([inner, outer])
    assert set(found.operands) == {inner, mask}


@st.composite
def several(draw):
    """Entrywise products of few tensors, so that some hold others."""
    pool = [(SINE, HERE), (SINE, (1, 0)), (B, HERE), (B, (1, 0)), (ROW, (0,)), (ROW, (1,)), (ONE_OVER, HERE), (C, HERE)]
    full = [pair for pair in pool if len(pair[1]) == 2]
    count = draw(st.integers(2, 5))
    return [
        entrywise(draw(st.sampled_from(full)), *draw(st.lists(st.sampled_from(pool), min_size=1, max_size=5)))
        for _ in range(count)
    ]


@pytest.mark.fuzz
@given(several())
def test_random_products(roots):
    found = share_contained(roots)
    for expected, value in zip(evaluate(roots, VALUES), evaluate(found, VALUES), strict=True):
        np.testing.assert_allclose(value, expected, rtol=1e-12)


def test_value_and_gradient_of_a_masked_factorisation():
    """The residual times its mask is made once; nothing overflows that is finite by hand."""
    rng = np.random.default_rng(0)
    target, mask, left, right = (
        rng.normal(size=(9, 8)),
        rng.random((9, 8)) < 0.5,
        rng.random((9, 2)),
        rng.random((8, 2)),
    )
    weights = mask * 1e-160

    def loss(left):
        return np.sum((weights * (target - left @ right.T)) ** 2)

    value, gradient = ea.value_and_grad(loss)(left)
    residual = weights * (target - left @ right.T)
    np.testing.assert_allclose(value, np.sum(residual**2), rtol=1e-12, atol=0)
    np.testing.assert_allclose(gradient, -2 * (weights * residual) @ right, rtol=1e-12, atol=0)
