"""The mutation self-test's cases: wrong derivatives that have to be flagged, right ones that never may be.

Owns the collection; imports the case modules. Invariant: names are unique over both tuples.
"""

from __future__ import annotations

from tests.testing.cases import (
    complex_values,
    constrained,
    containers,
    elementary,
    indexing,
    kinks,
    layout,
    likelihoods,
    magnitudes,
    matrices,
    networks,
    oscillating,
    physics,
    reductions,
    regression,
    second_order,
    single,
)
from tests.testing.cases.records import CAUSES, KINDS, Case, Right, Wrong

__all__ = ["CAUSES", "KINDS", "RIGHT", "WRONG", "Case", "Right", "Wrong"]

_MODULES = (
    regression,
    likelihoods,
    matrices,
    reductions,
    layout,
    indexing,
    elementary,
    networks,
    physics,
    second_order,
    oscillating,
    kinks,
    magnitudes,
    constrained,
    single,
    containers,
    complex_values,
)

WRONG: tuple[Wrong, ...] = tuple([case for module in _MODULES for case in module.WRONG])
RIGHT: tuple[Right, ...] = tuple([case for module in _MODULES for case in module.RIGHT])
