"""What second-order steps are made of: systems against dense ones, and rules at their ends."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

from einsumad.optim.curvature import updates


def spread(size: int, seed: int = 0) -> np.ndarray:
    """A positive semidefinite matrix with one eigenvalue of zero."""
    part = np.random.default_rng(seed).normal(size=(size, size - 1))
    return part @ part.T


def test_damped_systems_read_the_lower_triangle() -> None:
    rng = np.random.default_rng(0)
    matrix, right = spread(6), rng.normal(size=6)
    given = np.tril(matrix) + np.triu(rng.normal(size=(6, 6)), 1)
    before = given.copy()
    found = updates.damped_solution(given, right, 0.3)
    np.testing.assert_allclose(found, np.linalg.solve(matrix + 0.3 * np.eye(6), right), rtol=1e-10)
    np.testing.assert_array_equal(given, before)
    single = updates.damped_solution(given.astype(np.float32), right.astype(np.float32), 0.3)
    assert single.dtype == np.float64
    with pytest.raises(np.linalg.LinAlgError):
        updates.damped_solution(-np.eye(3), np.ones(3), 0.5)


@pytest.mark.parametrize("rows", [1, 3, 9])
def test_both_systems_have_one_solution(rows: int) -> None:
    rng = np.random.default_rng(rows)
    J, r = rng.normal(size=(rows, 5)), rng.normal(size=rows)
    L = spread(rows) if rows > 1 else np.array([[2.0]])
    expected = np.linalg.solve(J.T @ L @ J + 0.1 * np.eye(5), J.T @ r)
    np.testing.assert_allclose(J.T @ updates.dual_solution(J @ J.T, L, r, 0.1), expected, rtol=1e-9, atol=1e-12)


def test_kronecker_systems_against_their_products() -> None:
    rng = np.random.default_rng(1)
    G, A, right = spread(3, 1), spread(4, 2), rng.normal(size=(3, 4))
    found = updates.kronecker_solution(updates.spectrum_of(G), updates.spectrum_of(A), right, 0.01)
    expected = np.linalg.solve(np.kron(G, A) + 0.01 * np.eye(12), right.ravel())
    np.testing.assert_allclose(found.ravel(), expected, rtol=1e-9, atol=1e-12)
    of = updates.symmetric_solution(updates.spectrum_of(A), right[0], 0.2)
    np.testing.assert_allclose(of, np.linalg.solve(A + 0.2 * np.eye(4), right[0]), rtol=1e-10)


def test_eigenvalues_below_zero_count_as_zero() -> None:
    assert np.min(updates.spectrum_of(np.diag([-1e-9, 1.0])).values) == 0


def test_the_best_combination_is_the_least_of_the_model() -> None:
    rng = np.random.default_rng(2)
    B, g = spread(6) + np.eye(6), rng.normal(size=6)
    directions = [rng.normal(size=6), 1e6 * rng.normal(size=6)]
    weights = updates.best_combination(g, directions, [B @ d for d in directions], 0.5)
    D = np.stack(directions, 1)
    expected = np.linalg.solve(D.T @ (B + 0.5 * np.eye(6)) @ D, -D.T @ g)
    np.testing.assert_allclose(weights, expected, rtol=1e-8)
    twice = updates.best_combination(g, [directions[0]] * 2, [B @ directions[0]] * 2, 0.5)
    once = updates.best_combination(g, directions[:1], [B @ directions[0]], 0.5)
    np.testing.assert_allclose(np.sum(twice), once[0], rtol=1e-8)


def test_a_region_that_is_large_holds_newtons_step() -> None:
    rng = np.random.default_rng(3)
    B, g = spread(8) + np.eye(8), rng.normal(size=8)
    found = updates.steihaug(lambda v: B @ v, g, 1e6, 1e-12, 50)
    np.testing.assert_allclose(found.vector, -np.linalg.solve(B, g), rtol=1e-8)
    assert (found.reason, found.products) == ("residual", 8)
    np.testing.assert_allclose(found.slope, g @ found.vector, rtol=1e-12)
    np.testing.assert_allclose(found.curvature, found.vector @ B @ found.vector, rtol=1e-8)


@pytest.mark.parametrize("forcing", [0.5, 0.1, 1e-3])
def test_it_ends_with_the_residual_that_was_asked_for(forcing: float) -> None:
    B, g = np.diag(np.arange(1.0, 30)), np.ones(29)
    found = updates.steihaug(lambda v: B @ v, g, 1e6, forcing, 50)
    assert np.linalg.norm(B @ found.vector + g) <= forcing * np.linalg.norm(g)
    coarser = updates.steihaug(lambda v: B @ v, g, 1e6, min(4 * forcing, 0.9), 50)
    assert coarser.products < found.products
    few = updates.steihaug(lambda v: B @ v, g, 1e6, 1e-12, 2)
    assert (few.reason, few.products) == ("products", 2)


@pytest.mark.parametrize("eigenvalues", [[1.0, 2.0, 30.0], [1.0, -2.0, 3.0], [-1.0, -2.0, -3.0], [0.0, 0.0, 1.0]])
@pytest.mark.parametrize("radius", [1e-3, 0.3, 10.0])
def test_steps_stay_within_and_are_no_worse_than_that_of_cauchy(eigenvalues: list[float], radius: float) -> None:
    g, B = np.array([1.0, -0.5, 0.25]), np.diag(eigenvalues)
    found = updates.steihaug(lambda v: B @ v, g, radius, 1e-10, 20)

    def model(p: np.ndarray) -> float:
        return float(g @ p + 0.5 * p @ B @ p)

    length = np.linalg.norm(found.vector)
    assert length <= radius * (1 + 1e-12)
    if found.reason in {"boundary", "curvature"}:
        np.testing.assert_allclose(length, radius, rtol=1e-10)
    cauchy = optimize.minimize_scalar(
        lambda t: model(-t * g), bounds=(0, radius / np.linalg.norm(g)), method="bounded", options={"xatol": 1e-10}
    )
    assert model(found.vector) <= cauchy.fun + 1e-9
    np.testing.assert_allclose(found.slope + 0.5 * found.curvature, model(found.vector), rtol=1e-10)


def test_without_a_gradient_there_is_no_step() -> None:
    found = updates.steihaug(lambda v: v, np.zeros(3), 1.0, 0.5, 10)
    assert not np.any(found.vector)
    assert (found.reason, found.products) == ("residual", 0)


def test_damping_follows_the_ratio() -> None:
    found = [updates.accepted_damping(1.0, ratio) for ratio in (-5.0, 0.0, 0.25, 0.5, 0.75, 1.0, 7.0)]
    np.testing.assert_allclose(found, [2, 2, 1.125, 1, 0.875, 1 / 3, 1 / 3])
    assert updates.accepted_damping(1.0, 1.0, least=0.9) == 0.9
    total = 1.0
    for failures in (1, 2, 3):
        total = updates.rejected_damping(total, failures)
    assert total == 2.0**6


def test_the_region_follows_the_ratio() -> None:
    assert updates.accepted_radius(4.0, 0.8, 4.0, on_boundary=True) == 8
    assert updates.accepted_radius(4.0, 0.8, 3.0, on_boundary=False) == 4
    assert updates.accepted_radius(4.0, 0.5, 4.0, on_boundary=True) == 4
    assert updates.accepted_radius(4.0, 0.1, 2.0, on_boundary=False) == 0.5
    assert updates.rejected_radius(2.0) == 0.5
    assert updates.rejected_radius(0.0) > 0


def test_ratios_of_what_is_not_finite_or_not_predicted() -> None:
    assert updates.gain_ratio(1.0, np.nan, 1.0) == -np.inf
    assert updates.gain_ratio(1.0, np.inf, 1.0) == -np.inf
    assert updates.gain_ratio(1.0, 0.5, -1.0) == -np.inf
    assert updates.gain_ratio(1.0, 1.0, 0.0, rounding=1e-9) == 1


def test_forcing_terms_stay_within_bounds() -> None:
    assert updates.forcing_term(5.0, 1.0, 0.5) == 0.5
    assert updates.forcing_term(0.5, 1.0, 0.5) == 0.125
    assert updates.forcing_term(1e-9, 1.0, 0.5) == 0.125  # not much less than before, while that was coarse
    assert updates.forcing_term(1e-9, 1.0, 0.1) == 1e-8
    assert updates.forcing_term(1.0, 0.0, 0.1) == 0.5
