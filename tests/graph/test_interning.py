"""Equal content is one object, in every thread, for as long as it lives; nodes copy and compare as atoms."""

from __future__ import annotations

import copy
import gc
import threading
import weakref
from dataclasses import FrozenInstanceError

import pytest

from einsumad.graph import (
    affine,
    einsum,
    elementwise,
    fresh_leaf,
    general,
    interning,
    leaf,
    multiply,
    ones,
    unit,
    zero,
)
from tests.graph.build import symbol


def test_equal_content_is_one_object():
    x = symbol("x", 3)
    assert symbol("x", 3) is x
    assert elementwise("exp", [x], (), float) is elementwise("exp", (x,), (), "float64")
    assert general("inverse", [symbol("A", 2, 2)], (), [2, 2], float) is general(
        "inverse", [symbol("A", 2, 2)], (), (2, 2), float
    )
    assert einsum([x], [(0,)], (0,), 2) is einsum([x], [(5,)], (5,), 2.0)
    assert affine(9, [3], [2], 1, float) is affine(9, (3,), (2,), 1, float)


@pytest.mark.parametrize(
    "other",
    [
        symbol("y", 3),
        symbol("x", 4),
        symbol("x", 3, dtype="float32"),
        leaf((3,), float, ("traced", 1), "x"),
        leaf((3,), float, ("variable", "x"), None),
        symbol("x", 3, facts=("constant",)),
    ],
)
def test_leaves_that_differ_in_anything_are_different(other):
    assert other is not symbol("x", 3)


def test_kinds_and_parameters_are_content():
    x = symbol("x", 3)
    nodes = [
        ones((3, 3), float),
        zero((3, 3), float),
        unit(3, 2, float),
        elementwise("power", [x], (2,), float),
        elementwise("power", [x], (2.0,), float),
        elementwise("power", [x], (True,), float),
        general("power", [x], (2,), (3,), float),
        elementwise("power", [x], (2,), "float32"),
        multiply(x),
        multiply(x, coefficient=2),
    ]
    assert len(set(nodes)) == len(nodes)


def test_fresh_leaves_are_different_and_in_order():
    first, second = fresh_leaf((), float), fresh_leaf((), float)
    assert first is not second
    assert first.leaf_keys < second.leaf_keys


def test_a_node_that_nobody_holds_is_gone():
    node = elementwise("exp", [symbol("short-lived", 3)], (), float)
    watch = weakref.ref(node)
    del node
    gc.collect()
    assert watch() is None


def test_what_has_died_is_made_again_and_leaves_nothing_behind():
    first = symbol("entered first", 3)  # those that died before are gone now
    held = len(interning._table)
    for _ in range(3):
        nodes = [elementwise("exp", [symbol(f"short-lived {k}", 3)], (), float) for k in range(500)]
        assert len(interning._table) >= 1000
        assert all(interning.is_interned(node) for node in nodes)
        del nodes
        gc.collect()
    last = symbol("entered last", 3)
    assert len(interning._table) <= held + 10
    assert (symbol("entered first", 3), symbol("entered last", 3)) == (first, last)


def test_nodes_that_die_and_come_back_in_many_threads_are_one_object():
    """Each round all threads make the same nodes, hold them until they were compared, and let them go."""
    rounds, count = 40, 6
    barrier = threading.Barrier(count)
    made: list[list[object]] = [[] for _ in range(count)]
    different: list[int] = []

    def build(k):
        for turn in range(rounds):
            barrier.wait()
            made[k] = [elementwise("cos", [symbol(f"round {place}", 3)], (), float) for place in range(50)]
            barrier.wait()
            if any(mine is not other for mine, other in zip(made[k], made[0], strict=True)):
                different.append(turn)
            barrier.wait()
            made[k] = []

    threads = [threading.Thread(target=build, args=(k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not different


def test_many_threads_get_the_same_objects():
    barrier = threading.Barrier(8)
    found: list[list[object]] = [[] for _ in range(8)]

    def build(k):
        barrier.wait()
        node = symbol("shared", 3)
        for _ in range(300):
            node = elementwise("sin", [multiply(node, node)], (), float)
            found[k].append(node)

    threads = [threading.Thread(target=build, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(nodes == found[0] for nodes in found)
    assert len(found[0]) == 300


def test_a_finaliser_that_builds_graph_while_a_node_is_made_does_not_block():
    class Reference:
        def __del__(self):
            multiply(symbol("late", 2), coefficient=7)

    done = threading.Event()

    def build():
        gc.set_threshold(1)
        try:
            for k in range(200):
                cycle = [Reference()]
                cycle.append(cycle)
                fresh_leaf((k,), float)
        finally:
            gc.set_threshold(*thresholds)
        done.set()

    thresholds = gc.get_threshold()
    threading.Thread(target=build, daemon=True).start()
    assert done.wait(60)


def test_nodes_are_frozen_atoms():
    node = multiply(symbol("x", 3), symbol("y", 3))
    assert copy.copy(node) is node
    assert copy.deepcopy({"key": [node, node]})["key"][1] is node
    assert repr(node) == "<Einsum (3,) float64>"
    with pytest.raises(FrozenInstanceError):
        node.coefficient = 2
    assert not hasattr(node, "__dict__")
