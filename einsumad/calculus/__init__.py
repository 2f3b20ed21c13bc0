"""Derivatives as expressions: local Jacobians, forward, reverse and cross-country mode.

Imports graph and functions. Nothing here simplifies: that is what rewriting is for.
"""

from einsumad.calculus.derivative import Mode, derivative
from einsumad.calculus.elimination import Choice, JacobianGraph, Simplify, eliminate
from einsumad.calculus.local import flows, identity, is_active, local_jacobian
from einsumad.calculus.modes import active_nodes, pull, push

__all__ = [
    "Choice",
    "JacobianGraph",
    "Mode",
    "Simplify",
    "active_nodes",
    "derivative",
    "eliminate",
    "flows",
    "identity",
    "is_active",
    "local_jacobian",
    "pull",
    "push",
]
