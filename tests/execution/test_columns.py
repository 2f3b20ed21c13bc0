"""Outer products that are added up by index go along columns, others do not."""

import numpy as np
import pytest

from einsumad.execution import compile_plan
from einsumad.graph import add, einsum, leaf, leaves, selection
from einsumad.planning import make_plan

RNG = np.random.default_rng(1)
M = 200
A = leaf((M, 3), float, ("variable", "a"))
B = leaf((M, 2), float, ("variable", "b"))
S = leaf((M,), int, ("variable", "s"))
OUTER = einsum([A, B], [(0, 1), (0, 2)], (0, 1, 2))
WRITTEN = einsum([OUTER, selection(S, 7, float)], [(0, 1, 2), (0, 3)], (3, 2, 1))
VALUES = {"a": RNG.normal(size=(M, 3)), "b": RNG.normal(size=(M, 2)), "s": RNG.integers(0, 7, M)}


def run(*roots):
    inputs = leaves(roots)
    plan = compile_plan(make_plan(roots, inputs))
    return plan.source, plan(*[VALUES[node.key[1]] for node in inputs])


def expected():
    result = np.zeros((7, 2, 3))
    for m in range(M):
        result[VALUES["s"][m]] += np.outer(VALUES["b"][m], VALUES["a"][m])
    return result


def test_what_is_added_up():
    source, (found,) = run(WRITTEN)
    assert 'order="F"' in source
    np.testing.assert_allclose(found, expected(), rtol=1e-12, atol=1e-13)


def test_also_through_sums():
    total = add([OUTER, einsum([OUTER, OUTER], [(0, 1, 2)] * 2, (0, 1, 2))])
    source, (found,) = run(einsum([total, selection(S, 7, float)], [(0, 1, 2), (0, 3)], (3, 1, 2)))
    assert 'order="F"' in source
    outer = VALUES["a"][:, :, None] * VALUES["b"][:, None]
    result = np.zeros((7, 3, 2))
    np.add.at(result, VALUES["s"], outer + outer**2)
    np.testing.assert_allclose(found, result, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("other", [OUTER, einsum([OUTER, OUTER], [(0, 1, 2), (0, 3, 2)], (1, 3, 0))])
def test_what_is_used_otherwise(other):
    source, found = run(WRITTEN, other)
    assert 'order="F"' not in source
    np.testing.assert_allclose(found[0], expected(), rtol=1e-12, atol=1e-13)
