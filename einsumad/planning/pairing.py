"""Readings at an index of each row: ``T[n, k] = x[n, index[n, k]]``.

Owns how their axes are paired. Imports the kernels. Invariant: nothing larger than operand, index or result is needed.

What is read at the whole index for every row, ``x[n, index[m, k]]``, has the result on its diagonal, and n times as
many entries.
"""

from __future__ import annotations

from typing import NamedTuple

from einsumad.graph import Labels
from einsumad.planning.kernels import Take


class Paired(NamedTuple):
    """The order that puts first the axis of the operand that is read and then those that the index has too.

    `own` are the axes of the index that these are, `labels` those of what is read: the index's, and the other axes'.
    """

    order: tuple[int, ...]
    own: tuple[int, ...]
    labels: Labels


def paired(kernel: Take) -> Paired | None:
    """How the axes are paired; None where the operand has no axis of the index."""
    shared = [place for place in dict.fromkeys(kernel.places) if place in kernel.labels and place != kernel.at]
    if not shared:
        return None
    first = [kernel.labels.index(label) for label in (kernel.at, *shared)]
    rest = [axis for axis in range(len(kernel.labels)) if axis not in first]
    own = tuple([kernel.places.index(label) for label in shared])
    return Paired((*first, *rest), own, (*kernel.places, *[kernel.labels[axis] for axis in rest]))
