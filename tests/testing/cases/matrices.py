"""Cases of matrix calculus: traces, determinants, inverses, factorisations, einsums, Kronecker products, kernels.

Imports records and samplers. Invariant: where a transpose is forgotten, all axes have one length, so no shape tells.
"""

from __future__ import annotations

import numpy as np

from tests.testing.cases.records import Target
from tests.testing.cases.samplers import invertible, lengths, normals, spd

WIDTH = 1.5


def one_invertible(rng):
    return (invertible(rng, int(rng.integers(3, 6))),)


def two_systems(rng):
    n = int(rng.integers(3, 6))
    return invertible(rng, n), rng.standard_normal(n), rng.standard_normal(n)


def one_system(rng):
    n = int(rng.integers(3, 6))
    return invertible(rng, n), rng.standard_normal(n)


def symmetric_and_vector(rng):
    n = int(rng.integers(3, 6))
    A = rng.standard_normal((n, n))
    return 1.0 + rng.standard_normal(n), A + A.T


def precision_and_residual(rng):
    n = int(rng.integers(3, 6))
    return spd(rng, n), 2 * rng.standard_normal(n)


def masked_ratings(rng):
    U, V, R = lengths(rng, "mk", "nk", "mn", high=4)
    return rng.standard_normal(U), rng.standard_normal(V), rng.standard_normal(R), 1.0 * (rng.random(R) < 0.6)


def masked_ratings_square(rng):
    n = int(rng.integers(3, 6))
    mask = 1.0 * (rng.random((n, n)) < 0.7)
    return rng.standard_normal((n, n)), rng.standard_normal((n, n)), rng.standard_normal((n, n)), mask


def kronecker_factors(rng):
    n = int(rng.integers(2, 4))
    return rng.standard_normal((n, n)), rng.standard_normal((n, n)), rng.standard_normal((n * n, n * n))


def sandwich_trace(X, A, B):
    return np.trace(A @ X @ B)


def sandwich_trace_gradient(_X, A, B):
    return (B @ A).T


def sandwich_trace_transposed(_X, A, B):
    return B @ A


def log_determinant(X):
    return np.linalg.slogdet(X)[1]


def log_determinant_gradient(X):
    return np.linalg.inv(X).T


def inverse_not_transposed(X):
    return np.linalg.inv(X)


def determinant(X):
    return np.linalg.det(X)


def determinant_gradient(X):
    return np.linalg.det(X) * np.linalg.inv(X).T


def adjugate(X):
    return np.linalg.det(X) * np.linalg.inv(X)


def precision_likelihood(P, r):
    return 0.5 * r @ P @ r - 0.5 * np.linalg.slogdet(P)[1]


def precision_gradient(P, r):
    return 0.5 * np.outer(r, r) - 0.5 * np.linalg.inv(P)


def precision_doubled(P, r):
    G = precision_gradient(P, r)
    return 2 * G - np.diag(np.diag(G))


def precision_lower_triangle(P, r):
    return np.tril(precision_gradient(P, r))


def inverse_form(X, a, b):
    return a @ np.linalg.solve(X, b)


def inverse_form_gradient(X, a, b):
    return -np.outer(np.linalg.solve(X.T, a), np.linalg.solve(X, b))


def inverse_form_transposed(X, a, b):
    return -np.outer(np.linalg.solve(X, b), np.linalg.solve(X.T, a))


def inverse_form_sign(X, a, b):
    return np.outer(np.linalg.solve(X.T, a), np.linalg.solve(X, b))


def quadratic(x, A):
    return x @ A @ x


def quadratic_gradient(x, A):
    return A @ x + A.T @ x


def quadratic_as_if_symmetric(x, A):
    return 2 * A @ x


def quadratic_left_only(x, A):
    return A @ x


def rayleigh(x, A):
    return (x @ A @ x) / (x @ x)


def rayleigh_gradient(x, A):
    return 2 * (A @ x - rayleigh(x, A) * x) / (x @ x)


def rayleigh_without_quotient(x, A):
    return 2 * A @ x / (x @ x)


def reconstruction(W, X):
    return np.sum((X - X @ W @ W.T) ** 2)


def reconstruction_gradient(W, X):
    E = X - X @ W @ W.T
    return -2 * (X.T @ E + E.T @ X) @ W


def reconstruction_one_slot(W, X):
    return -2 * X.T @ (X - X @ W @ W.T) @ W


def factorisation(U, V, R, mask):
    return np.sum(mask * (R - U @ V.T) ** 2)


def factorisation_gradient(U, V, R, mask):
    E = mask * (R - U @ V.T)
    return -2 * E @ V, -2 * E.T @ U


def factorisation_transposed(U, V, R, mask):
    E = mask * (R - U @ V.T)
    return -2 * E @ V, -2 * U.T @ E


def factorisation_error_not_transposed(U, V, R, mask):
    E = mask * (R - U @ V.T)
    return -2 * E @ V, -2 * E @ U


def factorisation_without_mask(U, V, R, mask):
    return factorisation_gradient(U, V, R, np.ones_like(mask))


def cube_trace(X):
    return np.trace(X @ X @ X)


def cube_trace_gradient(X):
    return 3 * (X @ X).T


def cube_trace_transposed(X):
    return 3 * X @ X


def weighted_square(X, G):
    return np.sum(G * (X @ X))


def weighted_square_gradient(X, G):
    return G @ X.T + X.T @ G


def weighted_square_left_only(X, G):
    return G @ X.T


def gram_norm(X):
    return np.sum((X.T @ X) ** 2)


def gram_norm_gradient(X):
    return 4 * X @ X.T @ X


def solve_pullback(primals, g):
    A, b = primals
    adjoint = np.linalg.solve(A.T, g)
    return -np.outer(adjoint, np.linalg.solve(A, b)), adjoint


def solve_pullback_transposed(primals, g):
    by_matrix, by_vector = solve_pullback(primals, g)
    return by_matrix.T, by_vector


def solve_pullback_same_matrix(primals, g):
    A, b = primals
    adjoint = np.linalg.solve(A, g)
    return -np.outer(adjoint, np.linalg.solve(A, b)), adjoint


def inverse_pushforward(primals, tangents):
    (X,), (E,) = primals, tangents
    Y = np.linalg.inv(X)
    return -Y @ E @ Y


def inverse_pushforward_of_transpose(primals, tangents):
    (X,), (E,) = primals, tangents
    Y = np.linalg.inv(X)
    return -Y @ E.T @ Y


def inverse_jacobian(X):
    Y = np.linalg.inv(X)
    return -np.einsum("ik,lj->ijkl", Y, Y)


def inverse_jacobian_transposed(X):
    Y = np.linalg.inv(X)
    return -np.einsum("il,kj->ijkl", Y, Y)


def matrix_vector_pullback(primals, g):
    A, b = primals
    return np.outer(g, b), A.T @ g


def matrix_vector_outer_exchanged(primals, g):
    A, b = primals
    return np.outer(b, g), A.T @ g


def matrix_vector_not_transposed(primals, g):
    A, b = primals
    return np.outer(g, b), A @ g


def weighted_trace(A, w):
    return np.einsum("ii,i->", A, w)


def weighted_trace_gradient(_A, w):
    return np.diag(w)


def weighted_trace_spread(A, w):
    return np.broadcast_to(w, A.shape).copy()


def two_diagonals(A, B):
    return np.einsum("ijji,ij->ij", A, B)


def two_diagonals_pullback(primals, g):
    A, B = primals
    G = np.zeros_like(A)
    i, j = np.indices(B.shape)
    G[i, j, j, i] = g * B
    return G, g * A[i, j, j, i]


def two_diagonals_spread(primals, g):
    A, B = primals
    return np.broadcast_to((g * B)[:, :, None, None], A.shape).copy(), two_diagonals_pullback(primals, g)[1]


def kronecker(A, B, G):
    return np.sum(G * np.kron(A, B))


def kronecker_gradient(A, B, G):
    G = G.reshape(A.shape[0], B.shape[0], A.shape[1], B.shape[1])
    return np.einsum("ikjl,kl->ij", G, B), np.einsum("ikjl,ij->kl", G, A)


def kronecker_axes_exchanged(A, B, G):
    G = G.reshape(A.shape + B.shape)
    return np.einsum("ijkl,kl->ij", G, B), np.einsum("ijkl,ij->kl", G, A)


def squared_distances(X):
    return np.sum((X[:, None, :] - X) ** 2, axis=-1)


def stress(X, W):
    return np.sum(W * squared_distances(X))


def stress_gradient(X, W):
    L = W + W.T
    return 2 * (np.sum(L, axis=1)[:, None] * X - L @ X)


def stress_rows_only(X, W):
    return 2 * (np.sum(W, axis=1)[:, None] * X - W @ X)


def kernel_sum(X, W):
    return np.sum(W * np.exp(-squared_distances(X) / (2 * WIDTH**2)))


def kernel_sum_gradient(X, W):
    return stress_gradient(X, W * np.exp(-squared_distances(X) / (2 * WIDTH**2))) / (-2 * WIDTH**2)


def kernel_sum_without_width(X, W):
    return kernel_sum_gradient(X, W) * WIDTH**2


TRACE = Target("gradient", sandwich_trace, normals("nn", "nn", "nn"))
LOG_DETERMINANT = Target("gradient", log_determinant, one_invertible)
DETERMINANT = Target("gradient", determinant, one_invertible)
PRECISION = Target("gradient", precision_likelihood, precision_and_residual)
INVERSE_FORM = Target("gradient", inverse_form, two_systems)
QUADRATIC = Target("gradient", quadratic, normals("n", "nn"))
RAYLEIGH = Target("gradient", rayleigh, symmetric_and_vector)
RECONSTRUCTION = Target("gradient", reconstruction, normals("nk", "mn", high=4))
FACTORISATION = Target("gradient", factorisation, masked_ratings, (0, 1))
FACTORISATION_SQUARE = Target("gradient", factorisation, masked_ratings_square, (0, 1))
CUBE_TRACE = Target("gradient", cube_trace, normals("nn"))
SQUARE = Target("gradient", weighted_square, normals("nn", "nn"))
GRAM = Target("gradient", gram_norm, normals("mn"))
SOLVE = Target("vjp", np.linalg.solve, one_system, (0, 1))
INVERSE = Target("jvp", np.linalg.inv, one_invertible)
INVERSE_JACOBIAN = Target("jacobian", np.linalg.inv, one_invertible)
MATRIX_VECTOR = Target("vjp", np.matmul, normals("mn", "n"), (0, 1))
MATRIX_VECTOR_SQUARE = Target("vjp", np.matmul, normals("nn", "n"), (0, 1), source="google/tangent#59")
WEIGHTED_TRACE = Target("gradient", weighted_trace, normals("nn", "n"), source="HIPS/autograd#115")
TWO_DIAGONALS = Target("vjp", two_diagonals, normals("mnnm", "mn", low=2, high=3), (0, 1), source="HIPS/autograd#115")
KRONECKER = Target("gradient", kronecker, kronecker_factors, (0, 1))
STRESS = Target("gradient", stress, normals("nd", "nn", high=4))
KERNEL = Target("gradient", kernel_sum, normals("nd", "nn", high=4))

WRONG = (
    TRACE.wrong("trace of a sandwich, transposed", sandwich_trace_transposed, "transposed"),
    LOG_DETERMINANT.wrong("log determinant, inverse not transposed", inverse_not_transposed, "transposed"),
    DETERMINANT.wrong("determinant, adjugate for cofactors", adjugate, "transposed"),
    DETERMINANT.wrong("determinant, gradient of its logarithm", log_determinant_gradient, "missing inner derivative"),
    PRECISION.wrong("precision, off-diagonal doubled", precision_doubled, "off-diagonal doubled"),
    PRECISION.wrong("precision, lower triangle", precision_lower_triangle, "only one triangle"),
    INVERSE_FORM.wrong("inverse form, transposed", inverse_form_transposed, "transposed"),
    INVERSE_FORM.wrong("inverse form, sign", inverse_form_sign, "sign"),
    QUADRATIC.wrong("quadratic form, as if symmetric", quadratic_as_if_symmetric, "transposed operand"),
    QUADRATIC.wrong("quadratic form, one slot", quadratic_left_only, "missing operand slot"),
    RAYLEIGH.wrong("Rayleigh quotient, denominator constant", rayleigh_without_quotient, "missing term"),
    RECONSTRUCTION.wrong("principal components, one slot", reconstruction_one_slot, "missing operand slot"),
    FACTORISATION.wrong("factorisation, mask forgotten", factorisation_without_mask, "wrong branch"),
    FACTORISATION_SQUARE.wrong("factorisation, one factor transposed", factorisation_transposed, "transposed"),
    FACTORISATION_SQUARE.wrong(
        "factorisation, error not transposed", factorisation_error_not_transposed, "transposed operand"
    ),
    CUBE_TRACE.wrong("trace of the cube, transposed", cube_trace_transposed, "transposed"),
    SQUARE.wrong("matrix square, one slot", weighted_square_left_only, "missing operand slot"),
    SOLVE.wrong("solve, matrix cotangent transposed", solve_pullback_transposed, "transposed"),
    SOLVE.wrong("solve, adjoint system not transposed", solve_pullback_same_matrix, "transposed operand"),
    INVERSE.wrong("inverse, tangent transposed", inverse_pushforward_of_transpose, "transposed operand"),
    INVERSE_JACOBIAN.wrong("inverse, input axes exchanged", inverse_jacobian_transposed, "transposed"),
    MATRIX_VECTOR_SQUARE.wrong("square matrix times vector, outer", matrix_vector_outer_exchanged, "transposed"),
    MATRIX_VECTOR_SQUARE.wrong("square matrix times vector", matrix_vector_not_transposed, "transposed operand"),
    WEIGHTED_TRACE.wrong("weighted trace, spread over the matrix", weighted_trace_spread, "off the diagonal"),
    TWO_DIAGONALS.wrong("two diagonals, spread over all axes", two_diagonals_spread, "off the diagonal"),
    KRONECKER.wrong("Kronecker, axes in the wrong order", kronecker_axes_exchanged, "wrong axis"),
    STRESS.wrong("distances, rows only", stress_rows_only, "missing operand slot"),
    KERNEL.wrong("kernel, width forgotten", kernel_sum_without_width, "constant factor"),
)

RIGHT = (
    TRACE.right("trace of a sandwich", sandwich_trace_gradient),
    LOG_DETERMINANT.right("log determinant", log_determinant_gradient),
    DETERMINANT.right("determinant", determinant_gradient),
    PRECISION.right("precision", precision_gradient),
    INVERSE_FORM.right("inverse form", inverse_form_gradient),
    QUADRATIC.right("quadratic form", quadratic_gradient),
    RAYLEIGH.right("Rayleigh quotient", rayleigh_gradient),
    RECONSTRUCTION.right("principal components", reconstruction_gradient, "repeated operand"),
    FACTORISATION.right("factorisation", factorisation_gradient),
    CUBE_TRACE.right("trace of the cube", cube_trace_gradient, "repeated operand"),
    SQUARE.right("matrix square", weighted_square_gradient, "repeated operand"),
    GRAM.right("Gram matrix", gram_norm_gradient, "repeated operand"),
    SOLVE.right("solve", solve_pullback),
    INVERSE.right("inverse", inverse_pushforward),
    INVERSE_JACOBIAN.right("Jacobian of the inverse", inverse_jacobian),
    MATRIX_VECTOR.right("matrix times vector", matrix_vector_pullback),
    WEIGHTED_TRACE.right("weighted trace", weighted_trace_gradient),
    TWO_DIAGONALS.right("two diagonals", two_diagonals_pullback),
    KRONECKER.right("Kronecker", kronecker_gradient),
    STRESS.right("distances", stress_gradient),
    KERNEL.right("kernel", kernel_sum_gradient),
)
