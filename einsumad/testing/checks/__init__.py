"""The checks: a function, a derivative that somebody claims, a report."""

from einsumad.testing.checks.derivatives import check_derivatives
from einsumad.testing.checks.first import check_jacobian, check_user_gradient
from einsumad.testing.checks.hessian import check_hessian, check_hvp
from einsumad.testing.checks.products import check_jvp, check_vjp
from einsumad.testing.checks.scipy_functions import check_scipy
from einsumad.testing.checks.settings import Settings

__all__ = [
    "Settings",
    "check_derivatives",
    "check_hessian",
    "check_hvp",
    "check_jacobian",
    "check_jvp",
    "check_scipy",
    "check_user_gradient",
    "check_vjp",
]
