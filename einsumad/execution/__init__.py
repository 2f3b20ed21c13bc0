"""From plans to arrays: lowering to NumPy calls, generated source, compiled functions, the reference.

Imports the layers below it. The names of this package are what the front end uses; the
reference interpreter is `einsumad.execution.reference`.
"""

from einsumad.execution.blockwise import BlockwisePlan, compile_split
from einsumad.execution.compiled import CompiledPlan, compile_plan
from einsumad.execution.limited import compile_planned, compile_within
from einsumad.execution.numba import check_numba
from einsumad.execution.progress import progress

__all__ = [
    "BlockwisePlan",
    "CompiledPlan",
    "check_numba",
    "compile_plan",
    "compile_planned",
    "compile_split",
    "compile_within",
    "progress",
]
