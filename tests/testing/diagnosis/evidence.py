"""Synthetic evidence: for each cause a few ways to get a derivative wrong, at random shapes and points.

Owns the makers. Imports the diagnosis. Invariant: a maker draws everything from the generator it is given; `error` is
1e-9 of the largest entry, and the oracle's values are off by less than that.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from einsumad.testing.diagnosis import Evidence

Maker = Callable[[np.random.Generator], Evidence]

VECTORS = ((2,), (3,), (5,), (9,))
MATRICES = ((3, 4), (4, 4), (2, 5), (5, 1), (2, 2))
SQUARES = ((2, 2), (3, 3), (5, 5))
SHAPES = VECTORS + MATRICES + ((2, 3, 4), (3, 3, 3))


def pick(rng: np.random.Generator, shapes: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    return shapes[int(rng.integers(len(shapes)))]


def normal(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Normal entries, all of them away from 0."""
    draw = np.asarray(rng.standard_normal(shape))
    return draw + 0.1 * np.where(draw >= 0, 1, -1)


def complex_normal(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return normal(rng, shape) + 1j * normal(rng, shape)


def evidence(rng, found, expected, *, x=None, value=None, output=(), order=1, others=()) -> Evidence:
    """Evidence with an oracle that is off by a third of its error bound."""
    expected = np.asarray(expected, complex if np.iscomplexobj(expected) else float)
    size = np.max(np.abs(expected), initial=0.0)
    error = np.full(expected.shape, 1e-9 * max(float(size), 1e-12))
    noisy = expected + np.where(expected == 0, 0, error / 3 * rng.uniform(-1, 1, expected.shape))
    if x is None:
        x = normal(rng, expected.shape[len(output) :] if output else expected.shape)
    return Evidence(np.asarray(found), noisy, error, output, (x, *others), value, order)


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


MAKERS: dict[str, tuple[Maker, ...]] = {
    "sign": (multiple(-1), signs_of_some),
    "factor 2": (multiple(2),),
    "factor 1/2": (multiple(0.5),),
    "factor n (sum for mean)": (count(1), count_of_data),
    "factor 1/n (mean for sum)": (count(-1),),
    "constant factor": (multiple(1.03), multiple(np.sqrt(2 * np.pi)), multiple(-2 / 3), multiple(1 + 3e-7)),
    "degrees": (multiple(180 / np.pi), multiple(np.pi / 180)),
    "logarithm base": (multiple(np.log(10)), multiple(1 / np.log(2))),
    "transposed": (transposed, transposed_shape, input_axes_exchanged, groups_exchanged, transposed_and_negated),
    "reversed": (reversed_axis,),
    "shifted": (shifted_round, shifted_over, stride_lost, other_stride_in_a_jacobian),
    "wrong axis": (wrong_axis, repeated_as_tiled),
    "missing sum over a broadcast axis": (
        unsummed_shape,
        unsummed_kept_axis,
        unsummed_scalar,
        unsummed_in_place,
        first_slice_only,
    ),
    "overwritten duplicate": (
        duplicates_counted_once,
        duplicates_in_a_jacobian,
        one_of_equal_entries,
        rows_overwritten,
    ),
    "missing conjugate": (conjugate, conjugate_doubled),
    "zero": (zero,),
    "missing term": (
        ridge,
        lasso,
        constant_term,
        one_hot_term,
        ridge_of_hessian,
        product_rule_term,
        constant_norm,
        only_diagonal,
        without_diagonal,
    ),
    "missing inner derivative": (
        *[inner(f) for f in (np.sin, np.exp, np.log, lambda x: x, lambda x: 2 * x, lambda x: 0.37 * np.cos(x))],
        *[inner(f) for f in (lambda x: 1 - x**2, lambda x: 1 / (x * (1 - x)), lambda x: 1 - np.tanh(x) ** 2)],
        inner_value,
        inner_of_a_jacobian,
    ),
    "wrong exponent": (power_kept, power_of_root),
    "off-diagonal doubled": (off_diagonal_doubled,),
    "off-diagonal halved": (off_diagonal_halved,),
    "only one triangle": (triangle(np.tril), triangle(np.triu), triangle(np.tril, doubled=True)),
    "not symmetrised": (not_symmetrised, hessian_not_symmetrised),
    "missing operand slot": (one_slot, one_slot_of_a_form),
    "transposed operand": (as_if_symmetric, permutation_not_inverted),
    "off the diagonal": (spread_off_the_diagonal,),
    "wrong shape": (dropped_axis, diagonal_for_a_matrix, unrelated_shape),
    "single precision": (single_precision, computed_in_single),
    "half precision": (half_precision,),
    "not a number": (nan_at_zero, infinite),
    "wrong branch": (mask_forgotten, mask_inverted, leak_forgotten, other_branch_wrong),
    "evaluated elsewhere": (whole_numbers,),
    "wrong dtype": (truncated,),
    "some entries": (few_entries, boundary),
}
"""For each cause, makers of evidence for which it is the best explanation."""
