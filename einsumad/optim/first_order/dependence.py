"""Which parameters a loss depends on.

Owns that. Imports the graph. Invariant: the answer is that of `backward`, which leaves no gradient elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from einsumad import frontend as ea
from einsumad.graph import leaves


def depends_on(result: Any, values: Sequence[Any]) -> list[bool]:
    """Whether a traced result is computed from each of these traced arrays, whatever its derivative is.

    >>> import einsumad as ea
    >>> a, b = ea.variable("a", ()), ea.variable("b", ())
    >>> depends_on(a * 0 + 1, [a, b])
    [True, False]
    """
    if not isinstance(result, ea.Tensor):
        return [False] * len(values)
    found = set(leaves([result.node]))
    return [isinstance(value, ea.Tensor) and value.node in found for value in values]
