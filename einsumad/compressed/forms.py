"""The structure of a tensor without its numbers: terms over slots, one for each array that is stored.

Owns forms and how they are made from expressions. Imports the choice of what is stored, rewriting and the graph.
Invariant: the terms over the slots, with the values of the cores put in, add up to the expression.
"""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakValueDictionary

import numpy as np

from einsumad.compressed.opening import opened_terms
from einsumad.compressed.storing import multiplied_out
from einsumad.compressed.symmetry import SYMMETRIC, is_symmetric, oriented
from einsumad.compressed.terms import Term, write_sum
from einsumad.errors import InternalError
from einsumad.graph import Leaf, Node, Selection, Shape, leaf, selection
from einsumad.locks import module_lock
from einsumad.planning import Factor, guarded
from einsumad.records import record, replace


@record(weakref_slot=True)
class Form:
    """Terms over slots ``0, 1, ...``; `rows` axes of the shape are those of the output, the others of the input.

    `symmetric` says that it equals its transpose, which is known of Hessians and not looked for in numbers.
    """

    terms: tuple[Term, ...]
    node: Node
    rows: int
    symmetric: bool

    @property
    def shape(self) -> Shape:
        """The shape of the tensor."""
        return self.node.shape

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the tensor."""
        return self.node.dtype


@record
class Terms:
    """The structure of an expression with so many axes of rows: terms over slots, and what is stored at each slot."""

    terms: tuple[Term, ...]
    cores: tuple[Node, ...]
    node: Node
    rows: int

    def form(self, symmetric: bool = False) -> Form:
        """The form of the terms, which are known to be symmetric or not."""
        return make_form(self.terms, self.node.shape, self.node.dtype, self.rows, symmetric)


_forms: WeakValueDictionary[tuple[Node, int, bool], Form] = WeakValueDictionary()
_lock = module_lock()


def terms_of(node: Node, rows: int) -> Terms:
    """The structure of an expression, and the expressions of its cores.

    What is stored is zero where the rest of a term selects nothing, even if it is infinite there: later only its
    numbers are known.
    """
    terms = [multiplied_out(term, stored, rows) for term, stored in opened_terms(*guarded([node]))]
    slots: dict[Node, Leaf] = {}
    return Terms(tuple([_over_slots(term, slots) for term in terms]), tuple(slots), node, rows)


def make_form(terms: Sequence[Term], shape: Shape, dtype: np.dtype, rows: int, symmetric: bool = False) -> Form:
    """The form of these terms over slots; equal ones are the same object, so that what is planned for it is found."""
    terms = [_canonical(term) for term in terms]
    node = write_sum(terms, shape, dtype)
    form = Form(tuple(terms), node, rows, symmetric)
    with _lock:
        return _forms.setdefault((form.node, rows, symmetric), form)


def _canonical(term: Term) -> Term:
    """The term with its labels in the order of the axes, and symmetric factors turned by them."""
    order = dict.fromkeys([*term.axes, *[label for _, labels in term.items for label in labels], *term.sizes])
    moved = term.renamed({label: k for k, label in enumerate(order)})
    return replace(moved, factors=tuple(map(oriented, moved.factors)))


def transposed(form: Form) -> Form:
    """The form of the tensor with the columns as rows, over the same slots."""
    order = [*range(form.rows, len(form.shape)), *range(form.rows)]
    terms = [replace(term, axes=tuple([term.axes[axis] for axis in order])) for term in form.terms]
    shape = tuple([form.shape[axis] for axis in order])
    return make_form(terms, shape, form.dtype, len(form.shape) - form.rows, form.symmetric)


def slot(position: int, like: Node) -> Leaf:
    """The leaf that stands for an array at this position, which is what the node is."""
    return leaf(like.shape, like.dtype, ("slot", position), None, (SYMMETRIC,) if is_symmetric(like) else ())


def slot_of(position: int, shape: Shape, dtype: np.dtype) -> Leaf:
    """The leaf that stands for the array at this position, of which nothing else is known."""
    return leaf(shape, dtype, ("slot", position))


def position_of(leaf: Leaf) -> int:
    """The position of the array that a slot stands for."""
    kind, position = leaf.key
    if kind != "slot" or not isinstance(position, int):
        raise InternalError(f"an expression over slots has the leaf {leaf.key}")
    return position


def _over_slots(term: Term, slots: dict[Node, Leaf]) -> Term:
    """The term whose factors, and the indices of whose selections, are slots; new ones are entered."""

    def stand_in(node: Node) -> Leaf:
        if node not in slots:
            slots[node] = slot(len(slots), node)
        return slots[node]

    factors = tuple([Factor(stand_in(node), labels) for node, labels in term.factors])
    maps = []
    for node, labels in term.maps:
        index = node.operands[0] if isinstance(node, Selection) else None
        moved = node if index is None else selection(stand_in(index), node.shape[-1], node.dtype)
        maps.append(Factor(moved, labels))
    return replace(term, factors=factors, maps=tuple(maps))
