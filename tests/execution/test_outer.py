"""Outer products along a long last axis: what lies crosswise in memory is copied first, once if both factors are it."""

import itertools

import numpy as np
import pytest

from einsumad.execution import compile_plan
from einsumad.execution.reference import evaluate
from einsumad.graph import add, einsum, leaf, leaves
from einsumad.planning import make_plan

RNG = np.random.default_rng(1)
M, K, L = 40, 5, 4


def tensor(name, *shape, dtype=float):
    return leaf(shape, dtype, ("variable", name))


A, B = tensor("a", M, K), tensor("b", M, L)
VALUES = {A: RNG.normal(size=(M, K)), B: RNG.normal(size=(M, L))}


def run(*roots, values=VALUES):
    inputs = leaves(roots)
    plan = compile_plan(make_plan(roots, inputs))
    return plan.source, plan(*[values[node] for node in inputs])


@pytest.mark.parametrize("result", [*itertools.permutations((0, 1, 2))])
def test_two_factors(result):
    source, (found,) = run(einsum([A, B], [(0, 1), (0, 2)], result))
    where = "ijk"
    target = "".join(where[label] for label in result)
    np.testing.assert_allclose(found, np.einsum(f"ij,ik->{target}", VALUES[A], VALUES[B]), rtol=1e-15)
    assert source.count(".copy()") == (2 if result[-1] == 0 else 0)
    assert found.flags.c_contiguous or result[-1] != 0


def test_one_factor_twice_is_copied_once():
    source, (found,) = run(einsum([A, A], [(0, 1), (0, 2)], (1, 2, 0)))
    assert source.count(".copy()") == 1
    np.testing.assert_array_equal(found, VALUES[A].T[:, None] * VALUES[A].T)


def test_short_products_and_products_as_small_as_a_factor_are_not_copied():
    few = tensor("c", 12, K)
    for root in (einsum([few, few], [(0, 1), (0, 2)], (1, 2, 0)), einsum([A, A], [(0, 1), (0, 2)], (0, 1, 2))):
        assert ".copy()" not in run(root, values={few: VALUES[A][:12], A: VALUES[A]})[0]
    vector = tensor("v", M)
    root = einsum([A, vector], [(0, 1), (0,)], (1, 0))
    values = {**VALUES, vector: VALUES[A][:, 0].copy()}
    source, (found,) = run(root, values=values)
    assert ".copy()" not in source
    np.testing.assert_array_equal(found, (VALUES[A] * values[vector][:, None]).T)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_what_follows_is_the_same(dtype):
    """Sums, contractions and further products of it, also in integers, for which nothing is copied."""
    a, b = tensor("a", M, K, dtype=dtype), tensor("b", M, L, dtype=dtype)
    W = tensor("w", M, M, dtype=dtype)
    outer = einsum([a, b], [(0, 1), (0, 2)], (1, 2, 0))
    roots = [
        einsum([outer, W], [(1, 2, 0), (0, 3)], (3, 1, 2)),
        einsum([outer, outer], [(1, 2, 0), (1, 3, 0)], (2, 3)),
        add([outer, einsum([outer, outer], [(0, 1, 2), (0, 1, 2)], (0, 1, 2))]),
        outer,
    ]
    values = {node: RNG.integers(-9, 9, node.shape).astype(dtype) for node in (a, b, W)}
    _, found = run(*roots, values=values)
    for one, other in zip(found, evaluate(roots, values), strict=True):
        assert one.dtype == dtype
        np.testing.assert_array_equal(one, other)
