"""The verifier names what is illegal; nodes are forged past the constructors for that."""

from __future__ import annotations

import numpy as np
import pytest

from einsumad.errors import InternalError
from einsumad.graph import (
    BOOL,
    Add,
    Affine,
    Einsum,
    Elementwise,
    Leaf,
    Node,
    Selection,
    Unit,
    add,
    affine,
    einsum,
    elementwise,
    multiply,
    ones,
    selection,
    unit,
)
from einsumad.graph.interning import intern_leaf, intern_node
from einsumad.graph.verify import verify
from tests.graph.build import symbol

_FLOAT = np.dtype(float)
_X, _Y, _A, _B = symbol("x", 3), symbol("y", 3), symbol("A", 3, 3), symbol("B", 3, 3)
_MASK = symbol("m", 3, dtype=bool)


def _unsorted_sum():
    return intern_node(Add, (3,), _FLOAT, tuple(reversed(add([_X, _Y]).operands)))


def _unsorted_product():
    proper = einsum([_A, _B], [(0, 1), (1, 2)], (0, 2))
    return intern_node(Einsum, (3, 3), _FLOAT, tuple(reversed(proper.operands)), 1, ((2, 1), (0, 2)))


@pytest.mark.parametrize(
    ("node", "says"),
    [
        (intern_node(Einsum, (3,), _FLOAT, (_X,), 1, ((0,), (0,))), "1 operands but 2"),
        (intern_node(Einsum, (3,), _FLOAT, (_X,), 1, ((0, 1),)), "does not fit"),
        (intern_node(Einsum, (3,), _FLOAT, (_X,), 1, ((1,),)), "are not 0, 1"),
        (intern_node(Einsum, (3, 3), _FLOAT, (_X,), 1, ((0,),)), "are not 0, 1"),
        (intern_node(Einsum, (4,), _FLOAT, (_X,), 1, ((0,),)), "another shape"),
        (intern_node(Einsum, (3, 3), _FLOAT, (_A, symbol("C", 4, 3)), 1, ((0, 2), (2, 1))), "sizes 3 and 4"),
        (intern_node(Einsum, (3, 3), _FLOAT, (_A,), 1, ((0, 3),)), "are not 0, 1"),
        (intern_node(Einsum, (3,), _FLOAT, (_X,), 2.0, ((0,),)), "whole number"),
        (intern_node(Einsum, (3,), _FLOAT, (_X,), float("inf"), ((0,),)), "no finite number"),
        (intern_node(Einsum, (3,), BOOL, (_X,), 1, ((0,),)), "not boolean"),
        (intern_node(Einsum, (), BOOL, (_MASK,), 1, ((0,),)), "has a sum"),
        (intern_node(Einsum, (3,), BOOL, (_MASK,), 2, ((0,),)), "coefficient 2"),
        (intern_node(Einsum, (3,), np.dtype(int), (_X,), 1, ((0,),)), "integer dtype"),
        (_unsorted_product(), "canonical order"),
        (_unsorted_sum(), "canonical order"),
        (intern_node(Add, (3,), _FLOAT, ()), "at least one"),
        (intern_node(Add, (3,), _FLOAT, (_A,)), "operands of shapes"),
        (intern_node(Add, (3,), BOOL, (_MASK,)), "sum of booleans"),
        (intern_node(Elementwise, (3,), _FLOAT, (_A,), "exp", ()), "operands of shapes"),
        (intern_node(Elementwise, (3,), _FLOAT, (), "exp", ()), "at least one operand"),
        (intern_node(Elementwise, (3,), _FLOAT, (_X,), "power", ((1.5,),)), "plain data"),
        (intern_node(Unit, (3, 4), _FLOAT, ()), "all of one size"),
        (intern_node(Unit, (3,), _FLOAT, ()), "all of one size"),
        (intern_node(Unit, (3, 3), _FLOAT, (_X,)), "no operands"),
        (intern_node(Affine, (3, 3), _FLOAT, (), (1,), 0), "is Unit"),
        (intern_node(Affine, (3, 3), _FLOAT, (), (1,), 3), "is Zero"),
        (intern_node(Affine, (3, 1), _FLOAT, (), (1,), 1), "size 1 is 0"),
        (intern_node(Affine, (3, 2), _FLOAT, (), (1, 1), 0), "one integer stride"),
        (intern_node(Selection, (3, 5), _FLOAT, (_X,)), "integers"),
        (intern_node(Selection, (4, 5), _FLOAT, (symbol("k", 3, dtype=int),)), "shape"),
        (intern_node(Unit, (-1, -1), _FLOAT, ()), "sizes"),
        (intern_node(Unit, (3, 3), np.dtype(complex), ()), "dtype"),
        (intern_leaf((3,), _FLOAT, ("variable", "f"), "f", ("b", "a")), "sorted"),
        (intern_leaf((3, 4), _FLOAT, ("variable", "f"), "f", ("symmetric",)), "differ"),
        (intern_leaf((3,), _FLOAT, ("variable",), "f", ()), "leaf key"),
    ],
)
def test_illegal_nodes_are_named(node, says):
    user = intern_node(Elementwise, node.shape, _FLOAT, (node,), "exp", ())
    with pytest.raises(InternalError, match=says) as caught:
        verify([user])
    assert f"illegal node <{type(node).__name__}" in str(caught.value)
    assert "bug in einsumad" in str(caught.value)


def test_a_node_made_without_interning_or_with_other_digests_is_found():
    proper = multiply(_X, _Y)
    values = {name: getattr(proper, name) for name in Einsum.__match_args__}
    with pytest.raises(InternalError, match="without interning"):
        verify([Einsum(**values)])
    with pytest.raises(InternalError, match="digests"):
        verify([Einsum(**(values | {"form": b"0" * 16}))])
    with pytest.raises(InternalError, match="digests"):
        verify([Einsum(**(values | {"coefficient": 2}))])


def test_a_changed_field_is_found():
    node = multiply(symbol("changed", 3), _Y)
    object.__setattr__(node, "coefficient", 5)
    with pytest.raises(InternalError, match="digests"):
        verify([node])


def test_foreign_classes_are_no_nodes():
    node = Node((3,), _FLOAT, (), b"d" * 16, b"f" * 16, ())
    with pytest.raises(InternalError, match="no node kind"):
        verify([node])


def test_legal_graphs_pass():
    mask = elementwise("greater", [_X, _Y], (), bool)
    index = symbol("k", 3, dtype=np.int64)
    verify(
        [
            multiply(mask, _X),
            einsum([mask, ones((2,), bool)], [(0,), (1,)], (1, 0)),
            einsum([mask], [(0,)], (), 1, float),
            einsum([_A, unit(3, 2, float)], [(0, 1), (2, 3)], (0, 2, 1, 3), 0.5),
            einsum([], [], (), 3, float),
            selection(index, 4, float),
            affine(5, [2, 2], [2, 1], 1, float),
            add([_X, index]),
            add([mask, _X]),
        ]
    )
    assert isinstance(_X, Leaf)
