"""Einstein notation: einsum texts and index lists on one side, tuples of integers on the other.

Owns the notation. Imports only ``errors``. Invariant: what is read here has NumPy's meaning, values and all,
whatever the number of labels, and every mistake in it is reported here with a caret under the place.
"""

from einsumad.notation.parsing import Subscripts, parse, parse_interleaved
from einsumad.notation.printing import index_names, to_einsum, to_product
from einsumad.notation.sizes import check_sizes

__all__ = [
    "Subscripts",
    "check_sizes",
    "index_names",
    "parse",
    "parse_interleaved",
    "to_einsum",
    "to_product",
]
