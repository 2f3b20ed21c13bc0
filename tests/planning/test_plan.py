"""Plans: text, determinism, liveness, the memory limit, depth."""

import os
import re
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

import einsumad as ea
from einsumad.errors import InternalError, MemoryLimitError
from einsumad.functions import apply
from einsumad.graph import (
    add,
    affine,
    broadcast,
    einsum,
    leaves,
    multiply,
    negate,
    ones,
    scale,
    selection,
    unit,
    zero,
)
from einsumad.planning import make_plan
from einsumad.planning.memory import physical_memory
from tests.planning.products import variable


def plan_of(*roots, memory_limit=None):
    return make_plan(roots, leaves(roots), memory_limit)


def weighted_gram():
    """A logistic Hessian: X' diag(s (1 - s)) X, a twentieth of it."""
    x, w = variable("X", (20, 10), float), variable("w", (10,), float)
    s = apply("sigmoid", einsum([x, w], [(0, 1), (1,)], (0,)))
    weights = multiply(s, add([ones((20,), float), negate(s)]))
    return einsum([x, weights, x], [(0, 1), (0,), (0, 2)], (1, 2), 0.05)


GRAM = """\
t0[i,j] = X                      float64(20, 10)
t1[i] = w                        float64(10)
t2[i] = sum_j t0[i,j] t1[j]      float64(20)      400 flops
t3[i] = sigmoid(t2[i])           float64(20)      320 flops
t4[i] = 1 - t3[i]                float64(20)      20 flops
t5[i] = t4[i] t3[i]              float64(20)      20 flops
t6[i] = 0.05 t5[i]               float64(20)      20 flops
t7[i,j] = t0[i,j] t6[i]          float64(20, 10)  200 flops
t8[i,j] = sum_k t0[k,j] t7[k,i]  float64(10, 10)  4000 flops
return t8
4980 flops, 10.6 kB moved, 7 calls, peak 2.4 kB"""


def test_text_of_a_plan():
    assert str(plan_of(weighted_gram())) == GRAM


@pytest.mark.whole_planner
def test_every_kernel_is_written():
    a, v, k = variable("A", (3, 3), float), variable("v", (3,), float), variable("k", (2,), int)
    mask = apply("greater", v, zero((3,), float))
    flipped = apply("logical_not", mask)
    spread = broadcast(apply("exp", einsum([v], [(0,)], ())), (), (3,))
    roots = [
        einsum([a], [(0, 0)], ()),
        einsum([v, unit(3, 2, float)], [(0,), (0, 1)], (0, 1), 2),
        add([multiply(mask, v), multiply(flipped, spread)]),
        multiply(mask, apply("reciprocal", apply("exp", v)), v),
        einsum([affine(3, (2,), (1,), 1, float), v], [(0, 1), (0,)], (1,)),
        einsum([selection(k, 3, float), v], [(0, 1), (1,)], (0,)),
        einsum([selection(k, 3, float)], [(0, 1)], (0, 1)),
        einsum([selection(k, 3, float), variable("p", (2,), float)], [(0, 1), (0,)], (1,)),
        einsum([affine(6, (2, 3), (3, 1), 0, float), variable("w", (6,), float)], [(0, 1, 2), (0,)], (1, 2)),
        einsum([affine(5, (3, 3), (1, 1), 0, float), a], [(0, 1, 2), (1, 2)], (0,)),
        einsum([affine(9, (3, 3), (3, 1), 0, float), a], [(0, 1, 2), (1, 2)], (0,)),
        einsum([affine(6, (3,), (1,), 2, float), v], [(0, 1), (1,)], (0,)),
        add([scale(-2, v), negate(apply("power", v, params=(3,))), scale(0.5, ones((3,), float))]),
        ones((2,), np.float32),
    ]
    text = str(plan_of(*roots))
    for part in (
        "= sum_i t0[i,i]",
        "δ[i,j]",
        " where ",
        "[t",
        " / ",
        "[i+1]",
        "[i-2]",
        "[3i+j]",
        "[t2[i]]",
        "[j = t",
        "sum_j [i = t",
        "sum_jk [i = j+k]",
        "with i = (j, k)",
        "= 0.5 - ",
        "2 t",
        "float32(2)",
    ):
        assert part in text, (part, text)


def test_the_text_is_the_same_under_any_hash_seed():
    program = (
        "from tests.planning.test_plan import plan_of, weighted_gram, many_factors\n"
        "from einsumad.execution import compile_plan\n"
        "plan = plan_of(weighted_gram(), many_factors())\n"
        "print(plan); print(compile_plan(plan).source)"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in (0, 1, 2)
    }
    assert len(texts) == 1
    assert "def plan" in texts.pop()


def many_factors():
    nodes = [variable(f"f{k}", (2, 3), float) for k in range(12)]
    inputs = [(k, k + 1) if k % 2 == 0 else (k + 1, k) for k in range(12)]
    return einsum(nodes, inputs, (0, 12))


def test_the_limit_is_kept_before_anything_is_allocated():
    x = variable("x", (100_000,), float)
    outer = einsum([x, x, x], [(0,), (1,), (2,)], (0, 1, 2))
    tracemalloc.start()
    try:
        with pytest.raises(MemoryLimitError) as caught:
            plan_of(outer)
        assert tracemalloc.get_traced_memory()[1] < 8 * 100_000
    finally:
        tracemalloc.stop()
    message = str(caught.value)
    for part in ("[i,j,k] = ", "(100000, 100000, 100000)", "8e+03 TB", "memory_limit=", "hvp"):
        assert part in message, (part, message)
    assert physical_memory() > 2**20


@pytest.mark.whole_planner
def test_the_note_of_a_plan_that_is_not_split_says_so():
    samples, w = np.ones((9000, 2)), np.ones(2)

    def loss(v):
        return np.sum(np.log1p(np.exp(samples @ v)))

    assert re.fullmatch(r"whole: peak [\d.]+ kB", ea.explain(ea.hessian(loss), w).plan.note)
    assert ea.explain(ea.hessian(loss, memory_limit=10**5), w).plan.note.startswith("in ")


def test_the_peak_counts_what_is_alive():
    x = variable("x", (1000,), float)
    y = x
    for _ in range(10):
        y = apply("sin", y)
    assert plan_of(y).peak_bytes == 8000  # in place
    outer = einsum([y, x], [(0,), (1,)], (0, 1))
    both = einsum([outer, x], [(0, 1), (1,)], (0,))
    assert plan_of(outer, both).peak_bytes == 8_008_000
    with pytest.raises(MemoryLimitError):
        plan_of(outer, memory_limit=8_000_000)


def test_copied_outputs_count():
    x = variable("x", (1000,), float)
    plan = plan_of(x, x)
    assert plan.copied == (True, True)
    assert plan.peak_bytes == 16_000
    assert plan.steps == ()
    with pytest.raises(MemoryLimitError, match="copies of the inputs"):
        plan_of(x, memory_limit=7999)


def test_an_input_that_is_missing_is_a_bug():
    x, y = variable("x", (2,), float), variable("y", (2,), float)
    with pytest.raises(InternalError, match="leaf y"):
        make_plan([multiply(x, y)], [x])


@pytest.mark.whole_planner
def test_shared_steps_are_planned_once():
    x, w = variable("X", (20, 10), float), variable("w", (10,), float)
    z = einsum([x, w], [(0, 1), (1,)], (0,))
    roots = [
        apply("exp", z),
        einsum([x, w], [(2, 1), (1,)], (2,), -3),
        einsum([x, w, x], [(0, 1), (1,), (0, 2)], (2,)),
    ]
    assert str(plan_of(*roots)).count("sum_j t0[i,j] t1[j]") == 1


def test_a_long_chain_in_linear_time():
    limit = sys.getrecursionlimit()
    x = variable("x", (3,), float)
    y = x
    for _ in range(3_000):
        y = negate(multiply(apply("sin", y), x))
    sys.setrecursionlimit(220)
    try:
        plan = plan_of(y)
    finally:
        sys.setrecursionlimit(limit)
    assert len(plan.steps) == 9_000
    assert plan.peak_bytes == 24
