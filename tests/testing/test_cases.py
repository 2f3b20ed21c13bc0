"""The cases of the mutation self-test are what they say: wrong ones wrong, right ones right, at any sampled point.

Imports the cases and their oracle, and nothing of the library. Invariant: were a case mistaken, the self-test would
measure nothing; so no case is left out here.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tests.testing.cases import CAUSES, KINDS, RIGHT, WRONG, Case, Right, Wrong
from tests.testing.cases.oracle import EXTENDED, LARGE, error
from tests.testing.cases.records import Target

TOLERANCES = {
    "float32": 1e-5,
    "computed in single precision": 1e-3,
    "ill-conditioned": 1e-5,
    "cancellation": 1e-4,
}
ORDINARY = 1e-7
SEEDS = (0, 1, 2)


def name_of(case: Case) -> str:
    return case.name


def seeds_of(case: Case) -> tuple[int, ...]:
    return SEEDS[:1] if any(array.size > LARGE for array in arguments(case, 0)) else SEEDS


def arguments(case: Case, seed: int) -> list[np.ndarray]:
    return [np.asarray(argument) for argument in case.sample(np.random.default_rng(seed))]


@pytest.mark.parametrize("case", RIGHT, ids=name_of)
def test_right_cases_are_right(case: Right) -> None:
    tolerance = TOLERANCES.get(case.hard, ORDINARY)
    assert max(error(case, seed) for seed in seeds_of(case)) < tolerance


@pytest.mark.parametrize("case", WRONG, ids=name_of)
def test_wrong_cases_are_wrong(case: Wrong) -> None:
    if case.cause == "single precision" and not EXTENDED:
        pytest.skip("this platform has no precision beyond double to tell single from double with certainty")
    visible = 1e-9 if case.cause == "single precision" else 1e-3
    assert min(error(case, seed) for seed in seeds_of(case)) > visible


@pytest.mark.parametrize("case", [*RIGHT, *WRONG], ids=name_of)
def test_samplers_depend_on_the_generator_alone(case: Case) -> None:
    for first, second in zip(arguments(case, 3), arguments(case, 3), strict=True):
        assert first.dtype == second.dtype
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("case", [*RIGHT, *WRONG], ids=name_of)
def test_functions_and_claims_leave_their_arguments_alone(case: Case) -> None:
    args = case.sample(np.random.default_rng(4))
    before = [np.array(argument) for argument in args]
    with np.errstate(all="ignore"):
        output = np.asarray(case.function(*args))
        match case.kind:
            case "jvp":
                case.claim(args, tuple([np.ones_like(args[k]) for k in case.places]))
            case "vjp":
                case.claim(args, np.ones_like(output))
            case "hvp":
                case.claim(*args, np.ones_like(args[case.places[0]]))
            case _:
                case.claim(*args)
    for argument, kept in zip(args, before, strict=True):
        np.testing.assert_array_equal(np.asarray(argument), kept)


def test_there_are_enough_cases_of_every_sort() -> None:
    assert len(WRONG) >= 75
    assert len(RIGHT) >= 75
    assert sum(bool(case.hard) for case in RIGHT) >= 45
    assert {case.cause for case in WRONG} == set(CAUSES)
    assert {case.kind for case in WRONG} == {case.kind for case in RIGHT} == set(KINDS)


def test_names_are_unique() -> None:
    counts = Counter(case.name for case in (*RIGHT, *WRONG))
    assert [name for name, count in counts.items() if count > 1] == []


def test_a_record_with_an_unknown_cause_or_kind_is_refused() -> None:
    target = Target("gradient", np.sum, lambda rng: (rng.standard_normal(3),))
    with pytest.raises(ValueError, match="unknown cause 'sing'"):
        target.wrong("a slip", np.ones_like, "sing")
    with pytest.raises(ValueError, match="unknown kind 'grad'"):
        Target("grad", np.sum, target.sample).right("a slip", np.ones_like)
