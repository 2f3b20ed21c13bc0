"""Walking, rebuilding and comparing graphs, shallow and deep."""

from __future__ import annotations

import sys
import time

import pytest

from einsumad.graph import (
    Leaf,
    add,
    affine,
    count_users,
    dependents,
    einsum,
    elementwise,
    fresh_leaf,
    general,
    leaves,
    multiply,
    negate,
    order_key,
    rebuild,
    selection,
    structural_key,
    substitute,
    topological,
    total,
    transform,
    unit,
    with_slots,
)
from einsumad.graph.verify import verify
from tests.graph.build import symbol

_X, _Y, _Z = symbol("x", 3), symbol("y", 3), symbol("z", 3)
_LENGTH = 40_000


def exp(node):
    return elementwise("exp", [node], (), float)


@pytest.fixture
def shallow_stack():
    limit = sys.getrecursionlimit()
    depth = len(_frames())
    sys.setrecursionlimit(depth + 150)
    yield
    sys.setrecursionlimit(limit)


def _frames():
    frame, found = sys._getframe(), []
    while frame is not None:
        found.append(frame)
        frame = frame.f_back
    return found


def test_operands_come_before_users_and_each_node_once():
    shared = exp(_X)
    root = total(multiply(shared, _Y), multiply(shared, shared), _X)
    order = topological([root, shared])
    place = {node: k for k, node in enumerate(order)}
    assert len(place) == len(order)
    assert all(place[operand] < place[node] for node in order for operand in node.operands)
    assert order[-1] is root
    assert set(leaves([root])) == {_X, _Y}


def test_users_are_counted_by_slot_and_root():
    shared = exp(_X)
    root = multiply(shared, shared)
    assert count_users([root, shared]) == {root: 1, shared: 3, _X: 1}


def test_dependents_of_a_leaf():
    left, right = exp(_X), exp(_Y)
    root = total(left, right)
    assert dependents([root], [_X]) == {_X, left, root}


def test_substitution_replaces_everywhere_and_does_not_look_inside():
    root = total(exp(_X), multiply(_X, _Y))
    (changed,) = substitute([root], {_X: exp(_X)})
    assert changed is total(exp(exp(_X)), multiply(exp(_X), _Y))
    (swapped,) = substitute([root], {_X: _Y, _Y: _X})
    assert swapped is total(exp(_Y), multiply(_X, _Y))
    assert substitute([root], {_Z: _X}) == (root,)
    assert substitute([_X, root], {_X: _Z})[0] is _Z


def test_every_kind_is_rebuilt_on_other_operands():
    index, other = symbol("k", 3, dtype="int64"), symbol("l", 3, dtype="int64")
    a, b = symbol("A", 3, 3), symbol("B", 3, 3)
    cases = [
        (einsum([a], [(0, 1)], (1, 0), 2.5), [b], einsum([b], [(0, 1)], (1, 0), 2.5)),
        (add([a, a]), [b, b], add([b, b])),
        (elementwise("power", [a], (3,), float), [b], elementwise("power", [b], (3,), float)),
        (general("inverse", [a], (), (3, 3), float), [b], general("inverse", [b], (), (3, 3), float)),
        (selection(index, 7, float), [other], selection(other, 7, float)),
        (unit(3, 2, float), [], unit(3, 2, float)),
        (affine(5, [3], [1], 1, float), [], affine(5, [3], [1], 1, float)),
        (_X, [], _X),
    ]
    for node, operands, expected in cases:
        assert rebuild(node, operands) is expected
        assert rebuild(node, node.operands) is node


def test_transform_sees_rebuilt_nodes():
    def without_signs(node):
        return node.operands[0] if getattr(node, "coefficient", None) == -1 else node

    assert transform([exp(negate(exp(negate(_X))))], without_signs) == (exp(exp(_X)),)


def test_structural_keys_see_the_pattern_of_leaves_but_not_which():
    def graph(a, b, c):
        return total(multiply(a, exp(b)), c)

    same = [structural_key([graph(*choice)])[0] for choice in ((_X, _Y, _Z), (_Z, _X, _Y), (_Y, _Z, _X))]
    assert len(set(same)) == 1
    patterns = [(_X, _Y, _Z), (_X, _X, _Z), (_X, _Y, _X), (_X, _Y, _Y), (_X, _X, _X)]
    keys = [structural_key([graph(*choice)])[0] for choice in patterns]
    assert len(set(keys)) == len(patterns)


def test_structural_keys_see_shape_dtype_facts_parameters_and_roots():
    nodes = [
        exp(_X),
        exp(symbol("x", 4)),
        elementwise("exp", [symbol("x", 3, dtype="float32")], (), "float32"),
        exp(symbol("x", 3, facts=("constant",))),
        elementwise("power", [_X], (2,), float),
        elementwise("power", [_X], (3,), float),
        multiply(_X, coefficient=2),
    ]
    assert len({structural_key([node])[0] for node in nodes}) == len(nodes)
    a, b = exp(_X), exp(_Y)
    assert structural_key([a, b])[0] == structural_key([b, a])[0]
    assert structural_key([a, a])[0] != structural_key([a, b])[0]
    assert structural_key([a, a])[0] != structural_key([a])[0]


def test_equal_keys_mean_equal_graphs_over_slots():
    first = total(multiply(fresh_leaf((3,), float), exp(fresh_leaf((3,), float))), fresh_leaf((3,), float))
    second = total(multiply(fresh_leaf((3,), float), exp(fresh_leaf((3,), float))), fresh_leaf((3,), float))
    (key, found), (other_key, others) = structural_key([first]), structural_key([second])
    assert key == other_key
    assert len(found) == len(others) == 3
    assert with_slots([first], found)[0] == with_slots([second], others)[0]


def test_fresh_leaves_give_the_same_structure_each_time():
    def traced():
        x, y = fresh_leaf((3,), float), fresh_leaf((3,), float)
        return total(multiply(exp(x), y), multiply(x, exp(y)), multiply(x, y))

    assert len({structural_key([traced()])[0] for _ in range(20)}) == 1


def test_the_order_of_nodes_is_total():
    nodes = [exp(_X), exp(_Y), multiply(_X, _Y), _X, _Y, unit(3, 2, float)]
    assert len({order_key(node) for node in nodes}) == len(nodes)
    backwards = nodes[::-1]
    assert sorted(nodes, key=order_key) == sorted(backwards, key=order_key)


@pytest.mark.usefixtures("shallow_stack")
def test_deep_chains_are_built_walked_changed_and_dropped():
    start = time.perf_counter()
    node = _X
    for _ in range(_LENGTH // 2):
        node = multiply(exp(node), _Y)
    assert len(topological([node])) == _LENGTH + 2
    key, found = structural_key([node])
    (slotted,), _ = with_slots([node], found)
    assert structural_key([slotted])[0] == key
    assert all(isinstance(inner, Leaf) or inner.operands for inner in topological([slotted]))
    assert substitute([node], {_X: _X})[0] is node
    del node, slotted
    assert time.perf_counter() - start < 60


@pytest.mark.usefixtures("shallow_stack")
def test_a_graph_that_doubles_at_each_level_is_walked_once():
    node = _X
    for _ in range(2000):
        node = total(node, multiply(node, node))
    assert len(topological([node])) == 4001
    verify([node])
