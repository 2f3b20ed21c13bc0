"""The catalogue of functions: one row each, with value, partials as expressions, dtype, cost and domain.

Imports errors and the graph. Everything above makes functions with :func:`apply` and :func:`call` and reads
their rows; a new function is one call of :func:`register_elementwise` or :func:`register_general`.
"""

from einsumad.functions import elementwise, general
from einsumad.functions.catalogue import (
    ElementwiseFunction,
    GeneralFunction,
    Interval,
    NoDerivative,
    Partials,
    Registry,
    Source,
    apply,
    call,
    elementwise_function,
    elementwise_names,
    general_function,
    general_names,
    is_own,
    origins,
    partial_of,
    register_elementwise,
    register_general,
    register_own,
    source_of,
)
from einsumad.functions.elementwise.powers import power_of
from einsumad.functions.finite import is_lowered, stays_finite
from einsumad.functions.rows import row
from einsumad.functions.signs import is_never_negative
from einsumad.functions.values import value_function

__all__ = [
    "ElementwiseFunction",
    "GeneralFunction",
    "Interval",
    "NoDerivative",
    "Partials",
    "Registry",
    "Source",
    "apply",
    "call",
    "elementwise",
    "elementwise_function",
    "elementwise_names",
    "general",
    "general_function",
    "general_names",
    "is_lowered",
    "is_never_negative",
    "is_own",
    "origins",
    "partial_of",
    "power_of",
    "register_elementwise",
    "register_general",
    "register_own",
    "row",
    "source_of",
    "stays_finite",
    "value_function",
]
