"""Points at, near and away from kinks, and ties: what the names promise holds for every example."""

import array_api_strict
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.errors import FailedHealthCheck

from einsumad.testing.strategies import at_kinks, away_from_kinks, floats, near_kinks, shapes, symmetric, ties
from tests.testing.strategies.drawn import examples, minimal


@pytest.mark.fuzz
@given(away_from_kinks(floats(5), lambda x: x, lambda x: np.abs(x) - 1, margin=0.25))
def test_away_from_kinks_of_entries(x):
    assert np.all(np.abs(x) >= 0.25)
    assert np.all(np.abs(np.abs(x) - 1) >= 0.25)


@pytest.mark.fuzz
@given(away_from_kinks(st.tuples(floats((2, 2)), floats(2)), lambda x, y: x - y, margin=0.5))
def test_away_from_kinks_of_several_arguments(pair):
    x, y = pair
    assert np.min(np.abs(x - y)) >= 0.5


@pytest.mark.fuzz
@given(away_from_kinks(symmetric(3), lambda A: A - 1, margin=0.1))
def test_away_from_kinks_keeps_the_structure(A):
    assert np.array_equal(A, A.T)


def test_away_from_kinks_that_are_everywhere_gives_up():
    with pytest.raises(FailedHealthCheck, match="filtering out"):
        examples(away_from_kinks(floats(2), lambda x: 0 * x), 10)


@pytest.mark.fuzz
@given(at_kinks(shapes(min_dims=1), (0.0, 1.5), np.float32))
def test_some_entry_is_at_a_kink(x):
    assert x.dtype == np.float32
    assert np.any((x == 0) | (x == 1.5))


def test_other_entries_are_not_at_a_kink():
    found = np.concatenate(examples(at_kinks(4, (0.1,))))
    assert 0.15 < np.mean(found == 0.1) < 0.6
    assert np.unique(found).size > 100


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_near_a_kink_is_close_but_not_at_it(dtype):
    found = examples(near_kinks(3, (0.0, -100.0), dtype), 80)
    reach = np.sqrt(float(np.finfo(dtype).eps))
    sides = set()
    for x in found:
        relative = np.concatenate([x.astype(float), (x.astype(float) + 100) / 100])
        near = relative[np.abs(relative) < 1.5 * reach]
        near = near[near != 0]
        assert near.size
        sides.update(np.sign(near))
    assert sides == {-1, 1}


@pytest.mark.fuzz
@given(near_kinks(2, (1.0,), distance=0.125, low=3, high=4))
def test_a_given_distance_is_exact(x):
    assert set(x.tolist()) & {0.875, 1.125}


@pytest.mark.fuzz
@given(st.sampled_from([None, 0, 1, -1]), st.sampled_from(["max", "min"]), st.data())
def test_ties_are_ties(axis, extreme, data):
    x = data.draw(ties((2, 3), axis, extreme))
    most = getattr(x, extreme)(axis=axis, keepdims=True)
    assert np.all(np.sum(x == most, axis=axis) >= 2)


def test_ties_are_of_any_number_at_any_place():
    found = examples(ties(4), 200)
    places = {tuple(np.flatnonzero(x == x.max())) for x in found}
    assert {len(tied) for tied in places} == {2, 3, 4}
    assert {(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)} <= places


@pytest.mark.fuzz
@given(at_kinks(2, xp=array_api_strict), near_kinks(2, xp=array_api_strict), ties(2, xp=array_api_strict))
def test_other_namespaces(x, y, z):
    assert {type(x), type(y), type(z)} == {type(array_api_strict.ones(1))}


@pytest.mark.fuzz
@given(ties((0, 2), 1))
def test_no_lanes_no_ties(x):
    assert x.shape == (0, 2)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: away_from_kinks(floats(2)), TypeError, "at least one"),
        (lambda: at_kinks(2, ()), ValueError, "values="),
        (lambda: at_kinks(2, (np.nan,)), ValueError, "finite"),
        (lambda: minimal(at_kinks((2, 0))), ValueError, "no entry"),
        (lambda: near_kinks(2, (1e6,), "float32", distance=1e-6), ValueError, "is lost"),
        (lambda: ties(3, extreme="top"), ValueError, "'max' or 'min'"),
        (lambda: minimal(ties((3, 1), 1)), ValueError, "axis 1 of shape"),
    ],
)
def test_what_makes_no_sense_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()
