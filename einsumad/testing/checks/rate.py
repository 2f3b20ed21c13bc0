"""The Taylor remainder test of a claimed first derivative.

Owns this test as a finding. Imports the oracle of the same name. Invariant: no step is chosen.
"""

from __future__ import annotations

import numpy as np

from einsumad.testing.checks.call import Call
from einsumad.testing.checks.expectation import random_vector, surroundings_of
from einsumad.testing.checks.matrix import Label
from einsumad.testing.comparison import Claimed
from einsumad.testing.oracles.taylor import remainder_rate
from einsumad.testing.report import Finding
from einsumad.testing.subject import Subject


def check_rate(call: Call, subject: Subject, claimed: Claimed, label: Label) -> Finding:
    """The rate along random directions; one that is too low is wrong."""
    base = surroundings_of(subject, call.settings)
    rng = np.random.default_rng([call.settings.seed, 3])
    decided = 0
    for _ in range(call.settings.directions):
        vector = random_vector(base, rng)
        rate = remainder_rate(base.line(vector), [base.value, claimed.value @ vector], base.noise)
        if rate.verdict == "wrong":
            detail = f"the Taylor remainder falls at the rate {rate.observed:.2f}, and {rate.expected} is right"
            return Finding(
                label.claim, label.order, label.mode, "the Taylor remainder", "wrong", 1, 0, 1, detail=detail
            )
        decided += rate.verdict == "right"
    verdict = "right" if decided else "undecided"
    tried = call.settings.directions
    return Finding(label.claim, label.order, label.mode, "the Taylor remainder", verdict, tried, tried - decided)  # type: ignore[arg-type]
