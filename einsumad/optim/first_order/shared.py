"""What parameters have in common, handed over once.

Owns it. Imports nothing of ours. Invariant: as an argument of a compiled function the dictionaries are its inputs, and
which of them each parameter has is its structure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class Shared(NamedTuple):
    """The dictionaries of parameters, each but once, and which of them each parameter has, as a text of numbers."""

    different: list[Mapping[str, Any]]
    which: str

    @staticmethod
    def of(each: Sequence[Mapping[str, Any]]) -> Shared:
        """Those of all parameters, in their order; the same one is shared.

        >>> one, other = {"lr": 0.1}, {"lr": 0.1}
        >>> Shared.of([one, one, other])
        Shared(different=[{'lr': 0.1}, {'lr': 0.1}], which='0 0 1')
        """
        places: dict[int, int] = {}
        which = [places.setdefault(id(one), len(places)) for one in each]
        return Shared([each[which.index(place)] for place in range(len(places))], " ".join(map(str, which)))

    def each(self) -> list[Mapping[str, Any]]:
        """That of each parameter."""
        return [self.different[int(place)] for place in self.which.split()]
