"""Factorisations at the edges: singular and badly scaled matrices, what is refused, and the choices that are made."""

from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.sparse

from einsumad.compressed.factorisations import (
    Banded,
    Blocks,
    Border,
    Bordered,
    Diagonal,
    DirectSum,
    Identity,
    Inertia,
    Kronecker,
    KroneckerPair,
    LowRankUpdate,
    Permuted,
    Refined,
    Sparse,
    can_diagonalise,
    conjugate_gradient,
    factorise,
)
from einsumad.errors import LinearAlgebraError, ShapeError

ONES = np.ones((3, 3))
RANDOM = np.random.default_rng(0)
GRAM = np.cov(RANDOM.normal(size=(40, 40)))
"""Positive semidefinite of rank 39: singular by rounding only."""
TURN = np.array([[0.0, 1.0], [-1.0, 0.0]])
NEUMANN = np.array([np.full(300, -0.1), [0.1, *[0.2] * 298, 0.1], np.full(300, -0.1)])
"""Second differences with the constant vectors in their kernel."""


def neumann_sparse():
    rows = [NEUMANN[0, 1:], NEUMANN[1], NEUMANN[2, :-1]]
    return scipy.sparse.diags_array(rows, offsets=[1, 0, -1])


SINGULAR = {
    "diagonal": lambda: Diagonal(np.array([1.0, 0.0])),
    "subnormal": lambda: Diagonal(np.array([1.0, 1e-310])),
    "one block, exactly": lambda: Blocks(ONES[None], 4, True),
    "one block, by rounding": lambda: Blocks(GRAM[None], 1, True),
    "in single precision": lambda: Blocks(GRAM[None].astype(np.float32), 1, True),
    "one general block": lambda: Blocks(GRAM[None], 1, False),
    "indefinite block": lambda: Blocks(-GRAM[None], 1, True),
    "a block of a stack": lambda: Blocks(np.array([GRAM, np.eye(40)]), 2, True),
    "a general block of a stack": lambda: Blocks(np.array([np.eye(40), GRAM]), 2, False),
    "a zero block of a stack": lambda: Blocks(np.array([np.eye(2), np.zeros((2, 2))]), 2, False),
    "band": lambda: Banded(NEUMANN, 1, 1, True),
    "general band": lambda: Banded(NEUMANN, 1, 1, False),
    "sparse": lambda: Sparse(neumann_sparse(), True),
    "general sparse": lambda: Sparse(neumann_sparse(), False),
    "sparse, exactly": lambda: Sparse(scipy.sparse.csc_array((3, 3)), True),
    "pair": lambda: KroneckerPair([GRAM, np.eye(2)], [np.eye(40), np.diag([0.0, 1.0])], True),
    "general pair": lambda: KroneckerPair([TURN, np.eye(2)], [np.eye(2), TURN], False),
    "cancelled by an update": lambda: LowRankUpdate(
        Identity(3, np.float64), ONES[:, :1] / np.sqrt(3), -np.ones(1), ONES[:, :1] / np.sqrt(3), True
    ),
    "cancelled by a general update": lambda: LowRankUpdate(
        Identity(3, np.float64), ONES[:, :1] / np.sqrt(3), -np.ones(1), ONES[:, :1] / np.sqrt(3), False
    ),
    "cancelled, with its scale": lambda: factorise(np.array([[1e-16]]), True, np.ones(1)),
    "cancelled general, with its scale": lambda: factorise(np.array([[1e-16]]), False, np.ones(1)),
}


@pytest.mark.parametrize("make", SINGULAR.values(), ids=SINGULAR)
def test_singular(make):
    pattern = r"singular.*smallest pivot is -?[\d.e-]+ .*pass damping="
    with pytest.raises(LinearAlgebraError, match=pattern):
        make()


SCALES = np.array([1e-30, 1.0, 1e30])
REGULAR = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
MAKERS = {
    "block": lambda matrix, symmetric: Blocks(matrix[None], 1, symmetric),
    "stack": lambda matrix, symmetric: Blocks(np.array([matrix, matrix]), 2, symmetric),
    "band": lambda matrix, symmetric: Banded(
        np.array([[0, *np.diagonal(matrix, 1)], np.diagonal(matrix), [*np.diagonal(matrix, -1), 0]]), 1, 1, symmetric
    ),
    "sparse": lambda matrix, symmetric: Sparse(scipy.sparse.csc_array(matrix), symmetric),
}


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("name", MAKERS)
def test_units_do_not_make_a_matrix_singular(name, symmetric):
    """The unknowns have any units; where a matrix is not symmetric, the equations are in one."""
    rows = SCALES if symmetric else np.ones(3)
    factor = MAKERS[name](REGULAR * SCALES * rows[:, None], symmetric)
    found = factor.solve(np.tile(REGULAR.sum(axis=1) * rows, factor.size // 3)[:, None])[:, 0]
    np.testing.assert_allclose(found, np.tile(1 / SCALES, factor.size // 3), rtol=1e-12)


def test_indefinite_block_with_rows_of_many_sizes():
    values = np.array([1e-20, -1.0, 1e20])
    factor = Blocks(np.diag(values)[None], 1, True)
    assert factor.inertia() == Inertia(2, 1, 0)
    np.testing.assert_allclose(factor.solve(np.ones((3, 1)))[:, 0], 1 / values)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_entries_that_are_not_finite(bad):
    matrix = np.eye(3)
    matrix[2, 0] = bad
    for make in (
        lambda: Diagonal(matrix[2]),
        lambda: Blocks(matrix[None], 2, True),
        lambda: Banded(matrix, 1, 1, False),
        lambda: Sparse(scipy.sparse.csc_array(matrix), False),
        lambda: KroneckerPair([matrix], [matrix], True),
        lambda: LowRankUpdate(Identity(3, np.float64), matrix, np.ones(3), matrix, True),
    ):
        with pytest.raises(LinearAlgebraError, match="not finite"):
            make()


SHAPES = {
    "a right-hand side": lambda: Diagonal(np.ones(2)).solve(np.ones(2)),
    "blocks": lambda: Blocks(np.ones((2, 3, 3)), 3, True),
    "not square": lambda: Blocks(np.ones((2, 3, 2)), 2, True),
    "axes": lambda: Diagonal(np.ones((2, 2))),
    "a band": lambda: Banded(np.ones((2, 4)), 1, 1, False),
    "a symmetric band": lambda: Banded(np.ones((2, 4)), 1, 0, True),
    "sparse": lambda: Sparse(scipy.sparse.csc_array((2, 3)), False),
    "no parts of a product": lambda: Kronecker([]),
    "no parts of a sum": lambda: DirectSum([]),
    "pairs": lambda: KroneckerPair([np.eye(2)], [np.eye(3)], True),
    "low rank": lambda: LowRankUpdate(Identity(2, np.float64), np.ones((2, 3)), np.ones(2), np.ones((2, 3)), True),
    "order": lambda: Permuted(Identity(4, np.float64), (2, 2), (0, 0)),
    "places": lambda: Bordered(Diagonal(np.ones(2)), Border.of(ONES[:1, :2]), Diagonal(np.ones(1)), eliminated=[1, 1]),
}


@pytest.mark.parametrize("make", SHAPES.values(), ids=SHAPES)
def test_shapes_that_do_not_fit(make):
    with pytest.raises(ShapeError, match=r"shape|it needs"):
        make()


def test_what_else_is_refused():
    with pytest.raises(LinearAlgebraError, match="has to be real"):
        Identity(2, np.float64).solve(np.ones((2, 1), complex))
    with pytest.raises(LinearAlgebraError, match="float16"):
        Diagonal(np.ones(2, np.float16))
    with pytest.raises(LinearAlgebraError, match="equal factors"):
        LowRankUpdate(Identity(2, np.float64), np.eye(2), np.ones(2), 2 * np.eye(2), True)
    with pytest.raises(LinearAlgebraError, match="3 matrices each"):
        KroneckerPair([TURN] * 3, [np.eye(2)] * 3, False)
    band = np.tile([[1.0], [-3.0], [1.0]], 2001)
    with pytest.raises(LinearAlgebraError, match="up to size 2000"):
        Banded(band, 1, 1, True).inertia()


def test_root_of_an_indefinite_matrix_names_its_pivot():
    base = Identity(3, np.float64)
    found = {
        "-2": Diagonal(np.array([1.0, -2.0])),
        "-3": Blocks(np.array([[[3.0, 0.0], [0.0, -3.0]]]), 2, True),
        "-1": Blocks(np.array([[[1.0, 2.0], [2.0, 1.0]]] * 2), 2, True),
        "-5": Banded(np.array([[3.0, 3.0], [2.0, -0.5], [3.0, 3.0]]), 1, 1, True),
        "-4": LowRankUpdate(base, np.eye(3)[:, :1], np.array([-5.0]), np.eye(3)[:, :1], True),
    }
    for pivot, factor in found.items():
        with pytest.raises(LinearAlgebraError, match=f"smallest pivot is {pivot} "):
            factor.root(np.ones((factor.size, 1)))
        assert not factor.positive_definite


def test_the_method_says_what_was_done():
    eye, two = np.eye(2), np.array([np.eye(2), 2 * np.eye(2)])
    large = np.array([np.eye(129)] * 2)
    assert Blocks(eye[None], 1, True).method == "Cholesky 2×2"
    assert Blocks(eye[None], 9, False).method == "identity ⊗ LU 2×2"
    assert Blocks(two, 2, True).method == "Cholesky of 2 blocks 2×2"
    assert Blocks(-two, 2, True).method == "eigenvalues of 2 blocks 2×2"
    assert Blocks(large, 2, True).method == "2 times Cholesky 129×129"
    assert re.match(r"<Blocks of shape \(4, 4\): LU of 2", repr(Blocks(two, 2, False)))


def test_pivot_of_an_update_that_nearly_cancels():
    unit = np.full((4, 1), 0.5)
    for rest in (0.25, 1e-3, 1e-9):
        factor = LowRankUpdate(Identity(4, np.float64), unit, np.array([rest - 1]), unit, True)
        assert factor.smallest_pivot == pytest.approx(rest, rel=1e-6)
    with pytest.raises(LinearAlgebraError, match="singular"):
        LowRankUpdate(Identity(4, np.float64), unit, np.array([1e-16 - 1]), unit, True)


def test_definite_by_an_even_number_of_negative_parts():
    negative = Diagonal(-np.ones(2))
    factor = Kronecker([negative, negative])
    assert factor.positive_definite
    assert factor.inertia() == Inertia(4, 0, 0)
    assert not Kronecker([negative, Diagonal(np.array([1.0, -1.0]))]).positive_definite
    with pytest.raises(LinearAlgebraError, match="although the matrix is positive definite"):
        factor.root(np.ones((4, 1)))


def test_definite_by_an_update_of_an_indefinite_base():
    unit = np.eye(2)[:, :1]
    factor = LowRankUpdate(Diagonal(np.array([-1.0, 1.0])), unit, np.array([3.0]), unit, True)
    assert factor.positive_definite
    with pytest.raises(LinearAlgebraError, match="although the matrix is positive definite"):
        factor.root_solve_transposed(np.ones((2, 1)))


def test_pairs_that_only_a_combination_diagonalises():
    first, second = np.diag([1.0, 0.0]), np.diag([0.0, -2.0])
    assert can_diagonalise([first, first], [second, np.eye(2)])
    assert not can_diagonalise([np.abs(TURN)], [np.diag([1.0, -1.0])])
    factor = KroneckerPair([first, np.eye(2)], [second, np.eye(2)], True)
    dense = np.kron(first + second, np.eye(2))
    assert factor.inertia() == Inertia(2, 2, 0)
    np.testing.assert_allclose(factor.solve(np.eye(4)), np.linalg.inv(dense))


def test_update_with_large_dependent_and_vanishing_terms():
    """Weights from 1e-300 to 1e8, and the same column twice: the small matrix may not be inverted."""
    left = np.repeat(RANDOM.normal(size=(5, 1)), 2, axis=1)
    factor = LowRankUpdate(Diagonal(np.arange(1.0, 6)), left, np.array([1e8, 1e-300]), left, True)
    dense = np.diag(np.arange(1.0, 6)) + 1e8 * left[:, :1] @ left[:, :1].T
    root = factor.root(np.eye(5))
    np.testing.assert_allclose(root @ root.T, dense, rtol=1e-10)
    samples = factor.root_solve_transposed(np.eye(5))
    np.testing.assert_allclose(samples @ samples.T, factor.solve(np.eye(5)), rtol=1e-10, atol=1e-12)
    assert factor.slogdet()[1] == pytest.approx(np.linalg.slogdet(dense)[1])


def test_refinement_keeps_a_column_only_if_it_is_better():
    rough = Diagonal(np.array([2.001, 1.0]))
    refined = Refined(rough, lambda v: np.array([[2.0], [-1.0]]) * v)
    rhs = np.array([[1.0, 0.0], [0.0, 1.0]])
    np.testing.assert_allclose(refined.solve(rhs)[0, 0], 0.5, atol=1e-6)
    np.testing.assert_array_equal(refined.solve(rhs)[:, 1], rough.solve(rhs)[:, 1])
    general = Blocks(TURN[None], 1, False)
    np.testing.assert_array_equal(Refined(general, lambda v: v).solve_transposed(rhs), general.solve_transposed(rhs))


def test_sparse_matrix_that_needs_no_pivoting_stays_sparse():
    size = 400
    chain = scipy.sparse.diags_array([-1.0, 3.0, -1.0], offsets=[-1, 0, 1], shape=(size, size))
    factor = Sparse(chain, True)
    assert factor.method == f"sparse Cholesky {size}×{size}, {2 * size - 1} entries"
    assert not np.may_share_memory(Sparse(chain.tocsc(), False).solve(np.ones((size, 1))), chain.tocsc().data)


def test_arrays_that_are_given_stay_as_they_are_and_are_not_kept():
    values, blocks = np.array([1.0, 2.0]), np.array([np.eye(2)] * 2)
    diagonal, stack, one = Diagonal(values), Blocks(blocks, 2, True), Identity(2, np.float64)
    values[0] = blocks[0, 0, 0] = 7.0
    rhs = np.ones((2, 1))
    np.testing.assert_array_equal(diagonal.solve(rhs)[:, 0], [1.0, 0.5])
    np.testing.assert_array_equal(stack.solve(np.ones((4, 1)))[:, 0], 1.0)
    for factor in (one, Kronecker([one]), DirectSum([one]), Permuted(one, (2,), (0,))):
        assert not np.may_share_memory(factor.solve(rhs), rhs)


def test_conjugate_gradients():
    definite = GRAM + np.eye(40)
    rhs = RANDOM.normal(size=(40, 2))
    rhs[:, 1] = 0
    plain = conjugate_gradient(lambda v: definite @ v, rhs, 1e-10, 500)
    assert np.abs(definite @ plain - rhs).max() < 1e-8
    exact = factorise(definite, True)
    steps = []
    found = conjugate_gradient(lambda v: steps.append(1) or definite @ v, rhs, 1e-10, 3, exact)
    np.testing.assert_allclose(found, plain, atol=1e-8)
    single = conjugate_gradient(lambda v: 2 * v, np.ones((3, 1), np.float32), 1e-5, 5)
    assert single.dtype == np.float32
    assert conjugate_gradient(lambda v: v, np.ones((0, 2)), 1e-5, 5).shape == (0, 2)


def test_conjugate_gradients_that_fail():
    rhs, definite = np.arange(1.0, 41)[:, None], GRAM + np.eye(40)
    with pytest.raises(LinearAlgebraError, match=r"in 2 steps: the residual is [\d.e-]+ of"):
        conjugate_gradient(lambda v: definite @ v, rhs, 1e-10, 2)
    with pytest.raises(LinearAlgebraError, match="direction of curvature -1"):
        conjugate_gradient(lambda v: -v, rhs, 1e-10, 100)
    with pytest.raises(LinearAlgebraError, match="direction of curvature nan"):
        conjugate_gradient(lambda v: np.nan * v, rhs, 1e-10, 100)
    with pytest.raises(LinearAlgebraError, match=r"the residual is .* and 1e-12 was asked for"):
        conjugate_gradient(lambda v: definite.astype(np.float32) @ v, rhs.astype(np.float32), 1e-12, 1000)
    with pytest.raises(LinearAlgebraError, match="preconditioner that is not positive definite"):
        conjugate_gradient(lambda v: v, np.ones((2, 1)), 1e-3, 9, Diagonal(np.array([1.0, -1.0])))
