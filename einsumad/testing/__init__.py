"""Property-based tests of derivatives, for this library and for everybody's code.

Give a check a function, a derivative and a point, and ask the report: :func:`check_user_gradient`,
:func:`check_jacobian`, :func:`check_hessian`, :func:`check_hvp`, :func:`check_jvp`, :func:`check_vjp`,
:func:`check_scipy` for derivatives written by hand, :func:`check_derivatives` for those of a system. Points come from
``einsumad.testing.strategies`` (which needs Hypothesis). See ``docs/testing.md``.
"""

from einsumad.errors import WrongDerivativeError
from einsumad.testing.checks import (
    Settings,
    check_derivatives,
    check_hessian,
    check_hvp,
    check_jacobian,
    check_jvp,
    check_scipy,
    check_user_gradient,
    check_vjp,
)
from einsumad.testing.manifolds import Manifold
from einsumad.testing.report import Finding, Report
from einsumad.testing.systems import System

__all__ = [
    "Finding",
    "Manifold",
    "Report",
    "Settings",
    "System",
    "WrongDerivativeError",
    "check_derivatives",
    "check_hessian",
    "check_hvp",
    "check_jacobian",
    "check_jvp",
    "check_scipy",
    "check_user_gradient",
    "check_vjp",
]
