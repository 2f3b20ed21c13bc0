"""Cases on residuals: least squares and its robust, weighted, penalised and matrix-valued relatives.

Imports records and samplers. Invariant: functions and claims are plain NumPy, as their authors would have written them.
"""

from __future__ import annotations

import numpy as np

from tests.testing.cases.records import Target
from tests.testing.cases.samplers import normals, uniforms

PENALTY = 0.7

problem = normals("n", "mn", "m")


def far_targets(rng):
    w, b, X, y = normals("n", "", "mn", "m")(rng)
    return w, b, X, y + 8.0


def half_squares(w, X, y):
    return 0.5 * np.sum((X @ w - y) ** 2)


def half_squares_gradient(w, X, y):
    return X.T @ (X @ w - y)


def half_squares_in_steps(w, X, y):
    residual = X @ w
    residual = residual - y
    residual = residual**2
    return np.add.reduce(residual) / 2


def squares(w, X, y):
    return np.sum((X @ w - y) ** 2)


def squares_gradient(w, X, y):
    return 2 * X.T @ (X @ w - y)


def mean_squares(w, X, y):
    return np.mean((X @ w - y) ** 2)


def mean_squares_gradient(w, X, y):
    return squares_gradient(w, X, y) / len(y)


def targets_minus_predictions(w, X, y):
    return 2 * X.T @ (y - X @ w) / len(y)


def design_not_transposed(w, X, y):
    return X @ (X @ w - y)


def ridge(w, X, y):
    return squares(w, X, y) / len(y) + PENALTY * w @ w


def ridge_gradient(w, X, y):
    return squares_gradient(w, X, y) / len(y) + 2 * PENALTY * w


def ridge_without_penalty(w, X, y):
    return squares_gradient(w, X, y) / len(y)


def ridge_with_half_the_penalty(w, X, y):
    return squares_gradient(w, X, y) / len(y) + PENALTY * w


def ridge_with_summed_data(w, X, y):
    return squares_gradient(w, X, y) + 2 * PENALTY * w


def matrix_squares(W, X, Y):
    return 0.5 * np.sum((X @ W - Y) ** 2)


def matrix_squares_gradient(W, X, Y):
    return X.T @ (X @ W - Y)


def matrix_squares_transposed(W, X, Y):
    return (X @ W - Y).T @ X


def with_intercept(w, b, X, y):
    return np.mean((X @ w + b - y) ** 2)


def with_intercept_gradient(w, b, X, y):
    residual = X @ w + b - y
    return 2 * X.T @ residual / len(y), 2 * np.mean(residual)


def intercept_detached(w, b, X, y):
    return with_intercept_gradient(w, b, X, y)[0], np.zeros_like(b)


def intercept_summed(w, b, X, y):
    slope, intercept = with_intercept_gradient(w, b, X, y)
    return slope, intercept * len(y)


def huber(w, X, y):
    r = X @ w - y
    return np.sum(np.where(np.abs(r) <= 1, 0.5 * r**2, np.abs(r) - 0.5))


def huber_gradient(w, X, y):
    return X.T @ np.clip(X @ w - y, -1, 1)


def huber_branches_exchanged(w, X, y):
    r = X @ w - y
    return X.T @ np.where(np.abs(r) > 1, r, np.sign(r))


def huber_quadratic_everywhere(w, X, y):
    return X.T @ (X @ w - y)


def pinball(w, X, y):
    r = y - X @ w
    return np.sum(np.where(r > 0, 0.8 * r, -0.2 * r))


def pinball_gradient(w, X, y):
    return -X.T @ np.where(y - X @ w > 0, 0.8, -0.2)


def pinball_branches_exchanged(w, X, y):
    return -X.T @ np.where(y - X @ w < 0, 0.8, -0.2)


def log_cosh(w, X, y):
    return np.sum(np.log(np.cosh(X @ w - y)))


def log_cosh_gradient(w, X, y):
    return X.T @ np.tanh(X @ w - y)


def log_cosh_without_sinh(w, X, y):
    return X.T @ (1 / np.cosh(X @ w - y))


def cauchy(w, X, y):
    return np.sum(np.log1p((X @ w - y) ** 2))


def cauchy_gradient(w, X, y):
    r = X @ w - y
    return X.T @ (2 * r / (1 + r**2))


def cauchy_square_not_differentiated(w, X, y):
    return X.T @ (1 / (1 + (X @ w - y) ** 2))


def three_per_cent_off(w, X, y):
    return 1.03 * cauchy_gradient(w, X, y)


def weighted(w, X, y, weights):
    return 0.5 * np.sum(weights * (X @ w - y) ** 2)


def weighted_gradient(w, X, y, weights):
    return X.T @ (weights * (X @ w - y))


def weights_squared(w, X, y, weights):
    return X.T @ (weights**2 * (X @ w - y))


def gradient_after_the_step(w, X, y):
    moved = w - 0.05 * half_squares_gradient(w, X, y)
    return half_squares_gradient(moved, X, y)


def elastic_net(w, X, y):
    return half_squares(w, X, y) + 0.3 * np.sum(np.abs(w)) + 0.2 * w @ w


def elastic_net_gradient(w, X, y):
    return half_squares_gradient(w, X, y) + 0.3 * np.sign(w) + 0.4 * w


def root_mean_square(w, X, y):
    return np.sqrt(np.mean((X @ w - y) ** 2))


def root_mean_square_gradient(w, X, y):
    r = X @ w - y
    return X.T @ r / (len(y) * np.sqrt(np.mean(r**2)))


def root_not_differentiated(w, X, y):
    return X.T @ (X @ w - y) / len(y)


HALF_SQUARES = Target("gradient", half_squares, problem)
HALF_SQUARES_IN_STEPS = Target("gradient", half_squares_in_steps, problem)
HALF_SQUARES_SQUARE = Target("gradient", half_squares, normals("n", "nn", "n"))
SQUARES = Target("gradient", squares, problem)
MEAN_SQUARES = Target("gradient", mean_squares, problem)
RIDGE = Target("gradient", ridge, problem)
MATRIX = Target("gradient", matrix_squares, normals("nk", "mn", "mk"))
MATRIX_SQUARE = Target("gradient", matrix_squares, normals("nn", "nn", "nn"))
INTERCEPT = Target("gradient", with_intercept, far_targets, (0, 1))
HUBER = Target("gradient", huber, normals("n", "mn", "m", scale=2.0))
PINBALL = Target("gradient", pinball, problem)
LOG_COSH = Target("gradient", log_cosh, problem)
CAUCHY = Target("gradient", cauchy, problem)
WEIGHTED = Target("gradient", weighted, normals("n", "mn", "m", "m"))
ELASTIC_NET = Target("gradient", elastic_net, problem)
ROOT_MEAN_SQUARE = Target("gradient", root_mean_square, uniforms(1, 2, "n", "mn", "m"))

WRONG = (
    HALF_SQUARES.wrong("half squares, half forgotten", squares_gradient, "factor 2"),
    HALF_SQUARES.wrong(
        "half squares, after the step", gradient_after_the_step, "stale value", source="pytorch/pytorch#114505"
    ),
    HALF_SQUARES_SQUARE.wrong("square design not transposed", design_not_transposed, "transposed operand"),
    SQUARES.wrong("squares, 2 forgotten", half_squares_gradient, "factor 1/2"),
    MEAN_SQUARES.wrong("mean of squares, summed", squares_gradient, "factor n (sum for mean)"),
    MEAN_SQUARES.wrong("mean of squares, sign", targets_minus_predictions, "sign"),
    RIDGE.wrong("ridge without its penalty", ridge_without_penalty, "missing term"),
    RIDGE.wrong("ridge with half its penalty", ridge_with_half_the_penalty, "missing term"),
    RIDGE.wrong("ridge, data term summed", ridge_with_summed_data, "factor n (sum for mean)"),
    MATRIX_SQUARE.wrong("matrix squares, all axes of one length", matrix_squares_transposed, "transposed"),
    INTERCEPT.wrong("intercept detached", intercept_detached, "zero"),
    INTERCEPT.wrong("intercept summed, slope averaged", intercept_summed, "factor n (sum for mean)"),
    HUBER.wrong("Huber, branches exchanged", huber_branches_exchanged, "wrong branch"),
    HUBER.wrong("Huber, linear branch forgotten", huber_quadratic_everywhere, "wrong branch"),
    PINBALL.wrong("pinball, branches exchanged", pinball_branches_exchanged, "wrong branch"),
    LOG_COSH.wrong("log cosh, cosh not differentiated", log_cosh_without_sinh, "missing inner derivative"),
    CAUCHY.wrong("Cauchy loss, square kept", cauchy_square_not_differentiated, "missing inner derivative"),
    CAUCHY.wrong("Cauchy loss, 3 % off", three_per_cent_off, "constant factor"),
    WEIGHTED.wrong("weighted squares, weights squared", weights_squared, "wrong exponent"),
    ROOT_MEAN_SQUARE.wrong("root mean square, root kept", root_not_differentiated, "missing inner derivative"),
)

RIGHT = (
    HALF_SQUARES.right("half squares", half_squares_gradient),
    HALF_SQUARES_IN_STEPS.right("half squares in steps", half_squares_gradient),
    MEAN_SQUARES.right("mean of squares", mean_squares_gradient),
    RIDGE.right("ridge", ridge_gradient),
    MATRIX.right("matrix squares", matrix_squares_gradient),
    INTERCEPT.right("intercept", with_intercept_gradient),
    HUBER.right("Huber", huber_gradient, "kink"),
    PINBALL.right("pinball", pinball_gradient, "kink"),
    LOG_COSH.right("log cosh", log_cosh_gradient),
    CAUCHY.right("Cauchy loss", cauchy_gradient),
    WEIGHTED.right("weighted squares", weighted_gradient),
    ELASTIC_NET.right("elastic net", elastic_net_gradient, "kink"),
    ROOT_MEAN_SQUARE.right("root mean square", root_mean_square_gradient),
)
