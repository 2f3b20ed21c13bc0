"""Symmetry: derivatives of order two and more do not change when the axes of the point are swapped.

Owns this law. Imports agreement. Invariant: every permutation of the axes is compared.

Source: the theorem of Schwarz and Young on mixed partial derivatives. At kinks, where a derivative is a convention, it
is asked for all the same: a Hessian that is not symmetric is of no use to anybody.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

import numpy as np

from einsumad.testing.point import Array
from einsumad.testing.properties.agreement import Claim, Equation, agree
from einsumad.testing.properties.place import Place
from einsumad.testing.properties.probe import Probe
from einsumad.testing.report import Finding

NAME = "symmetry"


def symmetry(probe: Probe) -> Iterator[Finding]:
    """The derivatives of order two and more in each mode against themselves with the axes of the point permuted."""
    for order in range(2, probe.case.order + 1):
        for mode in probe.modes:
            claim = Claim(NAME, order, mode, "its axes permuted")
            yield agree(probe, claim, _equation(probe, order, mode), probe.entries.of_tensor(order), _cause)


def _swaps(order: int) -> list[tuple[int, ...]]:
    return list(permutations(range(order)))[1:]


def _equation(probe: Probe, order: int, mode: str) -> Equation:
    swaps = _swaps(order)

    def repeated(place: Place) -> Array:
        tensor = probe.tensor(place, order, mode)
        return np.broadcast_to(tensor, (len(swaps), *tensor.shape))

    def permuted(place: Place) -> Array:
        tensor = probe.tensor(place, order, mode)
        return np.stack([np.transpose(tensor, (0, *[1 + k for k in swap])) for swap in swaps])

    return Equation(repeated, permuted)


def _cause(found: Array, expected: Array) -> str:
    one_side = (found == 0) != (expected == 0)
    both = (found != 0) & (expected != 0) & (np.abs(found - expected) > 1e-6 * np.abs(found))
    if one_side.any() and not both.any():
        return "only one triangle: entries on one side of the diagonal are zero"
    return "not symmetrised: mixed derivatives depend on their order"
