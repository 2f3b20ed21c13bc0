"""Wrong derivatives with wrong numbers: lost terms and factors, triangles, precision, branches, single entries.

Owns these makers. Imports the draws. Invariant: each draws everything from its generator.
"""

from __future__ import annotations

import numpy as np

from tests.testing.diagnosis.draws import Maker, evidence, normal, pick


def ridge(rng):
    expected = normal(rng, pick(rng, ((2,), (3,), (6,), (3, 4))))
    x = normal(rng, expected.shape)
    return evidence(rng, expected - 0.37 * x, expected, x=x)


def lasso(rng):
    expected = normal(rng, (6,))
    x = normal(rng, (6,))
    return evidence(rng, expected - 0.21 * np.sign(x), expected, x=x)


def constant_term(rng):
    expected = normal(rng, pick(rng, ((3,), (5,), (3, 4))))
    return evidence(rng, expected + 0.83, expected)


def one_hot_term(rng):
    expected = normal(rng, (5, 4))
    label = np.eye(4)[rng.integers(0, 4, 5)]
    return evidence(rng, expected + label / 5, expected)


def ridge_of_hessian(rng):
    a = normal(rng, (4, 4))
    return evidence(rng, a @ a.T, a @ a.T + 0.6 * np.eye(4), x=normal(rng, (4,)), order=2)


def product_rule_term(rng):
    x = normal(rng, (6,))
    return evidence(rng, np.sin(x), np.sin(x) + 1.3 * x * np.cos(x), x=x)


def constant_norm(rng):
    x = normal(rng, (5,))
    size = np.linalg.norm(x)
    u = x / size
    return evidence(rng, np.eye(5) / size, (np.eye(5) - np.outer(u, u)) / size, x=x, output=(5,), value=u)


def only_diagonal(rng):
    a = normal(rng, (4, 4))
    return evidence(rng, np.diag(np.diag(a + a.T)), a + a.T, x=normal(rng, (4,)), order=2)


def without_diagonal(rng):
    a = normal(rng, (4, 4))
    expected = a + a.T
    return evidence(rng, expected - np.diag(np.diag(expected)), expected, x=normal(rng, (4,)), order=2)


def inner(function) -> Maker:
    def make(rng):
        x = rng.uniform(0.2, 0.9, pick(rng, ((3,), (6,), (2, 4))))
        found = normal(rng, x.shape)
        return evidence(rng, found, found * function(x), x=x)

    return make


def inner_value(rng):
    found = normal(rng, (4,))
    value = np.asarray(rng.uniform(1.2, 1.9))
    return evidence(rng, found, found / value, value=value)


def inner_of_a_jacobian(rng):
    x = normal(rng, (5,))
    found = np.cos(3.7 * x)
    return evidence(rng, np.diag(found), np.diag(found * np.exp(x)), x=x, output=(5,), value=np.sin(x))


def power_kept(rng):
    x = rng.uniform(0.3, 2.0, (5,))
    return evidence(rng, 5 * x**5, 5 * x**4, x=x)


def power_of_root(rng):
    x = rng.uniform(-0.8, 0.8, (6,))
    return evidence(rng, np.diag(1 / (1 - x**2)), np.diag(1 / np.sqrt(1 - x**2)), x=x, output=(6,))


def symmetric(rng) -> np.ndarray:
    a = normal(rng, pick(rng, ((3, 3), (5, 5))))
    return a + a.T


def off_diagonal_doubled(rng):
    expected = symmetric(rng)
    return evidence(rng, 2 * expected - np.diag(np.diag(expected)), expected)


def off_diagonal_halved(rng):
    expected = symmetric(rng)
    return evidence(rng, (expected + np.diag(np.diag(expected))) / 2, expected)


def triangle(side, doubled: bool = False) -> Maker:
    def make(rng):
        expected = symmetric(rng)
        found = side(expected)
        return evidence(rng, 2 * found - np.diag(np.diag(found)) if doubled else found, expected)

    return make


def not_symmetrised(rng):
    found = normal(rng, pick(rng, ((2, 2), (3, 3), (5, 5))))
    return evidence(rng, found, (found + found.T) / 2)


def hessian_not_symmetrised(rng):
    found = normal(rng, (2, 3, 2, 3))
    expected = (found + found.transpose(2, 3, 0, 1)) / 2
    return evidence(rng, found, expected, x=normal(rng, (2, 3)), order=2)


def one_slot(rng):
    found = normal(rng, pick(rng, ((2, 2), (4, 4))))
    return evidence(rng, found, found + found.T)


def one_slot_of_a_form(rng):
    a, x = normal(rng, (5, 5)), normal(rng, (5,))
    return evidence(rng, a @ x, a @ x + a.T @ x, x=x, value=np.asarray(x @ a @ x))


def as_if_symmetric(rng):
    a, x = normal(rng, (5, 5)), normal(rng, (5,))
    return evidence(rng, 2 * a @ x, a @ x + a.T @ x, x=x, value=np.asarray(x @ a @ x))


def permutation_not_inverted(rng):
    expected = normal(rng, (7,))
    order = rng.permutation(7)
    while np.array_equal(order[order], np.arange(7)):
        order = rng.permutation(7)
    return evidence(rng, expected[order], expected[np.argsort(order)])


def spread_off_the_diagonal(rng):
    w = normal(rng, (4,))
    return evidence(rng, np.broadcast_to(w, (4, 4)), np.diag(w))


def dropped_axis(rng):
    expected = normal(rng, (5, 1))
    return evidence(rng, expected[:, 0], expected)


def diagonal_for_a_matrix(rng):
    d = normal(rng, (4,))
    return evidence(rng, d, np.diag(d), x=normal(rng, (4,)), output=(4,))


def unrelated_shape(rng):
    return evidence(rng, normal(rng, (3, 2)), normal(rng, (5,)))


def single_precision(rng):
    expected = normal(rng, pick(rng, ((3,), (6,), (3, 4))))
    return evidence(rng, expected.astype(np.float32).astype(float), expected)


def computed_in_single(rng):
    expected = normal(rng, pick(rng, ((4,), (9,), (3, 4))))
    return evidence(rng, expected * (1 + 4e-7 * rng.uniform(0.3, 1, expected.shape) * rng.choice([-1, 1])), expected)


def half_precision(rng):
    expected = normal(rng, (6,))
    return evidence(rng, expected.astype(np.float16).astype(float), expected)


def nan_at_zero(rng):
    x = normal(rng, (5,))
    x[2] = 0
    expected = np.sign(x) * 0.5
    return evidence(rng, np.where(x == 0, np.nan, expected), expected, x=x)


def infinite(rng):
    expected = normal(rng, (3, 4))
    found = expected.copy()
    found[0, 1] = np.inf
    return evidence(rng, found, expected)


def mask_forgotten(rng):
    x = rng.permutation([2.0, -3.0, 0.3, -0.5, 0.7, 1.8])
    w = normal(rng, (6,))
    return evidence(rng, w, np.where(np.abs(x) < 1, w, 0), x=x)


def mask_inverted(rng):
    x, w = rng.permutation([1.0, -1.2, 0.4, -0.3, 2.0, -0.7]), normal(rng, (6,))
    return evidence(rng, np.where(x < 0, w, 0), np.where(x > 0, w, 0), x=x)


def leak_forgotten(rng):
    x, w = rng.permutation([1.0, -1.2, 0.4, -0.3, 2.0, -0.7]), normal(rng, (6,))
    return evidence(rng, np.where(x > 0, w, 0), np.where(x > 0, w, 0.1 * w), x=x)


def other_branch_wrong(rng):
    x = rng.permutation([1.0, -1.2, 0.4, -0.3, 2.0, -0.7, 0.9, -1.6])
    expected = normal(rng, (8,))
    return evidence(rng, np.where(x > 0, expected, normal(rng, (8,))), expected, x=x)


def signs_of_some(rng):
    expected = np.abs(normal(rng, (3, 5)))
    found = expected.copy()
    found[1, 2] *= -1
    found[2, 0] *= -1
    return evidence(rng, found, expected, x=np.abs(normal(rng, (3, 5))))


def whole_numbers(rng):
    x = rng.uniform(1.1, 4.9, (6,))
    return evidence(rng, 3 * np.floor(x) ** 2, 3 * x**2, x=x)


def truncated(rng):
    expected = rng.uniform(1.1, 9.9, (6,))
    return evidence(rng, expected.astype(np.int64), expected)


def few_entries(rng):
    expected = normal(rng, (6, 5))
    found = expected.copy()
    found[0, 3] += 7.1
    found[4, 1] += 5.3
    return evidence(rng, found, expected)


def boundary(rng):
    expected = normal(rng, (7,))
    found = expected.copy()
    found[0] += 4.3
    found[-1] -= 6.1
    return evidence(rng, found, expected)
