"""Directions have norm 1; cotangents tell sums from the right derivative."""

import array_api_strict
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from einsumad.testing.strategies import cotangents, directions, shapes, tangents
from tests.testing.strategies.drawn import examples, minimal

PRECISION = {"float16": 2e-3, "float32": 1e-6, "float64": 1e-15}


@pytest.mark.fuzz
@given(st.data(), st.sampled_from(sorted(PRECISION)))
def test_directions_have_norm_one(data, dtype):
    v = data.draw(directions(shapes(empty=True), dtype))
    assert v.dtype == dtype
    assert v.size == 0 or abs(np.linalg.norm(v.astype(float)) - 1) < PRECISION[dtype]


def test_directions_point_everywhere():
    found = np.stack(examples(directions(2), 300))
    angles = np.arctan2(found[:, 1], found[:, 0])
    assert all(np.any(np.abs(angles - angle) < 0.3) for angle in np.linspace(-3, 3, 21))


@pytest.mark.fuzz
@given(cotangents(shapes(empty=True), np.float32))
def test_cotangents_are_neither_constant_nor_zero(v):
    assert v.dtype == np.float32
    assert np.all(v != 0)
    assert np.all((np.abs(v) >= 0.25) & (np.abs(v) <= 4))
    if v.size > 1:
        assert np.any(v != v.flat[0])
    elif v.size:
        assert v.flat[0] != 1


@pytest.mark.fuzz
@given(st.data())
def test_tangents_fit_their_primals(data):
    primals = (np.float32(2), np.ones((2, 3)), array_api_strict.ones((2,), dtype=array_api_strict.float32), 1.5)
    found = data.draw(tangents(*primals))
    assert [np.asarray(v).shape for v in found] == [(), (2, 3), (2,), ()]
    assert [str(v.dtype).rpartition(".")[2] for v in found] == ["float32", "float64", "float32", "float64"]
    assert type(found[2]) is type(primals[2])
    assert abs(sum(float(np.sum(np.asarray(v, float) ** 2)) for v in found) - 1) < 1e-6
    single = data.draw(tangents(primals[1]))
    assert isinstance(single, np.ndarray)


@pytest.mark.fuzz
@given(directions((2, 2), xp=array_api_strict), cotangents(3, xp=array_api_strict))
def test_other_namespaces(v, w):
    assert abs(float(array_api_strict.linalg.vector_norm(v)) - 1) < 1e-15
    assert w.dtype == array_api_strict.float64


def test_they_shrink_to_simple_ones():
    assert minimal(directions((2, 2))).tolist() == [[1, 0], [0, 0]]
    assert minimal(cotangents(())).tolist() == 2
    assert minimal(cotangents((2,))).tolist() == [2, 1]


def test_tangents_of_nothing_or_of_integers_are_refused():
    with pytest.raises(TypeError, match="needs the arrays"):
        tangents()
    with pytest.raises(TypeError, match="int64"):
        minimal(tangents(np.arange(3)))
