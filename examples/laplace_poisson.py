"""Laplace's approximation of a hierarchical model: counts in groups, with an intercept for each group.

The counts are Poisson with the logarithm of their mean ``x·effects + intercept of the group``; the intercepts are
normal with an unknown standard deviation. For each value of that, Newton's method finds the mode of effects and
intercepts; there the log marginal likelihood is that of a normal distribution, which needs the determinant of the
Hessian. The Hessian is diagonal in the intercepts and bordered by the few effects: everything is done in this
structure, and compared with dense matrices at the end. (Tierney and Kadane, Journal of the American Statistical
Association, 1986.)

``python examples/laplace_poisson.py 400`` runs it with 400 groups.
"""

import sys
from time import perf_counter

import numpy as np

import einsumad as ea

EFFECTS = np.array([0.5, -0.3, 0.2])
SCALE = 0.6
WIDE = 10.0  # the standard deviation of the effects' prior


def make_data(groups, rng):
    """Covariates, group and count of each observation; groups have 3 to 12 of them."""
    group = np.repeat(np.arange(groups), rng.integers(3, 13, groups))
    x = rng.normal(size=(len(group), len(EFFECTS)))
    counts = rng.poisson(np.exp(x @ EFFECTS + SCALE * rng.normal(size=groups)[group]))
    return x, group, counts.astype(float)


def minus_log_joint(params, scale, x, group, counts):
    """Minus the logarithm of likelihood times priors, up to the factorials of the counts."""
    effects, intercepts = params["effects"], params["intercepts"]
    predictor = x @ effects + intercepts[group]
    likelihood = np.sum(np.exp(predictor) - counts * predictor)
    priors = np.sum((effects / WIDE) ** 2) / 2 + np.sum((intercepts / scale) ** 2) / 2
    normalised = effects.size * np.log(WIDE) + intercepts.size * np.log(scale)
    return likelihood + priors + normalised + (effects.size + intercepts.size) * np.log(2 * np.pi) / 2


def laplace(scale, start, data):
    """The mode for that standard deviation, the Hessian there, and the log marginal likelihood."""
    found = ea.optim.newton(minus_log_joint, start, scale, *data)
    hessian = ea.hessian(minus_log_joint, compressed=True)(found.x, scale, *data)
    log_marginal = -found.value + hessian.shape[0] * np.log(2 * np.pi) / 2 - hessian.logdet() / 2
    return found, hessian, log_marginal


def profile(scales, start, data):
    """Print modes and log marginal likelihoods over a grid; each mode is where the search for the next starts."""
    best = None
    print("scale  log marginal likelihood  steps  |gradient|")
    for scale in scales:
        found, hessian, log_marginal = laplace(scale, start, data)
        print(f"{scale:5.2f}  {log_marginal:23.4f}  {found.steps:5}  {found.gradient_norm:10.1e}")
        start = found.x
        if best is None or log_marginal > best[0]:
            best = log_marginal, scale, found, hessian
    return best


def standard_deviations(hessian):
    """Those of the approximate posterior: the roots of the diagonal of the inverse."""
    variances = hessian.inverse().diagonal()
    return {name: np.sqrt(variance) for name, variance in variances.items()}


def compare_with_dense(hessian, found_by_structure, rng):
    """Print the largest differences from dense linear algebra, and how long both take."""
    began = perf_counter()
    dense = np.array(hessian)
    root = np.linalg.cholesky(dense)
    logdet, deviations = 2 * np.sum(np.log(np.diag(root))), np.sqrt(np.diag(np.linalg.inv(dense)))
    seconds = perf_counter() - began
    found = np.concatenate([found_by_structure["effects"], found_by_structure["intercepts"]])
    print(f"dense {dense.nbytes / 1e6:.1f} MB and {seconds * 1e3:.0f} ms, in structure {hessian.nbytes / 1e3:.1f} kB")
    print(f"difference of log determinants: {abs(hessian.logdet() - logdet):.1e}")
    print(f"largest difference of standard deviations: {np.max(np.abs(found / deviations - 1)):.1e}")
    noise = {name: rng.normal(size=(value.size, 2000)) for name, value in found_by_structure.items()}
    samples = np.concatenate([part for _, part in sorted(hessian.sqrt_solve(noise).items())])
    print(f"those of 2000 samples differ by {np.max(np.abs(samples.std(axis=1) / deviations - 1)):.1%} at most")


def main(groups=100):
    rng = np.random.default_rng(0)
    data = make_data(groups, rng)
    print(f"{groups} groups, {len(data[1])} counts")
    began = perf_counter()
    start = {"effects": np.zeros(len(EFFECTS)), "intercepts": np.zeros(groups)}
    log_marginal, scale, found, hessian = profile(np.linspace(0.3, 1.0, 15), start, data)
    deviations = standard_deviations(hessian)
    print(f"profile and standard deviations in {perf_counter() - began:.2f} s\n\n{hessian.structure}\n")
    print(f"the scale with the largest marginal likelihood is {scale:.2f}, that of the data {SCALE}")
    for number, (value, deviation) in enumerate(zip(found.x["effects"], deviations["effects"], strict=True)):
        print(f"effect {number}: {value:6.3f} ± {deviation:.3f}, that of the data {EFFECTS[number]}")
    print()
    compare_with_dense(hessian, deviations, rng)
    return scale, log_marginal, found, hessian


if __name__ == "__main__":
    main(*[int(word) for word in sys.argv[1:2]])
