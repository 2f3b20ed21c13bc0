"""The mutation self-test: every wrong derivative is flagged, no right one ever is, and most causes are named rightly.

The rates are printed at the end of the run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.testing.cases import RIGHT, WRONG, Case, Right, Wrong
from tests.testing.selftest import report_of, size_of

SEEDS = range(3)
LARGE = 500
SHORT = 300
FEW = 2
seeds = st.integers(0, 2**32 - 1)


def name_of(case: Case) -> str:
    return case.name


@pytest.mark.parametrize("case", WRONG, ids=name_of)
def test_wrong_derivatives_are_flagged(case: Wrong, record_property: Callable[[str, Any], None]) -> None:
    reports = [report_of(case, seed) for seed in (SEEDS if size_of(case) < LARGE else SEEDS[:1])]
    assert all(report.verdict != "right" for report in reports), str(reports[0])
    assert any(report.verdict == "wrong" for report in reports), str(reports[0])
    named = Counter([cause for report in reports for cause in report.causes[:1]])
    likeliest = named.most_common(1)[0][0] if named else ""
    record_property("self-test", ["wrong", 1, int(likeliest == case.cause)])


def shortened(case: Right) -> Right:
    """The case with the first few hundred entries of its large arguments: still a sample of them is compared."""

    def sample(rng: np.random.Generator) -> tuple[Any, ...]:
        return tuple([argument[:SHORT] for argument in case.sample(rng)])

    return replace(case, name=f"{case.name}, {SHORT} of them", sample=sample)


FAST = tuple([case for case in RIGHT if size_of(case) < LARGE])
SLOW = tuple([case for case in RIGHT if size_of(case) >= LARGE])
SEVERAL = ("kink", "near a kink", "float32", "symmetric input", "ill-conditioned", "cancellation", "discontinuous")
"""What there is more than one case of among the hard ones; of all else that is hard there is one."""
HARD = (
    *[
        case
        for k, case in enumerate(FAST)
        if case.hard and [c.hard for c in FAST[:k]].count(case.hard) < (3 if case.hard in SEVERAL else 1)
    ],
    *[shortened(case) for case in SLOW if case.name in ("many squares", "mean of many", "many cumulative sums")],
)
OTHERS = tuple([case for case in FAST if case not in HARD])


def never_flagged(case: Right, examples: int, record_property: Callable[[str, Any], None]) -> None:
    """Check the case at many points; a report that is not right may at most be undecided."""
    seen = Counter[str]()

    @settings(max_examples=examples)
    @given(seeds)
    def at(seed: int) -> None:
        report = report_of(case, seed)
        seen[report.verdict] += 1
        report.raise_if_wrong()

    at()
    assert seen["right"] > 0, "never decided"
    record_property("self-test", ["right", sum(seen.values()), seen["undecided"]])


@pytest.mark.fuzz
@pytest.mark.parametrize("case", HARD, ids=name_of)
def test_hard_right_derivatives_are_never_flagged(case: Right, record_property: Callable[[str, Any], None]) -> None:
    never_flagged(case, 15 if settings().max_examples <= 100 else settings().max_examples, record_property)


@pytest.mark.parametrize("case", OTHERS, ids=name_of)
def test_right_derivatives_are_not_flagged(case: Right, record_property: Callable[[str, Any], None]) -> None:
    never_flagged(case, 6, record_property)


@pytest.mark.parametrize("case", SLOW, ids=name_of)
def test_large_right_derivatives_are_not_flagged(case: Right, record_property: Callable[[str, Any], None]) -> None:
    never_flagged(case, FEW, record_property)


def test_there_are_enough_of_both() -> None:
    assert len(WRONG) >= 60
    assert len(HARD) >= 60
