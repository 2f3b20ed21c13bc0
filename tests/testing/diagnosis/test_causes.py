"""Likely causes: the intended one is named first, wrong ones are not, and right derivatives have none."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from einsumad.errors import DifferentiationError, ShapeError
from einsumad.testing.diagnosis import HYPOTHESES, Cause, Evidence, likely_causes
from einsumad.testing.diagnosis.diagonal import along_diagonals
from einsumad.testing.diagnosis.evidence import compare
from tests.testing.diagnosis.draws import evidence, normal, pick
from tests.testing.diagnosis.makers import MAKERS

SEEDS = range(5)
DRAWS = [(cause, maker, seed) for cause, makers in MAKERS.items() for maker in makers for seed in SEEDS]
SHAPES = ((3,), (8,), (3, 4), (4, 4), (5, 2), (2, 3, 4), (3, 3, 3))


@cache
def drawn(maker, seed: int) -> Evidence:
    return maker(np.random.default_rng(seed))


@cache
def told(maker, seed: int) -> tuple[Cause, ...]:
    return likely_causes(drawn(maker, seed))


def names(given: Evidence) -> list[str]:
    return [cause.name for cause in likely_causes(given)]


@pytest.mark.parametrize("cause", MAKERS)
def test_the_cause_is_named(cause: str) -> None:
    for maker in MAKERS[cause]:
        assert all(cause in [one.name for one in told(maker, seed)] for seed in SEEDS), maker.__name__


@cache
def table(change) -> tuple[Counter, Counter]:
    """How often each intended cause was drawn, and what came first instead of it."""
    total, confused = Counter(), Counter()
    for cause, maker, seed in DRAWS:
        total[cause] += 1
        first = [*names(change(drawn(maker, seed), np.random.default_rng(seed))), "nothing"][0]
        if first != cause:
            confused[cause, maker.__name__, first] += 1
    return total, confused


def as_it_is(given: Evidence, _rng) -> Evidence:
    return given


def in_single_precision(given: Evidence, _rng) -> Evidence:
    found = np.asarray(given.found)
    if found.dtype.kind in "fc":
        found = found.astype(np.complex64 if found.dtype.kind == "c" else np.float32)
    value = None if given.value is None else np.asarray(given.value, np.float32)
    point = tuple([array.astype(np.float32) for array in given.point])
    return replace(given, found=found, point=point, value=value, error=100 * given.error)


def from_a_rough_oracle(given: Evidence, rng) -> Evidence:
    error = 1000 * given.error
    noise = np.where(given.expected == 0, 0, error / 3 * rng.uniform(-1, 1, error.shape))
    return replace(given, expected=given.expected + noise, error=error)


def partly_compared(given: Evidence, rng) -> Evidence:
    left_out = rng.random(given.expected.shape) < 0.25
    if np.all(left_out):
        return given
    expected = np.where(left_out, np.nan, given.expected)
    return replace(given, expected=expected, error=np.where(left_out, np.inf, given.error))


@pytest.mark.parametrize(
    ("change", "rate"),
    [(as_it_is, 0.98), (in_single_precision, 0.93), (from_a_rough_oracle, 0.93), (partly_compared, 0.85)],
)
def test_the_intended_cause_comes_first(change, rate: float) -> None:
    total, confused = table(change)
    assert sum(total.values()) >= 400
    right = 1 - sum(confused.values()) / sum(total.values())
    print(f"{change.__name__}: {100 * right:.1f} % of {sum(total.values())}", dict(confused))
    assert right >= rate, confused


@pytest.mark.parametrize("change", [in_single_precision, from_a_rough_oracle, partly_compared])
def test_where_evidence_is_poorer_less_is_said_rather_than_something_else(change) -> None:
    total, confused = table(change)
    said = {"nothing", "some entries", "constant factor", "overwritten duplicate", "single precision"}
    elsewhere = sum([count for (_, _, first), count in confused.items() if first not in said])
    assert elsewhere <= 0.04 * sum(total.values()), confused


def test_every_hypothesis_explains_something() -> None:
    idle = {hypothesis.rule.__name__ for hypothesis in HYPOTHESES}
    for _, maker, seed in DRAWS[:: len(SEEDS)]:
        comparison = compare(drawn(maker, seed))
        joined = along_diagonals(comparison)
        for view in [comparison] if joined is None else [comparison, compare(joined)]:
            idle -= {hypothesis.rule.__name__ for hypothesis in HYPOTHESES if hypothesis.of(view) is not None}
    assert idle == set()


def test_every_sentence_hedges_and_is_one_line() -> None:
    for _, maker, seed in DRAWS:
        for cause in told(maker, seed):
            assert "likely" in cause.sentence
            assert "\n" not in cause.sentence
            assert len(cause.sentence) < 500
            assert not re.search(r"nan\b|np\.float", cause.sentence), cause.sentence


def unrelated(rng, shape, outputs=0, dtype=np.float64) -> Evidence:
    x = normal(rng, shape[outputs:]).astype(dtype)
    value = normal(rng, shape[:outputs])
    found = normal(rng, shape).astype(dtype)
    return evidence(rng, found, normal(rng, shape), x=x, output=shape[:outputs], value=value)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("outputs", [0, 1])
def test_unrelated_numbers_have_no_cause(outputs: int, dtype) -> None:
    for seed in range(60):
        rng = np.random.default_rng(seed)
        assert names(unrelated(rng, pick(rng, SHAPES), outputs, dtype)) == []


def test_unrelated_symmetric_hessians_have_no_cause() -> None:
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 6))
        found, expected = normal(rng, (n, n)), normal(rng, (n, n))
        given = evidence(rng, found + found.T, expected + expected.T, x=normal(rng, (n,)), order=2)
        assert names(given) == []


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_a_single_entry_proves_little_and_the_sentence_says_so(shape) -> None:
    for seed in range(30):
        rng = np.random.default_rng(seed)
        for cause in likely_causes(unrelated(rng, shape)):
            assert cause.name == "constant factor"
            assert "other mistakes can look the same" in cause.sentence


@pytest.mark.parametrize("noise", [0.0, 0.9])
def test_right_derivatives_have_no_cause(noise: float) -> None:
    for seed in range(60):
        rng = np.random.default_rng(seed)
        expected = normal(rng, pick(rng, (*SHAPES, (), (1,), (0,), (2, 0))))
        given = evidence(rng, expected, expected)
        found = given.expected + noise * given.error * rng.uniform(-1, 1, expected.shape)
        assert names(replace(given, found=found)) == []


def test_what_was_not_compared_does_not_matter() -> None:
    rng = np.random.default_rng(0)
    expected = normal(rng, (6,))
    given = evidence(rng, 2 * expected, expected)
    error, known = given.error.copy(), given.expected.copy()
    error[1], known[1] = np.inf, np.nan
    found = 2 * expected
    found[1] = np.nan
    assert names(replace(given, found=found, expected=known, error=error)) == ["factor 2"]
    nothing = replace(given, expected=np.full(6, np.nan), error=np.full(6, np.inf))
    assert names(nothing) == []


def test_arguments_stay_as_they_are_and_answers_repeat() -> None:
    for _, maker, seed in DRAWS[:: len(SEEDS)]:
        given = drawn(maker, seed)
        arrays = [given.found, given.expected, given.error, *given.point]
        before = [np.array(array) for array in arrays]
        first = told(maker, seed)
        assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(before, arrays, strict=True))
        assert likely_causes(given) == first


def test_large_arrays_do_not_take_long_texts() -> None:
    rng = np.random.default_rng(0)
    expected = normal(rng, (400, 300))
    found = expected.copy()
    found[rng.random(found.shape) < 0.1] *= 0.3
    (cause, *_) = likely_causes(evidence(rng, found, expected))
    assert cause.name == "constant factor"
    assert "0.3 times" in cause.sentence
    assert len(cause.sentence) < 300


def test_bad_evidence_is_refused() -> None:
    x = np.ones(3)
    with pytest.raises(ShapeError, match=r"expected has shape \(3,\) and error \(2,\)"):
        Evidence(x, x, np.ones(2), (), (x,), None)
    with pytest.raises(DifferentiationError, match="found has dtype object"):
        Evidence(np.array([None, 1, 2]), x, x, (), (x,), None)


def test_a_hypothesis_can_be_asked_alone() -> None:
    rng = np.random.default_rng(0)
    expected = normal(rng, (3, 4))
    rules = {hypothesis.rule.__name__: hypothesis for hypothesis in HYPOTHESES}
    assert rules["sign"](evidence(rng, -expected, expected)).name == "sign"
    assert rules["sign"](evidence(rng, expected.T, expected)) is None
    assert rules["transposed"](evidence(rng, expected.T, expected)) is None
    assert rules["transposed_shape"](evidence(rng, expected.T, expected)).name == "transposed"
