"""What users touch: the tensor, the NumPy surface, transforms, symbols and eager style.

Imports everything below. The handlers of NumPy's functions register when the first one is asked for.
"""

from einsumad.execution import progress
from einsumad.frontend.cache import Statistics, statistics
from einsumad.frontend.compile import Compiled, compile
from einsumad.frontend.eager import tensor
from einsumad.frontend.explain import Explanation, explain
from einsumad.frontend.facts import declare
from einsumad.frontend.gauss_newton import gauss_newton, gauss_newton_diagonal
from einsumad.frontend.products import jvp, vjp
from einsumad.frontend.symbols import diff, einsum, evaluate, simplify, variable
from einsumad.frontend.tensor import Tensor
from einsumad.frontend.transforms import (
    Transform,
    derivative,
    grad,
    hessian,
    hessian_diagonal,
    hvp,
    jacobian,
    laplacian,
    value_and_grad,
    value_grad_and_hessian,
)

__all__ = [
    "Compiled",
    "Explanation",
    "Statistics",
    "Tensor",
    "Transform",
    "compile",
    "declare",
    "derivative",
    "diff",
    "einsum",
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
    "progress",
    "simplify",
    "statistics",
    "tensor",
    "value_and_grad",
    "value_grad_and_hessian",
    "variable",
    "vjp",
]
