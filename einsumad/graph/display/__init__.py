"""Expressions as text for people: index notation, matrix notation, one-line descriptions.

Imports the node kinds and notation. Invariant: the text depends on the structure of the graph only, and its
length is bounded whatever the size of the graph. Each name is loaded when it is first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from einsumad.graph.display.describe import expression_text, node_repr, product_notation, short_text
    from einsumad.graph.display.fragments import param_text
    from einsumad.graph.display.indices import index_notation
    from einsumad.graph.display.matrices import matrix_notation

__all__ = [
    "expression_text",
    "index_notation",
    "matrix_notation",
    "node_repr",
    "param_text",
    "product_notation",
    "short_text",
]

_LATER = {
    **dict.fromkeys(("expression_text", "node_repr", "product_notation", "short_text"), "describe"),
    "param_text": "fragments",
    "index_notation": "indices",
    "matrix_notation": "matrices",
}


def __getattr__(name: str) -> Any:
    """What writes expressions: few programs show one."""
    if name in _LATER:
        return getattr(import_module(f"einsumad.graph.display.{_LATER[name]}"), name)
    raise AttributeError(f"module 'einsumad.graph.display' has no attribute {name!r}")
