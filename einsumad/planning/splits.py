"""An affine map as two that meet in an index of their own.

Owns these. Imports readings. Invariant: both maps together say what the one says, and where the new index is given
every value fits into it.

A reshape ``[360 b + c = 4 m + k]`` can be solved for c, k or a place of stride one. But then what has b and c, or m and
k, is read at three indices. With ``[p = 360 b + c]`` and ``[p = 4 m + k]`` it is written once and read once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from einsumad.graph import Affine, Labels, affine
from einsumad.planning.primitives import Factor
from einsumad.planning.readings import Map
from einsumad.records import record

_FEWEST = 2
"""Labels on either side: with one, a map that is solved for it does the same."""


@record
class Split:
    """``[at = f(inner)]``, along which is written, and ``[at = g(outer)]``, along which is read."""

    written: Map
    read: Map


def splits(factor: Factor, free: set[int], groups: Sequence[Sequence[int]], fresh: int) -> Iterator[Split]:
    """The ways to split an affine map: `free` may be written away, those of a group or all of them together.

    `fresh` is the label of the new index.
    """
    node, labels = factor
    if not isinstance(node, Affine):
        return
    own = [label for label in labels if label in free]
    chosen = [tuple([label for label in own if label in group]) for group in groups]
    for inner in dict.fromkeys([tuple(own), *chosen]):
        outer = tuple([label for label in labels if label not in inner])
        if len(inner) >= _FEWEST and len(outer) >= _FEWEST:
            found = _split(node, labels, inner, outer, fresh)
            if found is not None:
                yield found


def _split(node: Affine, labels: Labels, inner: Labels, outer: Labels, fresh: int) -> Split | None:
    """``Σ w l = offset`` over all labels as ``p = Σ w l - least`` over the inner ones; None if outer ones never fit."""
    weights = dict(zip(labels, (1, *[-stride for stride in node.strides]), strict=True))
    sizes = dict(zip(labels, node.shape, strict=True))
    ends = [weights[label] * (sizes[label] - 1) for label in inner]
    least, most = sum([min(end, 0) for end in ends]), sum([max(end, 0) for end in ends])
    made = [
        affine(most - least + 1, [sizes[k] for k in part], [sign * weights[k] for k in part], offset, node.dtype)
        for part, sign, offset in ((inner, 1, -least), (outer, -1, node.offset - least))
    ]
    first, second = made
    if not isinstance(first, Affine) or not isinstance(second, Affine):
        return None
    return Split(Map(first, fresh, inner), Map(second, fresh, outer))
