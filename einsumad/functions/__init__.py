"""The catalogue of functions: one row each, with value, partials as expressions, dtype, cost and domain.

Imports errors and the graph. Everything above makes functions with :func:`apply` and :func:`call` and reads
their rows; a new function is one call of :func:`register_elementwise` or :func:`register_general`.
"""

from einsumad.functions import elementwise, general
from einsumad.functions.catalogue import (
    ElementwiseFunction,
    GeneralFunction,
    Interval,
    Partials,
    Registry,
    Source,
    apply,
    call,
    elementwise_function,
    elementwise_names,
    general_function,
    general_names,
    origins,
    register_elementwise,
    register_general,
    source_of,
)
from einsumad.functions.elementwise.powers import power_of
from einsumad.functions.rows import row
from einsumad.functions.values import value_function

__all__ = [
    "ElementwiseFunction",
    "GeneralFunction",
    "Interval",
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
    "origins",
    "power_of",
    "register_elementwise",
    "register_general",
    "row",
    "source_of",
    "value_function",
]
