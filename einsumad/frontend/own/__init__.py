"""Functions that users define: with derivatives of their own, or from expressions of SymPy.

Imports tracing and evaluation, and no handler of the NumPy surface. Everything else sees them as nodes of the graph.
"""

from einsumad.frontend.own.function import CustomFunction, custom_function
from einsumad.frontend.own.symbolic import SymbolicFunction, elementwise_function

__all__ = ["CustomFunction", "SymbolicFunction", "custom_function", "elementwise_function"]
