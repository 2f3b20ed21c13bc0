"""Cases on sets of structured arrays: symmetric, triangular, orthogonal matrices, unit vectors, distributions.

Imports records and samplers. Invariant: a claim is about tangents of the set that the option names, and about nothing
else; normal components are free.
"""

from __future__ import annotations

import numpy as np

from tests.testing.cases.records import Target
from tests.testing.cases.samplers import spd

SYMMETRIC = {"manifold": "symmetric"}
POSITIVE = {"manifold": "spd"}
LOWER = {"manifold": "lower"}
SPHERE = {"manifold": "sphere"}
ORTHOGONAL = {"manifold": "orthogonal"}
STIEFEL = {"manifold": "stiefel"}
SIMPLEX = {"manifold": "simplex"}


def symmetric_and_two(rng):
    n = int(rng.integers(3, 6))
    X = rng.standard_normal((n, n))
    return X + X.T, rng.standard_normal((n, n)), rng.standard_normal((n, n))


def one_spd(rng):
    return (spd(rng, int(rng.integers(3, 6))),)


def spd_with_weights(rng):
    n = int(rng.integers(3, 6))
    return spd(rng, n), rng.standard_normal((n, n))


def spread_spectrum(rng):
    n = int(rng.integers(3, 6))
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    X = (Q * (np.arange(n) + rng.uniform(0.0, 0.5, n))) @ Q.T
    return (X + X.T,)


def multiple_of_identity(rng):
    return (rng.uniform(0.5, 2.0) * np.eye(int(rng.integers(3, 6))),)


def triangle_and_residual(rng):
    n = int(rng.integers(3, 6))
    return np.tril(rng.standard_normal((n, n))) + 2 * np.eye(n), rng.standard_normal(n)


def unit_and_matrix(rng):
    n = int(rng.integers(3, 6))
    x = rng.standard_normal(n)
    return x / np.linalg.norm(x), rng.standard_normal((n, n))


def rotation_and_matrix(rng):
    n = int(rng.integers(2, 5))
    return np.linalg.qr(rng.standard_normal((n, n)))[0], rng.standard_normal((n, n))


def frame_and_matrix(rng):
    n = int(rng.integers(3, 6))
    A = rng.standard_normal((n, n))
    return np.linalg.qr(rng.standard_normal((n, 2)))[0], A + A.T


def distribution_and_prior(rng):
    n = int(rng.integers(3, 6))
    return 0.1 / n + 0.9 * rng.dirichlet(np.full(n, 4.0)), 0.1 / n + 0.9 * rng.dirichlet(np.full(n, 4.0))


def sandwich_trace(X, A, B):
    return np.trace(A @ X @ B)


def sandwich_trace_symmetric(_X, A, B):
    return 0.5 * (A.T @ B.T + B @ A)


def sandwich_trace_plain(_X, A, B):
    return A.T @ B.T


def sandwich_trace_doubled(_X, A, B):
    G = 0.5 * (A.T @ B.T + B @ A)
    return 2 * G - np.diag(np.diag(G))


def sandwich_trace_lower(_X, A, B):
    return np.tril(0.5 * (A.T @ B.T + B @ A))


def log_determinant(X):
    return 2 * np.sum(np.log(np.diag(np.linalg.cholesky(X))))


def log_determinant_gradient(X):
    return np.linalg.inv(X)


def log_determinant_doubled(X):
    Y = np.linalg.inv(X)
    return 2 * Y - np.diag(np.diag(Y))


def log_determinant_half(X):
    return 0.5 * np.linalg.inv(X)


def factor_sum(X, W):
    return np.sum(W * np.linalg.cholesky(X))


def factor_sum_gradient(X, W):
    L = np.linalg.cholesky(X)
    P = np.tril(L.T @ np.tril(W))
    P[np.diag_indices_from(P)] /= 2
    S = np.linalg.solve(L.T, np.linalg.solve(L.T, P.T).T)
    return 0.5 * (S + S.T)


def factor_sum_lower(X, W):
    S = factor_sum_gradient(X, W)
    return np.tril(2 * S) - np.diag(np.diag(S))


def factor_sum_diagonal_whole(X, W):
    L = np.linalg.cholesky(X)
    S = np.linalg.solve(L.T, np.linalg.solve(L.T, np.tril(L.T @ np.tril(W)).T).T)
    return 0.5 * (S + S.T)


def spectrum_squared(X):
    return np.sum(np.linalg.eigvalsh(X) ** 2)


def spectrum_squared_gradient(X):
    return 2 * X


def top_eigenvalue(X):
    return np.linalg.eigvalsh(X)[-1]


def top_projector(X):
    v = np.linalg.eigh(X)[1][:, -1]
    return np.outer(v, v)


def bottom_projector(X):
    v = np.linalg.eigh(X)[1][:, 0]
    return np.outer(v, v)


def triangular_likelihood(L, r):
    return 0.5 * np.sum((L.T @ r) ** 2) - np.sum(np.log(np.abs(np.diag(L))))


def triangular_likelihood_gradient(L, r):
    return np.tril(np.outer(r, L.T @ r)) - np.diag(1 / np.diag(L))


def triangular_likelihood_transposed(L, r):
    return np.tril(np.outer(L.T @ r, r)) - np.diag(1 / np.diag(L))


def form(x, A):
    return x @ A @ x


def form_gradient(x, A):
    g = (A + A.T) @ x
    return g - (g @ x) * x


def form_plain_gradient(x, A):
    return (A + A.T) @ x


def form_one_slot(x, A):
    return A @ x - (x @ A @ x) * x


def alignment(Q, A):
    return np.sum(A * Q) + np.trace(A @ Q @ A @ Q) / 2


def alignment_gradient(Q, A):
    G = A + (A @ Q @ A).T
    return G - Q @ (Q.T @ G + G.T @ Q) / 2


def alignment_constant_part(Q, A):
    return A - Q @ (Q.T @ A + A.T @ Q) / 2


def subspace(W, A):
    return np.trace(W.T @ A @ W)


def subspace_gradient(W, A):
    return 2 * (A @ W - W @ (W.T @ A @ W))


def subspace_half(W, A):
    return A @ W - W @ (W.T @ A @ W)


def divergence(p, q):
    return np.sum(p * np.log(p / q))


def divergence_gradient(p, q):
    return np.log(p / q)


def divergence_exchanged(p, q):
    return np.log(q / p)


TRACE = Target("gradient", sandwich_trace, symmetric_and_two, options=SYMMETRIC)
LOG_DETERMINANT = Target("gradient", log_determinant, one_spd, options=POSITIVE, source="HIPS/autograd#56")
FACTOR = Target("gradient", factor_sum, spd_with_weights, options=POSITIVE, source="pytorch/pytorch#18825")
SPECTRUM = Target("gradient", spectrum_squared, multiple_of_identity, options=SYMMETRIC, source="HIPS/autograd#527")
TOP = Target("gradient", top_eigenvalue, spread_spectrum, options=SYMMETRIC)
TRIANGULAR = Target("gradient", triangular_likelihood, triangle_and_residual, options=LOWER)
FORM = Target("gradient", form, unit_and_matrix, options=SPHERE)
ALIGNMENT = Target("gradient", alignment, rotation_and_matrix, options=ORTHOGONAL)
SUBSPACE = Target("gradient", subspace, frame_and_matrix, options=STIEFEL)
DIVERGENCE = Target("gradient", divergence, distribution_and_prior, options=SIMPLEX)

WRONG = (
    TRACE.wrong("symmetric trace, off-diagonal doubled", sandwich_trace_doubled, "off-diagonal doubled"),
    TRACE.wrong("symmetric trace, lower triangle", sandwich_trace_lower, "only one triangle"),
    LOG_DETERMINANT.wrong("log determinant of spd, doubled", log_determinant_doubled, "off-diagonal doubled"),
    LOG_DETERMINANT.wrong("log determinant of spd, 2 forgotten", log_determinant_half, "factor 1/2"),
    FACTOR.wrong("Cholesky factor, diagonal not halved", factor_sum_diagonal_whole, "missing term"),
    TOP.wrong("top eigenvalue, bottom eigenvector", bottom_projector, "wrong branch"),
    TRIANGULAR.wrong("triangular likelihood, transposed", triangular_likelihood_transposed, "transposed operand"),
    FORM.wrong("form on the sphere, one slot", form_one_slot, "missing operand slot"),
    ALIGNMENT.wrong("alignment of rotations, second term forgotten", alignment_constant_part, "missing term"),
    SUBSPACE.wrong("subspace, 2 forgotten", subspace_half, "factor 1/2"),
    DIVERGENCE.wrong("divergence on the simplex, ratio exchanged", divergence_exchanged, "sign"),
)

RIGHT = (
    TRACE.right("symmetric trace", sandwich_trace_symmetric, "symmetric input"),
    TRACE.right("symmetric trace, plain gradient", sandwich_trace_plain, "symmetric input"),
    LOG_DETERMINANT.right("log determinant of spd", log_determinant_gradient, "symmetric input"),
    FACTOR.right("Cholesky factor", factor_sum_gradient, "symmetric input"),
    FACTOR.right("Cholesky factor, lower triangle", factor_sum_lower, "symmetric input"),
    SPECTRUM.right("spectrum at the identity", spectrum_squared_gradient, "degenerate spectrum"),
    TOP.right("top eigenvalue", top_projector, "symmetric input"),
    TRIANGULAR.right("triangular likelihood", triangular_likelihood_gradient, "triangular input"),
    FORM.right("form on the sphere", form_gradient, "curved set"),
    FORM.right("form on the sphere, plain gradient", form_plain_gradient, "curved set"),
    ALIGNMENT.right("alignment of rotations", alignment_gradient, "curved set"),
    SUBSPACE.right("subspace", subspace_gradient, "curved set"),
    DIVERGENCE.right("divergence on the simplex", divergence_gradient, "curved set"),
)
