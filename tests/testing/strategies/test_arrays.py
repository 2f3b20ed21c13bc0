"""Shapes and float arrays: bounds, special entries, kinks, namespaces, and what is refused."""

import array_api_strict
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from einsumad.testing.strategies import floats, shapes
from einsumad.testing.strategies.tables import table
from tests.testing.strategies.drawn import examples, minimal

DTYPES = ("float16", "float32", "float64")


@pytest.mark.fuzz
@given(st.data(), st.sampled_from(DTYPES))
def test_default_entries_are_well_scaled_and_short(data, dtype):
    x = data.draw(floats(shapes(empty=True), dtype))
    assert x.dtype == dtype
    assert x.flags.writeable
    size = np.abs(x[x != 0])
    assert np.all((size >= 1 / 16) & (size <= 16))
    assert np.all(x * 16 == np.round(x * 16))


@pytest.mark.fuzz
@given(st.floats(-1000, 1000), st.floats(4, 1e6), st.sampled_from(DTYPES), st.booleans())
def test_entries_lie_within_bounds(low, width, dtype, integers):
    values = table(np.dtype(dtype), low, low + width, integers=integers).entries.astype(float)
    assert np.all((values >= low) & (values <= low + width))
    assert not integers or np.all(values == np.round(values))


@pytest.mark.parametrize(("low", "high"), [(0.5, 2), (-1, 1), (0, 1e-3), (100, 101), (-1e5, 1e5), (-3, 16)])
def test_intervals_are_filled(low, high):
    entries = np.unique(table(np.dtype(float), low, high).entries)
    assert len(entries) >= 60
    assert np.max(np.diff(entries)) <= (high - low) / 20


def test_one_bound_alone_leaves_room_beyond_it():
    assert np.unique(table(np.dtype(float), 100.0).entries).size > 60
    assert np.max(table(np.dtype(float), None, -100.0).entries) <= -100


def test_a_single_number_is_a_range():
    assert minimal(floats(2, low=0.3, high=0.3)).tolist() == [0.3, 0.3]


def test_integers_are_small_whole_numbers():
    entries = np.concatenate(examples(floats(9, "float32", integers=True)))
    assert set(entries.tolist()) == set(range(-4, 5))
    assert entries.dtype == np.float32


def test_special_entries_occur_when_asked_for_and_only_then():
    names = ("nan", "inf", "zero", "large", "tiny", "subnormal", 7.25, -0.0)
    x = np.concatenate(examples(floats(64, np.float32, low=1, high=2, special=names), 60))
    limits = np.finfo(np.float32)
    assert np.isnan(x).any()
    for value in (np.inf, limits.max, limits.smallest_normal, limits.smallest_subnormal):
        assert np.any(x == value)
        assert np.any(x == -np.float32(value))
    assert np.any(x == 7.25)
    assert np.any((x == 0) & np.signbit(x))
    assert np.any((x == 0) & ~np.signbit(x))
    assert 0.6 < np.mean((x >= 1) & (x <= 2)) < 0.9
    plain = np.concatenate(examples(floats(64), 60))
    assert np.all(np.isfinite(plain))
    assert not np.any((plain != 0) & (np.abs(plain) < np.finfo(float).smallest_normal))


def test_minus_zero_alone_is_no_plus_zero():
    x = np.concatenate(examples(floats(32, low=1, special=(-0.0,)), 20))
    assert np.all(np.signbit(x[x == 0]))
    x = np.concatenate(examples(floats(32, low=1, special=(0.0,)), 20))
    assert not np.any(np.signbit(x[x == 0]))


@pytest.mark.fuzz
@given(floats((3, 2), away_from=(lambda x: x, lambda x: np.abs(x) - 1), margin=0.5, special=("nan", "inf")))
def test_entries_keep_away_from_kinks(x):
    x = x[np.isfinite(x)]
    assert np.all(np.abs(x) >= 0.5)
    assert np.all(np.abs(np.abs(x) - 1) >= 0.5)


@pytest.mark.parametrize("empty", [False, True])
@pytest.mark.parametrize("size1", [False, True])
def test_shapes_have_what_is_asked_for(empty, size1):
    found = examples(shapes(1, 4, max_side=4, size1=size1, empty=empty), 150)
    sides = {side for shape in found for side in shape}
    assert sides == {2, 3, 4} | ({1} if size1 else set()) | ({0} if empty else set())
    assert {len(shape) for shape in found} == {1, 2, 3, 4}


@pytest.mark.fuzz
@given(floats(hnp.array_shapes(max_dims=2, max_side=3)), floats(st.integers(0, 3)))
def test_shapes_may_be_drawn_by_other_strategies(x, y):
    assert 1 <= x.ndim <= 2
    assert y.ndim == 1


def test_large_arrays_are_random_too():
    found = examples(floats((100, 100)), 20)
    assert all(x.shape == (100, 100) for x in found)
    assert max(np.unique(x).size for x in found) > 100
    assert not minimal(floats((100, 100))).any()
    assert np.unique(np.concatenate(examples(floats(600), 20))).size > 100


@pytest.mark.fuzz
@given(floats(shapes(empty=True), "float32", xp=array_api_strict, special=("nan",)))
def test_arrays_of_another_namespace(x):
    assert type(x).__module__.startswith("array_api_strict")
    assert x.dtype == array_api_strict.float32


def test_dtypes_of_another_namespace_are_understood():
    x = minimal(floats(2, array_api_strict.float32))
    assert x.dtype == np.float32


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: floats(2, int), TypeError, "float16"),
        (lambda: floats(2, "complex128"), TypeError, "no float"),
        (lambda: floats(2, array_api_strict.int64), TypeError, "no float"),
        (lambda: floats(-1), ValueError, "no shape"),
        (lambda: floats("ab"), ValueError, "no shape"),
        (lambda: floats(2, low=1, high=0), ValueError, "no bounds"),
        (lambda: floats(2, low=np.nan), ValueError, "no bounds"),
        (lambda: floats(2, high=np.inf), ValueError, "special="),
        (lambda: floats(2, low=0.1, high=0.9, integers=True), ValueError, "no whole number"),
        (lambda: floats(2, special=("nann",)), ValueError, "subnormal"),
        (lambda: floats(2, special="nan"), TypeError, "tuple"),
        (lambda: floats(2, low=-1, high=1, away_from=(lambda x: x,), margin=2), ValueError, "margin"),
        (lambda: floats(2, away_from=(np.sum,)), ValueError, "entry by entry"),
        (lambda: minimal(floats(2, "float16", xp=array_api_strict)), TypeError, "float16"),
        (lambda: shapes(2, 1), ValueError, "min_dims"),
        (lambda: shapes(max_side=0, size1=False), ValueError, "max_side"),
    ],
)
def test_what_makes_no_sense_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_a_strategy_shows_what_it_draws():
    assert "115 numbers between -16 and 16" in repr(floats(3))
    assert "whole numbers between -4 and 4, and nan, -0.0" in repr(floats(3, integers=True, special=("nan", -0.0)))
