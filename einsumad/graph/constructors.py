"""Smart constructors: the only way to make a node. They keep invariants and take no mathematical step.

Owns the legality of a node. Imports the kinds, interning and the canonical form. Invariant: what they return
passes :func:`einsumad.graph.verify.verify`; what would not raises :class:`ShapeError` or
:class:`IndexNotationError`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from math import isfinite
from typing import Any

import numpy as np

from einsumad.errors import IndexNotationError, ShapeError
from einsumad.graph.canonical import canonical_form, keeps_order
from einsumad.graph.interning import intern_leaf, intern_node
from einsumad.graph.nodes import (
    Add,
    Affine,
    Einsum,
    Elementwise,
    General,
    Leaf,
    LeafKey,
    Node,
    Number,
    Ones,
    Params,
    Selection,
    Structural,
    Unit,
    Zero,
    order_key,
)

BOOL = np.dtype(bool)
_EXACT_INTEGERS = 2**53  # the floats below are integers without loss
_serial = count(1)


def leaf(shape: Sequence[int], dtype: Any, key: LeafKey, name: str | None = None, facts: Sequence[str] = ()) -> Leaf:
    """A leaf: ``("variable", name)``, ``("traced", serial)``, ``("number", value)`` or ``("slot", k)``."""
    return intern_leaf(_shape(shape), np.dtype(dtype), key, name, tuple(sorted(set(facts))) if facts else ())


def fresh_leaf(shape: Sequence[int], dtype: Any, name: str | None = None, facts: Sequence[str] = ()) -> Leaf:
    """A leaf different from every other. Later ones sort after earlier ones."""
    return leaf(shape, dtype, ("traced", next(_serial)), name, facts)


def unit(size: int, axes: int, dtype: Any) -> Unit:
    """The delta over `axes` axes of the given size (at least two)."""
    if axes < 2:
        raise ShapeError(f"a unit tensor has two axes or more, not {axes}")
    return intern_node(Unit, _shape((size,) * axes), np.dtype(dtype), ())


def ones(shape: Sequence[int], dtype: Any) -> Ones:
    """The tensor of ones."""
    return intern_node(Ones, _shape(shape), np.dtype(dtype), ())


def zero(shape: Sequence[int], dtype: Any) -> Zero:
    """The tensor of zeros."""
    return intern_node(Zero, _shape(shape), np.dtype(dtype), ())


def affine(in_size: int, out_sizes: Sequence[int], strides: Sequence[int], offset: int, dtype: Any) -> Structural:
    """The affine 0/1 tensor; the identity map is the unit tensor, one that never meets the bounds is zero."""
    outs, steps = _shape(out_sizes), tuple([int(s) for s in strides])
    if len(outs) != len(steps) or not outs:
        raise ShapeError(f"an affine tensor needs one stride for each out axis, got {len(steps)} for {len(outs)}")
    # the stride of an axis with at most one index never acts
    steps = tuple([step if size > 1 else 0 for step, size in zip(steps, outs, strict=True)])
    shape = (*_shape((in_size,)), *outs)
    low = offset + sum(step * (size - 1) for step, size in zip(steps, outs, strict=True) if step < 0)
    high = offset + sum(step * (size - 1) for step, size in zip(steps, outs, strict=True) if step > 0)
    if 0 in shape or high < 0 or low >= in_size:
        return zero(shape, dtype)
    if len(outs) == 1 and outs[0] == in_size and offset == 0 and (steps[0] == 1 or in_size == 1):
        return unit(in_size, 2, dtype)
    return intern_node(Affine, shape, np.dtype(dtype), (), steps, int(offset))


def selection(index: Node, size: int, dtype: Any) -> Selection:
    """One-hot rows of length `size` at the values of the integer tensor `index`."""
    if index.dtype.kind not in "iu":
        raise ShapeError(f"a selection needs an integer index tensor, got dtype {index.dtype}")
    return intern_node(Selection, (*index.shape, *_shape((size,))), np.dtype(dtype), (index,))


def einsum(
    operands: Sequence[Node],
    inputs: Sequence[Sequence[int]],
    output: Sequence[int],
    coefficient: Number = 1,
    dtype: Any = None,
) -> Einsum:
    """The product of the operands with one label tuple each; labels are any integers and end up canonical.

    Sizes of a label must agree (broadcasting is written with :func:`ones`). The dtype defaults to the
    promotion of those of the operands that are no masks.
    """
    if len(operands) != len(inputs):
        raise IndexNotationError(f"{len(operands)} operands but {len(inputs)} index tuples")
    labels: list[int] = []
    lengths: list[int] = []
    for operand, indices in zip(operands, inputs, strict=True):
        shape = operand.shape
        if len(shape) != len(indices):
            raise IndexNotationError(f"index tuple {tuple(indices)} does not fit an operand of shape {shape}")
        labels += indices
        lengths += shape
    sizes = dict(zip(labels, lengths, strict=True))
    if [sizes[label] for label in labels] != lengths:
        raise _unequal_sizes(labels, lengths)
    places = {label: axis for axis, label in enumerate(output)}
    if len(places) != len(output) or not places.keys() <= sizes.keys():
        raise IndexNotationError(f"output labels {tuple(output)} must be distinct and appear among {sorted(sizes)}")
    ordered, relabelled = canonical_form(operands, inputs, places)
    result = np.dtype(dtype) if dtype is not None else product_dtype(operands)
    number = coefficient if type(coefficient) is int else canonical_number(coefficient)
    if result.kind != "f":
        _check_exact(result, operands, number, adds_terms(operands, inputs, output))
        number = _modulo(number, result)
    return intern_node(Einsum, tuple([sizes[label] for label in places]), result, ordered, number, relabelled)


def _unequal_sizes(labels: Sequence[int], lengths: Sequence[int]) -> ShapeError:
    """The first label that stands for two sizes."""
    sizes: dict[int, int] = {}
    label, size = next(pair for pair in zip(labels, lengths, strict=True) if sizes.setdefault(*pair) != pair[1])
    return ShapeError(f"index {label} has sizes {sizes[label]} and {size}")


def with_operands(node: Einsum, operands: Sequence[Node]) -> Einsum:
    """The product of other operands of the same shapes; where they keep the canonical order, nothing is looked for."""
    if keeps_order(node.operands, operands):
        return intern_node(Einsum, node.shape, node.dtype, tuple(operands), node.coefficient, node.inputs)
    return einsum(operands, node.inputs, range(len(node.shape)), node.coefficient, node.dtype)


def adds_terms(operands: Sequence[Node], inputs: Sequence[Sequence[int]], output: Sequence[int]) -> bool:
    """Whether more than one term can meet: none do if 0/1 tensors give all indices, beginning with the result's.

    An index of at most one value is always known.
    """
    sizes = {
        label: size
        for operand, labels in zip(operands, inputs, strict=True)
        for label, size in zip(labels, operand.shape, strict=True)
    }
    known = {*output, *[label for label, size in sizes.items() if size <= 1]}
    open_labels = sizes.keys() - known
    while open_labels:
        given = {
            label
            for operand, labels in zip(operands, inputs, strict=True)
            if _gives(operand, labels, known)
            for label in labels
            if label in open_labels
        }
        if not given:
            return True
        known |= given
        open_labels -= given
    return False


def _gives(operand: Node, labels: Sequence[int], known: set[int]) -> bool:
    """Whether a 0/1 tensor is not 0 for at most one value of the indices that are not known.

    For an affine one they are the unknowns of a linear equation. It has at most one solution if each coefficient
    exceeds what the terms with smaller ones can make up together, as in a mixed radix.
    """
    if isinstance(operand, Selection):
        return known.issuperset(labels[:-1])
    if isinstance(operand, Unit):
        return not known.isdisjoint(labels)
    if not isinstance(operand, Affine):
        return False
    terms = {label: (0, size) for label, size in zip(labels, operand.shape, strict=True) if label not in known}
    for label, coefficient in zip(labels, (-1, *operand.strides), strict=True):
        if label in terms:
            terms[label] = (terms[label][0] + coefficient, terms[label][1])
    below = 0
    for coefficient, size in sorted((abs(c), size) for c, size in terms.values() if size > 1):
        if coefficient <= below:
            return False
        below += coefficient * (size - 1)
    return True


def _check_exact(dtype: np.dtype, operands: Sequence[Node], coefficient: Number, summed: bool) -> None:
    """A product that is not floating must be one of the integers; a boolean one only lays booleans out."""
    kinds = {operand.dtype.kind for operand in operands}
    if dtype == BOOL and (summed or coefficient != 1 or kinds - {"b"}):
        raise ShapeError("a boolean product can only select, transpose, broadcast, take diagonals: cast to int64 first")
    if "f" in kinds or not isinstance(coefficient, int):
        raise ShapeError(f"a product of floats cannot have dtype {dtype}: cast the result outside the graph")


def _modulo(coefficient: Number, dtype: np.dtype) -> Number:
    """The coefficient that gives the same whole numbers of the dtype, which are counted modulo a power of two."""
    count = 1 << 8 * dtype.itemsize
    if dtype.kind not in "iu" or 2 * abs(coefficient) < count:
        return coefficient
    rest = int(coefficient) % count
    return rest - count if dtype.kind == "i" and 2 * rest >= count else rest


def product_dtype(operands: Sequence[Node]) -> np.dtype:
    """The dtype of a product: masks do not take part unless nothing else does."""
    kinds = {operand.dtype for operand in operands}
    if len(kinds) == 1:
        return kinds.pop()
    kinds.discard(BOOL)
    if not kinds:
        raise ShapeError("a product of no operands needs a dtype")
    return kinds.pop() if len(kinds) == 1 else np.result_type(*sorted(kinds, key=str))


def add(operands: Sequence[Node], dtype: Any = None) -> Add:
    """The sum of operands of equal shape."""
    if not operands:
        raise ShapeError("a sum needs at least one operand")
    _same_shape("a sum", operands)
    result = np.dtype(dtype) if dtype is not None else product_dtype(operands)
    if result == BOOL:
        raise ShapeError("booleans do not add: use logical_or, or cast to int64 first")
    return intern_node(Add, operands[0].shape, result, tuple(sorted(operands, key=order_key)))


def elementwise(function: str, operands: Sequence[Node], params: Params, dtype: Any) -> Elementwise:
    """A catalogue function entry by entry. Use :func:`einsumad.functions.apply`, which knows the dtype."""
    _same_shape(function, operands)
    return intern_node(Elementwise, operands[0].shape, np.dtype(dtype), tuple(operands), function, params)


def general(function: str, operands: Sequence[Node], params: Params, shape: Sequence[int], dtype: Any) -> General:
    """A catalogue function of tensors. Use :func:`einsumad.functions.call`, which knows shape and dtype."""
    return intern_node(General, _shape(shape), np.dtype(dtype), tuple(operands), function, params)


def canonical_number(value: Number) -> Number:
    """The number as an int where it is one: 2.0 and 2 are the same coefficient."""
    if type(value) is int:
        return value
    if isinstance(value, (int, np.integer)):
        return int(value)
    value = float(value)
    if not isfinite(value):
        raise ShapeError(f"a coefficient is a finite number, not {value}: use a leaf")
    return int(value) if value.is_integer() and abs(value) < _EXACT_INTEGERS else value


def _shape(shape: Sequence[int]) -> tuple[int, ...]:
    sizes = tuple(map(int, shape))
    if sizes and min(sizes) < 0:
        raise ShapeError(f"a shape has sizes of 0 and more, not {sizes}")
    return sizes


def _same_shape(what: str, operands: Sequence[Node]) -> None:
    shape = operands[0].shape
    for operand in operands:
        if operand.shape != shape:
            shapes = [operand.shape for operand in operands]
            raise ShapeError(f"{what} needs operands of equal shape, got {shapes}")
