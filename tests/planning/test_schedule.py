"""The order of the steps of a plan: operands first, all of them once, no larger peak than the order as found."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from einsumad.execution import compile_plan
from einsumad.functions import apply
from einsumad.graph import Node, add, einsum, leaves, sum_axes, transpose
from einsumad.planning import make_plan, plan
from einsumad.planning.contraction import binarise
from einsumad.planning.expansion import expand
from einsumad.planning.guards import guarded
from einsumad.planning.schedule import schedule, thrifty
from tests.effort import calls
from tests.planning.products import variable

X = variable("x", (8, 8), float)
COUNT = 6


def wide(width: int) -> list[Node]:
    """Sums of so many products of two functions, each of which is a number in the end."""
    parts = []
    for k in range(width):
        scaled = einsum([X], [(0, 1)], (0, 1), k + 1)
        parts.append(sum_axes(einsum([apply("sin", scaled), apply("cos", X), scaled], [(0, 1)] * 3, (0, 1)), [0, 1]))
    return [add(parts)]


def deep() -> list[Node]:
    node: Node = X
    for _ in range(COUNT):
        node = apply("tanh", einsum([node, transpose(node, (1, 0))], [(0, 1), (1, 2)], (0, 2), 0.1))
    return [node, sum_axes(node, [0])]


def views() -> list[Node]:
    """The same memory read under several names, also by the caller."""
    a = apply("exp", X)
    turned = transpose(a, (1, 0))
    return [turned, sum_axes(apply("sin", turned), [0]), einsum([a, turned], [(0, 1), (1, 2)], (0, 2))]


GRAPHS = {"wide": wide(COUNT), "deep": deep(), "views": views(), "leaf": [X]}


def scheduled(roots: list[Node]) -> tuple:
    outputs = binarise(guarded(expand(roots)))
    return outputs, schedule(outputs)


@pytest.mark.parametrize("roots", GRAPHS.values(), ids=GRAPHS)
def test_every_step_is_taken_once_after_its_operands(roots: list[Node]) -> None:
    outputs, found = scheduled(roots)
    order = thrifty(found, outputs)
    steps = [node for node, _ in found]
    place = {node: k for k, (node, _) in enumerate(order)}
    assert sorted(map(steps.index, place)) == list(range(len(steps)))
    assert len(order) == len(steps)
    assert all(place[o] < place[node] for node, (_, operands) in order for o in operands if o in place)
    assert order == thrifty(found, outputs)


@pytest.mark.parametrize("roots", GRAPHS.values(), ids=GRAPHS)
def test_the_peak_is_no_larger_and_the_values_are_the_same(roots: list[Node], monkeypatch: pytest.MonkeyPatch) -> None:
    value = np.random.default_rng(0).normal(size=(8, 8))
    before = make_plan(roots, leaves(roots))
    monkeypatch.setattr(plan, "_LEAST_PEAK", 0)
    after = make_plan(roots, leaves(roots))
    assert after.peak_bytes <= before.peak_bytes
    assert after.cost == before.cost
    for found, expected in zip(compile_plan(after)(value), compile_plan(before)(value), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_of_many_steps_one_that_frees_memory_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """All the functions first, as they are met level by level, or one term after the other."""
    monkeypatch.setattr(plan, "_LEAST_PEAK", 0)
    outputs, found = scheduled(wide(COUNT))
    levels = sorted(found, key=lambda step: sum(o in dict(found) for o in step[1][1]))
    by_levels = [step for step in levels if len(step[0].shape) == 2] + [step for step in levels if not step[0].shape]
    peaks = [plan._laid_out(order, outputs, [X]).memory.peak for order in (by_levels, thrifty(found, outputs))]
    assert peaks[1] < peaks[0]


def test_thousands_of_steps_that_could_be_next_take_no_quadratic_time() -> None:
    outputs, found = scheduled([apply("sin", einsum([X], [(0, 1)], (0, 1), k + 1)) for k in range(2000)])
    assert len(thrifty(found, outputs)) == 4000
    assert calls(partial(thrifty, found, outputs)) < 100 * 4000
