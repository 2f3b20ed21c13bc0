"""The grammar of a legal graph.

Owns the verifier that runs between passes in tests and in debug mode. Imports the kinds, traversal and
display. Invariant: what the smart constructors make passes; whatever was put together otherwise, changed
afterwards or is not in canonical form raises :class:`InternalError` naming the node.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from einsumad.errors import InternalError
from einsumad.graph.canonical import canonical_form
from einsumad.graph.constructors import BOOL, adds_terms, canonical_number
from einsumad.graph.display.describe import node_repr
from einsumad.graph.interning import content_digests, is_interned, leaf_digests
from einsumad.graph.nodes import (
    Add,
    Affine,
    Einsum,
    Elementwise,
    General,
    Leaf,
    Node,
    Ones,
    Selection,
    Unit,
    Zero,
    order_key,
    own_fields,
)
from einsumad.graph.traversal import topological

_KINDS = frozenset({Leaf, Unit, Ones, Zero, Affine, Selection, Einsum, Add, Elementwise, General})
_SMALLEST_UNIT = 2


def verify(roots: Iterable[Node]) -> None:
    """Check every node reachable from the roots, operands first."""
    for node in topological(roots):
        for complaint in _complaints(node):
            raise InternalError(f"illegal node {_described(node)}: {complaint}")


def _described(node: Node) -> str:
    try:
        return node_repr(node)
    except Exception:  # noqa: BLE001 (a malformed node may fail to print in any way)
        return repr(node)


def _complaints(node: Node) -> Iterable[str]:
    if type(node) not in _KINDS:
        yield f"{type(node).__name__} is no node kind"
        return
    if not _are_sizes(node.shape):
        yield f"the shape {node.shape!r} is not a tuple of sizes"
    if not _is_dtype(node.dtype):
        yield f"dtype {node.dtype!r} is not boolean, integer or floating"
    match node:
        case Leaf():
            yield from _leaf(node)
        case Einsum():
            yield from _einsum(node)
        case Add():
            yield from _add(node)
        case Elementwise() | General():
            yield from _function(node)
        case _:
            yield from _structural(node)
    yield from _identity(node)


def _identity(node: Node) -> Iterable[str]:
    """The digests are those of the content, and the node is the one that the table holds for it."""
    if isinstance(node, Leaf):
        expected = leaf_digests(node.shape, node.dtype, node.key, node.name, node.facts)
    else:
        kind = type(node).__name__
        expected = content_digests(kind, node.shape, node.dtype, node.operands, own_fields(node))
    if (node.digest, node.form) != expected:
        yield "its digests are not those of its content"
    if not is_interned(node):
        yield "it was made without interning, so equal content is another node"


def _leaf(node: Leaf) -> Iterable[str]:
    if node.operands:
        yield "a leaf has no operands"
    if not _are_plain(node.key) or [type(part) for part in node.key[:-1]] != [str]:
        yield f"{node.key!r} is no leaf key"
    if node.facts != tuple(sorted(set(node.facts))):
        yield f"the facts {node.facts} are not sorted and distinct"
    square = len(node.shape) >= _SMALLEST_UNIT and node.shape[-1] == node.shape[-2]
    if not square and {"symmetric", "positive definite"} & set(node.facts):
        yield f"{node.facts} is declared of a tensor whose last two axes differ"


def _structural(node: Node) -> Iterable[str]:
    match node:
        case Selection():
            if len(node.operands) != 1 or node.operands[0].dtype.kind not in "iu":
                yield "a selection has one operand of integers"
            elif node.operands[0].shape != node.shape[:-1]:
                yield f"the shape of the index tensor is {node.operands[0].shape}, not {node.shape[:-1]}"
            return
        case Unit():
            if len(node.shape) < _SMALLEST_UNIT or len(set(node.shape)) != 1:
                yield "a unit tensor has two axes or more, all of one size"
        case Affine():
            yield from _affine(node)
    if node.operands:
        yield f"{type(node).__name__} has no operands"


def _affine(node: Affine) -> Iterable[str]:
    size, outs, strides = node.shape[0], node.shape[1:], node.strides
    if not outs or len(outs) != len(strides) or any(type(step) is not int for step in (*strides, node.offset)):
        yield "an affine tensor has one integer stride for each out axis and an integer offset"
        return
    if 0 in node.shape:
        yield "an affine tensor without entries is Zero"
        return
    if any(step and out == 1 for step, out in zip(strides, outs, strict=True)):
        yield "the stride of an axis of size 1 is 0"
    reach = [step * (out - 1) for step, out in zip(strides, outs, strict=True)]
    if node.offset + sum(max(0, r) for r in reach) < 0 or node.offset + sum(min(0, r) for r in reach) >= size:
        yield "an affine map that never meets the bounds is Zero"
    if outs == (size,) and node.offset == 0 and (strides == (1,) or size == 1):
        yield "the identity map is Unit"


def _einsum(node: Einsum) -> Iterable[str]:
    if len(node.operands) != len(node.inputs):
        yield f"{len(node.operands)} operands but {len(node.inputs)} index tuples"
        return
    sizes: dict[int, int] = {}
    for operand, labels in zip(node.operands, node.inputs, strict=True):
        if len(labels) != len(operand.shape):
            yield f"index tuple {labels} does not fit an operand of shape {operand.shape}"
            return
        for label, size in zip(labels, operand.shape, strict=True):
            if sizes.setdefault(label, size) != size:
                yield f"label {label} has sizes {sizes[label]} and {size}"
    if sorted(sizes) != list(range(len(sizes))) or len(sizes) < len(node.shape):
        yield f"the labels {sorted(sizes)} are not 0, 1, ... with one for each of {len(node.shape)} axes"
        return
    if tuple([sizes[label] for label in range(len(node.shape))]) != node.shape:
        yield f"the labels give another shape than {node.shape}"
    if canonical_form(node.operands, node.inputs, range(len(node.shape))) != (node.operands, node.inputs):
        yield "operands and labels are not in canonical order"
    yield from _coefficient(node)
    yield from _masks(node)


def _coefficient(node: Einsum) -> Iterable[str]:
    value = node.coefficient
    if type(value) not in (int, float) or not math.isfinite(value):
        yield f"the coefficient {value!r} is no finite number"
    elif type(canonical_number(value)) is not type(value):
        yield f"the coefficient {value!r} is a whole number and must be an int"
    elif node.dtype.kind != "f" and type(value) is not int:
        yield f"the coefficient {value!r} does not fit dtype {node.dtype}"


def _masks(node: Einsum) -> Iterable[str]:
    """Booleans select; a boolean product only lays them out, and no product turns floats into integers."""
    if node.dtype != BOOL:
        if node.dtype.kind in "iu" and any(operand.dtype.kind == "f" for operand in node.operands):
            yield "a product of floats has an integer dtype"
    elif any(operand.dtype != BOOL for operand in node.operands):
        yield "a boolean product has operands that are not boolean"
    elif adds_terms(node.operands, node.inputs, range(len(node.shape))):
        yield "a boolean product has a sum"
    elif node.coefficient != 1:
        yield f"a boolean product has the coefficient {node.coefficient}"


def _add(node: Add) -> Iterable[str]:
    if not node.operands:
        yield "a sum has at least one operand"
    yield from _equal_shapes(node)
    if node.dtype == BOOL:
        yield "a sum of booleans"
    if any(order_key(a) > order_key(b) for a, b in zip(node.operands, node.operands[1:], strict=False)):
        yield "the operands are not in canonical order"


def _function(node: Elementwise | General) -> Iterable[str]:
    if not node.operands or type(node.function) is not str or not node.function:
        yield "a function has a name and at least one operand"
    if isinstance(node, Elementwise):
        yield from _equal_shapes(node)
    if not _are_plain(node.params):
        yield f"the parameters {node.params!r} are not plain data"


def _equal_shapes(node: Node) -> Iterable[str]:
    if any(operand.shape != node.shape for operand in node.operands):
        yield f"operands of shapes {[o.shape for o in node.operands]} under a node of shape {node.shape}"


def _are_sizes(shape: object) -> bool:
    return isinstance(shape, tuple) and all(type(size) is int and size >= 0 for size in shape)


def _is_dtype(dtype: object) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind in "biuf"


def _are_plain(params: object) -> bool:
    """Whether this is a tuple of numbers, texts, None and tuples of integers."""
    if not isinstance(params, tuple):
        return False
    parts = [part for param in params for part in (param if isinstance(param, tuple) else (None,))]
    plain = all(type(part) in (int, type(None)) for part in parts)
    return plain and all(param is None or type(param) in (int, float, str, bool, tuple) for param in params)
