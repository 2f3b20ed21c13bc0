"""SciPy's namespaces, with what NumPy's protocols cannot catch.

Owns nothing but the modules' names. Imports the modules. Invariant: SciPy is loaded when a function of it is
first used.
"""

from einsumad.scipy import linalg, special

__all__ = ["linalg", "special"]
