"""What a sentence tells: where, how much, by which function; and that no evidence makes the diagnosis fail."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from einsumad.testing.diagnosis import Cause, Evidence, likely_causes
from tests.testing.diagnosis.draws import evidence, normal
from tests.testing.diagnosis.makers import MAKERS

RNG = np.random.default_rng(7)


def first(found, expected, **more) -> Cause:
    return likely_causes(evidence(np.random.default_rng(0), found, expected, **more))[0]


def tells(cause: Cause, name: str, *parts: str) -> None:
    assert cause.name == name
    for part in parts:
        assert part in cause.sentence, cause.sentence


def test_factors() -> None:
    g = normal(RNG, (4, 3))
    tells(first(1.03 * g, g), "constant factor", "1.03 times", "3 % too large")
    tells(first(np.sqrt(np.pi) * g, g), "constant factor", "sqrt(pi) = 1.77245")
    tells(first(2.5 * g, g), "constant factor", "5/2 = 2.5")
    tells(first(12 * g, g), "factor n (sum for mean)", "12 times", "have that length")
    tells(first(g / 12, g), "factor 1/n (mean for sum)", "1/12 of")
    tells(first(23 * g, g), "factor n (sum for mean)", "no axis seen here has length 23")
    one = np.array([0, 0, 1.3, 0])
    tells(first(2 * one, one), "factor 2", "only one entry is not 0")


def test_two_is_a_length_too() -> None:
    g = normal(RNG, (2, 3))
    assert [cause.name for cause in likely_causes(evidence(RNG, 2 * g, g))] == ["factor 2", "factor n (sum for mean)"]
    assert [cause.name for cause in likely_causes(evidence(RNG, -g, g))] == ["sign"]


def test_shapes() -> None:
    g = normal(RNG, (6, 2, 3))
    tells(first(g, np.sum(g, (0, 1))), "missing sum over a broadcast axis", "axes 0, 1", "(6, 2, 3)", "(3,)")
    tells(first(g, np.mean(g, 0)), "missing sum over a broadcast axis", "averaged over axis 0", "mean")
    tells(first(g, g.transpose(1, 2, 0)), "transposed", "order (1, 2, 0)")
    tells(first(g.reshape(12, 3), g), "wrong shape", "row-major order", "reshape")
    tells(first(g[:1, 0], np.broadcast_to(g[:1, 0], (4, 3))), "wrong shape", "np.broadcast_to")
    jacobian = normal(RNG, (5, 3))
    tells(first(np.sum(jacobian, 0), jacobian, output=(5,)), "wrong shape", "sum over all outputs")
    tells(first(normal(RNG, (4, 4)).ravel(order="F"), normal(RNG, (4, 4))), "wrong shape")


def test_column_major() -> None:
    g = normal(RNG, (4, 3))
    tells(first(g.ravel(order="F"), g), "transposed", "column by column")


def test_places() -> None:
    g = normal(RNG, (5, 4))
    bad = g.copy()
    bad[2] = np.nan
    tells(first(bad, g), "not a number", "NaN in row 2", "others are right")
    bad = g.copy()
    bad[:, 3] = np.inf
    bad[0, 0] += 1
    tells(first(bad, g), "not a number", "infinite in column 3", "others are wrong too")
    bad = g.copy()
    bad[:, [0, 3]] += normal(RNG, (5, 2)) + 9
    tells(first(bad, g), "some entries", "columns 0, 3", "the first and last along axis 1", "boundary")
    square = normal(RNG, (4, 4)) + 5
    bad = square + np.diag([3.0, 7, 8, 11])
    tells(first(bad, square), "some entries", "the diagonal")


def test_zero_argument() -> None:
    x = np.array([1.0, 0.0, 2.0])
    g = np.array([1.0, 0.5, 1.0])
    tells(first(np.array([1.0, np.nan, 1.0]), g, x=x), "not a number", "entry [1]", "the argument itself is 0 there")


def test_functions_are_named() -> None:
    x = RNG.uniform(0.2, 0.8, (6,))
    y = RNG.uniform(0.2, 0.8, (6,))
    g = normal(RNG, (6,))
    tells(first(g, 2 * x * g, x=x), "missing inner derivative", "multiplied by 2 * x")
    tells(first(g, g / np.cos(x), x=x), "missing inner derivative", "1/cos(x)")
    tells(first(g, g * np.exp(y), x=x, others=(y,)), "missing inner derivative", "exp(y)", "another argument")
    tells(first(g + 0.4 * np.log(x), g, x=x), "missing term", "0.4 times log(x)")
    tells(first(x**2, x**3, x=x), "wrong exponent", "x**2", "x**3")
    tells(first(3 * x**3, 3 * x**2, x=x), "wrong exponent", "x**3", "x**2")
    tells(first(g, g / x, x=x), "wrong exponent", "divided by x")


def test_one_column_lacks_a_factor() -> None:
    r, angle = 1.7, 0.6
    wrong = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    right = wrong * [1, r]
    cause = first(wrong, right, x=np.array([r, angle]), output=(2,))
    tells(cause, "missing inner derivative", "column 1", "times x[0]")


@pytest.mark.parametrize(("threshold", "text"), [(0, "x < 0"), (1, "abs(x) > 1")])
def test_branches(threshold, text) -> None:
    x = np.array([0.4, -0.3, 1.5, -2.5, 0.2, 3.1, -0.6])
    g = normal(RNG, (7,))
    keep = np.abs(x) < 1 if threshold else x > 0
    tells(first(g, np.where(keep, g, 0), x=x), "wrong branch", f"there {text}", "where 0 is expected")
    tells(first(np.where(keep, g, 0), g, x=x), "wrong branch", f"except where {text}", "it is 0")


NUMBERS = st.sampled_from([0.0, 1.0, -1.0, 2.0, 0.5, np.nan, np.inf, -np.inf, 1e-300, 1e300, 3.7, -0.0])
COMPLEX = NUMBERS.map(lambda number: complex(number, 1 if np.isfinite(number) else 0))


@st.composite
def any_evidence(draw) -> Evidence:
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=3))
    other = draw(st.one_of(st.just(shape), hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)))
    entries, dtype = draw(st.sampled_from([(NUMBERS, "f8"), (NUMBERS, "f4"), (COMPLEX, "c16")]))
    with np.errstate(all="ignore"):
        found = np.asarray(draw(hnp.arrays("c16" if dtype == "c16" else "f8", other, elements=entries))).astype(dtype)
    expected = draw(hnp.arrays("f8", shape, elements=NUMBERS))
    error = draw(hnp.arrays("f8", shape, elements=st.sampled_from([0.0, 1e-9, 1e-3, np.inf, np.nan])))
    outputs = draw(st.integers(0, len(shape)))
    point = draw(st.lists(hnp.arrays("f8", shape[outputs:], elements=NUMBERS), max_size=2))
    value = draw(st.none() | hnp.arrays("f8", shape[:outputs], elements=NUMBERS))
    return Evidence(found, expected, error, shape[:outputs], tuple(point), value)


@pytest.mark.fuzz
@settings(max_examples=max(400, settings().max_examples))
@given(any_evidence())
def test_no_evidence_makes_it_fail(given_evidence) -> None:
    causes = likely_causes(given_evidence)
    assert len(causes) <= 3
    assert len({cause.name for cause in causes}) == len(causes)
    known = {*MAKERS, "some entries", "half precision"}
    assert {cause.name for cause in causes} <= known
