"""Named rewrites and the normal form.

Imports graph and functions. A rule is a named function with a law and a reason why it ends; the normal form is what is
left when none applies.
"""

from einsumad.rewriting.catalogue import ALL_RULES
from einsumad.rewriting.engine import Progress, normal_product, normalise
from einsumad.rewriting.flatten import inline, put_in
from einsumad.rewriting.product import product_of
from einsumad.rewriting.rules import Context, Rule

__all__ = [
    "ALL_RULES",
    "Context",
    "Progress",
    "Rule",
    "inline",
    "normal_product",
    "normalise",
    "product_of",
    "put_in",
]
