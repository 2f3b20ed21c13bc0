"""Embedding: rows by hand, gradients that add up, the padding, and indices that are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad import nn
from tests.nn.derivatives import cotangent, right

F = nn.functional
PLACES = np.array([[0, 4, 4], [2, 0, 4]])


def test_rows_and_gradients() -> None:
    layer, weights = nn.Embedding(5, 3, rng=0), cotangent(2, 3, 3)
    np.testing.assert_array_equal(layer(PLACES).numpy(), layer.weight.data[PLACES])
    np.sum(weights.astype(np.float32) * layer(PLACES)).backward()
    expected = np.zeros((5, 3))
    np.add.at(expected, PLACES, weights)
    assert type(layer.weight.grad) is np.ndarray
    assert layer.weight.grad.dtype == np.float32
    np.testing.assert_allclose(layer.weight.grad, expected, rtol=1e-5, atol=1e-6)
    table = layer.weight.data.astype(np.float64)
    found = ea.compile(ea.grad(lambda w, i: np.sum(weights * F.embedding(i, w))))(table, PLACES)
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    right(lambda w: np.sum(weights * F.embedding(PLACES, w) ** 3), table)


@pytest.mark.parametrize("padding", [4, -1])
def test_the_padding_has_no_derivative(padding: int) -> None:
    layer = nn.Embedding(5, 3, padding_idx=padding, dtype=np.float64, rng=0)
    assert layer.padding_idx == 4
    np.testing.assert_array_equal(layer.weight.data[4], 0)
    assert np.all(layer.weight.data[:4] != 0)
    layer.weight = layer.weight.data + 1
    np.testing.assert_array_equal(layer(PLACES).numpy(), layer.weight.data[PLACES])
    weights, values = cotangent(2, 3, 3), layer.arrays()

    def f(values: Any) -> Any:
        return np.sum(weights * layer.apply(values, PLACES) ** 2)

    expected = np.zeros((5, 3))
    np.add.at(expected, PLACES, 2 * weights * values["weight"][PLACES])
    expected[4] = 0
    for gradient in (ea.grad(f)(values), ea.compile(ea.grad(f))(values)):
        np.testing.assert_allclose(gradient["weight"], expected, rtol=1e-14)
    hessian = ea.hessian(f)(values)["weight"]["weight"].reshape(15, 15)
    assert np.count_nonzero(hessian) == 6
    assert not hessian[12:].any()
    assert repr(layer).partition("  # ")[0] == "Embedding(5, 3, padding_idx=4)"


def test_the_table_is_normal() -> None:
    table = nn.Embedding(400, 50, rng=1).weight.data
    assert table.dtype == np.float32
    assert abs(table.mean()) < 4 / np.sqrt(table.size)
    assert abs(table.var() - 1) < 4 * np.sqrt(2 / table.size)


@pytest.mark.parametrize("padding", [None, 0])
def test_indices_that_are_refused(padding: int | None) -> None:
    layer = nn.Embedding(5, 3, padding_idx=padding, rng=0)
    compiled = ea.compile(lambda table, i: layer.apply({"weight": table}, i))
    for bad, text in ((PLACES + 1, "from 0 to 4, got 1 to 5"), (PLACES - 1, "from 0 to 4, got -1 to 3")):
        with pytest.raises(IndexError, match=text):
            layer(bad)
        with pytest.raises(IndexError, match="out of bounds"):
            compiled(layer.weight.data, bad)
    with pytest.raises(TypeError, match="float64"):
        layer(PLACES.astype(float))
    with pytest.raises(TypeError, match="bool"):
        layer(PLACES > 0)
    for wrong in (5, -6):
        with pytest.raises(IndexError, match="padding_idx of 5 rows"):
            nn.Embedding(5, 3, padding_idx=wrong)
    with pytest.raises(ea.ShapeError, match="table"):
        F.embedding(PLACES, np.ones(5))


@pytest.mark.parametrize("padding", [None, 0])
def test_corners(padding: int | None) -> None:
    layer = nn.Embedding(5, 3, padding_idx=padding, rng=0)
    assert layer(np.zeros((0, 2), int)).shape == (0, 2, 3)
    assert layer(np.int64(3)).shape == (3,)
    assert layer(PLACES.astype(np.uint8)).shape == (2, 3, 3)
    assert layer([0, 1]).shape == (2, 3)
    assert nn.Embedding(1, 1, padding, rng=0)(np.zeros(2, int)).shape == (2, 1)


@pytest.mark.parametrize("dtype", "bBhHiIlLqQ")
@pytest.mark.parametrize("padding", [None, -1])
def test_whole_numbers_of_every_dtype(dtype: str, padding: int | None) -> None:
    layer = nn.Embedding(300, 3, padding_idx=padding, rng=0)
    last = min(np.iinfo(dtype).max, 299)
    places = np.array([[0, 1], [7, last]], dtype)
    expected = layer.weight.data[places.astype(int)]
    np.testing.assert_array_equal(layer(places).numpy(), expected)
    compiled = ea.compile(lambda weight, i: F.embedding(i, weight, padding))
    np.testing.assert_array_equal(compiled(layer.weight.data, places), expected)
    if np.dtype(dtype).kind == "i":
        for call in (layer, lambda i: compiled(layer.weight.data, i)):
            with pytest.raises(IndexError):
                call(np.array([-1], dtype))
