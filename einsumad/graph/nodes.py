"""The closed set of node kinds: frozen, slotted records with fields only.

Owns the record types. Imports NumPy only. Invariant: a node is never changed after it was made, carries no
value, no gradient and no method that computes, and is made only by the smart constructors, which intern it:
identity is equality.

Every node carries three digests of its content, made once by :mod:`einsumad.graph.interning`:

``form``
    content with every leaf reduced to shape, dtype and facts: equal for graphs that differ in their leaves
    only;
``leaf_keys``
    the first few leaf keys in order of visit, which orders nodes of equal form;
``digest``
    the whole content, leaves included: the identity.

``order_key`` of the three is the only ordering of nodes, so output never depends on addresses or the hash
seed.
"""

from __future__ import annotations

from typing import Any, Self, TypeAlias

import numpy as np

from einsumad.records import record, values

Shape: TypeAlias = tuple[int, ...]
Labels: TypeAlias = tuple[int, ...]
LeafKey: TypeAlias = tuple[str, int | float | str]
Number: TypeAlias = int | float
Params: TypeAlias = tuple[int | float | str | bool | tuple[int, ...] | None, ...]


@record(weakref_slot=True)
class Node:
    """What every kind has: the shape and dtype of its value, its operands, and its digests."""

    shape: Shape
    dtype: np.dtype
    operands: tuple[Node, ...]
    digest: bytes
    form: bytes
    leaf_keys: tuple[LeafKey, ...]

    def __repr__(self) -> str:
        """Kind, shape and dtype alone; :func:`einsumad.graph.display.node_repr` shows the expression."""
        return f"<{type(self).__name__} {self.shape} {self.dtype}>"

    def __copy__(self) -> Self:
        """The node itself: equal nodes are one object."""
        return self

    def __deepcopy__(self, memo: object) -> Self:
        """The node itself: nothing in it can change."""
        return self


@record
class Leaf(Node):
    """A variable or constant array. `key` is its identity, `facts` what was declared of it (sorted names)."""

    key: LeafKey
    name: str | None
    facts: tuple[str, ...]


@record
class Structural(Node):
    """A 0/1 tensor that is never stored."""


@record
class Unit(Structural):
    """The unit tensor (delta) over two or more axes of one size: 1 where all indices are equal."""


@record
class Ones(Structural):
    """The tensor of ones."""


@record
class Zero(Structural):
    """The tensor of zeros. A structural zero wins over any value, NaN included."""


@record
class Affine(Structural):
    """Axes (in, out_1, ..., out_k): 1 where ``in = offset + sum_m strides[m] * out_m``."""

    strides: tuple[int, ...]
    offset: int


@record
class Selection(Structural):
    """One-hot rows: the operand's axes, then one that is 1 where its index is the operand's value."""


@record
class Einsum(Node):
    """An n-ary product: ``coefficient * sum over labels not in the output of prod_k operands[k][inputs[k]]``.

    Labels are 0, 1, ...: those below ``len(shape)`` are the output axes in order, the others are summed. A
    boolean operand of a product that is not boolean is a mask: where it is false the term is zero whatever
    the others are.
    """

    coefficient: Number
    inputs: tuple[Labels, ...]


@record
class Add(Node):
    """An n-ary sum of operands of equal shape."""


@record
class Elementwise(Node):
    """A catalogue function applied entry by entry to operands of equal shape."""

    function: str
    params: Params


@record
class General(Node):
    """A function from tensors to one tensor: of the catalogue, or one that a user defined.

    The name of a user's function goes on behind a :data:`OWN` sign with what tells it from others of its name.
    """

    function: str
    params: Params


OWN = "#"
"""What stands behind the name of a function that a user defined in this process, and in no name of the catalogue."""

_COMMON_FIELDS = len(Node.__match_args__)

OrderKey: TypeAlias = tuple[bytes, tuple[LeafKey, ...], bytes]


def order_key(node: Node) -> OrderKey:
    """The key by which nodes are sorted wherever an order is needed."""
    return node.form, node.leaf_keys, node.digest


def own_fields(node: Node) -> tuple[Any, ...]:
    """The values of the fields that its kind has beside those of every kind."""
    return values(node)[_COMMON_FIELDS:]
