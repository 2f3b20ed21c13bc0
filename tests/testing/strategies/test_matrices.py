"""Matrices have the property that their name promises, exactly where it can be exact."""

from fractions import Fraction

import array_api_strict
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from einsumad.testing.strategies import (
    conditioned,
    degenerate_spectrum,
    invertible,
    orthogonal,
    positive_diagonal,
    singular,
    spd,
    stochastic,
    symmetric,
    triangular,
    with_spectrum,
)
from tests.testing.strategies.drawn import examples, minimal

ALL = (
    conditioned,
    degenerate_spectrum,
    invertible,
    orthogonal,
    positive_diagonal,
    singular,
    spd,
    stochastic,
    symmetric,
    triangular,
)
DTYPES = ("float32", "float64")
TOLERANCE = {"float32": 2e-6, "float64": 1e-14}


def transposed(A):
    return np.swapaxes(A, -1, -2)


def exact_rank(A: np.ndarray) -> int:
    """The rank by elimination in fractions."""
    rows = [[Fraction(float(entry)) for entry in row] for row in A]
    rank = 0
    for column in range(A.shape[1]):
        pivot = next((k for k in range(rank, len(rows)) if rows[k][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        for k in range(rank + 1, len(rows)):
            factor = rows[k][column] / rows[rank][column]
            rows[k] = [a - factor * b for a, b in zip(rows[k], rows[rank], strict=True)]
        rank += 1
    return rank


@pytest.mark.fuzz
@given(st.data(), st.sampled_from(ALL), st.sampled_from([(), 2, (0,), (2, 1)]), st.sampled_from(DTYPES))
def test_batch_axes_lead_and_dtypes_hold(data, kind, batch, dtype):
    A = data.draw(kind(3, batch=batch, dtype=dtype))
    assert A.shape == (*((batch,) if isinstance(batch, int) else batch), 3, 3)
    assert A.dtype == dtype
    assert np.all(np.isfinite(A))


@pytest.mark.fuzz
@given(st.data(), st.sampled_from(ALL))
def test_sizes_are_drawn_and_namespaces_hold(data, kind):
    A = data.draw(kind(xp=array_api_strict))
    assert A.ndim == 2
    assert A.shape[0] == A.shape[1] <= 4
    assert A.dtype == array_api_strict.float64


@pytest.mark.fuzz
@given(symmetric(batch=2, integers=True, low=-2, high=7), spd(batch=(2,)), with_spectrum([3, -1, 3]))
def test_symmetric_to_the_last_bit(A, B, C):
    for matrix in (A, B, C):
        assert np.array_equal(matrix, transposed(matrix))
    assert np.all((A >= -2) & (A <= 7) & (np.round(A) == A))


@pytest.mark.fuzz
@given(spd(batch=2))
def test_positive_definite_and_well_conditioned(A):
    eigenvalues = np.linalg.eigvalsh(A)
    assert np.all(eigenvalues >= 1 - 1e-12)
    assert np.all(eigenvalues[..., -1] <= 1 + A.shape[-1] ** 2)


@pytest.mark.fuzz
@given(st.data(), st.booleans(), st.booleans(), st.booleans())
def test_triangular(data, lower, unit, positive):
    A = data.draw(triangular(4, lower=lower, unit_diagonal=unit, positive_diagonal=positive, batch=2))
    assert np.array_equal(A, np.tril(A) if lower else np.triu(A))
    diagonal = np.diagonal(A, axis1=-2, axis2=-1)
    assert np.all((np.abs(diagonal) >= 0.5) & (np.abs(diagonal) <= 2))
    assert np.all(diagonal > 0) or not (positive or unit)
    assert np.all(diagonal == 1) or not unit


def test_triangular_diagonals_have_both_signs_unless_told():
    assert {np.sign(A[0, 0]) for A in examples(triangular(1), 50)} == {-1, 1}


@pytest.mark.fuzz
@given(positive_diagonal(3, batch=2))
def test_positive_diagonal(A):
    assert np.array_equal(A, A * np.eye(3))
    assert np.all(np.diagonal(A, axis1=-2, axis2=-1) > 0)


@pytest.mark.fuzz
@given(invertible(st.integers(1, 5), batch=2))
def test_invertible_with_a_small_condition_number(A):
    norms = [np.max(np.sum(np.abs(matrix), axis=-1), axis=-1) for matrix in (A, np.linalg.inv(A))]
    assert np.all(norms[0] * norms[1] < 5)


def test_invertible_matrices_are_of_many_kinds():
    found = examples(invertible(3), 100)
    assert {np.sign(np.linalg.det(A)) for A in found} == {-1, 1}
    assert len({tuple(np.argmax(np.abs(A), axis=1)) for A in found}) == 6


@pytest.mark.fuzz
@given(st.data(), st.integers(1, 4), st.booleans())
def test_singular_has_exactly_its_rank(data, n, chosen):
    rank = data.draw(st.integers(0, n - 1)) if chosen else None
    A = data.draw(singular(n, rank))
    assert np.array_equal(A, np.round(A))
    assert exact_rank(A) == rank if chosen else exact_rank(A) < n


def test_every_lower_rank_occurs():
    assert {exact_rank(A) for A in examples(singular(3), 100)} == {0, 1, 2}


@pytest.mark.fuzz
@given(stochastic(batch=2))
def test_stochastic(P):
    assert np.all(P > 0)
    np.testing.assert_allclose(np.sum(P, axis=-1), 1, rtol=1e-15)


@pytest.mark.fuzz
@given(st.data(), st.sampled_from(DTYPES), st.booleans())
def test_orthogonal(data, dtype, rotation):
    Q = data.draw(orthogonal(st.integers(1, 5), rotation=rotation, batch=2, dtype=dtype))
    eye = np.broadcast_to(np.eye(Q.shape[-1]), Q.shape)
    np.testing.assert_allclose(Q @ transposed(Q), eye, atol=10 * TOLERANCE[dtype])
    if rotation:
        np.testing.assert_allclose(np.linalg.det(Q), 1, rtol=10 * TOLERANCE[dtype])


def test_orthogonal_matrices_have_both_determinants_and_full_entries():
    found = examples(orthogonal(3), 100)
    assert {round(np.linalg.det(Q)) for Q in found} == {-1, 1}
    assert np.mean([np.all(Q != 0) for Q in found]) > 0.3


@pytest.mark.fuzz
@given(st.data(), st.sampled_from(["general", "symmetric", "spd"]), st.sampled_from([1, 10.0, 1e6]))
def test_condition_numbers(data, kind, cond):
    A = data.draw(conditioned(st.integers(2, 5), cond, kind, batch=2))
    np.testing.assert_allclose(np.linalg.cond(A), cond, rtol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(A, 2, axis=(-2, -1)), 1, rtol=1e-12)
    if kind != "general":
        assert np.array_equal(A, transposed(A))
    if kind == "spd":
        assert np.all(np.linalg.eigvalsh(A) > 0)


def test_symmetric_conditioned_matrices_have_eigenvalues_of_both_signs():
    signs = {tuple(np.sign(np.linalg.eigvalsh(A))) for A in examples(conditioned(2, 10, "symmetric"), 60)}
    assert signs == {(-1, -1), (-1, 1), (1, 1)}


@pytest.mark.fuzz
@given(with_spectrum([3.0, -1.0, 3.0, 0.5], batch=2))
def test_spectra_are_what_was_asked_for(A):
    np.testing.assert_allclose(np.linalg.eigvalsh(A), np.broadcast_to([-1, 0.5, 3, 3], (2, 4)), atol=1e-13)


@pytest.mark.fuzz
@given(st.data(), st.integers(2, 4))
def test_a_repeated_eigenvalue_is_repeated_exactly(data, n):
    multiplicity = data.draw(st.integers(2, n))
    A = data.draw(degenerate_spectrum(n, multiplicity))
    assert np.array_equal(A, A.T)
    assert np.array_equal(A, np.round(A))
    levels = [level for level in range(-3, 4) if exact_rank(A - level * np.eye(n)) <= n - multiplicity]
    assert levels


def test_degenerate_spectra_have_other_eigenvalues_too_and_no_simple_eigenvectors():
    found = examples(degenerate_spectrum(3), 100)
    assert np.mean([np.ptp(np.linalg.eigvalsh(A)) > 0.5 for A in found]) > 0.5
    assert np.mean([bool(A[0, 1] and A[0, 2] and A[1, 2]) for A in found]) > 0.2


@pytest.mark.parametrize("kind", [invertible, orthogonal, positive_diagonal, spd, triangular, conditioned])
def test_they_shrink_to_the_identity(kind):
    assert np.array_equal(minimal(kind(1)), [[1]])
    A = minimal(kind(3))
    assert np.array_equal(A, np.diag(np.diagonal(A)))
    assert kind is conditioned or np.array_equal(A, np.eye(3))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: spd(-1), "n=-1"),
        (lambda: spd(2, batch="a"), "no shape"),
        (lambda: minimal(singular(2, rank=2)), "rank=2 is not below n=2"),
        (lambda: conditioned(2, 0.5), "1 or more"),
        (lambda: conditioned(2, kind="diagonal"), "'spd'"),
        (lambda: with_spectrum([[1.0]]), "flat list"),
        (lambda: with_spectrum([np.nan]), "finite"),
        (lambda: minimal(degenerate_spectrum(2, 3)), "multiplicity=3"),
    ],
)
def test_what_makes_no_sense_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
