"""Cases of reductions: sums, means, variances, norms, products, cumulative sums, softmax and its relatives.

Imports records and samplers. Invariant: where the length of an axis is the mistake, it is at least 3, so that it can't
be taken for a factor 2.
"""

from __future__ import annotations

import numpy as np

from tests.testing.cases.records import Target
from tests.testing.cases.samplers import normals, separated, uniforms


def long_and_narrow(rng):
    return (rng.standard_normal((int(rng.integers(6, 9)), int(rng.integers(3, 6)))),)


def vector_with_one_zero(rng):
    n = int(rng.integers(3, 6))
    x = rng.uniform(0.5, 2.0, n)
    x[rng.integers(0, n - 1)] = 0.0
    return (x,)


def vector_with_zeros(rng):
    n = int(rng.integers(3, 6))
    return (rng.permutation(np.append(rng.uniform(0.5, 2.0, n - 1), np.zeros(int(rng.integers(1, 3))))),)


def softmax(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


def row_means(X):
    return np.mean(X, axis=1)


def row_means_pullback(primals, g):
    return np.broadcast_to(g[:, None], primals[0].shape) / primals[0].shape[1]


def row_means_summed(primals, g):
    return np.broadcast_to(g[:, None], primals[0].shape).copy()


def row_means_by_the_other_length(primals, g):
    return np.broadcast_to(g[:, None], primals[0].shape) / primals[0].shape[0]


def row_means_along_columns(primals, g):
    return np.broadcast_to(g, primals[0].shape) / primals[0].shape[1]


def mean_of_two_axes(X):
    return np.mean(X, axis=(1, -1))


def mean_of_two_axes_pullback(primals, g):
    _, m, n = primals[0].shape
    return np.broadcast_to(g[:, None, None] / (m * n), primals[0].shape)


def mean_of_two_axes_by_one_length(primals, g):
    return np.broadcast_to(g[:, None, None] / primals[0].shape[1], primals[0].shape)


def inner_axes_squared(X):
    return np.sum(np.einsum("abcd->bd", X) ** 2)


def inner_axes_squared_gradient(X):
    return np.broadcast_to(2 * np.einsum("abcd->bd", X)[None, :, None, :], X.shape).copy()


def inner_axes_squared_exchanged(X):
    return np.broadcast_to(2 * np.einsum("abcd->bd", X).T[None, :, None, :], X.shape).copy()


def sample_variance(x):
    return np.var(x, ddof=1)


def sample_variance_gradient(x):
    return 2 * (x - np.mean(x)) / (len(x) - 1)


def sample_variance_without_correction(x):
    return 2 * (x - np.mean(x)) / len(x)


def sample_variance_not_centred(x):
    return 2 * x / (len(x) - 1)


def deviation(x):
    return np.std(x)


def deviation_gradient(x):
    return (x - np.mean(x)) / (len(x) * np.std(x))


def deviation_root_forgotten(x):
    return 2 * (x - np.mean(x)) / len(x)


def norm(x):
    return np.sqrt(np.sum(x**2))


def norm_gradient(x):
    return x / norm(x)


def norm_of_the_square(x):
    return x / np.sum(x**2)


def norm_square_root_kept(x):
    return 2 * x


def unit(x):
    return x / norm(x)


def unit_jacobian(x):
    return (np.eye(len(x)) - np.outer(unit(x), unit(x))) / norm(x)


def unit_norm_constant(x):
    return np.eye(len(x)) / norm(x)


def cubic_norm(x):
    return np.sum(np.abs(x) ** 3) ** (1 / 3)


def cubic_norm_gradient(x):
    return np.sign(x) * x**2 / cubic_norm(x) ** 2


def cubic_norm_exponent(x):
    return np.sign(x) * np.abs(x) ** 3 / cubic_norm(x) ** 2


def cosine(a, b):
    return a @ b / (norm(a) * norm(b))


def cosine_gradient(a, b):
    c = cosine(a, b)
    return b / (norm(a) * norm(b)) - c * a / (a @ a), a / (norm(a) * norm(b)) - c * b / (b @ b)


def cosine_norms_constant(a, b):
    return b / (norm(a) * norm(b)), a / (norm(a) * norm(b))


def log_sum_exp(x):
    return np.log(np.sum(np.exp(x)))


def exponentials(x):
    return np.exp(x)


def softmax_jacobian(x):
    p = softmax(x)
    return np.diag(p) - np.outer(p, p)


def softmax_diagonal_only(x):
    p = softmax(x)
    return np.diag(p * (1 - p))


def softmax_vector(x):
    p = softmax(x)
    return p * (1 - p)


def softmax_pullback(primals, g):
    p = softmax(primals[0])
    return p * (g - p @ g)


def softmax_plain_mean(primals, g):
    return softmax(primals[0]) * (g - np.mean(g))


def log_softmax(x):
    return x - log_sum_exp(x)


def log_softmax_pullback(primals, g):
    return g - np.sum(g) * softmax(primals[0])


def log_softmax_length_for_sum(primals, g):
    return g - len(g) * softmax(primals[0])


def centred(X):
    return X - np.mean(X, axis=0)


def centred_pullback(_primals, g):
    return g - np.mean(g, axis=0)


def centred_lost(_primals, g):
    return np.zeros_like(g)


def running_pullback(_primals, g):
    return np.cumsum(g[::-1])[::-1]


def running_forwards(_primals, g):
    return np.cumsum(g)


def product_gradient(x):
    before = np.append(1.0, np.cumprod(x[:-1]))
    after = np.append(np.cumprod(x[:0:-1])[::-1], 1.0)
    return before * after


def product_divided(x):
    return np.prod(x) / x


def product_lost_at_zero(x):
    return np.where(x == 0, 0.0, np.prod(x) / np.where(x == 0, 1.0, x))


def running_products(x):
    return np.sum(np.cumprod(x))


def running_products_gradient(x):
    back = np.zeros(len(x) + 1)
    for k in range(len(x) - 1, -1, -1):
        back[k] = 1 + back[k + 1] * (x[k + 1] if k + 1 < len(x) else 0.0)
    return np.append(1.0, np.cumprod(x[:-1])) * back[:-1]


def running_products_divided(x):
    return np.cumsum(np.cumprod(x)[::-1])[::-1] / x


def smallest(x):
    return np.min(x)


def smallest_gradient(x):
    return (x == np.min(x)).astype(float)


def smallest_as_largest(x):
    return (x == np.max(x)).astype(float)


def median_gradient(x):
    middle = np.argsort(x)[(len(x) - 1) // 2 : len(x) // 2 + 1]
    G = np.zeros_like(x)
    G[middle] = 1 / len(middle)
    return G


def weighted_mean(w, x):
    return np.sum(w * x) / np.sum(w)


def weighted_mean_gradient(w, x):
    return (x - weighted_mean(w, x)) / np.sum(w)


def weighted_mean_weights_constant(w, x):
    return x / np.sum(w)


def covariance(X):
    C = X - np.mean(X, axis=0)
    return C.T @ C / (len(X) - 1)


def covariance_pullback(primals, g):
    C = primals[0] - np.mean(primals[0], axis=0)
    return C @ (g + g.T) / (len(C) - 1)


def covariance_one_side(primals, g):
    C = primals[0] - np.mean(primals[0], axis=0)
    return C @ g / (len(C) - 1)


ROW_MEANS = Target("vjp", row_means, long_and_narrow)
ROW_MEANS_SQUARE = Target("vjp", row_means, normals("nn"))
TWO_AXES = Target("vjp", mean_of_two_axes, normals("kmn"))
INNER_AXES = Target("gradient", inner_axes_squared, normals("abcb"), source="HIPS/autograd#242")
VARIANCE = Target("gradient", sample_variance, normals("n", shift=1.0))
DEVIATION = Target("gradient", deviation, normals("n"))
NORM = Target("gradient", norm, normals("n"))
UNIT = Target("jacobian", unit, normals("n"))
CUBIC_NORM = Target("gradient", cubic_norm, separated("n"))
COSINE = Target("gradient", cosine, normals("n", "n"), (0, 1))
LOG_SUM_EXP = Target("gradient", log_sum_exp, normals("n"))
SOFTMAX = Target("jacobian", softmax, normals("n"))
SOFTMAX_BACK = Target("vjp", softmax, normals("n"))
LOG_SOFTMAX = Target("vjp", log_softmax, normals("n"))
CENTRED = Target("vjp", centred, normals("mn"), source="torch/nn#744")
RUNNING = Target("vjp", np.cumsum, normals("n"))
PRODUCT = Target("gradient", np.prod, vector_with_one_zero)
PRODUCT_OF_ZEROS = Target("gradient", np.prod, vector_with_zeros)
RUNNING_PRODUCTS = Target("gradient", running_products, vector_with_one_zero, source="tensorflow/tensorflow#3862")
SMALLEST = Target("gradient", smallest, separated("n"))
MEDIAN = Target("gradient", np.median, separated("n", low=3, high=6))
WEIGHTED_MEAN = Target("gradient", weighted_mean, uniforms(0.5, 2.0, "n", "n"))
COVARIANCE = Target("vjp", covariance, normals("mn"))

WRONG = (
    ROW_MEANS.wrong("row means, summed", row_means_summed, "factor n (sum for mean)"),
    ROW_MEANS.wrong("row means, length of the other axis", row_means_by_the_other_length, "constant factor"),
    ROW_MEANS_SQUARE.wrong("row means along columns", row_means_along_columns, "wrong axis"),
    TWO_AXES.wrong("mean of two axes, one length", mean_of_two_axes_by_one_length, "factor n (sum for mean)"),
    INNER_AXES.wrong("sum over two axes, the others exchanged", inner_axes_squared_exchanged, "wrong axis"),
    VARIANCE.wrong("variance, n for n - 1", sample_variance_without_correction, "constant factor"),
    VARIANCE.wrong("variance, not centred", sample_variance_not_centred, "missing term"),
    DEVIATION.wrong("deviation, root forgotten", deviation_root_forgotten, "missing inner derivative"),
    NORM.wrong("norm, divided by its square", norm_of_the_square, "wrong exponent"),
    NORM.wrong("norm, root forgotten", norm_square_root_kept, "missing inner derivative"),
    UNIT.wrong("unit vector, norm constant", unit_norm_constant, "missing term"),
    CUBIC_NORM.wrong("cubic norm, exponent not lowered", cubic_norm_exponent, "wrong exponent"),
    COSINE.wrong("cosine, norms constant", cosine_norms_constant, "missing term"),
    LOG_SUM_EXP.wrong("log sum exp, not normalised", exponentials, "missing inner derivative"),
    SOFTMAX.wrong("softmax, diagonal only", softmax_diagonal_only, "missing term"),
    SOFTMAX.wrong("softmax, vector for a matrix", softmax_vector, "wrong shape"),
    SOFTMAX_BACK.wrong("softmax, plain mean of the cotangent", softmax_plain_mean, "ones cotangent only"),
    LOG_SOFTMAX.wrong("log softmax, length for the sum", log_softmax_length_for_sum, "ones cotangent only"),
    CENTRED.wrong("centred, gradient lost", centred_lost, "zero"),
    RUNNING.wrong("cumulative sum, forwards again", running_forwards, "reversed"),
    PRODUCT.wrong("product at a zero, by division", product_divided, "not a number"),
    PRODUCT.wrong("product at a zero, lost there", product_lost_at_zero, "zero"),
    RUNNING_PRODUCTS.wrong("cumulative product at a zero, by division", running_products_divided, "not a number"),
    SMALLEST.wrong("minimum, place of the maximum", smallest_as_largest, "wrong branch"),
    WEIGHTED_MEAN.wrong("weighted mean, sum of weights constant", weighted_mean_weights_constant, "missing term"),
    COVARIANCE.wrong("covariance, one side", covariance_one_side, "missing operand slot"),
)

RIGHT = (
    ROW_MEANS.right("row means", row_means_pullback),
    TWO_AXES.right("mean of two axes", mean_of_two_axes_pullback),
    INNER_AXES.right("sum over two axes", inner_axes_squared_gradient),
    VARIANCE.right("variance", sample_variance_gradient),
    DEVIATION.right("deviation", deviation_gradient),
    NORM.right("norm", norm_gradient),
    UNIT.right("unit vector", unit_jacobian),
    CUBIC_NORM.right("cubic norm", cubic_norm_gradient, "kink"),
    COSINE.right("cosine", cosine_gradient),
    LOG_SUM_EXP.right("log sum exp", softmax),
    SOFTMAX.right("softmax", softmax_jacobian),
    SOFTMAX_BACK.right("softmax, reverse", softmax_pullback),
    LOG_SOFTMAX.right("log softmax", log_softmax_pullback),
    CENTRED.right("centred", centred_pullback, "sum with zero gradient"),
    RUNNING.right("cumulative sum", running_pullback),
    PRODUCT_OF_ZEROS.right("product with zeros", product_gradient, "zeros"),
    RUNNING_PRODUCTS.right("cumulative products with a zero", running_products_gradient, "zeros"),
    SMALLEST.right("minimum", smallest_gradient, "kink"),
    MEDIAN.right("median", median_gradient, "kink"),
    WEIGHTED_MEAN.right("weighted mean", weighted_mean_gradient),
    COVARIANCE.right("covariance", covariance_pullback),
)
