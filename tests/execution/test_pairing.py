"""Readings at an index of each row: against loops, and in memory that grows with the number of rows, not its square."""

from __future__ import annotations

import tracemalloc
from itertools import product

import numpy as np
import pytest

import einsumad as ea
from einsumad.execution import compile_plan
from einsumad.graph import einsum, leaf, leaves, selection
from einsumad.planning import make_plan
from einsumad.planning.kernels import Take

RNG = np.random.default_rng(8)
SIZES = {"n": 3, "k": 4, "r": 2, "m": 5}
CASES = [
    ("nm", "nk", "nk"),
    ("mn", "nk", "kn"),
    ("nm", "kn", "nk"),
    ("rmn", "nk", "rnk"),
    ("nrm", "nk", "krn"),
    ("knm", "nk", "nk"),
    ("nkm", "nk", "kn"),
    ("nmk", "kn", "nk"),
    ("knrm", "nk", "rkn"),
    ("nm", "n", "n"),
    ("mk", "nrk", "knr"),
]
"""The axes of an operand that is read along m, those of the index, and those of the result."""


@pytest.mark.parametrize(("read", "index", "result"), CASES)
@pytest.mark.parametrize("dtype", [np.int64, np.int32])
def test_against_loops(read, index, result, dtype):
    x = leaf([SIZES[axis] for axis in read], float, ("variable", "x"))
    i = leaf([SIZES[axis] for axis in index], dtype, ("variable", "i"))
    root = einsum([x, selection(i, SIZES["m"], float)], [read, index + "m"], result)
    values = {x: RNG.normal(size=x.shape), i: RNG.integers(0, SIZES["m"], i.shape).astype(dtype)}
    plan = make_plan([root], leaves([root]))
    assert any(isinstance(step.kernel, Take) for step in plan.steps)
    (found,) = compile_plan(plan)(*[values[node] for node in leaves([root])])
    expected = np.empty([SIZES[axis] for axis in result])
    for place in product(*[range(SIZES[axis]) for axis in result]):
        at = dict(zip(result, place, strict=True))
        at["m"] = values[i][tuple([at[axis] for axis in index])]
        expected[place] = values[x][tuple([at[axis] for axis in read])]
    np.testing.assert_array_equal(found, expected)
    values[i].flat[-1] = SIZES["m"]
    with pytest.raises(IndexError, match="index 5 is out of bounds for an axis of size 5"):
        compile_plan(plan)(*[values[node] for node in leaves([root])])


def test_sorted_rows_take_memory_for_each_row():
    """The derivative of a sort puts what belongs to each entry where the entry was."""
    X, w, order = RNG.normal(size=(3000, 4)), RNG.normal(size=4), np.arange(4.0)
    gradient = ea.compile(ea.grad(lambda w: np.sum(np.sort(X * w, axis=1) @ order)))
    ranks = np.argsort(np.argsort(X * w, axis=1), axis=1)
    np.testing.assert_allclose(gradient(w), np.sum(X * ranks, axis=0))
    tracemalloc.start()
    gradient(w)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 * X.nbytes  # and not 3000 times as much
