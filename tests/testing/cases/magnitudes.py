"""Right cases that numbers make hard: conditioning, cancellation, saturation, stationary points, wide ranges.

Imports records and samplers. Invariant: every claim is written so that it loses no digits itself.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from tests.testing.cases.records import Target, Wrong
from tests.testing.cases.samplers import normals, uniforms


def hilbert(n):
    k = np.arange(n)
    return 1.0 / (k[:, None] + k + 1)


def hilbert_side(rng):
    n = int(rng.integers(3, 7))
    return rng.standard_normal(n), rng.standard_normal(n)


def nearly_singular(rng):
    n = int(rng.integers(2, 5))
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    return (Q * np.append(rng.uniform(0.5, 2.0, n - 1), 1e-5) @ Q.T,)


def singular(rng):
    n = int(rng.integers(2, 5))
    left, right = rng.integers(1, 4, (n, n - 1)), rng.choice([-3.0, -2.0, -1.0, 1.0, 2.0], (n - 1, n))
    return (left @ right,)


def multiple_of_identity(rng):
    return (rng.uniform(0.5, 2.0) * np.eye(int(rng.integers(2, 5))),)


def far_logits(rng):
    n = int(rng.integers(3, 6))
    return (rng.choice([-1000.0, 1000.0], n) + rng.standard_normal(n),)


def large_logits(rng):
    n = int(rng.integers(3, 6))
    return rng.uniform(-500, 500, n), np.eye(n)[int(rng.integers(n))]


def saturated(rng):
    n = int(rng.integers(3, 6))
    return (rng.choice([-1.0, 1.0], n) * rng.uniform(15, 40, n),)


def small(rng):
    n = int(rng.integers(3, 6))
    return (rng.choice([-1.0, 1.0], n) * 10.0 ** rng.uniform(-5, -2, n),)


def small_positive(rng):
    return (10.0 ** rng.uniform(-6, -3, int(rng.integers(3, 6))),)


def near_one(rng):
    n = int(rng.integers(3, 6))
    return (rng.choice([-1.0, 1.0], n) * (1 - 10.0 ** rng.uniform(-6, -3, n)),)


def far_from_the_origin(rng):
    return (1e4 + rng.standard_normal(int(rng.integers(3, 7))),)


def large(rng):
    return (10.0 ** rng.uniform(5, 8, int(rng.integers(3, 6))),)


def spread(rng):
    n = int(rng.integers(3, 6))
    return (rng.permutation(np.append([1e-8, 1e8], 10.0 ** rng.uniform(-8, 8, n - 2))),)


def spread_with_weights(rng):
    (x,) = spread(rng)
    return x, rng.uniform(0.5, 2.0, len(x)) / x


def huge_pair(rng):
    n = int(rng.integers(3, 6))
    return rng.standard_normal(n) * 1e200, rng.standard_normal(n) * 1e200


def solved_squares(rng):
    m, n = int(rng.integers(4, 7)), int(rng.integers(2, 4))
    X, w = rng.standard_normal((m, n)), rng.standard_normal(n)
    return w, X, X @ w


def at_the_centre(rng):
    a = rng.standard_normal(int(rng.integers(3, 6)))
    return a.copy(), a


def just_below_one(rng):
    return (1 - 2.0 ** -rng.integers(10, 24, int(rng.integers(3, 6))),)


def hilbert_solution(b, c):
    return c @ np.linalg.solve(hilbert(len(b)), b)


def hilbert_solution_gradient(b, c):
    return np.linalg.solve(hilbert(len(b)), c)


def log_determinant(X):
    return np.linalg.slogdet(X)[1]


def log_determinant_gradient(X):
    return np.linalg.inv(X).T


def determinant(X):
    return np.linalg.det(X)


def cofactors(X):
    C = np.empty_like(X)
    for i, j in np.ndindex(X.shape):
        C[i, j] = (-1) ** (i + j) * np.linalg.det(np.delete(np.delete(X, i, 0), j, 1))
    return C


def nuclear_norm(X):
    return np.sum(np.linalg.svd(X, compute_uv=False))


def nuclear_norm_gradient(X):
    U, _, V = np.linalg.svd(X)
    return U @ V


def pseudo_inverse(a, b):
    return np.linalg.pinv(np.outer(a, b))


def pseudo_inverse_pushforward(primals, tangents):
    (a, b), (da, db) = primals, tangents
    s, t = a @ a, b @ b
    shrinking = 2 * (a @ da / s + b @ db / t)
    return (np.outer(db, a) + np.outer(b, da) - shrinking * np.outer(b, a)) / (s * t)


def log_sum_exp(x):
    top = np.max(x)
    return top + np.log(np.sum(np.exp(x - top)))


def softmax(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


def cross_entropy(z, y):
    return log_sum_exp(z) - z @ y


def cross_entropy_gradient(z, y):
    return softmax(z) - y


def softplus_total(x):
    return np.sum(np.logaddexp(0.0, x))


def tanh_total(x):
    return np.sum(np.tanh(x))


def tanh_total_gradient(x):
    return 1 / np.cosh(x) ** 2


def versine(x):
    return np.sum(1 - np.cos(x))


def exponential_quotient(x):
    return np.sum((np.exp(x) - 1) / x)


def exponential_quotient_gradient(x):
    return sum([(k + 1) * x**k / np.prod(np.arange(1.0, k + 3)) for k in range(8)])


def moment_variance(x):
    return np.mean(x**2) - np.mean(x) ** 2


def moment_variance_gradient(x):
    return 2 * (x - np.mean(x)) / len(x)


def root_differences(x):
    return np.sum(np.sqrt(x + 1) - np.sqrt(x))


def root_differences_gradient(x):
    return -0.5 / (np.sqrt(x) * np.sqrt(x + 1) * (np.sqrt(x) + np.sqrt(x + 1)))


def offset_squares(x):
    return 1e8 + np.sum(x**2)


def twice(x):
    return 2 * x


def buried_sines(x):
    return 1 + 1e-10 * np.sum(np.sin(x))


def buried_sines_gradient(x):
    return 1e-10 * np.cos(x)


def entropy(x):
    return np.sum(x * np.log(x))


def entropy_gradient(x):
    return np.log(x) + 1


def root_total(x):
    return np.sum(np.sqrt(x))


def root_total_gradient(x):
    return 0.5 / np.sqrt(x)


def log_total(x):
    return np.sum(np.log(x))


def reciprocal(x):
    return 1 / x


def arccos_total(x):
    return np.sum(np.arccos(x))


def arccos_total_gradient(x):
    return -1 / np.sqrt((1 - x) * (1 + x))


def squared_logs(x):
    return np.sum(np.log(x) ** 2)


def squared_logs_gradient(x):
    return 2 * np.log(x) / x


def squares(x):
    return np.sum(x**2)


def balanced(x, c):
    return np.sum(np.sin(c * x))


def balanced_gradient(x, c):
    return c * np.cos(c * x)


def huge_sines(x):
    return 1e100 * np.sum(np.sin(x))


def huge_sines_gradient(x):
    return 1e100 * np.cos(x)


def tiny_sines(x):
    return 1e-100 * np.sum(np.sin(x))


def tiny_sines_gradient(x):
    return 1e-100 * np.cos(x)


def hypotenuse_pullback(primals, g):
    x, y = primals
    return g * (x / np.hypot(x, y)), g * (y / np.hypot(x, y))


def half_squares(w, X, y):
    return 0.5 * np.sum((X @ w - y) ** 2)


def half_squares_gradient(w, X, y):
    return X.T @ (X @ w - y)


def bowl(x, a):
    return np.sum((x - a) ** 2)


def bowl_gradient(x, a):
    return 2 * (x - a)


def quartic_bowl(x, a):
    return np.sum((x - a) ** 4)


def quartic_bowl_hessian(x, a):
    return np.diag(12 * (x - a) ** 2)


def log_of_normal(x):
    return np.sum(special.log_ndtr(x))


def log_of_normal_gradient(x):
    return np.sqrt(2 / np.pi) / special.erfcx(-x / np.sqrt(2))


def log_survival(p):
    return np.sum(np.log1p(-p))


def log_survival_gradient(p):
    return -1 / (1 - p)


def angle_pullback(primals, g):
    y, x = primals
    r = np.hypot(x, y)
    return g * (x / r) / r, -g * (y / r) / r


HILBERT = Target("gradient", hilbert_solution, hilbert_side)
LOG_DETERMINANT = Target("gradient", log_determinant, nearly_singular)
DETERMINANT = Target("gradient", determinant, singular)
NUCLEAR = Target("gradient", nuclear_norm, multiple_of_identity, source="jax-ml/jax#2311")
PSEUDO_INVERSE = Target("jvp", pseudo_inverse, normals("m", "n"), (0, 1), source="pytorch/pytorch#65911")
LOG_SUM_EXP = Target("gradient", log_sum_exp, far_logits)
CROSS_ENTROPY = Target("gradient", cross_entropy, large_logits)
SOFTPLUS = Target("gradient", softplus_total, far_logits)
SATURATED = Target("gradient", tanh_total, saturated)
VERSINE = Target("gradient", versine, small)
QUOTIENT = Target("gradient", exponential_quotient, small)
MOMENTS = Target("gradient", moment_variance, far_from_the_origin)
ROOT_DIFFERENCES = Target("gradient", root_differences, large)
OFFSET = Target("gradient", offset_squares, normals("n"))
BURIED = Target("gradient", buried_sines, normals("n"))
ENTROPY = Target("gradient", entropy, small_positive)
ROOTS = Target("gradient", root_total, small_positive)
LOGS = Target("gradient", log_total, small_positive)
ARCCOS = Target("gradient", arccos_total, near_one)
SQUARED_LOGS = Target("gradient", squared_logs, spread)
SPREAD_SQUARES = Target("gradient", squares, spread)
BALANCED = Target("gradient", balanced, spread_with_weights)
HUGE = Target("gradient", huge_sines, normals("n"))
TINY = Target("gradient", tiny_sines, normals("n"))
HUGE_PAIR = Target("vjp", np.hypot, huge_pair, (0, 1))
SOLVED = Target("gradient", half_squares, solved_squares)
CENTRE = Target("gradient", bowl, at_the_centre)
FLAT_CENTRE = Target("hessian", quartic_bowl, at_the_centre)
NORMAL_TAIL = Target("gradient", log_of_normal, uniforms(-30.0, -5.0, "n"))
SURVIVAL = Target("gradient", log_survival, just_below_one)
TINY_ANGLE = Target("vjp", np.arctan2, uniforms(1e-14, 1e-13, "n", "n"), (0, 1), source="pytorch/pytorch#98276")

WRONG: tuple[Wrong, ...] = ()

RIGHT = (
    HILBERT.right("Hilbert system", hilbert_solution_gradient, "ill-conditioned"),
    LOG_DETERMINANT.right("log determinant, nearly singular", log_determinant_gradient, "ill-conditioned"),
    DETERMINANT.right("determinant of singular matrices", cofactors, "singular"),
    NUCLEAR.right("nuclear norm at the identity", nuclear_norm_gradient, "degenerate spectrum"),
    PSEUDO_INVERSE.right("pseudo-inverse of rank one", pseudo_inverse_pushforward, "fixed rank"),
    LOG_SUM_EXP.right("log sum exp at 1000", softmax, "overflow"),
    CROSS_ENTROPY.right("cross-entropy at large logits", cross_entropy_gradient, "saturated"),
    SOFTPLUS.right("softplus at 1000", special.expit, "overflow"),
    SATURATED.right("tanh at large arguments", tanh_total_gradient, "saturated"),
    VERSINE.right("1 - cos near 0", np.sin, "cancellation"),
    QUOTIENT.right("exponential quotient near 0", exponential_quotient_gradient, "cancellation"),
    MOMENTS.right("variance from moments", moment_variance_gradient, "cancellation"),
    ROOT_DIFFERENCES.right("differences of roots", root_differences_gradient, "cancellation"),
    OFFSET.right("squares on a large offset", twice, "cancellation"),
    BURIED.right("sines buried in one", buried_sines_gradient, "cancellation"),
    ENTROPY.right("entropy near 0", entropy_gradient, "edge of the domain"),
    ROOTS.right("square roots near 0", root_total_gradient, "edge of the domain"),
    LOGS.right("logarithms near 0", reciprocal, "edge of the domain"),
    ARCCOS.right("arc cosine near 1", arccos_total_gradient, "edge of the domain"),
    SQUARED_LOGS.right("squared logarithms", squared_logs_gradient, "wide range of magnitudes"),
    SPREAD_SQUARES.right("squares of a wide range", twice, "wide range of magnitudes"),
    BALANCED.right("balanced wide range", balanced_gradient, "wide range of magnitudes"),
    HUGE.right("values of 1e100", huge_sines_gradient, "magnitude"),
    TINY.right("values of 1e-100", tiny_sines_gradient, "magnitude"),
    HUGE_PAIR.right("hypotenuse of 1e200", hypotenuse_pullback, "magnitude"),
    SOLVED.right("squares at their solution", half_squares_gradient, "stationary point"),
    CENTRE.right("bowl at its centre", bowl_gradient, "stationary point"),
    FLAT_CENTRE.right("quartic bowl at its centre", quartic_bowl_hessian, "stationary point"),
    NORMAL_TAIL.right("log of the normal tail", log_of_normal_gradient, "tail"),
    SURVIVAL.right("log survival just below one", log_survival_gradient, "edge of the domain"),
    TINY_ANGLE.right("angle of tiny numbers", angle_pullback, "magnitude"),
)
