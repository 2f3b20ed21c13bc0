"""Purity: transforms leave what they are given alone, answer equal questions equally, and give away what they made.

Owns these laws. Imports probes and the comparison of bits. Invariant: every transform is called twice with fresh
copies of everything, and what it got and gave is compared bit by bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from einsumad.testing.bits import same_bits, shares_memory
from einsumad.testing.point import Array
from einsumad.testing.properties.agreement import Claim
from einsumad.testing.properties.probe import Probe
from einsumad.testing.properties.transforms import Asked, arrays_of, transforms
from einsumad.testing.report import Finding

PURITY, DETERMINISM, ALIASING = "purity", "determinism", "no aliasing"

_ROUNDING = 1024.0


@dataclass(frozen=True, slots=True)
class _Observation:
    """Two calls of a transform: what it was given and whether that changed, and what it gave."""

    asked: Asked
    given: tuple[Array, ...]
    changed: tuple[str, ...]
    first: tuple[Array, ...]
    second: tuple[Array, ...]

    def claim(self, name: str, against: str) -> Claim:
        """A claim about these calls."""
        return Claim(name, self.asked.order, self.asked.name, against)


def purity(probe: Probe) -> Iterator[Finding]:
    """Arrays and directions are bit by bit what they were before a call."""
    for seen in _observations(probe):
        claim = seen.claim(PURITY, "what it was given")
        if seen.changed:
            detail = f"it wrote to {' and '.join(seen.changed)}"
            yield claim.finding("wrong", entries=len(seen.given), wrong=len(seen.changed), detail=detail)
        else:
            yield claim.finding("right", entries=len(seen.given))


def determinism(probe: Probe) -> Iterator[Finding]:
    """Two equal calls give equal bits. Where a system does not promise bits, differences of rounding are undecided."""
    for seen in _observations(probe):
        claim = seen.claim(DETERMINISM, "a second call")
        differing = [k for k, (a, b) in enumerate(zip(seen.first, seen.second, strict=False)) if not same_bits(a, b)]
        if len(seen.first) != len(seen.second):
            yield claim.finding("wrong", entries=1, wrong=1, detail="the second call gave another number of arrays")
        elif differing:
            yield _difference(claim, seen, differing, probe)
        else:
            yield claim.finding("right", entries=len(seen.first))


def _difference(claim: Claim, seen: _Observation, differing: list[int], probe: Probe) -> Finding:
    one, other = (np.asarray(side[differing[0]]) for side in (seen.first, seen.second))
    counts = {"entries": len(seen.first), "wrong": len(differing)}
    if one.shape != other.shape or one.dtype != other.dtype:
        detail = f"first {one.dtype}{one.shape}, then {other.dtype}{other.shape}"
        return claim.finding("wrong", **counts, detail=detail)
    with np.errstate(all="ignore"):
        gap = np.where((one == other) | (np.isnan(one) & np.isnan(other)), 0.0, np.abs(one - other))
        size = float(np.max(np.abs(one), initial=0.0, where=np.isfinite(one)))
    gap = np.where(np.isfinite(gap), gap, np.inf)
    worst = int(np.argmax(gap))
    if not probe.case.system.bitwise and gap.reshape(-1)[worst] <= _ROUNDING * probe.unit * size:
        return claim.finding("undecided", entries=len(seen.first), undecided=len(differing), detail="rounding differs")
    found, expected = float(other.reshape(-1)[worst]), float(one.reshape(-1)[worst])
    index = str(tuple(int(k) for k in np.unravel_index(worst, one.shape)))
    return claim.finding("wrong", **counts, index=index, found=found, expected=expected)


def no_aliasing(probe: Probe) -> Iterator[Finding]:
    """Results share memory neither with what was given, nor with each other, nor with those of another call."""
    for seen in _observations(probe):
        claim = seen.claim(ALIASING, "arguments and other results")
        pairs = [("its arguments", a, b) for a in seen.first for b in seen.given]
        pairs += [("another part of it", a, b) for a, b in combinations(seen.first, 2)]
        pairs += [("the result of another call", a, b) for a in seen.first for b in seen.second]
        shared = [what for what, one, other in pairs if shares_memory(one, other)]
        if shared:
            detail = f"the result shares memory with {' and '.join(dict.fromkeys(shared))}"
            yield claim.finding("wrong", entries=len(seen.first), wrong=1, detail=detail)
        else:
            yield claim.finding("right", entries=len(seen.first))


def _observations(probe: Probe) -> Sequence[_Observation]:
    if "observations" not in probe.memory:
        seen = []
        for asked in transforms(probe, probe.case.function):
            with suppress(NotImplementedError):
                seen.append(_observe(probe, asked))
        probe.memory["observations"] = seen
    found: Sequence[_Observation] = probe.memory["observations"]
    return found


def _observe(probe: Probe, asked: Asked) -> _Observation:
    given = probe.at.fresh(), tuple([direction.copy() for direction in asked.directions])
    first = arrays_of(asked.call(*given))
    wanted = (*probe.arrays, *asked.directions)
    names = (*probe.entries.names, *[f"direction {k}" for k in range(len(asked.directions))])
    everything = (*given[0], *given[1])
    changed = [n for n, before, now in zip(names, wanted, everything, strict=True) if not same_bits(before, now)]
    second = arrays_of(asked.call(probe.at.fresh(), tuple([direction.copy() for direction in asked.directions])))
    return _Observation(asked, everything, tuple(changed), first, second)
