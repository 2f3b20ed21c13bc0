"""einsumad: derivatives of any order of tensor programs, by tensor calculus in Einstein notation.

Three ways in: transforms of plain NumPy functions (:func:`grad`, :func:`hessian`, ...), symbols (:func:`variable`,
:func:`diff`, :func:`evaluate`), and eager tensors (:func:`tensor`, ``backward``). See ``docs/tour.md``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from einsumad.errors import (
    DeclarationError,
    DifferentiationError,
    EinsumadError,
    IndexNotationError,
    InternalError,
    LinearAlgebraError,
    MemoryLimitError,
    ShapeError,
    TracingError,
    WrongDerivativeError,
)
from einsumad.frontend import (
    Compiled,
    Explanation,
    Statistics,
    Tensor,
    Transform,
    compile,
    declare,
    derivative,
    diff,
    einsum,
    evaluate,
    explain,
    gauss_newton,
    gauss_newton_diagonal,
    grad,
    hessian,
    hessian_diagonal,
    hvp,
    jacobian,
    jvp,
    laplacian,
    progress,
    simplify,
    statistics,
    tensor,
    value_and_grad,
    value_grad_and_hessian,
    variable,
    vjp,
)
from einsumad.planning import PlannerOptions, plan_cache, planner_options

if TYPE_CHECKING:
    from einsumad import data, nn, numpy, optim, scipy
    from einsumad.execution.calibration import calibrate
    from einsumad.frontend.own import CustomFunction, SymbolicFunction, custom_function, elementwise_function

__version__ = "0.1.0"

__all__ = [
    "Compiled",
    "CustomFunction",
    "DeclarationError",
    "DifferentiationError",
    "EinsumadError",
    "Explanation",
    "IndexNotationError",
    "InternalError",
    "LinearAlgebraError",
    "MemoryLimitError",
    "PlannerOptions",
    "ShapeError",
    "Statistics",
    "SymbolicFunction",
    "Tensor",
    "TracingError",
    "Transform",
    "WrongDerivativeError",
    "calibrate",
    "compile",
    "custom_function",
    "data",
    "declare",
    "derivative",
    "diff",
    "einsum",
    "elementwise_function",
    "evaluate",
    "explain",
    "gauss_newton",
    "gauss_newton_diagonal",
    "grad",
    "hessian",
    "hessian_diagonal",
    "hvp",
    "jacobian",
    "jvp",
    "laplacian",
    "nn",
    "numpy",
    "optim",
    "plan_cache",
    "planner_options",
    "progress",
    "scipy",
    "simplify",
    "statistics",
    "tensor",
    "value_and_grad",
    "value_grad_and_hessian",
    "variable",
    "vjp",
]

_LATER = {
    "calibrate": "einsumad.execution.calibration",
    **dict.fromkeys(
        ("CustomFunction", "SymbolicFunction", "custom_function", "elementwise_function"), "einsumad.frontend.own"
    ),
}


def __getattr__(name: str) -> Any:
    """What few programs need, when it is first asked for: namespaces, functions of the user's own, calibration."""
    if name in ("data", "nn", "numpy", "optim", "scipy"):
        return import_module(f"einsumad.{name}")
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module 'einsumad' has no attribute {name!r}")
