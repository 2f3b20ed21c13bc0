"""The normal form of large graphs: no recursion, work in proportion to the nodes, numbers that stay numbers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from math import isfinite

import numpy as np
import pytest

from einsumad.calculus import derivative
from einsumad.execution.reference import evaluate
from einsumad.functions import apply
from einsumad.graph import Einsum, Node, einsum, leaf, multiply, recorded, scale, sum_axes, topological, total, unit
from einsumad.graph.verify import verify
from einsumad.rewriting import normalise
from tests.effort import calls

x = leaf((3,), float, ("variable", "x"), "x")
A = leaf((3, 3), float, ("variable", "A"), "A")


@contextmanager
def recursion_limit(limit: int) -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(limit)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def growth(length: int) -> Node:
    y: Node = x
    for _ in range(length):
        y = total(y, scale(0.002, y))
    return y


def saturation(length: int) -> Node:
    y: Node = x
    for _ in range(length):
        y = apply("tanh", y)
    return y


def layers(length: int) -> Node:
    y: Node = x
    for _ in range(length):
        y = apply("relu", einsum([A, y], [(0, 1), (1,)], (0,)))
    return y


def products(length: int) -> Node:
    y: Node = x
    for _ in range(length):
        y = einsum([A, y], [(0, 1), (1,)], (0,))
    return y


CHAINS = [growth, saturation, layers, products]


@pytest.mark.parametrize("chain", CHAINS)
def test_a_long_chain_of_operations_needs_no_recursion(chain: object) -> None:
    assert callable(chain)
    root = chain(10_000)
    with recursion_limit(sys.getrecursionlimit() // 5):
        (found,) = normalise([root])
    assert found.shape == (3,)


@pytest.mark.parametrize("chain", CHAINS)
def test_time_is_linear(chain: object) -> None:
    """Eight times the graph takes at most twelve times the calls, not 64 times."""
    assert callable(chain)

    def derive(root: Node) -> None:
        (value,) = normalise([root])
        normalise(derivative(value, [x]))

    short, long = (calls(partial(derive, sum_axes(chain(length), [0]))) for length in (200, 1600))
    assert long <= 12 * short


def test_a_chain_of_sums_becomes_one_product() -> None:
    (found,) = normalise([growth(1000)])
    assert isinstance(found, Einsum)
    np.testing.assert_allclose(evaluate([found], {x: np.ones(3)})[0], 1.002**1000, rtol=1e-11)


@pytest.mark.parametrize("number", [2, 0.5, -3, 1e-300, 1e300])
def test_collected_numbers_stay_finite_and_nonzero(number: float) -> None:
    """Numbers are collected while they are of moderate size; beyond, the arrays overflow or vanish as they would."""
    root: Node = x
    for _ in range(3000 if abs(number) < 1e10 and number != 1e-300 else 3):
        root = scale(number, root)
    (found,) = normalise([root])
    verify([found])
    for node in topological([found]):
        assert not isinstance(node, Einsum) or (isfinite(float(node.coefficient)) and node.coefficient != 0)
    before, after = evaluate([root, found], {x: np.array([1.0, np.nan, 0.0])})
    np.testing.assert_array_equal(np.isnan(after), np.isnan(before))
    np.testing.assert_array_equal(np.isinf(after), np.isinf(before))


def test_doubled_sums_stay_finite() -> None:
    root: Node = x
    for _ in range(2000):
        root = total(root, root)
    (found,) = normalise([root])
    verify([found])
    assert np.isinf(evaluate([found], {x: np.array([1.0, 2, 3])})[0]).all()


def test_a_wide_sum_of_products() -> None:
    """A sum of many different terms is not searched for common factors without end."""
    terms = [multiply(x, apply("power", x, params=(0.5 + k,))) for k in range(300)]
    root = total(*terms)
    assert calls(lambda: normalise([root])) < 200_000
    (found,) = normalise([root])
    values = {x: np.array([0.1, 0.5, 0.9])}
    before, after = evaluate([root, found], values)
    np.testing.assert_allclose(after, before, rtol=1e-10)


def linked(length: int) -> Node:
    """``A[i,k] (δ[k,l] B[l,m] (...))``: each product with a delta, in the next one, none used twice."""
    y: Node = einsum([A], [(0, 1)], (0, 1))
    for k in range(length):
        weight = leaf((3, 3), float, ("variable", f"B{k}"), f"B{k}")
        y = einsum([weight, unit(3, 2, float), y], [(0, 2), (2, 3), (3, 1)], (0, 1))
    return y


def test_nested_products_are_opened_without_the_products_between_them() -> None:
    """A chain of n: the products that are made have together factors in proportion to n, not to its square."""
    taken = []
    for length in (40, 80):
        root = linked(length)
        with recorded() as made:
            (found,) = normalise([root])
        assert isinstance(found, Einsum)
        assert len(found.operands) == length + 1
        taken.append(sum([len(node.operands) for node in made]))
    assert taken[1] <= 2.2 * taken[0]
