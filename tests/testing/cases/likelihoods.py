"""Cases on likelihoods: classification, counts, densities, divergences.

Imports records and samplers. Invariant: labels and counts are arguments that are not differentiated.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from tests.testing.cases.records import Target
from tests.testing.cases.samplers import joined, lengths, normals, uniforms


def signed_labels(rng):
    w, X, m = lengths(rng, "n", "mn", "m")
    labels = rng.permutation(np.resize([1.0, -1.0], m))
    return rng.standard_normal(w), rng.standard_normal(X), labels


def one_hot_labels(rng):
    W, X, (m, k) = lengths(rng, "nk", "mn", "mk")
    return rng.standard_normal(W), rng.standard_normal(X), np.eye(k)[rng.integers(0, k, m)]


def one_hot_labels_square(rng):
    n = int(rng.integers(3, 6))
    return rng.standard_normal((n, n)), rng.standard_normal((n, n)), np.eye(n)[rng.integers(0, n, n)]


def labelled_logits(rng):
    (m, k) = lengths(rng, "mk")[0]
    return rng.standard_normal((m, k)), rng.integers(0, k, m)


def counts(rng):
    w, X, m = lengths(rng, "n", "mn", "m")
    return 0.5 * rng.standard_normal(w), rng.standard_normal(X), rng.poisson(2.0, m).astype(float)


def probabilities_and_labels(rng):
    n = int(rng.integers(3, 6))
    return rng.uniform(0.1, 0.9, n), rng.integers(0, 2, n).astype(float)


def distribution_and_logits(rng):
    n = int(rng.integers(3, 6))
    return rng.standard_normal(n), rng.dirichlet(np.full(n, 3.0))


def two_distributions(rng):
    n = int(rng.integers(3, 6))
    return rng.dirichlet(np.full(n, 5.0)) + 0.01, rng.dirichlet(np.full(n, 5.0)) + 0.01


def softmax(z):
    e = np.exp(z - np.max(z, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def logistic(w, X, labels):
    return np.sum(np.logaddexp(0, -labels * (X @ w)))


def logistic_gradient(w, X, labels):
    return -X.T @ (labels * special.expit(-labels * (X @ w)))


def logistic_ascent(w, X, labels):
    return X.T @ (labels * special.expit(-labels * (X @ w)))


def logistic_label_forgotten(w, X, labels):
    return -X.T @ special.expit(-labels * (X @ w))


def mean_logistic(w, X, labels):
    return np.mean(np.logaddexp(0, -labels * (X @ w)))


def cross_entropy_of_logits(z, labels):
    shifted = z - np.max(z, axis=1, keepdims=True)
    log_p = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return -np.mean(log_p[np.arange(len(labels)), labels])


def cross_entropy_gradient(z, labels):
    p = softmax(z)
    p[np.arange(len(labels)), labels] -= 1
    return p / len(labels)


def cross_entropy_of_the_sum(z, labels):
    return cross_entropy_gradient(z, labels) * len(labels)


def cross_entropy_without_labels(z, labels):
    return softmax(z) / len(labels)


def cross_entropy_in_bits(z, labels):
    return cross_entropy_of_logits(z, labels) / np.log(2.0)


def cross_entropy_in_bits_gradient(z, labels):
    return cross_entropy_gradient(z, labels) / np.log(2.0)


def softmax_regression(W, X, Y):
    z = X @ W
    return np.sum(np.log(np.sum(np.exp(z), axis=1))) - np.sum(z * Y)


def softmax_regression_gradient(W, X, Y):
    return X.T @ (softmax(X @ W) - Y)


def softmax_regression_transposed(W, X, Y):
    return (softmax(X @ W) - Y).T @ X


def bernoulli(p, y):
    return -np.sum(y * np.log(p) + (1 - y) * np.log(1 - p))


def bernoulli_gradient(p, y):
    return (p - y) / (p * (1 - p))


def bernoulli_gradient_of_logits(p, y):
    return p - y


def gaussian(mean, log_sigma, y):
    return np.sum(0.5 * ((y - mean) * np.exp(-log_sigma)) ** 2 + log_sigma)


def gaussian_gradient(mean, log_sigma, y):
    scaled = (y - mean) * np.exp(-log_sigma)
    return -scaled * np.exp(-log_sigma), 1 - scaled**2


def gaussian_in_sigma(mean, log_sigma, y):
    by_mean, by_log_sigma = gaussian_gradient(mean, log_sigma, y)
    return by_mean, by_log_sigma * np.exp(-log_sigma)


def gaussian_without_normaliser(mean, log_sigma, y):
    by_mean, by_log_sigma = gaussian_gradient(mean, log_sigma, y)
    return by_mean, by_log_sigma - 1


def poisson(w, X, y):
    eta = X @ w
    return np.sum(np.exp(eta) - y * eta)


def poisson_gradient(w, X, y):
    return X.T @ (np.exp(X @ w) - y)


def poisson_in_the_rate(w, X, y):
    return X.T @ (1 - y * np.exp(-X @ w))


def divergence_of_logits(z, p):
    return np.sum(p * (np.log(p) - z)) + np.log(np.sum(np.exp(z)))


def divergence_of_logits_gradient(z, p):
    return softmax(z) - p


def divergence_reversed_sign(z, p):
    return p - softmax(z)


def divergence(p, q):
    return np.sum(p * np.log(p / q))


def divergence_by_p(p, q):
    return np.log(p / q) + 1


def divergence_without_the_one(p, q):
    return np.log(p / q)


def divergence_by_both(p, q):
    return np.log(p / q) + 1, -p / q


def divergence_exchanged(p, q):
    return -p / q, np.log(p / q) + 1


def mixture(means, x):
    return -np.sum(np.log(np.mean(np.exp(-0.5 * (x[:, None] - means) ** 2), axis=1)))


def mixture_gradient(means, x):
    responsibilities = softmax(-0.5 * (x[:, None] - means) ** 2)
    return np.sum(responsibilities * (means - x[:, None]), axis=0)


def mixture_without_responsibilities(means, x):
    return np.sum(means - x[:, None], axis=0)


def gamma_density(shape, x):
    return np.sum(special.gammaln(shape) - (shape - 1) * np.log(x) + x)


def gamma_density_gradient(shape, x):
    return special.digamma(shape) - np.log(x)


def gamma_density_at_the_factorial(shape, x):
    return special.digamma(shape + 1) - np.log(x)


def survival(eta):
    return np.sum(np.log(np.cumsum(np.exp(eta)[::-1])[::-1])) - np.sum(eta)


def survival_gradient(eta):
    at_risk = np.cumsum(np.exp(eta)[::-1])[::-1]
    return np.exp(eta) * np.cumsum(1 / at_risk) - 1


def survival_sums_not_reversed(eta):
    at_risk = np.cumsum(np.exp(eta)[::-1])[::-1]
    return np.exp(eta) * np.cumsum((1 / at_risk)[::-1])[::-1] - 1


LOGISTIC = Target("gradient", logistic, signed_labels)
MEAN_LOGISTIC = Target("gradient", mean_logistic, signed_labels)
CROSS_ENTROPY = Target("gradient", cross_entropy_of_logits, labelled_logits)
BITS = Target("gradient", cross_entropy_in_bits, labelled_logits)
SOFTMAX = Target("gradient", softmax_regression, one_hot_labels)
SOFTMAX_SQUARE = Target("gradient", softmax_regression, one_hot_labels_square)
BERNOULLI = Target("gradient", bernoulli, probabilities_and_labels)
GAUSSIAN = Target("gradient", gaussian, normals("n", "n", "n", scale=0.5), (0, 1))
POISSON = Target("gradient", poisson, counts)
DIVERGENCE_OF_LOGITS = Target("gradient", divergence_of_logits, distribution_and_logits)
DIVERGENCE = Target("gradient", divergence, two_distributions)
DIVERGENCE_BOTH = Target("gradient", divergence, two_distributions, (0, 1))
MIXTURE = Target("gradient", mixture, joined(normals("k"), normals("m")))
GAMMA = Target("gradient", gamma_density, uniforms(1.0, 4.0, "n", "n"))
SURVIVAL = Target("gradient", survival, normals("n"))

WRONG = (
    LOGISTIC.wrong("logistic, ascent", logistic_ascent, "sign"),
    LOGISTIC.wrong("logistic, label not in the chain rule", logistic_label_forgotten, "missing inner derivative"),
    MEAN_LOGISTIC.wrong("mean logistic, summed", logistic_gradient, "factor n (sum for mean)"),
    CROSS_ENTROPY.wrong("cross-entropy, summed", cross_entropy_of_the_sum, "factor n (sum for mean)"),
    CROSS_ENTROPY.wrong("cross-entropy, softmax only", cross_entropy_without_labels, "missing term"),
    BITS.wrong("cross-entropy in bits, gradient in nats", cross_entropy_gradient, "logarithm base"),
    SOFTMAX_SQUARE.wrong("softmax regression, all axes of one length", softmax_regression_transposed, "transposed"),
    BERNOULLI.wrong("Bernoulli, gradient of the logits", bernoulli_gradient_of_logits, "missing inner derivative"),
    GAUSSIAN.wrong("Gaussian in log sigma, gradient in sigma", gaussian_in_sigma, "missing inner derivative"),
    GAUSSIAN.wrong("Gaussian, normaliser forgotten", gaussian_without_normaliser, "missing term"),
    POISSON.wrong("Poisson in log rate, gradient in the rate", poisson_in_the_rate, "missing inner derivative"),
    DIVERGENCE_OF_LOGITS.wrong("divergence of logits, sign", divergence_reversed_sign, "sign"),
    DIVERGENCE.wrong("divergence, log p not differentiated", divergence_without_the_one, "missing term"),
    DIVERGENCE_BOTH.wrong("divergence, gradients exchanged", divergence_exchanged, "swapped arguments"),
    MIXTURE.wrong("mixture without responsibilities", mixture_without_responsibilities, "missing inner derivative"),
    GAMMA.wrong("gamma density, digamma one further", gamma_density_at_the_factorial, "evaluated elsewhere"),
    SURVIVAL.wrong("partial likelihood, sums from the wrong end", survival_sums_not_reversed, "reversed"),
)

RIGHT = (
    LOGISTIC.right("logistic", logistic_gradient),
    CROSS_ENTROPY.right("cross-entropy", cross_entropy_gradient),
    BITS.right("cross-entropy in bits", cross_entropy_in_bits_gradient),
    SOFTMAX.right("softmax regression", softmax_regression_gradient),
    BERNOULLI.right("Bernoulli", bernoulli_gradient),
    GAUSSIAN.right("Gaussian", gaussian_gradient),
    POISSON.right("Poisson", poisson_gradient),
    DIVERGENCE_OF_LOGITS.right("divergence of logits", divergence_of_logits_gradient),
    DIVERGENCE_BOTH.right("divergence", divergence_by_both),
    MIXTURE.right("mixture", mixture_gradient),
    GAMMA.right("gamma density", gamma_density_gradient),
    SURVIVAL.right("partial likelihood", survival_gradient),
)
