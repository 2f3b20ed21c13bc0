"""Normalisations: values by hand, running statistics, and derivatives with random cotangents."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad import nn
from tests.nn.derivatives import cotangent, right

F = nn.functional
rng = np.random.default_rng(3)


def normalised(x: np.ndarray, axes: tuple[int, ...], eps: float = 1e-5) -> np.ndarray:
    centred = x - x.mean(axis=axes, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True) + eps)


def changed(layer: nn.Module) -> nn.Module:
    """The layer with parameters that are no ones and zeros."""
    for parameter in layer.parameters():
        parameter.data = rng.normal(size=parameter.shape)
    return layer


SHAPES = [(nn.BatchNorm1d, (4, 3)), (nn.BatchNorm1d, (2, 3, 4)), (nn.BatchNorm2d, (2, 3, 2, 2))]


@pytest.mark.parametrize(("kind", "shape"), SHAPES)
def test_batch_norm_by_hand(kind: Any, shape: tuple[int, ...]) -> None:
    layer = changed(kind(3, eps=1e-3, dtype=np.float64))
    x, axes, along = rng.normal(size=shape), (0, *range(2, len(shape))), (1, 3) + (1,) * (len(shape) - 2)
    w, b = layer.weight.data.reshape(along), layer.bias.data.reshape(along)
    count = x.size // 3
    for step in range(1, 4):
        means, variances = x.mean(axis=axes), x.var(axis=axes) * count / (count - 1)
        expected = 0.9 * layer.running_mean + 0.1 * means, 0.9 * layer.running_var + 0.1 * variances
        np.testing.assert_allclose(layer(x).numpy(), normalised(x, axes, 1e-3) * w + b, rtol=1e-11, atol=1e-13)
        np.testing.assert_allclose(layer.running_mean, expected[0], rtol=1e-13)
        np.testing.assert_allclose(layer.running_var, expected[1], rtol=1e-13)
        assert layer.num_batches_tracked == step
        x = x + 1
    layer.eval()
    scale = np.sqrt(layer.running_var.reshape(along) + 1e-3)
    np.testing.assert_allclose(layer(x).numpy(), (x - layer.running_mean.reshape(along)) / scale * w + b, rtol=1e-12)
    assert layer.num_batches_tracked == 3


@pytest.mark.parametrize(("kind", "shape"), SHAPES)
def test_c8_derivatives_of_batch_norm(kind: Any, shape: tuple[int, ...]) -> None:
    """Row C8 (torch/nn#744; Odyssey#3174): a random cotangent, statistics that stay, and evaluation by itself."""
    layer = changed(kind(3, dtype=np.float64))
    layer(rng.normal(size=shape))
    x, weights, before = rng.normal(size=shape), cotangent(*shape), layer.state_dict()

    def f(values: Any, x: Any) -> Any:
        return np.sum(weights * layer.apply(values, x))

    right(f, layer.arrays(), x, entries=6)
    gradient = ea.grad(f, argnums=1)(layer.arrays(), x)
    assert np.max(np.abs(gradient)) > 0.1
    of_sum = ea.grad(lambda x: np.sum(layer.apply(layer.arrays(), x)))(x)
    np.testing.assert_allclose(of_sum, 0, atol=1e-12)
    layer.eval()
    right(f, layer.arrays(), x, entries=6)
    assert np.max(np.abs(ea.grad(f, argnums=1)(layer.arrays(), x) - gradient)) > 0.01
    for name, array in layer.state_dict().items():
        np.testing.assert_array_equal(array, before[name])


def test_momentum_none_is_the_average_of_all_batches() -> None:
    layer = nn.BatchNorm1d(2, momentum=None, dtype=np.float64)
    batches = [rng.normal(size=(5, 2)) for _ in range(3)]
    for x in batches:
        layer(x)
    np.testing.assert_allclose(layer.running_mean, np.mean([x.mean(axis=0) for x in batches], axis=0), rtol=1e-13)
    np.testing.assert_allclose(layer.running_var, np.mean([x.var(axis=0, ddof=1) for x in batches], axis=0), rtol=1e-13)
    layer.reset_running_stats()
    assert (layer.num_batches_tracked, *layer.running_mean, *layer.running_var) == (0, 0, 0, 1, 1)


@pytest.mark.parametrize("momentum", [0.1, None])
def test_statistics_in_a_compiled_step(momentum: float | None) -> None:
    """All buffers go through one plan, in single precision, as calls change them."""
    layer, other = nn.BatchNorm1d(2, momentum=momentum), nn.BatchNorm1d(2, momentum=momentum)
    step = ea.compile(layer.apply_and_update)
    buffers: Any = {name: buffer.data for name, buffer in layer.named_buffers()}
    for _ in range(3):
        x = rng.normal(size=(4, 2)).astype(np.float32)
        y, buffers = step({**layer.arrays(), **buffers}, x)
        np.testing.assert_allclose(y, other(x).numpy(), rtol=1e-5, atol=1e-6)
        assert y.dtype == np.float32
        for name, buffer in other.named_buffers():
            np.testing.assert_allclose(buffers[name], buffer.data, rtol=1e-5, atol=1e-6)
            assert buffers[name].dtype == buffer.data.dtype
    assert layer.num_batches_tracked == 0


def test_batch_norm_without_statistics_or_parameters() -> None:
    layer, x = nn.BatchNorm1d(3, affine=False, track_running_stats=False), rng.normal(size=(4, 3))
    assert not list(layer.parameters())
    assert not layer.state_dict()
    for mode in (True, False):
        np.testing.assert_allclose(layer.train(mode)(x), normalised(x, (0,)), rtol=1e-12)
    assert repr(layer) == "BatchNorm1d(3, affine=False, track_running_stats=False)"


def test_corners_of_batch_norm() -> None:
    layer = nn.BatchNorm1d(3)
    for shape in ((1, 3), (1, 3, 1)):
        with pytest.raises(ValueError, match="more than one value"):
            layer(np.ones(shape, np.float32))
    for shape in ((0, 3), (0, 3, 4), (2, 3, 0)):
        assert layer(np.ones(shape, np.float32)).shape == shape
    assert layer.num_batches_tracked == 0
    np.testing.assert_array_equal(layer.eval()(np.ones((1, 3), np.float32)).numpy().shape, (1, 3))
    np.testing.assert_array_equal(layer.train()(np.full((4, 3), 7, np.float32)).numpy(), 0)
    for shape in ((4, 2), (4,), (4, 3, 2, 2)):
        with pytest.raises(ea.ShapeError, match=r"BatchNorm1d\(3\) takes inputs \(n, 3\)"):
            layer(np.ones(shape, np.float32))
    with pytest.raises(ea.ShapeError, match="height"):
        nn.BatchNorm2d(3)(np.ones((4, 3), np.float32))
    with pytest.raises(ValueError, match="running_mean and running_var are needed"):
        F.batch_norm(np.ones((2, 3)), None, None)
    with pytest.raises(ea.ShapeError, match="weight of 3 channels"):
        F.batch_norm(np.ones((2, 3)), None, None, np.ones(2), training=True)


def test_large_means_lose_no_more_than_they_have_to() -> None:
    x = (1e6 + rng.normal(size=(16, 2))).astype(np.float64)
    expected = normalised((x - 1e6), (0,))
    np.testing.assert_allclose(ea.compile(nn.BatchNorm1d(2, affine=False).apply)({}, x), expected, rtol=1e-8)


def test_a_module_used_twice_and_its_statistics() -> None:
    layer = nn.BatchNorm1d(2, dtype=np.float64)

    class Twice(nn.Module):
        def __init__(self) -> None:
            self.norm = layer

        def forward(self, x: Any) -> Any:
            return self.norm(2 * self.norm(x) + 1)

    x = rng.normal(size=(4, 2))
    Twice()(x)
    assert layer.num_batches_tracked == 2
    np.testing.assert_allclose(layer.running_mean, 0.9 * 0.1 * x.mean(axis=0) + 0.1 * 1, rtol=1e-6)


@pytest.mark.parametrize(("sizes", "axes"), [(4, (-1,)), ((3, 4), (-2, -1)), ([4], (-1,))])
def test_layer_norm(sizes: Any, axes: tuple[int, ...]) -> None:
    layer, x = changed(nn.LayerNorm(sizes, eps=1e-3, dtype=np.float64)), rng.normal(size=(2, 3, 4))
    expected = normalised(x, axes, 1e-3) * layer.weight.data + layer.bias.data
    np.testing.assert_allclose(layer(x).numpy(), expected, rtol=1e-12, atol=1e-14)
    weights = cotangent(2, 3, 4)
    right(lambda values, x: np.sum(weights * layer.apply(values, x)), layer.arrays(), x, entries=5)


@pytest.mark.parametrize(("sizes", "axes"), [(4, (-1,)), ((3, 4), (-2, -1))])
def test_rms_norm(sizes: Any, axes: tuple[int, ...]) -> None:
    layer, x = changed(nn.RMSNorm(sizes, dtype=np.float64)), rng.normal(size=(2, 3, 4))
    root = np.sqrt(np.mean(x**2, axis=axes, keepdims=True) + np.finfo(np.float64).eps)
    np.testing.assert_allclose(layer(x).numpy(), x / root * layer.weight.data, rtol=1e-13)
    weights = cotangent(2, 3, 4)
    right(lambda values, x: np.sum(weights * layer.apply(values, x)), layer.arrays(), x, entries=5)


def test_corners_of_layers() -> None:
    names = {
        nn.LayerNorm(3): ["weight", "bias"],
        nn.LayerNorm(3, bias=False): ["weight"],
        nn.LayerNorm(3, elementwise_affine=False): [],
        nn.RMSNorm(3): ["weight"],
        nn.RMSNorm(3, 1e-3, False): [],
    }
    for layer, expected in names.items():
        assert list(layer.state_dict()) == expected
        assert layer(np.ones((0, 3), np.float32)).shape == (0, 3)
        x = rng.normal(size=(2, 3)).astype(np.float32)
        assert ea.compile(layer.apply)(layer.arrays(), x).dtype == np.float32
        with pytest.raises(ea.ShapeError, match="end in them"):
            layer(np.ones((3, 2), np.float32))
        assert repr(layer).startswith(f"{type(layer).__name__}((3,), eps=")
    with pytest.raises(ea.ShapeError, match="weight has shape"):
        F.layer_norm(np.ones((2, 3)), 3, np.ones(2))
    np.testing.assert_array_equal(nn.LayerNorm(1, elementwise_affine=False)(np.array([[3.0], [5.0]])), 0)
