"""Derivatives as expressions: local Jacobians, forward, reverse and cross-country mode.

Imports graph and functions. Nothing here simplifies: that is what rewriting is for.
"""

from einsumad.calculus.derivative import Mode, derivative
from einsumad.calculus.elimination import Choice, JacobianGraph, Simplify, eliminate
from einsumad.calculus.local import Factors, Term, as_node, flows, identity, is_active, local_jacobian
from einsumad.calculus.modes import active_nodes, pull, push

__all__ = [
    "Choice",
    "Factors",
    "JacobianGraph",
    "Mode",
    "Simplify",
    "Term",
    "active_nodes",
    "as_node",
    "derivative",
    "eliminate",
    "flows",
    "identity",
    "is_active",
    "local_jacobian",
    "pull",
    "push",
]
