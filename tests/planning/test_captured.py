"""What captured arrays decide alone is computed once; the two plans give what the whole one gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

import einsumad as ea
from einsumad.execution import compile_plan
from einsumad.graph import Leaf, Node, leaves, topological
from einsumad.planning import Plan, SetApart, make_plan, set_apart
from einsumad.planning.memory import is_view
from tests.calculus.oracle import jacobians
from tests.execution.small_programs import small_program
from tests.strategies import Program, affordable, programs

UNLIMITED = 2**62


def values_of(apart: SetApart, values: list[np.ndarray], arguments: int) -> tuple[np.ndarray, ...]:
    made = compile_plan(apart.before)(*[values[k] for k in apart.before_reads])
    return compile_plan(apart.plan)(*values[:arguments], *[values[k] for k in apart.reads], *made)


def check_apart(roots: list[Node], inputs: list[Leaf], values: list[np.ndarray], arguments: int) -> SetApart | None:
    whole = make_plan(roots, inputs)
    apart = set_apart(whole, arguments, UNLIMITED)
    if apart is None:
        return None
    for found, expected in zip(values_of(apart, values, arguments), compile_plan(whole)(*values), strict=True):
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)
    check_nothing_is_left(apart.plan, arguments)
    return apart


def check_nothing_is_left(plan: Plan, arguments: int) -> None:
    """Of what captured arrays decide alone a call makes views, outputs, numbers and what lacks axes at most."""
    fixed = set(range(arguments, len(plan.inputs)))
    dtypes = [node.dtype for node in plan.inputs] + [step.dtype for step in plan.steps]
    for step in plan.steps:
        read = [operand for operand in step.operands if isinstance(operand, int)]
        if not read or not fixed.issuperset(read):
            continue
        fixed.add(step.register)
        view = is_view(step.kernel, [dtypes[k] for k in read], len(step.shape), step.dtype)
        assert view or not step.shape or step.stored != step.shape or step.register in plan.outputs


@pytest.mark.fuzz
@settings(max_examples=max(200, settings().max_examples))
@given(programs(most_steps=6), st.integers(0, 2), st.booleans())
def test_random_graphs(program: Program, arguments: int, derived: bool) -> None:
    roots = [program.root]
    if derived:
        roots += jacobians(program.root, program.sources, "reverse")
    affordable(topological(roots))
    inputs = leaves(roots)
    with np.errstate(all="ignore"):
        apart = check_apart(roots, inputs, [program.values[node] for node in inputs], min(arguments, len(inputs)))
    event("set apart" if apart else "whole")


@pytest.mark.parametrize("seed", range(60))
def test_random_programs_that_capture_all_but_one_argument(seed: int) -> None:
    program = small_program(seed)
    first, second = program.args
    with np.errstate(all="ignore"):
        expected = flat(program.function(first, second))
        found = flat(ea.compile(lambda x: program.function(x, second))(first))
    for one, other in zip(found, expected, strict=True):
        assert (np.shape(one), np.asarray(one).dtype) == (np.shape(other), np.asarray(other).dtype)
        tolerance = 3e-3 if np.asarray(first).dtype == np.float32 else 1e-9
        scale = 1 + np.max(np.abs(other), where=np.isfinite(other), initial=0)
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance * scale)


def flat(result: object) -> list[np.ndarray]:
    return [x for part in result for x in flat(part)] if isinstance(result, tuple) else [np.asarray(result)]


RNG = np.random.default_rng(3)
MASK, TABLE, FACTOR = (RNG.random((6, 7)) < 0.5) * 1.0, RNG.normal(size=(6, 7)), RNG.normal(size=(7, 2))


def factorisation(u):
    return np.sum((MASK * (TABLE - u @ FACTOR.T)) ** 2)


def plan_of(compiled, *args):
    return compiled.program(*args).plan.plan


@pytest.mark.whole_planner
def test_squares_and_outer_products_of_data_are_made_once():
    u = RNG.normal(size=(6, 2))
    hessian = ea.compile(ea.hessian(factorisation))
    whole = ea.explain(ea.hessian(factorisation), u).plan
    plan = plan_of(hessian, u)
    assert [node.name for node in plan.inputs[1:]] == ["made once"]
    assert plan.inputs[1].shape == (6, 2, 2)
    assert plan.flops == 0 < whole.flops
    np.testing.assert_allclose(hessian(u), ea.hessian(factorisation)(u), rtol=1e-13)


def test_the_whole_result_is_no_part_of_what_is_held():
    a, x = RNG.normal(size=(4, 4)), RNG.normal(size=4)
    hessian = ea.compile(ea.hessian(lambda x: x @ a @ x))
    first = hessian(x)
    assert np.array_equal(first, a + a.T)
    first[:] = 7
    assert np.array_equal(hessian(x), a + a.T)
    constant = ea.compile(lambda x: (x, np.exp(ea.tensor(a)), ea.tensor(a)))
    for _ in range(2):
        results = constant(x)
        np.testing.assert_array_equal(results[1], np.exp(a))
        np.testing.assert_array_equal(results[2], a)
        for result in results:
            result[:] = 0


def test_arrays_are_read_once():
    data, x = np.array([1.0, 2.0, 3.0]), np.array([0.5, 1.0, 2.0])
    f = ea.compile(lambda x: np.sum(np.exp(ea.tensor(data)) * x**2))
    expected = np.sum(np.exp(data) * x**2)
    np.testing.assert_allclose(f(x), expected)
    assert [node.name for node in plan_of(f, x).inputs[1:]] == ["made once"]
    data[:] = 0
    np.testing.assert_allclose(f(x), expected)
    np.testing.assert_allclose(f(np.append(x, 1.0)[:3]), expected)


def test_little_is_held():
    """Four megabytes at most: of three tables two."""
    tables, x = [np.full((512, 512), k / 512) for k in range(3)], np.ones(512)
    f = ea.compile(lambda x: tuple([np.exp(ea.tensor(table)) @ x for table in tables]))
    shapes = [node.shape for node in plan_of(f, x).inputs[1:] if node.name == "made once"]
    assert shapes == [(512, 512)] * 2
    for k, found in enumerate(f(x)):
        np.testing.assert_allclose(found, 512 * np.exp(k / 512))


def test_what_is_held_counts_towards_the_limit():
    data, x = np.ones(1000), np.ones(1000)
    f = lambda x: np.sum(np.exp(ea.tensor(data)) * np.sin(x))  # noqa: E731
    whole = ea.explain(f, x).plan
    for limit, names in ((whole.peak_bytes + 8000, ["made once"]), (whole.peak_bytes + 7999, [])):
        plan = plan_of(ea.compile(f, memory_limit=limit), x)
        assert [node.name for node in plan.inputs if node.name == "made once"] == names


def test_functions_of_users_are_called_each_time():
    calls = []

    def noted(a):
        calls.append(1)
        return np.sort(a)

    own = ea.custom_function(noted, push=lambda *given: given[1][0])
    data = np.array([3.0, 1.0, 2.0])
    f = ea.compile(lambda x: np.sum(own(ea.tensor(data)) * x))
    x = np.array([1.0, 2.0, 3.0])
    f(x)
    before = len(calls)
    np.testing.assert_allclose(f(x), 14.0)
    assert len(calls) > before


def test_errors_of_what_is_computed_once_are_raised_at_every_call():
    singular, x = np.ones((2, 2)), np.ones(2)
    f = ea.compile(lambda x: np.linalg.inv(ea.tensor(singular)) @ x)
    for _ in range(2):
        with pytest.raises(np.linalg.LinAlgError):
            f(x)


def test_infinities_are_silent():
    zeros, x = np.zeros(3), np.ones(3)
    f = ea.compile(lambda x: np.sum(x / np.exp(1 / ea.tensor(zeros))))
    with np.errstate(all="raise"):
        assert f(x) == 0
