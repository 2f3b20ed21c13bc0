"""The surface of ``scipy.special``: handlers for its ufuncs, and builders for its functions that do not dispatch.

Owns the order of import. Imports its modules. Invariant: importing this package registers every handler; SciPy itself
is never imported, ufuncs are known by name.
"""

from einsumad.frontend.scipy_special import distributions, families, functions, rows

__all__ = ["distributions", "families", "functions", "rows"]
