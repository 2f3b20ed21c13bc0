"""Matrix notation, for the expressions that have one.

Owns :func:`matrix_notation`. Imports the kinds and its siblings. Invariant: iterative; where index notation
says more than matrix algebra can, the answer is None and never an approximation. A ``⊗`` joins factors that
share no index; which axes of the result belong to which factor is told by index notation only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from einsumad.graph.display.chains import Matrix, Pieces, read_pieces
from einsumad.graph.display.fragments import (
    ATOM,
    PRODUCT,
    SUM,
    Fragment,
    arguments,
    called,
    closed,
    function_text,
    iverson,
    join_factors,
    join_terms,
)
from einsumad.graph.display.naming import name_leaves
from einsumad.graph.display.window import WIDEST, look
from einsumad.graph.nodes import Add, Einsum, Elementwise, General, Leaf, Node, Ones, Structural, Unit, Zero

_MOST_NODES = 60
_LONGEST = 200
_MATRIX_RANK = 2
_CALLED = ("power", "power_xy", "square", "reciprocal")


class _Reading:
    """What a node reads as: its text, whether it is symmetric, and the axes of each factor of a ⊗."""

    __slots__ = ("axes", "constant", "fragment", "symmetric")

    def __init__(
        self,
        fragment: Fragment,
        symmetric: bool = False,
        axes: tuple[tuple[int, ...], ...] = (),
        constant: bool = False,
    ) -> None:
        self.fragment = fragment
        self.symmetric = symmetric
        self.axes = axes
        self.constant = constant


def matrix_notation(node: Node, names: Mapping[Node, str] | None = None) -> str | None:
    """The expression in the notation of matrix algebra, or None where it cannot be read that way.

    Vectors are columns, ``⊙`` is the entrywise product, ``1`` a vector of ones, ``I`` the unit matrix, ``⊗``
    a product of factors that share no index and δ the unit tensor there; functions apply entry by entry.
    """
    window = look([node], _MOST_NODES)
    if window.hidden:
        return None
    called = name_leaves(window.order, names)
    readings: dict[Node, _Reading | None] = {}
    for inner in window.order:
        reading = _read(inner, called, readings)
        readings[inner] = reading if reading is None or len(reading.fragment.text) <= _LONGEST else None
    found = readings[node]
    return found.fragment.text if found is not None else None


def _read(node: Node, names: Mapping[Node, str], readings: Mapping[Node, _Reading | None]) -> _Reading | None:
    rank = len(node.shape)
    if node in names:
        symmetric = _is_declared_symmetric(node)
        level = SUM if names[node].startswith("-") else ATOM
        return _Reading(Fragment(names[node], level), symmetric) if rank <= _MATRIX_RANK else None
    if len(node.operands) > WIDEST:
        return None
    if isinstance(node, Einsum):
        # a vector of ones of length one would look like a longer one
        return None if any(1 in operand.shape for operand in node.operands) else _product(node, readings)
    parts = [part for part in (readings[operand] for operand in node.operands) if part is not None]
    if len(parts) < len(node.operands):
        return None
    if isinstance(node, Add):
        return _sum(parts)
    return _small(node, parts) if rank <= _MATRIX_RANK else None


def _is_declared_symmetric(node: Node) -> bool:
    if isinstance(node, Leaf):
        return bool({"symmetric", "positive definite"} & set(node.facts))
    if not isinstance(node, General) or node.function != "declared":
        return False
    return bool({"symmetric", "positive definite", "diagonal"} & set(node.params))


def _small(node: Node, parts: Sequence[_Reading]) -> _Reading | None:
    """A scalar, vector or matrix that is no product or sum."""
    match node:
        case Unit():
            return _Reading(Fragment("I", ATOM), symmetric=True)
        case Ones() | Zero():
            text = "1" if isinstance(node, Ones) else "0"
            return _Reading(Fragment(text, ATOM), symmetric=True, constant=True)
        case Elementwise():
            return _function(node, parts)
        case General():
            return _general(node, parts)
    return None


def _sum(parts: Sequence[_Reading]) -> _Reading | None:
    if len({part.axes for part in parts}) != 1:
        return None
    fragment = join_terms([part.fragment for part in parts])
    return _Reading(fragment, all(part.symmetric for part in parts), parts[0].axes)


def _function(node: Elementwise, parts: Sequence[_Reading]) -> _Reading:
    fragments = [part.fragment for part in parts]
    symmetric = all(part.symmetric for part in parts)
    if node.function in _CALLED:
        texts = [closed(fragment, SUM) for fragment in fragments] + [str(param) for param in node.params]
        return _Reading(Fragment(f"{node.function}({', '.join(texts)})", ATOM), symmetric)
    return _Reading(function_text(node.function, fragments, node.params), symmetric)


def _general(node: General, parts: Sequence[_Reading]) -> _Reading | None:
    if any(len(operand.shape) > _MATRIX_RANK for operand in node.operands):
        return None
    if node.function == "inverse":
        return _Reading(Fragment(f"{closed(parts[0].fragment, ATOM)}⁻¹", ATOM), parts[0].symmetric)
    texts = [closed(part.fragment, SUM) for part in parts]
    if node.function == "solve":
        left, right = (closed(part.fragment, ATOM) for part in parts)
        return _Reading(Fragment(f"{left}⁻¹ {right}", PRODUCT))
    return _Reading(Fragment(f"{called(node.function)}({arguments(texts, node.params)})", ATOM))


def _product(node: Einsum, readings: Mapping[Node, _Reading | None]) -> _Reading | None:
    """Sort the operands into scalars, vectors, matrices and deltas, and read what they are joined to."""
    rank = len(node.shape)
    pieces = Pieces(rank)
    for operand, labels in zip(node.operands, node.inputs, strict=True):
        reading = readings[operand]
        if isinstance(operand, Unit):
            if len(set(labels)) != len(labels) or max(labels) >= rank:
                return None
            pieces.deltas.append(labels)
        elif isinstance(operand, Ones):
            pieces.labels.update(dict.fromkeys(labels))
        elif reading is None or reading.axes:
            return None
        elif reading.constant:
            pieces.scalars.append(closed(reading.fragment, ATOM))
            pieces.labels.update(dict.fromkeys(labels))
        else:
            mask = operand.dtype == bool and node.dtype != bool and not isinstance(operand, Structural)
            fragment = Fragment(iverson(reading.fragment), ATOM) if mask else reading.fragment
            pieces.put(Matrix(fragment, reading.symmetric), labels)
    spread = all(isinstance(operand, Ones) or not operand.shape for operand in node.operands)
    if spread and rank <= _MATRIX_RANK and all(label < rank for label in pieces.labels):
        return _Reading(join_factors(node.coefficient, "", pieces.scalars), symmetric=True, constant=True)
    found = read_pieces(pieces)
    if found is None:
        return None
    text, axes, symmetric = found
    if node.coefficient == 1:
        return _Reading(text, symmetric, axes)
    return _Reading(join_factors(node.coefficient, "", [closed(text, PRODUCT)]), symmetric, axes)
