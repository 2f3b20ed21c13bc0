"""Reshapes of products: computed first and read afterwards, whatever axes they split and merge."""

from math import prod

import numpy as np
import pytest

import einsumad as ea
from einsumad.graph import Affine, Unit, affine
from einsumad.planning.primitives import Factor
from einsumad.planning.splits import splits

RNG = np.random.default_rng(8)
SHAPES = [((24, 36), (-1, 4)), ((24, 36), (6, -1)), ((24, 36), (18, 48)), ((24, 36), (32, 27)), ((6, 4, 10), (15, 16))]
SHAPES += [
    ((6, 4, 10), (4, 6, 10)),
    ((8, 9), (-1,)),
    ((5, 7), (7, 5)),
    ((2, 3, 4, 5), (6, 20)),
    ((2, 3, 4, 5), (8, 15)),
]


def product(old):
    """Factors whose product has this shape, the last axis from the second one alone."""
    x, w = RNG.integers(-3, 4, (*old[:-1], 5)), RNG.integers(-3, 4, (5, old[-1]))
    return x.astype(float), w.astype(float)


def by_hand(x, w, v):
    """Value, gradient and product of the Hessian with v in w of the sum of cubes, weighted by places."""
    h, d = x @ w, x @ v
    weights = np.arange(h.size, dtype=float).reshape(h.shape)
    rows = tuple(range(x.ndim - 1))
    sums = [np.tensordot(x, part * weights, (rows, rows)) for part in (3 * h**2, 6 * h * d)]
    return np.sum(h**3 * weights), *sums


@pytest.mark.parametrize(("old", "new"), SHAPES)
def test_value_gradient_and_product_with_the_hessian(old, new):
    x, w = product(old)
    v = RNG.integers(-3, 4, w.shape).astype(float)

    def f(w):
        y = (x @ w).reshape(new)
        return np.sum(y**3 * np.arange(prod(old), dtype=float).reshape(y.shape))

    def all_of_it(w, v):
        gradient, product = ea.jvp(ea.grad(f), (w,), (v,))
        return f(w), gradient, product

    for function in (all_of_it, ea.compile(all_of_it)):
        for found, expected in zip(function(w, v), by_hand(x, w, v), strict=True):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("new", [(-1, 4), (64, -1), (72, 480)])
def test_work_grows_with_the_product(new):
    x, w = RNG.normal(size=(96, 20)), RNG.normal(size=(20, 360))
    of_product = 2 * 96 * 20 * 360

    def f(w):
        return np.sum(np.exp((x @ w).reshape(new)))

    for function, products in ((f, 1), (ea.grad(f), 2), (lambda w: ea.jvp(ea.grad(f), (w,), (w,))[1], 3)):
        compiled = ea.compile(function)
        compiled(w)
        (program,) = compiled._by_arrays.values()
        plan = program.plan.plan
        assert plan.flops < 1.2 * products * of_product + 60 * 96 * 360
        assert plan.peak_bytes < 6 * 8 * 96 * 360


def test_infinite_entries_stay_where_they_are():
    x, w = np.ones((4, 2)), np.ones((2, 6))
    w[0, 1] = np.inf

    def f(w):
        return (x @ w).reshape(8, 3)

    for function in (f, ea.compile(f)):
        np.testing.assert_array_equal(function(w), (x @ w).reshape(8, 3))
    gradient = ea.compile(ea.grad(lambda w: np.sum(np.where(np.isinf(f(w)), 0, f(w) ** 2))))(w)
    finite = np.isfinite(x @ w)
    np.testing.assert_array_equal(gradient, x.T @ np.where(finite, 2 * np.where(finite, x @ w, 0), 0))


def test_both_maps_say_what_the_one_says():
    node = affine(7, (5, 4, 3, 2), (1, -3, 2, 4), 3, np.dtype(float))
    labels = (10, 11, 12, 13, 14)
    dense = np.zeros(node.shape)
    for place in np.ndindex(node.shape[1:]):
        at = 3 + place[0] - 3 * place[1] + 2 * place[2] + 4 * place[3]
        if 0 <= at < 7:
            dense[(at, *place)] = 1
    found = list(splits(Factor(node, labels), {10, 12, 13}, [(12, 13, 40), (10, 11)], 50))
    assert [(split.written.places, split.read.places) for split in found] == [
        ((10, 12, 13), (11, 14)),
        ((12, 13), (10, 11, 14)),
    ]
    for split in found:
        first, second = (ones_of(each.node) for each in (split.written, split.read))
        letters = {label: "pabcde"[k] for k, label in enumerate((50, *labels))}
        text = [letters[50] + "".join([letters[k] for k in each.places]) for each in (split.written, split.read)]
        np.testing.assert_array_equal(np.einsum(f"{text[0]},{text[1]}->abcde", first, second), dense)


def ones_of(node):
    """An affine tensor written out."""
    assert isinstance(node, Affine | Unit)
    dense = np.zeros(node.shape)
    for place in np.ndindex(node.shape[1:]):
        at = node.offset + sum(stride * k for stride, k in zip(node.strides, place, strict=True))
        if 0 <= at < node.shape[0]:
            dense[(at, *place)] = 1
    return dense


def test_one_label_on_a_side_is_no_split():
    node = affine(7, (5, 4, 3), (1, -3, 2), 3, np.dtype(float))
    assert not list(splits(Factor(node, (0, 1, 2, 3)), {0, 1, 2}, [], 9))
    assert not list(splits(Factor(node, (0, 1, 2, 3)), {1}, [], 9))
