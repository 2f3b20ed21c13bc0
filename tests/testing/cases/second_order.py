"""Cases of second order: Hessians and products of Hessians with vectors.

Imports records and samplers. Invariant: first derivatives play no part, so every mistake is one of second order.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from tests.testing.cases.records import Target
from tests.testing.cases.samplers import invertible, normals, separated, uniforms


def signed_labels(rng):
    m, n = int(rng.integers(3, 6)), int(rng.integers(2, 5))
    return rng.standard_normal(n), rng.standard_normal((m, n)), rng.choice([-1.0, 1.0], m)


def one_invertible(rng):
    return (invertible(rng, int(rng.integers(2, 4))),)


def identity_matrix(rng):
    return (np.eye(int(rng.integers(2, 4))),)


def stacked_pair(rng):
    n = int(rng.integers(2, 5))
    return rng.standard_normal(2 * n), rng.standard_normal((n, n))


def softmax(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


def logistic(w, X, labels):
    return np.sum(np.logaddexp(0, -labels * (X @ w)))


def logistic_hessian(w, X, labels):
    s = special.expit(labels * (X @ w))
    return X.T @ ((s * (1 - s))[:, None] * X)


def logistic_without_weights(_w, X, _labels):
    return X.T @ X


def logistic_one_factor(w, X, labels):
    return X.T @ (special.expit(labels * (X @ w))[:, None] * X)


def logistic_product(w, X, labels, v):
    s = special.expit(labels * (X @ w))
    return X.T @ (s * (1 - s) * (X @ v))


def logistic_product_exchanged(w, X, labels, v):
    return logistic_product(v, X, labels, w)


def logistic_product_negative(w, X, labels, v):
    return -logistic_product(w, X, labels, v)


def logistic_product_at_zero(w, X, labels, v):
    return logistic_product(np.zeros_like(w), X, labels, v)


def growth_fit(w, X, y):
    return 0.5 * np.sum((np.exp(X @ w) - y) ** 2)


def growth_fit_hessian(w, X, y):
    e = np.exp(X @ w)
    return X.T @ ((e**2 + (e - y) * e)[:, None] * X)


def growth_fit_gauss_newton(w, X, _y):
    e = np.exp(X @ w)
    return X.T @ ((e**2)[:, None] * X)


def quadratic(x, A):
    return 0.5 * x @ A @ x


def quadratic_hessian(_x, A):
    return 0.5 * (A + A.T)


def quadratic_not_symmetrised(_x, A):
    return A.copy()


def quadratic_without_half(_x, A):
    return A + A.T


def quadratic_lower(_x, A):
    return np.tril(0.5 * (A + A.T))


def quadratic_value(_x, A, v):
    return v @ A @ v


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def rosenbrock_hessian(x):
    H = np.diag(np.append(1200 * x[:-1] ** 2 - 400 * x[1:] + 2, 0.0) + np.append(0.0, np.full(len(x) - 1, 200.0)))
    return H - np.diag(400 * x[:-1], 1) - np.diag(400 * x[:-1], -1)


def rosenbrock_doubled(x):
    H = rosenbrock_hessian(x)
    return 2 * H - np.diag(np.diag(H))


def rosenbrock_upper(x):
    return np.triu(rosenbrock_hessian(x))


def rosenbrock_product(x, v):
    return rosenbrock_hessian(x) @ v


def rosenbrock_doubled_product(x, v):
    return rosenbrock_doubled(x) @ v


def exponentials(x):
    return np.sum(np.exp(x))


def exponentials_hessian(x):
    return np.diag(np.exp(x))


def exponentials_vector(x):
    return np.exp(x)


def exponentials_full(x):
    return np.outer(np.exp(x / 2), np.exp(x / 2))


def exponentials_product(x, v):
    return np.exp(x) * v


def exponentials_step_too_long(x, v):
    return np.exp(x + v) - np.exp(x)


def sandwich(X, A, B):
    return np.trace(X.T @ A @ X @ B)


def sandwich_hessian(_X, A, B):
    return np.einsum("pr,sq->pqrs", A, B) + np.einsum("rp,qs->pqrs", A, B)


def sandwich_one_slot(_X, A, B):
    return 2 * np.einsum("pr,sq->pqrs", A, B)


def sandwich_block_transposed(_X, A, B):
    return np.einsum("pr,qs->pqrs", A, B) + np.einsum("rp,sq->pqrs", A, B)


def log_determinant(X):
    return np.linalg.slogdet(X)[1]


def log_determinant_hessian(X):
    Y = np.linalg.inv(X)
    return -np.einsum("li,jk->ijkl", Y, Y)


def log_determinant_of_the_inverse(X):
    Y = np.linalg.inv(X)
    return -np.einsum("lj,ik->ijkl", Y, Y)


def log_determinant_positive(X):
    return -log_determinant_hessian(X)


def log_determinant_product(X, V):
    Y = np.linalg.inv(X)
    return -(Y @ V @ Y).T


def log_determinant_product_transposed(X, V):
    Y = np.linalg.inv(X)
    return -Y @ V @ Y


def determinant(X):
    return np.linalg.det(X)


def determinant_hessian(X):
    Y = np.linalg.inv(X)
    return np.linalg.det(X) * (np.einsum("ji,lk->ijkl", Y, Y) - np.einsum("jk,li->ijkl", Y, Y))


def determinant_inverse_constant(X):
    Y = np.linalg.inv(X)
    return np.linalg.det(X) * np.einsum("ji,lk->ijkl", Y, Y)


def norm(x):
    return np.sqrt(np.sum(x**2))


def norm_hessian(x):
    return (np.eye(len(x)) - np.outer(x, x) / (x @ x)) / norm(x)


def norm_without_projection(x):
    return np.eye(len(x)) / norm(x)


def log_sum_exp(x):
    return np.log(np.sum(np.exp(x)))


def log_sum_exp_hessian(x):
    p = softmax(x)
    return np.diag(p) - np.outer(p, p)


def log_sum_exp_product(x, v):
    p = softmax(x)
    return p * (v - p @ v)


def log_sum_exp_product_diagonal(x, v):
    return softmax(x) * v


def quartic(x):
    return np.sum(x**4) + np.prod(x)


def quartic_hessian(x):
    n = len(x)
    H = np.diag(12 * x**2)
    for i in range(n):
        for j in range(n):
            if i != j:
                H[i, j] = np.prod(np.delete(x, [i, j]))
    return H


def quartic_lost(x):
    return np.zeros((len(x), len(x)))


def quartic_three_per_cent(x):
    return 1.03 * quartic_hessian(x)


def quartic_exponent(x):
    H = quartic_hessian(x)
    np.fill_diagonal(H, 12 * x**3)
    return H


def coupled(z, C):
    u, v = z[: len(C)], z[len(C) :]
    return u @ C @ v + np.sum(np.cos(u))


def coupled_product(z, C, d):
    u, du, dv = z[: len(C)], d[: len(C)], d[len(C) :]
    return np.append(C @ dv - np.cos(u) * du, C.T @ du)


def coupled_block_transposed(z, C, d):
    u, du, dv = z[: len(C)], d[: len(C)], d[len(C) :]
    return np.append(C.T @ dv - np.cos(u) * du, C @ du)


def half_squares(w, X, y):
    return 0.5 * np.sum((X @ w - y) ** 2)


def half_squares_product(_w, X, _y, v):
    return X.T @ (X @ v)


def half_squares_product_exchanged(_w, X, _y, v):
    return X @ (X.T @ v)


def half_squares_product_twice(_w, X, _y, v):
    return 2 * X.T @ (X @ v)


def kernel_row(x):
    return np.sum(np.exp(-0.5 * (x[:, None] - x) ** 2))


def kernel_row_hessian(x):
    d = x[:, None] - x
    off = 2 * (1 - d**2) * np.exp(-0.5 * d**2)
    np.fill_diagonal(off, 0.0)
    return off - np.diag(np.sum(off, axis=1))


def kernel_row_off_diagonal_only(x):
    H = kernel_row_hessian(x)
    return H - np.diag(np.diag(H))


def linear(x, c):
    return c @ x


def no_curvature(x, _c):
    return np.zeros((len(x), len(x)))


LOGISTIC = Target("hessian", logistic, signed_labels)
LOGISTIC_PRODUCT = Target("hvp", logistic, signed_labels)
GROWTH_FIT = Target("hessian", growth_fit, normals("n", "mn", "m", low=2, high=4, scale=0.7))
QUADRATIC = Target("hessian", quadratic, normals("n", "nn"))
QUADRATIC_PRODUCT = Target("hvp", quadratic, normals("n", "nn"))
ROSENBROCK = Target("hessian", rosenbrock, normals("n"), source="mechmotum/cyipopt#143")
ROSENBROCK_PRODUCT = Target("hvp", rosenbrock, normals("n"), source="mechmotum/cyipopt#143")
EXPONENTIALS = Target("hessian", exponentials, normals("n"), source="jax-ml/jax#3801")
EXPONENTIALS_PRODUCT = Target("hvp", exponentials, normals("n"))
SANDWICH = Target("hessian", sandwich, normals("nn", "nn", "nn", low=2, high=3))
LOG_DETERMINANT = Target("hessian", log_determinant, one_invertible)
LOG_DETERMINANT_PRODUCT = Target("hvp", log_determinant, one_invertible)
DETERMINANT = Target("hessian", determinant, one_invertible)
DETERMINANT_AT_IDENTITY = Target("hessian", determinant, identity_matrix, source="pytorch/pytorch#192521")
NORM = Target("hessian", norm, normals("n"))
LOG_SUM_EXP = Target("hessian", log_sum_exp, normals("n"))
LOG_SUM_EXP_PRODUCT = Target("hvp", log_sum_exp, normals("n"))
QUARTIC = Target("hessian", quartic, separated("n", high=4))
COUPLED = Target("hvp", coupled, stacked_pair)
HALF_SQUARES_PRODUCT = Target("hvp", half_squares, normals("n", "mn", "m"))
HALF_SQUARES_SQUARE = Target("hvp", half_squares, normals("n", "nn", "n"))
KERNEL_ROW = Target("hessian", kernel_row, uniforms(-2.0, 2.0, "n"))
LINEAR = Target("hessian", linear, normals("n", "n"), source="pytorch/pytorch#32304")

WRONG = (
    LOGISTIC.wrong("logistic Hessian, weights forgotten", logistic_without_weights, "missing inner derivative"),
    LOGISTIC.wrong("logistic Hessian, one factor of the weights", logistic_one_factor, "missing inner derivative"),
    LOGISTIC_PRODUCT.wrong("logistic HVP, point and vector exchanged", logistic_product_exchanged, "swapped arguments"),
    LOGISTIC_PRODUCT.wrong("logistic HVP, sign", logistic_product_negative, "sign"),
    LOGISTIC_PRODUCT.wrong("logistic HVP, at the starting point", logistic_product_at_zero, "stale value"),
    GROWTH_FIT.wrong("growth fit, Gauss-Newton for the Hessian", growth_fit_gauss_newton, "missing term"),
    QUADRATIC.wrong("quadratic Hessian, not symmetrised", quadratic_not_symmetrised, "not symmetrised"),
    QUADRATIC.wrong("quadratic Hessian, half forgotten", quadratic_without_half, "factor 2"),
    QUADRATIC.wrong("quadratic Hessian, lower triangle", quadratic_lower, "only one triangle"),
    QUADRATIC_PRODUCT.wrong("quadratic HVP, its value", quadratic_value, "wrong shape"),
    ROSENBROCK.wrong("Rosenbrock Hessian, off-diagonal doubled", rosenbrock_doubled, "off-diagonal doubled"),
    ROSENBROCK.wrong("Rosenbrock Hessian, upper triangle", rosenbrock_upper, "only one triangle"),
    ROSENBROCK_PRODUCT.wrong(
        "Rosenbrock HVP, off-diagonal doubled", rosenbrock_doubled_product, "off-diagonal doubled"
    ),
    EXPONENTIALS.wrong("exponentials, vector for a diagonal", exponentials_vector, "wrong shape"),
    EXPONENTIALS.wrong("exponentials, spread off the diagonal", exponentials_full, "off the diagonal"),
    EXPONENTIALS_PRODUCT.wrong("exponentials HVP, step too long", exponentials_step_too_long, "evaluated elsewhere"),
    SANDWICH.wrong("sandwich Hessian, one slot twice", sandwich_one_slot, "not symmetrised"),
    SANDWICH.wrong("sandwich Hessian, block transposed", sandwich_block_transposed, "transposed operand"),
    LOG_DETERMINANT.wrong("log determinant Hessian, transposed", log_determinant_of_the_inverse, "transposed"),
    LOG_DETERMINANT.wrong("log determinant Hessian, sign", log_determinant_positive, "sign"),
    LOG_DETERMINANT_PRODUCT.wrong("log determinant HVP, transposed", log_determinant_product_transposed, "transposed"),
    DETERMINANT.wrong("determinant Hessian, inverse constant", determinant_inverse_constant, "missing term"),
    NORM.wrong("norm Hessian without projection", norm_without_projection, "missing term"),
    LOG_SUM_EXP_PRODUCT.wrong("log sum exp HVP, diagonal only", log_sum_exp_product_diagonal, "missing term"),
    QUARTIC.wrong("quartic Hessian lost", quartic_lost, "zero"),
    QUARTIC.wrong("quartic Hessian, 3 % off", quartic_three_per_cent, "constant factor"),
    QUARTIC.wrong("quartic Hessian, exponent", quartic_exponent, "wrong exponent"),
    COUPLED.wrong("coupled HVP, mixed block transposed", coupled_block_transposed, "transposed operand"),
    HALF_SQUARES_PRODUCT.wrong("half squares HVP, twice", half_squares_product_twice, "factor 2"),
    HALF_SQUARES_SQUARE.wrong("half squares HVP, order", half_squares_product_exchanged, "transposed operand"),
    KERNEL_ROW.wrong("kernel Hessian without its diagonal", kernel_row_off_diagonal_only, "missing term"),
)

RIGHT = (
    LOGISTIC.right("logistic Hessian", logistic_hessian),
    LOGISTIC_PRODUCT.right("logistic HVP", logistic_product),
    GROWTH_FIT.right("growth fit Hessian", growth_fit_hessian),
    QUADRATIC.right("quadratic Hessian", quadratic_hessian),
    ROSENBROCK.right("Rosenbrock Hessian", rosenbrock_hessian),
    ROSENBROCK_PRODUCT.right("Rosenbrock HVP", rosenbrock_product),
    EXPONENTIALS.right("exponentials Hessian", exponentials_hessian),
    EXPONENTIALS_PRODUCT.right("exponentials HVP", exponentials_product),
    SANDWICH.right("sandwich Hessian", sandwich_hessian),
    LOG_DETERMINANT.right("log determinant Hessian", log_determinant_hessian),
    LOG_DETERMINANT_PRODUCT.right("log determinant HVP", log_determinant_product),
    DETERMINANT_AT_IDENTITY.right("determinant Hessian at the identity", determinant_hessian, "degenerate spectrum"),
    NORM.right("norm Hessian", norm_hessian),
    LOG_SUM_EXP.right("log sum exp Hessian", log_sum_exp_hessian),
    LOG_SUM_EXP_PRODUCT.right("log sum exp HVP", log_sum_exp_product),
    QUARTIC.right("quartic Hessian", quartic_hessian),
    COUPLED.right("coupled HVP", coupled_product),
    HALF_SQUARES_PRODUCT.right("half squares HVP", half_squares_product),
    KERNEL_ROW.right("kernel Hessian", kernel_row_hessian, "zero row sums"),
    LINEAR.right("linear Hessian", no_curvature, "zero"),
)
