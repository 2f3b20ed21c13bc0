"""The function called on NumPy arrays, where it takes them.

Owns this call. Imports probes. Invariant: the function gets fresh copies; a function of another library, which refuses
NumPy arrays, has no plain value.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from einsumad.testing.oracles.noise import noise_of
from einsumad.testing.point import Array
from einsumad.testing.properties.place import PLACES, Place, flat
from einsumad.testing.properties.probe import Probe
from einsumad.testing.subject import as_output
from einsumad.testing.systems.noisy import noisy_values
from einsumad.testing.systems.own import Graph

_PLAIN = (np.ndarray, np.generic, int, float, complex)


def plain_noise(probe: Probe) -> Array:
    """What rounding inside the function does to its value, beyond what the least moves of its arrays show."""

    def at(vector: Array) -> Array:
        pairs = zip(probe.entries.in_parts(vector), probe.arrays, strict=True)
        arrays = tuple([part.astype(array.dtype) for part, array in pairs])
        value = plain_value(probe, replace(probe.at, arrays=arrays))
        return np.full(probe.value.size, np.nan) if value is None else flat((value,))

    noise = noise_of(at, flat(probe.arrays), [flat(probe.tangents[-1])], probe.unit, probe.unit)
    return np.maximum(noise.reshape(probe.value.shape), _of_arithmetic(probe))


def _of_arithmetic(probe: Probe) -> Array:
    """How much the value changes in Monte Carlo arithmetic, operation by operation as the function is written."""
    largest = np.zeros(probe.value.shape)
    if "graph" in probe.case.system.extras:
        graph: Graph = probe.at.further("graph")
        for number in range(1, PLACES + 1):
            (value,) = noisy_values([graph.root], graph.values, number)
            change = np.abs(np.asarray(value, np.float64) - probe.value)
            largest = np.maximum(largest, np.where(np.isfinite(change), change, np.inf))
    return largest


def plain_value(probe: Probe, place: Place) -> Array | None:
    """The value of the function at a place without any system, or None where it does not work on NumPy arrays."""
    try:
        with np.errstate(all="ignore"):
            value = probe.case.function(*place.fresh())
        return as_output(value, probe.case.name) if isinstance(value, _PLAIN) else None
    except Exception:  # noqa: BLE001 - a function for another library may refuse NumPy arrays as it likes
        return None
