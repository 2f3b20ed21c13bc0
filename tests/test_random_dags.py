"""Derivatives of random expression graphs: exact against power series, all modes alike, and against differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from einsumad.calculus import Mode
from einsumad.execution import compile_plan
from einsumad.execution.reference import evaluate
from einsumad.graph import Node, leaves, topological
from einsumad.planning import make_plan
from einsumad.rewriting import normalise
from tests.calculus.oracle import MODES, along, contract, difference, jacobians, tower
from tests.jets import directional
from tests.strategies import (
    DIFFERENTIABLE,
    POLYNOMIAL,
    Program,
    affordable,
    away_from_jumps,
    largest,
    programs,
)

MANY = settings(max_examples=max(300, settings().max_examples))
FEWER = settings(max_examples=max(150, settings().max_examples))
SEEDS = st.integers(0, 255)


@pytest.mark.fuzz
@MANY
@given(programs(POLYNOMIAL, most_steps=5), st.sampled_from(MODES), st.sampled_from([1, 2]), SEEDS, st.booleans())
def test_polynomials_have_exact_derivatives(
    program: Program, mode: Mode, order: int, seed: int, simplify: bool
) -> None:
    """In whole numbers, rewritten or not: the k-th derivative along a line is that of the power series."""
    check_exact(program, mode, order, seed, simplify)


@pytest.mark.fuzz
@settings(max_examples=max(200, settings().max_examples))
@given(programs(POLYNOMIAL, most_rank=1, most_steps=3), st.sampled_from(MODES), SEEDS)
def test_polynomials_have_exact_third_derivatives(program: Program, mode: Mode, seed: int) -> None:
    assume(all(len(source.shape) < 2 for source in program.sources))
    check_exact(program, mode, 3, seed, True)


def check_exact(program: Program, mode: Mode, order: int, seed: int, simplify: bool) -> None:
    affordable(topological([program.root]))
    generator = np.random.default_rng(seed)
    directions = {s: generator.integers(-2, 3, s.shape).astype(object) for s in program.sources}
    values = {node: value.astype(int) for node, value in program.values.items()}
    level = tower(program.root, program.sources, mode, order, seed=seed, simplify=simplify)[order]
    affordable(topological(level.values()))
    found = along(level, values, directions, exact=True)
    expected = directional(program.root, values, directions, order)[order]
    assert np.array_equal(np.asarray(found, object), expected)


@pytest.mark.fuzz
@settings(max_examples=max(250, settings().max_examples))
@given(programs(most_steps=5), SEEDS)
def test_modes_agree_to_first_order(program: Program, seed: int) -> None:
    check_jacobians(program, seed, 1e-8)


@pytest.mark.fuzz
@FEWER
@given(programs(dtype=np.float32, most_steps=5), SEEDS)
def test_modes_agree_to_first_order_in_single_precision(program: Program, seed: int) -> None:
    check_jacobians(program, seed, 5e-3)


def check_jacobians(program: Program, seed: int, tolerance: float) -> None:
    """Three modes, rewritten, against reverse mode as it comes; no entry may be lost to infinity."""
    found = [jacobians(program.root, program.sources, mode, seed=seed) for mode in MODES]
    raw = jacobians(program.root, program.sources, "reverse", simplify=False)
    values = checked_values([node for group in (*found, raw) for node in group], program)
    bound = tolerance * largest(values.values())
    for group in found:
        for node, other in zip(group, raw, strict=True):
            assert np.isfinite(values[other]).all()
            np.testing.assert_allclose(values[node], values[other], rtol=0, atol=bound)


def checked_values(roots: Sequence[Node], program: Program) -> dict[Node, Any]:
    nodes = topological(roots)
    affordable(nodes)
    values = dict(zip(nodes, evaluate(nodes, program.values), strict=True))
    away_from_jumps(values)
    return values


@pytest.mark.fuzz
@FEWER
@given(programs(most_steps=4), SEEDS)
def test_modes_agree_to_second_order(program: Program, seed: int) -> None:
    check_hessians(program, seed, 1e-7)


@pytest.mark.fuzz
@settings(max_examples=max(100, settings().max_examples))
@given(programs(dtype=np.float32, most_steps=3), SEEDS)
def test_modes_agree_to_second_order_in_single_precision(program: Program, seed: int) -> None:
    check_hessians(program, seed, 1e-2)


def check_hessians(program: Program, seed: int, tolerance: float) -> None:
    levels = [tower(program.root, program.sources, mode, 2, seed=seed)[2] for mode in MODES]
    values = checked_values([node for level in levels for node in level.values()], program)
    bound = tolerance * largest(values.values())
    for level in levels:
        for which, node in level.items():
            expected = values[levels[0][which]]
            assert np.isfinite(expected).all()
            np.testing.assert_allclose(values[node], expected, rtol=0, atol=bound)
            swapped = swap_last(values[level[which[::-1]]], program.root, which)
            np.testing.assert_allclose(swapped, values[node], rtol=0, atol=bound)


def swap_last(tensor: Any, root: Node, which: Sequence[Node]) -> Any:
    """The second derivative with the axes of its two sources exchanged: that in the other order (Schwarz)."""
    rank, (first, second) = len(root.shape), [len(source.shape) for source in which]
    axes = [*range(rank), *range(rank + second, rank + second + first), *range(rank, rank + second)]
    return np.transpose(tensor, axes)


@pytest.mark.fuzz
@settings(max_examples=max(200, settings().max_examples))
@given(programs(most_steps=5), st.sampled_from(MODES), SEEDS)
def test_compiled_derivatives_are_those_of_the_reference(program: Program, mode: Mode, seed: int) -> None:
    """Value, gradients and second derivatives of one plan."""
    levels = tower(program.root, program.sources, mode, 2, seed=seed)
    roots = normalise([node for level in levels for node in level.values()])
    values = checked_values(roots, program)
    inputs = leaves(roots)
    outputs = compile_plan(make_plan(roots, inputs))(*[program.values[node] for node in inputs])
    bound = 1e-9 * largest(values.values())
    for root, output in zip(roots, outputs, strict=True):
        assert (np.shape(output), output.dtype) == (root.shape, root.dtype)
        np.testing.assert_allclose(output, values[root], rtol=0, atol=bound)


@pytest.mark.fuzz
@settings(max_examples=max(250, settings().max_examples))
@given(programs(DIFFERENTIABLE, most_steps=4), st.sampled_from(MODES), SEEDS)
def test_derivatives_are_those_of_differences(program: Program, mode: Mode, seed: int) -> None:
    """First order against differences of the value, second order against differences of the first."""
    generator = np.random.default_rng(seed)
    directions = {s: generator.uniform(-1, 1, s.shape) for s in program.sources}
    levels = tower(program.root, program.sources, mode, 2, seed=seed)
    first = list(levels[1].values())
    affordable(topological([program.root, *first, *levels[2].values()]))
    roots = [program.root, *first]
    coarse, fine = (difference(roots, program.values, directions, step) for step in (2e-3, 1e-3))
    tensors = list(levels[2].values())
    seconds = dict(zip(levels[2], evaluate(tensors, program.values), strict=True))
    found = [
        along(levels[1], program.values, directions),
        *[sum(contract(seconds[(*which, s)], [directions[s]]) for s in program.sources) for which in levels[1]],
    ]
    for derived, estimate, rougher in zip(found, fine, coarse, strict=True):
        bound = 1e-7 * float(np.max(np.abs(estimate), initial=1))
        assume(np.max(np.abs(estimate - rougher), initial=0) <= bound)
        np.testing.assert_allclose(derived, estimate, rtol=0, atol=10 * bound)
