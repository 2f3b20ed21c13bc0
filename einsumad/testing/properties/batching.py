"""Batching against a loop: a batched function has the derivatives of its items, and nothing between them.

Owns this law. Imports agreement. Invariant: the loop calls the same function with batches of one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from einsumad.errors import ShapeError
from einsumad.testing.point import Array
from einsumad.testing.properties.agreement import Claim, Equation, agree
from einsumad.testing.properties.place import Place
from einsumad.testing.properties.probe import Probe
from einsumad.testing.report import Finding

NAME = "batching"

_HIGHEST = 2


def batching(probe: Probe) -> Iterator[Finding]:
    """Value and derivatives of a batch against those of its items, zero between different items."""
    lengths = {array.shape[:1] for array in (*probe.arrays, probe.value)}
    if len(lengths) != 1 or () in lengths:
        raise ShapeError(
            f"batched arrays and value need one leading axis of one length, got the shapes "
            f"{[array.shape for array in probe.arrays]} and {probe.value.shape}"
        )
    ((length,),) = lengths

    def loop(place: Place) -> Array:
        items = [_item(place, k).value() for k in range(length)]
        return np.concatenate(items) if items else probe.value

    claim = Claim(NAME, 0, "value", "a loop over its items")
    yield agree(probe, claim, Equation(lambda place: place.value(), loop), probe.entries.of_value)
    for order in range(1, min(probe.case.order, _HIGHEST) + 1):
        for mode in probe.modes:
            claim = Claim(NAME, order, mode, "a loop over its items, zero between them")
            yield agree(probe, claim, _blocks(probe, length, order, mode), probe.entries.of_tensor(order))


def _blocks(probe: Probe, length: int, order: int, mode: str) -> Equation:
    outputs = np.arange(probe.value.size).reshape(probe.value.shape)
    points = probe.entries.in_parts(np.arange(probe.size))

    def loop(place: Place) -> Array:
        expected = np.zeros((probe.value.size, *[probe.size] * order))
        for k in range(length):
            rows = outputs[k].reshape(-1)
            columns = np.concatenate([np.zeros(0, np.int64), *[part[k].reshape(-1) for part in points]])
            shape = (1, *probe.value.shape[1:])
            expected[np.ix_(rows, *[columns] * order)] = _item(place, k).derivative(order, mode, None, shape)
        return expected

    return Equation(lambda place: probe.tensor(place, order, mode), loop)


def _item(place: Place, k: int) -> Place:
    return replace(place, arrays=tuple([array[k : k + 1] for array in place.arrays]))
