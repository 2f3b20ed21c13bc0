"""Convolution and pooling beside PyTorch on random configurations: outputs, and gradients of inputs and parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import einsumad as ea
from einsumad import nn

torch = pytest.importorskip("torch")
F = nn.functional
few = settings(max_examples=25, deadline=None)


def numbers(low: int, high: int) -> Any:
    """One number, or a pair."""
    one = st.integers(low, high)
    return one | st.tuples(one, one)


def agree(ours: Any, theirs: Any, x: np.ndarray, seed: int) -> None:
    """The two layers, which have parameters of the same names, give the same output and gradients."""
    state = {name: torch.tensor(np.array(array)) for name, array in ours.state_dict().items()}
    theirs.double().load_state_dict(state)
    image = torch.tensor(x, requires_grad=True)
    expected = theirs(image)
    c = np.random.default_rng(seed).normal(size=tuple(expected.shape))
    torch.sum(torch.tensor(c) * expected).backward()
    np.testing.assert_allclose(ours.apply(ours.arrays(), x), expected.detach().numpy(), rtol=1e-10, atol=1e-11)

    def f(x: Any, values: Any) -> Any:
        return np.sum(c * ours.apply(values, x))

    in_x, in_values = ea.grad(f, (0, 1))(x, ours.arrays())
    np.testing.assert_allclose(in_x, image.grad.numpy(), rtol=1e-9, atol=1e-10)
    for name, parameter in theirs.named_parameters():
        np.testing.assert_allclose(in_values[name], parameter.grad.numpy(), rtol=1e-9, atol=1e-10)


@few
@given(st.data())
def test_convolutions(data: Any) -> None:
    groups, seed = data.draw(st.sampled_from([1, 1, 2, 3])), data.draw(st.integers(0, 1000))
    channels = [groups * data.draw(st.integers(1, 2)) for _ in range(2)]
    options = {"stride": data.draw(numbers(1, 3)), "dilation": data.draw(numbers(1, 2)), "groups": groups}
    options |= {"padding": data.draw(numbers(0, 2)), "bias": data.draw(st.booleans())}
    kernel = data.draw(numbers(1, 3))
    size = data.draw(st.tuples(st.integers(5, 9), st.integers(5, 9)))
    x = np.random.default_rng(seed).normal(size=(data.draw(st.integers(1, 3)), channels[0], *size))
    agree(
        nn.Conv2d(*channels, kernel, dtype=float, rng=seed, **options),
        torch.nn.Conv2d(*channels, kernel, **options),
        x,
        seed,
    )


@few
@given(st.data())
def test_convolutions_of_one_axis(data: Any) -> None:
    groups, seed = data.draw(st.sampled_from([1, 2])), data.draw(st.integers(0, 1000))
    channels = [groups * data.draw(st.integers(1, 2)) for _ in range(2)]
    one = st.integers(1, 3)
    options = {"dilation": data.draw(st.integers(1, 2)), "groups": groups}
    options["padding"] = data.draw(st.sampled_from([0, 1, 2, "same", "valid"]))
    options["stride"] = 1 if options["padding"] == "same" else data.draw(one)
    kernel = data.draw(one)
    x = np.random.default_rng(seed).normal(size=(2, channels[0], data.draw(st.integers(5, 9))))
    agree(
        nn.Conv1d(*channels, kernel, dtype=float, rng=seed, **options),
        torch.nn.Conv1d(*channels, kernel, **options),
        x,
        seed,
    )


@few
@given(st.data())
def test_transposed_convolutions(data: Any) -> None:
    groups, seed = data.draw(st.sampled_from([1, 1, 2])), data.draw(st.integers(0, 1000))
    channels = [groups * data.draw(st.integers(1, 2)) for _ in range(2)]
    pair = st.tuples(st.integers(1, 3), st.integers(1, 3))
    stride, kernel, dilation = data.draw(pair), data.draw(pair), data.draw(st.integers(1, 2))
    more = tuple([data.draw(st.integers(0, max(s, dilation) - 1)) for s in stride])
    padding = data.draw(numbers(0, 2))
    options = {"stride": stride, "padding": padding, "output_padding": more, "groups": groups, "dilation": dilation}
    x = np.random.default_rng(seed).normal(size=(2, channels[0], data.draw(st.integers(1, 4)), 4))
    cut = padding if isinstance(padding, tuple) else (padding, padding)
    sizes = [
        (n - 1) * s - 2 * p + dilation * (k - 1) + 1 + m
        for n, s, p, k, m in zip(x.shape[2:], stride, cut, kernel, more, strict=True)
    ]
    assume(min(sizes) > 0)
    ours = nn.ConvTranspose2d(*channels, kernel, dtype=float, rng=seed, **options)
    agree(ours, torch.nn.ConvTranspose2d(*channels, kernel, **options), x, seed)


@few
@given(st.data())
def test_pooling(data: Any) -> None:
    """Inputs have no ties, at which PyTorch gives all of the derivative to one entry."""
    kernel, stride = data.draw(numbers(1, 3)), data.draw(st.none() | numbers(1, 3))
    least = min(kernel) if isinstance(kernel, tuple) else kernel
    options = {
        "stride": stride,
        "padding": data.draw(st.integers(0, least // 2)),
        "ceil_mode": data.draw(st.booleans()),
    }
    shape = (2, 2, data.draw(st.integers(6, 8)), data.draw(st.integers(6, 8)))
    x = (
        np.random.default_rng(data.draw(st.integers(0, 1000)))
        .permutation(np.arange(float(np.prod(shape))))
        .reshape(shape)
    )
    include = data.draw(st.booleans())
    agree(
        nn.AvgPool2d(kernel, count_include_pad=include, **options),
        torch.nn.AvgPool2d(kernel, count_include_pad=include, **options),
        x,
        0,
    )
    options["dilation"] = data.draw(st.integers(1, 2))
    agree(nn.MaxPool2d(kernel, **options), torch.nn.MaxPool2d(kernel, **options), x, 0)


def test_parameters_start_in_the_same_range() -> None:
    for ours, theirs in (
        (nn.Conv2d(6, 400, 3, groups=2, rng=0), torch.nn.Conv2d(6, 400, 3, groups=2)),
        (nn.ConvTranspose2d(400, 6, 3, groups=2, rng=0), torch.nn.ConvTranspose2d(400, 6, 3, groups=2)),
    ):
        assert {n: p.shape for n, p in ours.named_parameters()} == {
            n: tuple(p.shape) for n, p in theirs.named_parameters()
        }
        bound = theirs.weight.abs().max().item()
        np.testing.assert_allclose(np.abs(ours.weight.data).max(), bound, rtol=0.01)
