"""Random expression graphs at each place, against the reference interpreter and against NumPy's source."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from einsumad.execution.backends import ready_for
from einsumad.execution.reference import evaluate
from einsumad.graph import sum_axes, topological
from einsumad.planning import Request, derive, make_plan
from einsumad.rewriting import normalise
from tests.backends.libraries import Backend, backends
from tests.backends.running import check_plan, run, supported
from tests.strategies import Program, affordable, away_from_jumps, largest, programs

SOME = settings(max_examples=max(60, settings().max_examples * 2 // 5))
FEW = settings(max_examples=max(30, settings().max_examples // 5))
PLAIN = ("product", "sum", "choice", "everywhere", "kinked", "stable", "general")
OTHERS = [each for each in backends() if not each.name.startswith("jax")]
PLACES = st.sampled_from(OTHERS) if OTHERS else st.nothing()
WITH_JAX = [each for each in backends() if each.name.startswith("jax")]


@pytest.mark.fuzz
@SOME
@given(programs(most_steps=5), PLACES)
@pytest.mark.skipif(not OTHERS, reason="there is JAX alone")
def test_values(program: Program, backend: Backend) -> None:
    check_values(program, backend)


def check_values(program: Program, backend: Backend) -> None:
    affordable(topological([program.root]))
    (root,) = normalise([program.root])
    plan = make_plan([root], list(program.values))
    assume(supported(lambda: ready_for(plan, backend.home)))
    nodes = topological([program.root])
    values = evaluate(nodes, program.values)
    away_from_jumps(dict(zip(nodes, values, strict=True)))
    (found,) = run(plan, [program.values[node] for node in plan.inputs], backend)
    expected = values[-1]
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    size = largest(values)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8 * size)


@pytest.mark.fuzz
@FEW
@given(programs(PLAIN, most_steps=4), PLACES, st.sampled_from([1, 2]))
@pytest.mark.skipif(not OTHERS, reason="there is JAX alone")
def test_derivatives(program: Program, backend: Backend, order: int) -> None:
    check_derivatives(program, backend, order)


def check_derivatives(program: Program, backend: Backend, order: int) -> None:
    affordable(topological([program.root]))
    rank = len(program.root.shape)
    root = sum_axes(program.root, range(rank)) if rank else program.root
    found = derive(Request("derivatives", (order,)), [root], list(program.sources)).outputs
    affordable(topological(found))
    plan = make_plan(found, list(program.values))
    assume(supported(lambda: ready_for(plan, backend.home)))
    away_from_jumps(dict(zip(topological([root]), evaluate(topological([root]), program.values), strict=True)))
    check_plan(plan, [program.values[node] for node in plan.inputs], backend)


@pytest.mark.fuzz
@settings(max_examples=max(10, settings().max_examples // 10))
@given(programs(PLAIN, most_steps=4), st.sampled_from([0, 1]))
@pytest.mark.skipif(not WITH_JAX, reason="JAX is not installed")
def test_jax(program: Program, order: int) -> None:
    """Fewer, since JAX compiles each operation for each shape."""
    if order:
        check_derivatives(program, WITH_JAX[0], order)
    else:
        check_values(program, WITH_JAX[0])
