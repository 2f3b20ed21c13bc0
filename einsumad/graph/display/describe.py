"""Short descriptions of a node.

Owns :func:`node_repr`, :func:`short_text`, :func:`expression_text` and :func:`product_notation`. Imports its siblings
and notation. Invariant: the length of the text is bounded, and the time for a representation does not depend on
the graph below.
"""

from __future__ import annotations

from collections.abc import Mapping

from einsumad.graph.display.fragments import called, number_text
from einsumad.graph.display.indices import index_notation, one_line
from einsumad.graph.display.matrices import matrix_notation
from einsumad.graph.nodes import Einsum, Elementwise, General, Leaf, Node, Ones, Unit, Zero
from einsumad.notation import to_product

_WIDTH = 72


def node_repr(node: Node) -> str:
    """Kind, shape, dtype and shortened notation of a node: ``<Einsum (3, 3) float64: X[k,i] X[k,j]>``."""
    return f"<{type(node).__name__} {node.shape} {node.dtype}: {short_text(node)}>"


def short_text(node: Node) -> str:
    """The index notation of a node on one line of bounded width."""
    text = one_line(node)
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"


def expression_text(node: Node) -> str:
    """The node in index notation, followed by ``=`` and its matrix notation where it has another."""
    text, matrix = index_notation(node), matrix_notation(node)
    if matrix is None or matrix == text:
        return text
    return f"{text}  =  {matrix}" if "\n" not in text else f"{text}\n  =  {matrix}"


def product_notation(node: Einsum, names: Mapping[Node, str] | None = None) -> str:
    """A product with its index sets, ``A *(ij,jk,ik) B``; operands without a name are told by their kind."""
    called = [_short_name(operand, names or {}) for operand in node.operands]
    text = to_product(called, node.inputs, range(len(node.shape)))
    return text if node.coefficient == 1 else f"{number_text(node.coefficient)} · {text}"


def _short_name(node: Node, names: Mapping[Node, str]) -> str:
    if node in names:
        return names[node]
    match node:
        case Leaf():
            return node.name or (str(node.key[1]) if node.key[0] == "number" else "·")
        case Unit():
            return "δ"
        case Ones():
            return "1"
        case Zero():
            return "0"
        case Elementwise() | General():
            return f"{called(node.function)}(…)"
    return f"{type(node).__name__.lower()}(…)"
