"""The generic product: its notation table and its three laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import einsumad as ea

ROWS, COLUMNS, OTHERS = 3, 4, 2
RNG = np.random.default_rng(0)
X, Y, Z = RNG.normal(size=COLUMNS), RNG.normal(size=ROWS), RNG.normal(size=COLUMNS)
A, B = RNG.normal(size=(ROWS, COLUMNS)), RNG.normal(size=(COLUMNS, OTHERS))


def product(a, s1, b, s2, s3):
    """``a *(s1, s2, s3) b``."""
    return ea.einsum(f"{s1},{s2}->{s3}", a, b)


TABLE = [
    ("y xᵀ", (Y, "i", X, "j", "ij"), Y[:, None] * X),
    ("A x", (A, "ij", X, "j", "i"), A @ X),
    ("zᵀ x", (Z, "i", X, "i", ""), Z @ X),
    ("A B", (A, "ij", B, "jk", "ik"), A @ B),
    ("z ⊙ x", (Z, "i", X, "i", "i"), Z * X),
    ("A ⊙ A", (A, "ij", A, "ij", "ij"), A * A),
    ("A · diag(x)", (A, "ij", X, "j", "ij"), A * X),
    ("diag(y) · A", (A, "ij", Y, "i", "ij"), A * Y[:, None]),
]


@pytest.mark.parametrize(("name", "factors", "expected"), TABLE, ids=[row[0] for row in TABLE])
def test_notation_table(name, factors, expected):
    del name
    np.testing.assert_allclose(product(*factors), expected, rtol=1e-14)


@pytest.mark.parametrize(("name", "factors", "expected"), TABLE, ids=[row[0] for row in TABLE])
def test_what_numpy_calls_it_is_the_same_expression(name, factors, expected):
    """Matrix notation, NumPy's functions and index notation give one node."""
    del expected
    a, s1, b, s2, s3 = factors
    spelled = {
        "y xᵀ": np.outer,
        "A x": np.matmul,
        "zᵀ x": np.dot,
        "A B": np.matmul,
        "z ⊙ x": np.multiply,
        "A ⊙ A": np.multiply,
        "A · diag(x)": lambda a, x: a @ np.diag(x),
        "diag(y) · A": lambda a, y: np.diag(y) @ a,
    }[name]
    left = ea.variable("a", a.shape)
    right = left if b is a else ea.variable("b", b.shape)
    index_notation = ea.simplify(product(left, s1, right, s2, s3))
    assert ea.simplify(spelled(left, right)).node is index_notation.node


SIZES = dict(zip("abcdefg", (2, 3, 1, 2, 4, 0, 3), strict=True))
labels = st.lists(st.sampled_from("abcde"), unique=True, max_size=3).map("".join)
any_labels = st.lists(st.sampled_from("abcdef"), unique=True, max_size=3).map("".join)


def tensor(draw, indices):
    seed = draw(st.integers(0, 2**32 - 1))
    return np.random.default_rng(seed).integers(-4, 5, [SIZES[i] for i in indices]).astype(float)


def some_of(draw, indices):
    chosen = [i for i in dict.fromkeys(indices) if draw(st.booleans())]
    return "".join(draw(st.permutations(chosen)))


@given(st.data())
def test_law_commutative(data):
    """``A *(s1,s2,s3) B = B *(s2,s1,s3) A``, and the two are one node."""
    s1, s2 = data.draw(any_labels), data.draw(any_labels)
    s3 = some_of(data.draw, s1 + s2)
    a, b = tensor(data.draw, s1), tensor(data.draw, s2)
    np.testing.assert_array_equal(product(a, s1, b, s2, s3), product(b, s2, a, s1, s3))
    left, right = ea.variable("A", a.shape), ea.variable("B", b.shape)
    assert product(left, s1, right, s2, s3).node is product(right, s2, left, s1, s3).node


@given(st.data())
def test_law_distributive(data):
    """``A *(s1,s2,s3) B + A *(s1,s2,s3) C = A *(s1,s2,s3) (B + C)``."""
    s1, s2 = data.draw(any_labels), data.draw(any_labels)
    s3 = some_of(data.draw, s1 + s2)
    a, b, c = tensor(data.draw, s1), tensor(data.draw, s2), tensor(data.draw, s2)
    values = {"A": a, "B": b, "C": c}
    x, y, z = (ea.variable(name, value.shape) for name, value in values.items())
    apart = product(x, s1, y, s2, s3) + product(x, s1, z, s2, s3)
    together = product(x, s1, y + z, s2, s3)
    given_values = dict(zip((x, y, z), values.values(), strict=True))
    found = ea.evaluate([apart, together], given_values)
    np.testing.assert_array_equal(found[0], product(a, s1, b + c, s2, s3))
    np.testing.assert_array_equal(found[1], found[0])


@given(st.data())
def test_law_associative(data):
    """For s3 ⊆ s1 ∪ s2 and s4 disjoint from both.

    ``(A *(s1, s2 s4, s3 s4) B) *(s3 s4, s4, s3) C = A *(s1, s2, s3) (B *(s2 s4, s4, s2) C)``,
    and both have the same normal form.
    """
    s1, s2 = data.draw(labels), data.draw(labels)
    s3, s4 = some_of(data.draw, s1 + s2), some_of(data.draw, "fg")
    a, b, c = tensor(data.draw, s1), tensor(data.draw, s2 + s4), tensor(data.draw, s4)
    left = product(product(a, s1, b, s2 + s4, s3 + s4), s3 + s4, c, s4, s3)
    right = product(a, s1, product(b, s2 + s4, c, s4, s2), s2, s3)
    np.testing.assert_array_equal(left, right)
    x, y, z = (ea.variable(name, value.shape) for name, value in (("A", a), ("B", b), ("C", c)))
    first = product(product(x, s1, y, s2 + s4, s3 + s4), s3 + s4, z, s4, s3)
    second = product(x, s1, product(y, s2 + s4, z, s4, s2), s2, s3)
    for value in ea.evaluate([first, second], {x: a, y: b, z: c}):
        np.testing.assert_array_equal(value, left)
    assert ea.simplify(first).node is ea.simplify(second).node
