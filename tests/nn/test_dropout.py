"""Dropout: what is dropped and how often, where masks come from, and that they stay while derivatives are checked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad import nn
from einsumad.nn.context import Given, Recorded, calling
from tests.nn.derivatives import cotangent, right

F = nn.functional
X = np.random.default_rng(2).normal(size=(40, 50))


@pytest.mark.parametrize("p", [0.1, 0.5, 0.8])
def test_what_is_kept_is_scaled(p: float) -> None:
    y = nn.Dropout(p, rng=0)(X)
    kept = y != 0
    np.testing.assert_allclose(y[kept], X[kept] / (1 - p), rtol=1e-14)
    assert abs(np.mean(kept) - (1 - p)) < 4 * np.sqrt(p * (1 - p) / X.size)


def test_no_and_all_entries() -> None:
    np.testing.assert_array_equal(nn.Dropout(0.0)(X), X)
    np.testing.assert_array_equal(nn.Dropout(1.0)(X), 0)
    np.testing.assert_array_equal(ea.grad(lambda x: np.sum(F.dropout(x, 1.0)))(X), 0)
    layer = nn.Dropout(0.5, rng=0).eval()
    state = layer.generator.bit_generator.state
    np.testing.assert_array_equal(layer(X), X)
    assert layer.generator.bit_generator.state == state
    assert nn.Dropout(0.5)(X[:0]).shape == (0, 50)
    for p in (-0.1, 1.1, np.nan):
        with pytest.raises(ValueError, match="probability"):
            nn.Dropout(p)
    with pytest.raises(TypeError, match="int64"):
        F.dropout(np.arange(3))
    with pytest.raises(TypeError, match="default_rng"):
        nn.Dropout(0.5, rng="seed")  # type: ignore[arg-type]
    assert repr(nn.Dropout(0.3)) == "Dropout(p=0.3)"


def test_c10_the_mask_is_fixed_while_derivatives_are_checked() -> None:
    """Row C10 (PT#114333; mxnet#16705, #15662; cs249r PR#1869; Knet#656; chainer#937)."""
    net = nn.Sequential(nn.Linear(4, 6, dtype=np.float64, rng=0), nn.Dropout(0.5, rng=1), nn.Tanh(), nn.Dropout(0.3))
    x, weights = X[:3, :4], cotangent(3, 6)
    before, own = net[1].generator.bit_generator.state, nn.random.generator_of(None).bit_generator.state

    def f(values: Any, x: Any) -> Any:
        return np.sum(weights * net.apply(values, x))

    assert f(net.arrays(), x) == f(net.arrays(), x)
    right(f, net.arrays(), x, entries=6, value=False)
    assert net[1].generator.bit_generator.state == before
    assert nn.random.generator_of(None).bit_generator.state == own


def test_the_backward_pass_has_the_mask_of_the_forward_pass() -> None:
    x = ea.tensor(X, requires_grad=True)
    y = nn.Dropout(0.5, rng=0)(x)
    np.sum(y).backward()
    np.testing.assert_array_equal(x.grad, np.where(y.numpy() != 0, 2.0, 0.0))


def test_apply_has_the_mask_that_comes_next() -> None:
    layer = nn.Dropout(0.5, rng=7)
    first, again = layer.apply({}, X), layer.apply({}, X)
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(layer(X), first)
    assert np.any(layer(X) != first)
    given = layer.apply({}, X, rng=np.random.default_rng(7))
    np.testing.assert_array_equal(given, first)


def test_masks_do_not_depend_on_the_dtype() -> None:
    single = nn.Dropout(0.5, rng=3)(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, nn.Dropout(0.5, rng=3)(X), rtol=1e-6)


def test_masks_of_a_compiled_plan_are_drawn_before_each_call() -> None:
    """What is drawn while a function is traced is noted, and given to the plan in turn."""
    layer, other = nn.Dropout(0.5, rng=4), nn.Dropout(0.5, rng=4)
    recorded = Recorded()
    with calling({}, recorded):
        layer(layer(X))

    @ea.compile
    def plan(x: Any, masks: Any) -> Any:
        with calling({}, Given(masks)):
            return layer(layer(x))

    for _ in range(3):
        masks = [how(generator) for generator, how in recorded.requests]
        np.testing.assert_array_equal(plan(X, masks), other(other(X)))


def test_c10_the_global_random_state_is_neither_seeded_nor_used() -> None:
    """Row C10: layers, initialisers, masks and seeds leave ``np.random`` alone."""
    np.random.seed(0)  # noqa: NPY002 (whether it stays)
    before = np.random.get_state()[1].copy()  # type: ignore[index, union-attr]  # noqa: NPY002
    nn.manual_seed(5)
    net = nn.Sequential(nn.Linear(4, 6), nn.Dropout(0.5), nn.Linear(6, 2, rng=3))
    nn.Embedding(3, 2)
    for make in (nn.init.xavier_uniform, nn.init.xavier_normal, nn.init.he_uniform, nn.init.he_normal):
        make((3, 4))
    nn.init.orthogonal((3, 4))
    net(X[:, :4].astype(np.float32))
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # type: ignore[index]  # noqa: NPY002
    nn.manual_seed(5)
    again = nn.Sequential(nn.Linear(4, 6), nn.Dropout(0.5), nn.Linear(6, 2, rng=3))
    np.testing.assert_array_equal(net[0].weight.data, again[0].weight.data)
