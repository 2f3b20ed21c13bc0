"""Large products under masks keep the entries, bit by bit, and take no second array."""

import tracemalloc

import numpy as np
import pytest

from einsumad.execution import compile_plan
from einsumad.execution.masked import kept
from einsumad.graph import BOOL, einsum, leaf, leaves
from einsumad.planning import make_plan

RNG = np.random.default_rng(2)
N = 90
SPECIAL = np.array([0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("turned", [False, True])
def test_bits_of_the_entries(dtype, turned):
    values, mask = RNG.choice(SPECIAL, size=(N, N)).astype(dtype), RNG.random((N, N)) < 0.5
    if turned:
        values, mask = values.T[::-2], mask[:, ::2].T
    expected = np.where(mask, values, dtype(0))
    before = values.copy()
    bits = np.int32 if dtype == np.float32 else np.int64
    np.testing.assert_array_equal(kept(values, mask).view(bits), expected.view(bits))
    np.testing.assert_array_equal(values.view(bits), before.view(bits))
    found = values.copy()
    assert kept(found, mask, found) is found
    np.testing.assert_array_equal(found.view(bits), expected.view(bits))
    np.testing.assert_array_equal(kept(values[:1], mask), np.where(mask, values[:1], dtype(0)))


def tensor(name, shape, dtype=np.float64):
    return leaf(shape, np.dtype(dtype), ("variable", name))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("labels", [[(0, 1), (0, 1)], [(0,), (1,)], [(0, 1), (1,)], [(0, 1)]])
def test_plans(labels, dtype):
    factors = [tensor(f"x{k}", (N,) * len(held), dtype) for k, held in enumerate(labels)]
    mask = tensor("m", (N, N), BOOL)
    root = einsum([*factors, mask], [*labels, (0, 1)], (0, 1))
    values = {node: RNG.choice(SPECIAL[2:], size=node.shape).astype(dtype) for node in factors}
    values[mask] = RNG.random((N, N)) < 0.5
    inputs = leaves([root])
    plan = compile_plan(make_plan([root], inputs))
    assert "kept(" in plan.source
    product = np.ones((N, N), dtype)
    with np.errstate(all="ignore"):
        for held, node in zip(labels, factors, strict=True):
            product = product * (values[node] if held != (0,) else values[node][:, None])
    (found,) = plan(*[values[node] for node in inputs])
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, np.where(values[mask], product, 0))


def test_no_second_array():
    n = 500
    x, y, mask = tensor("x", (n, n)), tensor("y", (n, n)), tensor("m", (n, n), BOOL)
    root = einsum([x, y, mask], [(0, 1)] * 3, (0, 1))
    inputs = leaves([root])
    planned = make_plan([root], inputs)
    plan, values = (
        compile_plan(planned),
        {x: RNG.normal(size=(n, n)), y: RNG.normal(size=(n, n)), mask: RNG.random((n, n)) < 0.5},
    )
    given = [values[node] for node in inputs]
    plan(*given)
    tracemalloc.start()
    plan(*given)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.2 * 8 * n * n
