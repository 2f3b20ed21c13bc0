"""Contractions that take in a large product slice by slice give what the whole product gives."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import einsumad as ea
from einsumad.planning import Plan, slices
from einsumad.planning.kernels import Contract, Group, Sliced

rng = np.random.default_rng(0)


def by_slices(f: Any, *arguments: Any) -> Plan:
    plan = ea.explain(f, *arguments).plan
    assert any(isinstance(step.kernel, Sliced) for step in plan.steps)
    return plan


def operands_of(notation: str, dtype: Any) -> list[Any]:
    sizes = dict(zip("onkmp", (4, 7, 3, 5, 2), strict=True))
    terms = notation.split("->", maxsplit=1)[0].split(",")
    return [rng.integers(-4, 5, [sizes[c] for c in term]).astype(dtype) for term in terms]


NOTATIONS = ["on,nk,nm->okm", "no,nk,nm->kom", "on,nk,onm->okm", "nk,on,nm->kmo", "onp,pk,npm->mko", "on,nk,n->ok"]
SLICED = ["on,nk,nm->okm", "no,nk,nm->kom", "nk,on,nm->kmo"]
"""Those in which one product is larger than all operands."""


@pytest.mark.parametrize("dtype", [float, np.float32, np.int64])
@pytest.mark.parametrize("notation", NOTATIONS)
def test_values_are_exact(notation: str, dtype: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(slices, "_SMALLEST_SLICE", 1)
    arrays = operands_of(notation, dtype)
    expected = np.einsum(notation, *arrays)
    found = ea.compile(lambda *xs: np.einsum(notation, *xs))(*arrays)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
    if notation in SLICED and dtype is float:
        by_slices(lambda *xs: np.einsum(notation, *xs), *arrays)


@pytest.mark.parametrize(
    "arrange", [np.asarray, np.asfortranarray, lambda x: x.T.copy().T, lambda x: x.repeat(2, 0)[::2]]
)
def test_any_order_in_memory(arrange: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(slices, "_SMALLEST_SLICE", 1)
    d, x, y = (arrange(array) for array in operands_of(NOTATIONS[0], float))

    def f(d: Any, x: Any, y: Any) -> Any:
        return np.einsum(NOTATIONS[0], d, np.exp(x), y.T.T)

    by_slices(f, d, x, y)
    np.testing.assert_allclose(ea.compile(f)(d, x, y), np.einsum(NOTATIONS[0], d, np.exp(x), y), rtol=1e-14)


def test_divisors_masks_and_what_is_spread(monkeypatch: Any) -> None:
    monkeypatch.setattr(slices, "_SMALLEST_SLICE", 1)
    d, x, y = operands_of(NOTATIONS[0], float)

    def f(d: Any, x: Any, y: Any) -> Any:
        weights = np.where(d > 0, 1 / (2 + d**2), 0) + np.zeros((4, 1))
        return np.einsum(NOTATIONS[0], weights, x, np.broadcast_to(y[:1], y.shape))

    weights = np.where(d > 0, 1 / (2 + d**2), 0)
    expected = np.einsum(NOTATIONS[0], weights, x, np.broadcast_to(y[:1], y.shape))
    np.testing.assert_allclose(ea.compile(f)(d, x, y), expected, rtol=1e-13)


@pytest.mark.whole_planner
def test_a_layer_has_no_product_larger_than_its_inputs() -> None:
    x, w = rng.normal(size=(2000, 20)), rng.normal(size=(20, 10))

    def loss(w: Any) -> Any:
        return np.sum(np.tanh(x @ w))

    plan = by_slices(ea.hessian(loss), w)
    assert max(prod(step.stored) for step in plan.steps) <= x.size
    assert plan.peak_bytes < 4 * x.nbytes
    y = np.tanh(x @ w)
    expected = np.einsum("no,nk,nm,op->komp", -2 * y * (1 - y**2), x, x, np.eye(10), optimize=True)
    np.testing.assert_allclose(ea.hessian(loss)(w), expected, rtol=1e-11, atol=1e-10)


@pytest.mark.whole_planner
def test_windows_are_copied_once() -> None:
    x, w = rng.normal(size=3000), rng.normal(size=(4, 6))

    def loss(x: Any, w: Any) -> Any:
        return np.sum(np.tanh(sliding_window_view(x, 6) @ w.T))

    by_slices(ea.hessian(loss, 1), x, w)
    view = sliding_window_view(x, 6)
    y = np.tanh(view @ w.T)
    expected = np.einsum("no,nk,nm,op->okpm", -2 * y * (1 - y**2), view, view, np.eye(4), optimize=True)
    np.testing.assert_allclose(ea.hessian(loss, 1)(x, w), expected, rtol=1e-11, atol=1e-10)


def test_small_products_stay_whole() -> None:
    x, w = rng.normal(size=(20, 3)), rng.normal(size=(3, 5))
    plan = ea.explain(ea.hessian(lambda w: np.sum(np.tanh(x @ w))), w).plan
    kernels = [type(step.kernel) for step in plan.steps]
    assert {Contract, Group}.issubset(kernels)
    assert Sliced not in kernels
