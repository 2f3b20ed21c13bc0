"""Normalisations, embedding, activations and initialisers beside PyTorch's, on random configurations."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402 (where torch is)
from hypothesis import strategies as st  # noqa: E402

from einsumad import nn  # noqa: E402
from tests.nn.beside_torch import compare, near, randomised, take_state  # noqa: E402

DTYPES = st.sampled_from([np.float64, np.float64, np.float32])
SEEDS = st.integers(0, 2**16)
few = settings(max_examples=20, deadline=None)


def torch_dtype(dtype: Any) -> Any:
    return torch.float64 if dtype == np.float64 else torch.float32


@few
@given(SEEDS, DTYPES, st.sampled_from([0, 1, 2]), st.data())
def test_batch_norm(seed: int, dtype: Any, rank: int, data: Any) -> None:
    rng = np.random.default_rng(seed)
    rows, channels = int(rng.integers(2, 7)), int(rng.integers(1, 6))
    options = {
        "eps": data.draw(st.sampled_from([1e-5, 1e-2])),
        "momentum": data.draw(st.sampled_from([0.1, 0.7, None])),
        "affine": data.draw(st.booleans()),
        "track_running_stats": data.draw(st.booleans()),
    }
    name = "BatchNorm2d" if rank == 2 else "BatchNorm1d"
    ours = randomised(getattr(nn, name)(channels, **options, dtype=dtype), rng)
    theirs = getattr(torch.nn, name)(channels, **options, dtype=torch_dtype(dtype))
    take_state(ours, theirs)
    shape = (rows, channels, *rng.integers(1, 4, rank))
    for _ in range(3):
        x = (rng.normal(size=shape) * rng.uniform(0.5, 2) + rng.normal()).astype(dtype)
        near(ours(x) if not options["affine"] else ours(x).numpy(), theirs(torch.tensor(x)), "output")
        for key, array in theirs.state_dict().items():
            near(ours.state_dict()[key], array, key)
    x = rng.normal(size=shape).astype(dtype)
    for mode in (False, True):
        theirs.zero_grad()
        compare(ours.train(mode), theirs.train(mode), [x], seed=seed)


@few
@given(SEEDS, DTYPES, st.lists(st.integers(1, 4), min_size=1, max_size=2), st.booleans(), st.booleans())
def test_layer_norm(seed: int, dtype: Any, sizes: list[int], affine: bool, bias: bool) -> None:
    rng = np.random.default_rng(seed)
    ours = randomised(nn.LayerNorm(sizes, 1e-3, affine, bias, dtype=dtype), rng)
    theirs = torch.nn.LayerNorm(sizes, 1e-3, affine, bias, dtype=torch_dtype(dtype))
    take_state(ours, theirs)
    compare(ours, theirs, [rng.normal(size=(*rng.integers(1, 4, 2), *sizes)).astype(dtype)], seed=seed)


@few
@given(SEEDS, DTYPES, st.lists(st.integers(1, 4), min_size=1, max_size=2), st.booleans(), st.booleans())
def test_rms_norm(seed: int, dtype: Any, sizes: list[int], affine: bool, own: bool) -> None:
    rng = np.random.default_rng(seed)
    eps = 1e-3 if own else None
    ours = randomised(nn.RMSNorm(sizes, eps, affine, dtype=dtype), rng)
    theirs = torch.nn.RMSNorm(sizes, eps, affine, dtype=torch_dtype(dtype))
    take_state(ours, theirs)
    compare(ours, theirs, [rng.normal(size=(*rng.integers(1, 4, 2), *sizes)).astype(dtype)], seed=seed)


@few
@given(SEEDS, DTYPES, st.integers(1, 6), st.booleans(), st.data())
def test_embedding(seed: int, dtype: Any, rows: int, padded: bool, data: Any) -> None:
    rng = np.random.default_rng(seed)
    dim = int(rng.integers(1, 5))
    padding = data.draw(st.integers(-rows, rows - 1)) if padded else None
    ours = nn.Embedding(rows, dim, padding, dtype=dtype, rng=seed)
    theirs = torch.nn.Embedding(rows, dim, padding, dtype=torch_dtype(dtype))
    randomised(ours, rng)
    take_state(ours, theirs)
    indices = rng.integers(0, rows, rng.integers(1, 5, rng.integers(0, 3)))
    weights = rng.normal(size=(*indices.shape, dim)).astype(dtype)
    expected = theirs(torch.tensor(indices))
    (expected * torch.tensor(weights)).sum().backward()
    found = ours(indices)
    near(found.numpy(), expected, "rows")
    np.sum(weights * found).backward()
    near(ours.weight.grad, theirs.weight.grad, "table")


ACTIVATIONS = st.one_of(
    st.sampled_from([("ReLU", ()), ("SiLU", ()), ("Sigmoid", ()), ("Tanh", ()), ("GELU", ()), ("Identity", ())]),
    st.just(("GELU", ("tanh",))),
    st.tuples(st.just("LeakyReLU"), st.tuples(st.sampled_from([0.01, 0.3, 0.0]))),
    st.tuples(st.just("ELU"), st.tuples(st.sampled_from([1.0, 0.3, 2.0]))),
    st.tuples(st.just("Softplus"), st.tuples(st.sampled_from([1.0, 0.5, 3.0]))),
    st.tuples(st.just("Softplus"), st.tuples(st.sampled_from([1.0, 3.0]), st.sampled_from([0.5, 20.0]))),
    st.tuples(st.sampled_from(["Softmax", "LogSoftmax"]), st.tuples(st.sampled_from([0, 1, 2, -1, -2]))),
)


@settings(max_examples=80, deadline=None)
@given(SEEDS, DTYPES, ACTIVATIONS, st.sampled_from([1.0, 10.0]))
def test_activations(seed: int, dtype: Any, which: tuple[str, tuple[Any, ...]], scale: float) -> None:
    name, options = which
    x = np.random.default_rng(seed).normal(size=(2, 3, 2)) * scale
    x.flat[0] = 0
    compare(getattr(nn, name)(*options), getattr(torch.nn, name)(*options), [x.astype(dtype)], seed=seed)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.integers(1, 5), min_size=2, max_size=4),
    st.sampled_from(["fan_in", "fan_out"]),
    st.sampled_from([0.0, 0.2, 1.0]),
    st.sampled_from(["leaky_relu", "relu", "linear", "tanh", "selu", "sigmoid", "conv2d", "conv_transpose3d"]),
)
def test_formulas_of_initialisers(shape: list[int], mode: Any, slope: float, nonlinearity: str) -> None:
    """Bounds and deviations, from what a generator is asked for, beside PyTorch's fans and gains."""
    fan_in, fan_out = torch.nn.init._calculate_fan_in_and_fan_out(torch.empty(shape))
    assert nn.init.fans(tuple(shape)) == (fan_in, fan_out)
    gain = torch.nn.init.calculate_gain(nonlinearity, slope)
    assert nn.init.calculate_gain(nonlinearity, slope) == pytest.approx(gain, rel=1e-15)
    assert nn.init.calculate_gain(nonlinearity) == pytest.approx(torch.nn.init.calculate_gain(nonlinearity), rel=1e-15)
    big = (2000 // (shape[1] * int(np.prod(shape[2:]))) * 10, *shape[1:])
    tensor = torch.empty(big, dtype=torch.float64)
    pairs = [
        (nn.init.xavier_uniform(big, 1.5, rng=0, dtype=np.float64), torch.nn.init.xavier_uniform_(tensor.clone(), 1.5)),
        (nn.init.xavier_normal(big, 1.5, rng=0, dtype=np.float64), torch.nn.init.xavier_normal_(tensor.clone(), 1.5)),
        (
            nn.init.he_uniform(big, slope, mode, nonlinearity, rng=0, dtype=np.float64),
            torch.nn.init.kaiming_uniform_(tensor.clone(), slope, mode, nonlinearity),
        ),
        (
            nn.init.he_normal(big, slope, mode, nonlinearity, rng=0, dtype=np.float64),
            torch.nn.init.kaiming_normal_(tensor.clone(), slope, mode, nonlinearity),
        ),
    ]
    for found, expected in pairs:
        assert found.std() / float(expected.std()) == pytest.approx(1, abs=8 / sqrt(found.size))
    for found, expected in (pairs[0], pairs[2]):
        assert np.abs(found).max() / float(expected.abs().max()) == pytest.approx(1, abs=0.01)


def test_masks_of_dropout_are_as_frequent() -> None:
    x = np.ones((300, 300), np.float32)
    for p in (0.1, 0.5, 0.9):
        found, expected = nn.Dropout(p, rng=0)(x), torch.nn.Dropout(p)(torch.tensor(x)).numpy()
        np.testing.assert_allclose(np.unique(found), np.unique(expected), rtol=1e-6)
        assert np.mean(found == 0) == pytest.approx(np.mean(expected == 0), abs=0.02)
