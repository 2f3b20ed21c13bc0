"""Sums over sums of products: each term has its one factor summed, and nothing of the full size is made."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest

from einsumad.execution import compile_plan
from einsumad.execution.reference import evaluate
from einsumad.graph import add, einsum, leaf, leaves
from einsumad.planning import make_plan

RNG = np.random.default_rng(6)
T = leaf((50, 4, 6), float, ("variable", "t"))
U = leaf((50, 4, 6), float, ("variable", "u"))
A = leaf((4, 6), float, ("variable", "a"))
B = leaf((4, 6, 6), float, ("variable", "b"))
W = leaf((50,), float, ("variable", "w"))
M = leaf((50, 4), bool, ("variable", "m"))

SCALED = einsum([A, T], [(1, 2), (0, 1, 2)], (0, 1, 2), 3)
CONTRACTED = einsum([B, T], [(1, 2, 3), (0, 1, 3)], (0, 1, 2), -1)
WEIGHTED = einsum([W, A, T], [(0,), (1, 2), (0, 1, 2)], (0, 1, 2))
MASKED = einsum([M, T, A], [(0, 1), (0, 1, 2), (1, 2)], (0, 1, 2))


def summed(*terms, output=(1, 2)):
    return einsum([add(terms)], [(0, 1, 2)], output, 2)


ROOTS = {
    "products": summed(SCALED, CONTRACTED),
    "a whole term": summed(SCALED, U),
    "over two indices": summed(SCALED, CONTRACTED, output=(1,)),
    "turned": summed(SCALED, CONTRACTED, output=(2, 1)),
    "two factors": summed(WEIGHTED, CONTRACTED),
    "a mask": summed(MASKED, CONTRACTED),
    "a number, with no sum at all": einsum([], [], (), 3, float),
    "shared": add([summed(SCALED, CONTRACTED), einsum([add([SCALED, CONTRACTED]), W], [(0, 1, 2), (0,)], (1, 2))]),
}


@pytest.mark.parametrize("name", ROOTS)
def test_values(name):
    inputs = leaves([ROOTS[name]])
    values = {node: RNG.normal(size=node.shape) for node in inputs}
    values |= {node: RNG.normal(size=node.shape) > 0 for node in inputs if node.dtype == bool}
    (found,) = compile_plan(make_plan([ROOTS[name]], inputs))(*[values[node] for node in inputs])
    np.testing.assert_allclose(found, evaluate([ROOTS[name]], values)[0], rtol=1e-11, atol=1e-11)


@pytest.mark.whole_planner
@pytest.mark.parametrize("name", ["products", "a whole term", "turned"])
def test_nothing_has_the_index_that_is_summed(name):
    plan = make_plan([ROOTS[name]], leaves([ROOTS[name]]))
    assert max(prod(step.shape) for step in plan.steps) < prod(T.shape) / 2
