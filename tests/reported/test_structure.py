"""Rows L2, L4, P1, P3, P17 and the structure identities: Hessians before they are made dense."""

from __future__ import annotations

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest

import einsumad as ea
from einsumad.graph import Einsum, Unit
from einsumad.graph.display import index_notation, matrix_notation
from tests.reported.oracle import check, check_whole, close, every_second, exactly_second, integers, normal


def text(expression):
    return index_notation([expression.node])


def matrix(expression):
    return matrix_notation(expression.node)


def deltas(expression):
    """The index pairs that are tied by a delta in a product."""
    node = expression.node
    assert isinstance(node, Einsum)
    return {labels for operand, labels in zip(node.operands, node.inputs, strict=True) if isinstance(operand, Unit)}


def det_hessian_at_identity(n):
    delta = np.eye(n)
    return np.einsum("ij,kl->ijkl", delta, delta) - np.einsum("jk,li->ijkl", delta, delta)


def test_l2_hessian_of_the_determinant_at_ties():
    """``H[i,j,k,l] = δ[j,i] δ[l,k] - δ[j,k] δ[l,i]`` at the identity, where all singular values are equal."""
    for mode, found in every_second(np.linalg.det, [np.eye(3)]).items():
        close(found, det_hessian_at_identity(3), 1e-14, mode)


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-9, 1e-12, 1e-15])
def test_l2_hessian_of_the_determinant_near_ties(gap):
    a = np.diag([1.0, 1 + gap, 1 - 2 * gap])
    exact = det_hessian_exact(a)
    for mode, found in every_second(np.linalg.det, [a]).items():
        close(found, exact, 1e-14, mode)


@pytest.mark.parametrize("a", [np.zeros((3, 3)), np.diag([1.0, 0, 0]), np.diag([2.0, 3, 0]), np.ones((3, 3))])
def test_l2_singular_matrices(a):
    for mode, found in every_second(np.linalg.det, [a]).items():
        close(found, det_hessian_exact(a), 1e-13, mode)


def det_hessian_exact(a):
    """Second differences in rational numbers: the determinant is linear in each entry."""
    exact = [[Fraction(float(entry)) for entry in row] for row in a]
    n = len(a)
    result = np.zeros((n,) * 4)
    for i, j, k, m in np.ndindex(*result.shape):
        if (i, j) == (k, m):
            continue
        total = Fraction(0)
        for first in (0, 1):
            for second in (0, 1):
                moved = [row[:] for row in exact]
                moved[i][j] += first
                moved[k][m] += second
                total += (-1) ** (first + second) * determinant(moved)
        result[i, j, k, m] = total
    return result


def determinant(rows):
    if not rows:
        return Fraction(1)
    return sum(
        (-1) ** k * rows[0][k] * determinant([row[:k] + row[k + 1 :] for row in rows[1:]]) for k in range(len(rows))
    )


@pytest.mark.whole_planner
@pytest.mark.parametrize("logdet", [lambda x: np.log(np.linalg.det(x)), lambda x: np.linalg.slogdet(x)[1]])
def test_l4_hessian_of_logdet(logdet):
    x = np.array([[3.0, 1.0, 0.5], [0.2, 2.0, -0.4], [-0.3, 0.6, 4.0]])
    inverse = np.linalg.inv(x)
    expected = -np.einsum("li,jk->ijkl", inverse, inverse)
    for mode, found in every_second(logdet, [x]).items():
        close(found, expected, 1e-14, mode)
    symbol = ea.variable("X", (3, 3))
    hessian = ea.diff(logdet(symbol), symbol, symbol)
    assert text(hessian) in ("-inv(X)[j,k] inv(X)[l,i]", "-inv(X)[l,i] inv(X)[j,k]")


def test_l4_nothing_of_order_four_is_formed_in_products_with_it():
    n = 60
    x = normal(1, n, n) + 20 * np.eye(n)
    v = normal(2, n, n)

    def logdet(x):
        return np.linalg.slogdet(x)[1]

    explained = ea.explain(ea.hvp(logdet), x, v)
    assert explained.plan.peak_bytes < 20 * 8 * n**2
    inverse = np.linalg.inv(x)
    close(ea.hvp(logdet)(x, v), -(inverse @ v @ inverse).T, 1e-12, "by hand")
    diagonal = ea.hessian_diagonal(logdet)(x)
    close(diagonal, -(inverse.T**2), 1e-12, "diagonal by hand")


def test_p1_hessian_of_a_sum_of_functions_of_entries_is_diagonal():
    x = ea.variable("x", (5,))
    hessian = ea.diff(np.sum(np.exp(x)), x, x)
    assert deltas(hessian) == {(0, 1)}
    assert matrix(hessian) == "diag(exp(x))"
    exactly_second(lambda x: np.sum(x**3), [np.array([1.0, 2.0])], np.diag([6.0, 12.0]))


@pytest.mark.whole_planner
def test_p1_the_diagonal_of_a_million_variables_in_linear_memory():
    n = 10**6
    x = np.linspace(-1, 1, n)
    tracemalloc.start()
    found = ea.hessian_diagonal(lambda x: np.sum(np.exp(x)))(x)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    np.testing.assert_array_equal(found, np.exp(x))
    assert peak < 10 * 8 * n
    assert ea.laplacian(lambda x: np.sum(x**2))(x) == 2 * n


@pytest.mark.whole_planner
def test_p3_independent_rows_give_a_block_diagonal():
    w, x = ea.variable("W", (7, 4)), ea.variable("x", (4,))
    loss = np.sum(np.log(1 + np.exp(w @ x)))
    hessian = ea.diff(loss, w, w)
    assert deltas(hessian) == {(0, 2)}
    check(lambda w, x: np.sum(np.log(1 + np.exp(w @ x))), normal(3, 2, 2), normal(4, 2))


def test_p3_structure_comes_from_indices_and_not_from_sizes():
    """As many rows as columns as entries: the same deltas as with different sizes."""
    found = []
    for rows, columns in ((7, 4), (4, 4)):
        w, x = ea.variable("W", (rows, columns)), ea.variable("x", (columns,))
        hessian = ea.diff(np.sum(np.tanh(w @ x)), w, w)
        found.append((text(hessian), deltas(hessian)))
    assert found[0] == found[1]


@pytest.mark.whole_planner
def test_p3_six_inputs_side_by_side():
    x = ea.variable("x", (6, 10))
    hessian = ea.diff(np.sum(np.sum(x**2, axis=1) ** 2), x, x)
    assert "δ[i,k]" in text(hessian)
    assert hessian.shape == (6, 10, 6, 10)


@pytest.mark.whole_planner
def test_p17_energy_of_many_points_keeps_the_points_diagonal():
    f, g = ea.variable("F", (3, 3, 250, 4)), ea.variable("G", (3, 3, 250, 4))
    energy = np.sum(np.einsum("ij...,ij...->...", f**2, g))
    hessian = ea.diff(energy, f, f)
    assert deltas(hessian) >= {(2, 6), (3, 7)}
    mixed = ea.diff(energy, f, g)
    assert mixed.shape == (3, 3, 250, 4) * 2
    assert deltas(mixed) >= {(2, 6), (3, 7)}
    check_whole(
        lambda f, g: np.sum(np.einsum("ij...,ij...->...", f**2, g)),
        integers(5, 2, 1, 2),
        integers(6, 2, 1, 2),
    )


@pytest.mark.whole_planner
def test_p17_full_blocks_for_each_point():
    """A stored energy that couples the components of a point, not the points."""
    f = ea.variable("F", (3, 3, 5))
    c = np.einsum("kip,kjp->ijp", f, f)
    energy = np.sum(np.einsum("ijp,ijp->p", c, c))
    hessian = ea.diff(energy, f, f)
    assert "δ[k,n]" in text(hessian)

    def plain(f):
        c = np.einsum("kip,kjp->ijp", f, f)
        return np.sum(np.einsum("ijp,ijp->p", c, c))

    check_whole(plain, integers(7, 2, 2, 1))


@pytest.mark.whole_planner
def test_identity_factorisation():
    u, v, t = ea.variable("U", (6, 2)), ea.variable("V", (5, 2)), ea.variable("T", (6, 5))
    assert matrix(ea.diff(np.sum((t - u @ v.T) ** 2), u, u)) == "2 (VᵀV) ⊗ δ"
    values = integers(8, 3, 2), integers(9, 4, 2), integers(10, 3, 4)
    hessian = ea.hessian(lambda u, v, t: np.sum((t - u @ v.T) ** 2))(*values)
    np.testing.assert_array_equal(hessian, 2 * np.einsum("ik,jl->ijkl", np.eye(3), values[1].T @ values[1]))


def test_identity_trace_of_a_bilinear_form():
    """``H(tr XᵀAXB) = A ⊗ Bᵀ + Aᵀ ⊗ B`` on row-major vectors."""
    a, b, x = integers(11, 3, 3), integers(12, 2, 2), integers(13, 3, 2)
    hessian = ea.hessian(lambda x: np.trace(x.T @ a @ x @ b))(x)
    expected = np.kron(a, b.T) + np.kron(a.T, b)
    np.testing.assert_array_equal(hessian.reshape(6, 6), expected)


@pytest.mark.whole_planner
def test_identity_quadratic_form():
    x, a = ea.variable("x", (4,)), ea.variable("A", (4, 4))
    assert matrix(ea.diff(x @ a @ x, x, x)) == "A + Aᵀ"
