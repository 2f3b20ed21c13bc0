"""Mode agreement: a derivative does not depend on the side from which Jacobians are multiplied.

Owns this law. Imports agreement. Invariant: every mode asked for is compared with the first one, at every order.

Source: Griewank and Walther, *Evaluating Derivatives*, 2008, chapter 3: both sweeps accumulate one Jacobian.
"""

from __future__ import annotations

from collections.abc import Iterator

from einsumad.testing.properties.agreement import Claim, Equation, agree
from einsumad.testing.properties.probe import Probe
from einsumad.testing.report import Finding

NAME = "mode agreement"


def mode_agreement(probe: Probe) -> Iterator[Finding]:
    """The derivative of each order in each mode against that in the first mode."""
    first, *others = probe.modes
    for order in range(1, probe.case.order + 1):
        for mode in others:
            claim = Claim(NAME, order, mode, f"mode {first}")
            yield agree(probe, claim, _equation(probe, order, mode, first), probe.entries.of_tensor(order))


def _equation(probe: Probe, order: int, mode: str, first: str) -> Equation:
    return Equation(lambda place: probe.tensor(place, order, mode), lambda place: probe.tensor(place, order, first))
