"""Steps of a plan as functions of loops and matrix products, which Numba compiles where a caller asks for it.

Imports planning and source text. Lowering puts the functions into the text of a plan; only they are compiled.
"""

from einsumad.execution.loops.entries import Arrays
from einsumad.execution.loops.regions import Region, regions_of

__all__ = ["Arrays", "Region", "regions_of"]
