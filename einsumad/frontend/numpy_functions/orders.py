"""The order in which entries are read: rows first or columns first.

Owns what an ``order=`` that decides on values means for traced values. Imports the limits. Invariant: a traced value
has no order in memory, so an order that asks for that one is taken only where all of them are the same.
"""

from __future__ import annotations

from typing import Any

from einsumad.frontend.coverage.limits import refused
from einsumad.graph import Node

_BY_MEMORY = "AK"


def columns_first(name: str, order: Any, node: Node) -> bool:
    """Whether the entries are read with the first index changing fastest."""
    letter = "C" if order is None else order.upper() if isinstance(order, str) else order
    if letter == "K" and name == "numpy.reshape":
        raise ValueError("order 'K' is not permitted for reshaping")
    if letter not in ("C", "F", *_BY_MEMORY):
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    if letter in _BY_MEMORY and 0 not in node.shape and sum(size > 1 for size in node.shape) > 1:
        raise refused(name, "order", f"order={order!r}")
    return bool(letter == "F")
