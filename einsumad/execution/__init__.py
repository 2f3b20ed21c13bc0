"""From plans to arrays: lowering to NumPy calls, generated source, compiled functions, the reference.

Imports the layers below it. The names of this package are what the front end uses; the
reference interpreter is `einsumad.execution.reference`.
"""

from einsumad.execution.blockwise import BlockwisePlan, compile_frugally
from einsumad.execution.compiled import CompiledPlan, compile_plan

__all__ = ["BlockwisePlan", "CompiledPlan", "compile_frugally", "compile_plan"]
