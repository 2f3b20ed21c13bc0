"""Wrong derivatives with the right numbers: times a factor, in other places, not added up, lost.

Owns these makers. Imports the draws. Invariant: each draws everything from its generator.
"""

from __future__ import annotations

import numpy as np

from tests.testing.diagnosis.draws import SHAPES, SQUARES, Maker, complex_normal, evidence, normal, pick


def multiple(factor: float) -> Maker:
    def make(rng):
        expected = normal(rng, pick(rng, SHAPES))
        return evidence(rng, factor * expected, expected)

    return make


def count(power: int) -> Maker:
    def make(rng):
        expected = normal(rng, pick(rng, ((3,), (5,), (3, 4), (7, 3))))
        n = float([expected.shape[0], expected.size][int(rng.integers(2))])
        return evidence(rng, n**power * expected, expected)

    return make


def count_of_data(rng):
    expected = normal(rng, (4,))
    return evidence(rng, 17 * expected, expected)


def transposed(rng):
    expected = normal(rng, pick(rng, SQUARES))
    return evidence(rng, expected.T, expected)


def transposed_shape(rng):
    expected = normal(rng, pick(rng, ((3, 4), (2, 5), (4, 2))))
    return evidence(rng, expected.T, expected)


def input_axes_exchanged(rng):
    expected = normal(rng, (2, 3, 3))
    return evidence(rng, expected.transpose(0, 2, 1), expected, output=(2,))


def groups_exchanged(rng):
    expected = normal(rng, (2, 3, 2, 3))
    return evidence(rng, expected.transpose(2, 3, 0, 1), expected, output=(2, 3))


def transposed_and_negated(rng):
    expected = normal(rng, (4, 4))
    return evidence(rng, -expected.T, expected)


def reversed_axis(rng):
    expected = normal(rng, pick(rng, ((3,), (6,), (3, 4), (2, 5))))
    return evidence(rng, np.flip(expected, -1), expected)


def shifted_round(rng):
    expected = normal(rng, pick(rng, ((4,), (7,), (5, 2))))
    return evidence(rng, np.roll(expected, int(rng.choice([-1, 1])), 0), expected)


def shifted_over(rng):
    expected = normal(rng, pick(rng, ((5,), (7,), (6, 2))))
    found = np.zeros_like(expected)
    found[1:] = expected[:-1]
    return evidence(rng, found, expected)


def stride_lost(rng):
    n = int(rng.integers(6, 10))
    expected, g = np.zeros(n), normal(rng, ((n + 1) // 2,))
    expected[::2] = g
    found = np.zeros(n)
    found[: len(g)] = g
    return evidence(rng, found, expected)


def other_stride_in_a_jacobian(rng):
    expected, found = np.zeros((4, 8)), np.zeros((4, 8))
    expected[np.arange(4), 2 * np.arange(4)] = 1
    found[np.arange(4), np.arange(4)] = 1
    return evidence(rng, found, expected, output=(4,))


def wrong_axis(rng):
    n = int(rng.integers(3, 6))
    rows = normal(rng, (n,))
    expected = np.broadcast_to(rows, (n, n))
    found = np.broadcast_to(normal(rng, (n,))[:, None], (n, n))
    return evidence(rng, found, expected)


def repeated_as_tiled(rng):
    g = normal(rng, (4, 4))
    expected, found = np.sum(g, 1), np.sum(g, 0)
    return evidence(rng, found, expected)


def unsummed_shape(rng):
    found = normal(rng, pick(rng, ((6, 3), (5, 2), (4, 4))))
    return evidence(rng, found, np.sum(found, 0))


def unsummed_kept_axis(rng):
    found = normal(rng, (5, 3))
    return evidence(rng, found, np.sum(found, 1, keepdims=True))


def unsummed_scalar(rng):
    found = normal(rng, (7,))
    return evidence(rng, found, np.sum(found))


def unsummed_in_place(rng):
    found = normal(rng, (5, 3))
    return evidence(rng, found, np.broadcast_to(np.sum(found, 0), (5, 3)))


def first_slice_only(rng):
    expected = np.broadcast_to(np.eye(3), (4, 3, 3)).copy()
    found = np.zeros_like(expected)
    found[0] = np.eye(3)
    return evidence(rng, found, expected, output=(4, 3))


def duplicates_counted_once(rng):
    index = rng.permutation(np.append(np.arange(6), rng.integers(0, 6, 3)))
    expected = np.bincount(index, minlength=6) * 1.7
    return evidence(rng, np.full(6, 1.7), expected, x=normal(rng, (6,)))


def duplicates_in_a_jacobian(rng):
    index = np.append(rng.permutation(5), [0, 2])
    expected = np.zeros((7, 5))
    expected[np.arange(7), index] = 1
    found = expected.copy()
    for k in range(5):
        found[np.flatnonzero(index == k)[:-1], k] = 0
    return evidence(rng, found, expected, output=(7,))


def one_of_equal_entries(rng):
    groups = np.array([0, 1, 2, 0, 1, 3])
    expected = normal(rng, (4,))[groups]
    found = np.where(np.isin(np.arange(6), [3, 4, 2, 5]), expected, 0)
    return evidence(rng, found, expected)


def rows_overwritten(rng):
    expected = normal(rng, (6, 4))
    found = expected.copy()
    found[[1, 4]] = 0.3 * expected[[1, 4]] * rng.uniform(0.5, 1, (2, 4))
    return evidence(rng, found, expected)


def conjugate(rng):
    expected = complex_normal(rng, pick(rng, SHAPES))
    return evidence(rng, np.conj(expected), expected)


def conjugate_doubled(rng):
    expected = complex_normal(rng, (3, 2))
    return evidence(rng, 2 * np.conj(expected), expected)


def zero(rng):
    expected = normal(rng, pick(rng, SHAPES))
    return evidence(rng, np.zeros_like(expected), expected)
