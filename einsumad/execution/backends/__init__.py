"""Plans on the arrays of other libraries: PyTorch, JAX, CuPy, and whatever keeps to the Array API standard.

Imports the plan and the catalogue; a library is loaded by its users only. The names of this package are what the front
end uses: which library an array is of, where arrays are together, and a plan made ready for that place.

The files stand in this order: `recognition`, `library` and those of single libraries; `array_plan`, which runs;
`operations`, the table of what runs; `context`, and the operations of the kernels; `elementwise_rows` and
`general_rows`, with the tables of functions.
"""

from einsumad.execution.backends.array_library import Home, Library
from einsumad.execution.backends.array_plan import ArrayPlan
from einsumad.execution.backends.loading import ready_for
from einsumad.execution.backends.recognition import (
    any_loaded,
    any_met,
    common_home,
    home_of,
    is_array_type,
    library_of,
    shape_and_dtype,
)

__all__ = [
    "ArrayPlan",
    "Home",
    "Library",
    "any_loaded",
    "any_met",
    "common_home",
    "home_of",
    "is_array_type",
    "library_of",
    "ready_for",
    "shape_and_dtype",
]
