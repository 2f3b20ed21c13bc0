"""Notation and laws of S. Laue, M. Mitterreiter, J. Giesen, "A Simple and Efficient Tensor Calculus"."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from einsumad.graph import einsum, leaf, total
from tests.graph.build import symbol
from tests.graph.dense import dense

_SIZES = dict(enumerate((2, 3, 2, 3, 1, 2)))
_GENERATOR = np.random.default_rng(7)
x, y = symbol("x", 3), symbol("y", 3)
A, B = symbol("A", 3, 3), symbol("B", 3, 3)
VALUES = {node: _GENERATOR.integers(-4, 5, node.shape).astype(float) for node in (x, y, A, B)}


@pytest.mark.parametrize(
    ("left", "sets", "right", "expected"),
    [
        (y, ("i", "j", "ij"), x, lambda v: np.outer(v[y], v[x])),
        (A, ("ij", "j", "i"), x, lambda v: v[A] @ v[x]),
        (y, ("i", "i", ""), x, lambda v: v[y] @ v[x]),
        (A, ("ij", "jk", "ik"), B, lambda v: v[A] @ v[B]),
        (y, ("i", "i", "i"), x, lambda v: v[y] * v[x]),
        (A, ("ij", "j", "ij"), x, lambda v: v[A] @ np.diag(v[x])),
    ],
)
def test_table_of_notation(left, sets, right, expected):
    s1, s2, s3 = sets
    labels = [tuple(map(ord, indices)) for indices in (s1, s2, s3)]
    node = einsum([left, right], labels[:2], labels[2])
    np.testing.assert_array_equal(dense(node, VALUES), expected(VALUES))
    np.testing.assert_array_equal(np.einsum(f"{s1},{s2}->{s3}", VALUES[left], VALUES[right]), expected(VALUES))


def tensor(name, indices):
    return leaf([_SIZES[k] for k in indices], float, ("variable", f"{name}{indices}"), name)


def value(node):
    generator = np.random.default_rng(sum(node.digest))
    return generator.integers(-4, 5, node.shape).astype(float)


def product(left, right, s1, s2, s3):
    return einsum([left, right], [s1, s2], s3)


def evaluated(node, values):
    """The value of nested products and sums by np.einsum."""
    if not node.operands:
        return values.setdefault(node, value(node))
    operands = [evaluated(operand, values) for operand in node.operands]
    if not hasattr(node, "inputs"):
        return sum(operands)
    arguments = [part for pair in zip(operands, map(list, node.inputs), strict=True) for part in pair]
    return node.coefficient * np.einsum(*arguments, list(range(len(node.shape))))


def index_sets(most, pool=range(6)):
    return st.lists(st.sampled_from(list(pool)), max_size=most, unique=True).map(tuple)


@st.composite
def binary(draw):
    s1, s2 = draw(index_sets(3)), draw(index_sets(3))
    s3 = draw(index_sets(4, sorted({*s1, *s2}))) if s1 or s2 else ()
    return s1, s2, s3


@given(binary())
def test_commutative(sets):
    s1, s2, s3 = sets
    left, right = tensor("A", s1), tensor("B", s2)
    assert product(left, right, s1, s2, s3) is product(right, left, s2, s1, s3)


@given(binary())
def test_distributive(sets):
    s1, s2, s3 = sets
    left, first, second = tensor("A", s1), tensor("B", s2), tensor("C", s2)
    together = product(left, total(first, second), s1, s2, s3)
    apart = total(product(left, first, s1, s2, s3), product(left, second, s1, s2, s3))
    values = {}
    np.testing.assert_array_equal(evaluated(together, values), evaluated(apart, values))


@settings(max_examples=max(300, settings().max_examples))
@given(st.data())
def test_associative(data):
    """``(A *(s1, s2 s4, s3 s4) B) *(s3 s4, s4, s3) C = A *(s1, s2, s3) (B *(s2 s4, s4, s2) C)``."""
    s1, s2 = data.draw(index_sets(3, range(4))), data.draw(index_sets(3, range(4)))
    s3 = data.draw(index_sets(3, sorted({*s1, *s2}))) if s1 or s2 else ()
    s4 = data.draw(index_sets(2, (4, 5)))
    a, b, c = tensor("A", s1), tensor("B", s2 + s4), tensor("C", s4)
    left = product(product(a, b, s1, s2 + s4, s3 + s4), c, s3 + s4, s4, s3)
    right = product(a, product(b, c, s2 + s4, s4, s2), s1, s2, s3)
    values = {}
    np.testing.assert_array_equal(evaluated(left, values), evaluated(right, values))
