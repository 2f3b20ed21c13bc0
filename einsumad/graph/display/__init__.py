"""Expressions as text for people: index notation, matrix notation, one-line descriptions.

Imports the node kinds and notation. Invariant: the text depends on the structure of the graph only, and its
length is bounded whatever the size of the graph.
"""

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
