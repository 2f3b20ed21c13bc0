"""Convolution and its transpose: against loops, derivatives to order 2 in all modes, layers, and what is refused."""

# ruff: noqa: PLR0917 (the options of a convolution)

from __future__ import annotations

from math import prod, sqrt
from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad import nn
from einsumad.planning.kernels import Pad, Window
from einsumad.testing import check_derivatives
from tests.nn.loops import convolved, spread

F = nn.functional
rng = np.random.default_rng(0)
X = rng.normal(size=(2, 4, 7, 6))
BIAS = rng.normal(size=6)
CASES = [
    # kernel, stride, padding, dilation, groups
    ((3, 2), (1, 1), (0, 0), (1, 1), 1),
    ((3, 3), (2, 1), (1, 2), (1, 1), 2),
    ((2, 3), (1, 2), (0, 1), (2, 1), 1),
    ((1, 1), (2, 2), (0, 0), (1, 1), 4),
    ((3, 2), (2, 3), (2, 1), (2, 3), 2),
    ((7, 6), (1, 1), (0, 0), (1, 1), 1),
]


def outputs(groups: int) -> int:
    return 6 if groups < 4 else 4


@pytest.mark.parametrize(("kernel", "stride", "padding", "dilation", "groups"), CASES)
def test_of_images(kernel: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> None:
    w = rng.normal(size=(outputs(groups), 4 // groups, *kernel))
    b = BIAS[: outputs(groups)]
    expected = convolved(X, w, stride, padding, padding, dilation, groups) + b[:, None, None]

    def f(x: Any, w: Any, b: Any) -> Any:
        return F.conv2d(x, w, b, stride, padding, dilation, groups)

    np.testing.assert_allclose(f(X, w, b), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(ea.compile(f)(X, w, b), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(f(X[0], w, b), expected[0], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("kernel", "stride", "padding", "dilation", "groups"), CASES)
@pytest.mark.parametrize("behind", [0, 1])
def test_transposed(kernel: Any, stride: Any, padding: Any, dilation: Any, groups: int, behind: int) -> None:
    """Against loops, and against the convolution that it is the transpose of: ``<conv(y), x> = <y, transposed(x)>``."""
    w = rng.normal(size=(4, outputs(groups) // groups, *kernel))
    more = tuple([min(behind, max(s, d) - 1) for s, d in zip(stride, dilation, strict=True)])
    x = X[:, :, :4, :3]
    expected = spread(x, w, stride, padding, more, dilation, groups)

    def f(x: Any, w: Any) -> Any:
        return F.conv_transpose2d(x, w, None, stride, padding, more, groups, dilation)

    np.testing.assert_allclose(f(x, w), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(ea.compile(f)(x, w), expected, rtol=1e-12, atol=1e-12)
    y = rng.normal(size=expected.shape)
    back = F.conv2d(y, w, None, stride, padding, dilation, groups)[:, :, :4, :3]
    np.testing.assert_allclose(np.sum(back * x), np.sum(y * expected), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize(("size", "dilation"), [(1, 1), (2, 1), (3, 1), (4, 1), (2, 3), (4, 2)])
def test_same_size(size: int, dilation: int) -> None:
    """Of an odd number of zeros the last one stands behind."""
    w = rng.normal(size=(6, 4, size, 1))
    total = dilation * (size - 1)
    found = F.conv2d(X, w, padding="same", dilation=dilation)
    assert found.shape == (2, 6, 7, 6)
    around = (total // 2, 0), (total - total // 2, 0)
    np.testing.assert_allclose(found, convolved(X, w, (1, 1), *around, (dilation, 1), 1), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(F.conv2d(X, w, padding="valid"), F.conv2d(X, w))


def test_of_one_axis_with_stride_dilation_and_padding() -> None:
    """Case C2 of the reported ones: PyTorch issue 15501."""
    x = np.array([[[7.0, 3.0]], [[3.0, 2.0]]])
    w = np.array([[[1.5, -0.5]], [[2.0, 1.0]]])

    def f(w: Any) -> Any:
        return F.conv1d(x, w, padding=1, stride=2, dilation=2)

    np.testing.assert_array_equal(f(w), [[[-1.5], [3.0]], [[-1.0], [2.0]]])
    np.testing.assert_array_equal(ea.grad(lambda w: np.sum(f(w)))(w), [[[0, 5]], [[0, 5]]])


def test_products_with_the_hessian_are_convolutions_again() -> None:
    """Case C4 of the reported ones: PyTorch pull request 54840 and issue 1643, a second backward pass of 10 times."""
    x, w, v = rng.normal(size=(8, 4, 16, 16)), rng.normal(size=(8, 4, 3, 3)), rng.normal(size=(8, 4, 3, 3))

    def f(w: Any) -> Any:
        return np.sum(np.tanh(F.conv2d(x, w)))

    gradient, product = ea.explain(ea.grad(f), w).plan, ea.explain(ea.hvp(f), w, v).plan
    assert product.cost.flops < 4 * gradient.cost.flops
    h = 1e-5
    slope = (ea.grad(f)(w + h * v) - ea.grad(f)(w - h * v)) / (2 * h)
    np.testing.assert_allclose(ea.hvp(f)(w, v), slope, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "x", "w", "options"),
    [
        ("conv1d", (2, 2, 5), (2, 2, 2), {}),
        ("conv1d", (1, 2, 6), (2, 1, 2), {"stride": 2, "padding": 1, "dilation": 2, "groups": 2}),
        ("conv2d", (2, 1, 3, 3), (2, 1, 2, 2), {}),
        ("conv2d", (1, 2, 4, 3), (2, 1, 2, 2), {"stride": (2, 1), "padding": (1, 0), "groups": 2}),
        ("conv2d", (1, 1, 3, 3), (1, 1, 2, 2), {"padding": "same"}),
        ("conv_transpose2d", (1, 2, 2, 2), (2, 1, 2, 2), {"stride": 2, "padding": 1, "output_padding": 1}),
        ("conv_transpose2d", (1, 2, 2, 2), (2, 1, 2, 1), {"groups": 2, "dilation": (2, 1)}),
    ],
)
def test_derivatives(name: str, x: Any, w: Any, options: dict[str, Any]) -> None:
    """To order 2 in all modes, for the inputs, the weight and the bias, with a random cotangent."""
    function = getattr(F, name)
    images, weight = rng.normal(size=x), rng.normal(size=w)
    bias = rng.normal(size=w[1] * options.get("groups", 1) if name == "conv_transpose2d" else w[0])
    c = rng.normal(size=function(images, weight, bias, **options).shape)

    def f(x: Any, w: Any, b: Any) -> Any:
        return np.sum(c * np.tanh(function(x, w, b, **options)))

    laws = ["mode agreement", "symmetry", "adjoint identity"]
    check_derivatives(f, images, weight, bias, order=2, entries=8, properties=laws, minimal=False).raise_if_wrong()


@pytest.mark.parametrize("mode", ["forward", "reverse", "cross-country"])
def test_modes_agree(mode: Any) -> None:
    x, w, c = rng.normal(size=(2, 2, 4, 4)), rng.normal(size=(2, 1, 2, 2)), rng.normal(size=(2, 2, 2, 2))

    def f(w: Any) -> Any:
        return np.sum(c * np.tanh(F.conv2d(x, w, stride=2, padding=1, groups=2)[:, :, :2, :2]))

    np.testing.assert_allclose(ea.hessian(f, mode=mode)(w), ea.hessian(f)(w), rtol=1e-11, atol=1e-13)


def test_no_copy_is_larger_than_the_windows() -> None:
    x, w = rng.normal(size=(16, 3, 12, 12)), rng.normal(size=(5, 3, 3, 3))
    windows = 16 * 3 * 10 * 10 * 9
    for argnums in (0, 1, (0, 1)):
        plan = ea.explain(ea.grad(lambda x, w: np.sum(np.tanh(F.conv2d(x, w))), argnums), x, w).plan
        assert max([prod(step.shape) for step in plan.steps if not isinstance(step.kernel, Window | Pad)]) <= windows


@pytest.mark.parametrize("batch", [0, 1])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_small_batches(batch: int, dtype: Any) -> None:
    for layer in (
        nn.Conv2d(4, 6, 3, padding=1, groups=2, dtype=dtype, rng=0),
        nn.ConvTranspose2d(4, 6, 3, stride=2, dtype=dtype, rng=0),
    ):
        x = X[:batch].astype(dtype)
        with nn.no_grad():
            plain = layer(x)
        assert type(plain) is np.ndarray
        assert plain.dtype == dtype
        tolerance = 1e-4 if dtype == np.float32 else 1e-11
        np.testing.assert_allclose(layer(x).numpy(), plain, rtol=tolerance, atol=tolerance)
        value, gradient = ea.value_and_grad(lambda v, layer=layer, x=x: np.sum(layer.apply(v, x) ** 2))(layer.arrays())
        assert value.dtype == gradient["weight"].dtype == dtype
        np.testing.assert_allclose(value, np.sum(plain**2), rtol=tolerance)


@pytest.mark.parametrize(
    ("layer", "shape", "fan_in"),
    [
        (nn.Conv1d(6, 4, 5, groups=2, rng=0), (4, 3, 5), 15),
        (nn.Conv2d(6, 4, (3, 2), rng=0), (4, 6, 3, 2), 36),
        (nn.ConvTranspose2d(6, 4, 3, groups=2, rng=0), (6, 2, 3, 3), 18),
    ],
)
def test_parameters_are_those_of_pytorch(layer: Any, shape: Any, fan_in: int) -> None:
    assert {name: p.shape for name, p in layer.named_parameters()} == {"weight": shape, "bias": (4,)}
    for p in layer.parameters():
        assert p.dtype == np.float32
        assert np.abs(p.data).max() <= 1 / sqrt(fan_in)
    assert np.abs(layer.weight.data).max() > 0.8 / sqrt(fan_in)


def test_a_layer_without_bias() -> None:
    layer = nn.Conv2d(4, 6, 3, bias=False, rng=0)
    assert [name for name, _ in layer.named_parameters()] == ["weight"]
    assert repr(layer).partition("  # ")[0] == "Conv2d(4, 6, kernel_size=(3, 3), stride=(1, 1), bias=False)"
    np.testing.assert_allclose(
        layer(X.astype(np.float32)).numpy(), F.conv2d(X.astype(np.float32), layer.weight.data), rtol=1e-4, atol=1e-5
    )


def test_options_are_shown() -> None:
    assert repr(nn.Conv1d(2, 4, 3, stride=2, padding=1, dilation=2, groups=2)).partition("  # ")[0] == (
        "Conv1d(2, 4, kernel_size=(3,), stride=(2,), padding=(1,), dilation=(2,), groups=2)"
    )
    assert repr(nn.ConvTranspose2d(2, 4, 3, stride=2, output_padding=1)).partition("  # ")[0] == (
        "ConvTranspose2d(2, 4, kernel_size=(3, 3), stride=(2, 2), output_padding=(1, 1))"
    )
    assert repr(nn.Conv2d(2, 4, 3, padding="same")).partition("  # ")[0] == (
        "Conv2d(2, 4, kernel_size=(3, 3), stride=(1, 1), padding='same')"
    )


def test_a_layer_used_twice_adds_up_its_gradients() -> None:
    layer = nn.Conv1d(2, 2, 3, padding=1, dtype=np.float64, rng=0)
    other = nn.Conv1d(2, 2, 3, padding=1, dtype=np.float64, rng=0)
    x = rng.normal(size=(3, 2, 5))
    np.sum(np.tanh(layer(np.tanh(layer(x)))) ** 2).backward()
    found = layer.weight.grad
    values, twin = layer.arrays(), other.arrays()

    def f(first: Any, second: Any) -> Any:
        return np.sum(np.tanh(other.apply(second, np.tanh(layer.apply(first, x)))) ** 2)

    first, second = ea.grad(f, (0, 1))(values, twin)
    np.testing.assert_allclose(found, first["weight"] + second["weight"], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: F.conv2d(X, np.ones((6, 3, 2, 2))),
            ea.ShapeError,
            r"need weights \(out, 4, \.\.\.\), got \(6, 3, 2, 2\)",
        ),
        (lambda: F.conv2d(X[0, 0], np.ones((6, 4, 2, 2))), ea.ShapeError, r"\(n, channels, height, width\)"),
        (lambda: F.conv2d(X, np.ones((6, 4, 8, 2))), ea.ShapeError, "use a smaller kernel, or more padding"),
        (lambda: F.conv2d(X, np.ones((6, 4, 2, 2)), np.ones(5)), ea.ShapeError, r"a bias of shape \(6,\) is needed"),
        (lambda: F.conv2d(X, np.ones((5, 2, 2, 2)), groups=2), ea.ShapeError, "do not part into 2 groups"),
        (lambda: F.conv2d(X, np.ones((6, 4, 2, 2)), groups=0), ValueError, "groups is at least 1"),
        (lambda: F.conv2d(X, np.ones((6, 4, 2, 2)), stride=0), ValueError, "stride is at least 1"),
        (lambda: F.conv2d(X, np.ones((6, 4, 2, 2)), stride=(1, 2, 3)), ValueError, "or 2 of them"),
        (lambda: F.conv2d(X, np.ones((6, 4, 2, 2)), padding=-1), ValueError, "padding is at least 0"),
        (lambda: F.conv2d(X, np.ones((6, 4, 2, 2)), padding=0.5), ValueError, "padding is a whole number"),
        (lambda: F.conv2d(X, np.ones((6, 4, 2, 2)), padding="full"), ValueError, "'valid', 'same' or whole"),
        (lambda: F.conv2d(X, np.ones((6, 4, 2, 2)), padding="same", stride=2), ValueError, "needs stride 1"),
        (lambda: F.conv_transpose2d(X, np.ones((3, 1, 2, 2))), ea.ShapeError, r"need weights \(4, \.\.\.\)"),
        (lambda: F.conv_transpose2d(X, np.ones((4, 1, 2, 2)), output_padding=1), ValueError, "less than stride"),
        (lambda: F.conv_transpose2d(X[:, :, :1], np.ones((4, 1, 2, 2)), padding=1), ea.ShapeError, "leaves nothing"),
        (lambda: nn.Conv2d(4, 6, 3, padding_mode="reflect"), ValueError, r"'zeros', got 'reflect'"),
        (lambda: nn.Conv2d(4, 6, 3, groups=3), ValueError, "do not part into 3 groups"),
        (lambda: nn.Conv2d(4, 6, 3, padding="same", stride=2), ValueError, "needs stride 1"),
        (lambda: nn.ConvTranspose2d(4, 6, 3, padding="same"), ValueError, "padding is a whole number"),
        (lambda: nn.ConvTranspose2d(4, 6, 3, output_padding=1), ValueError, "less than stride"),
        (lambda: nn.Conv2d(3, 6, 3)(X), ea.ShapeError, r"Conv2d\(3, 6.*takes inputs \(\.\.\., 3, height, width\)"),
        (lambda: nn.Conv2d(0, 6, 3), ValueError, "in_channels is at least 1"),
    ],
)
def test_what_does_not_fit_is_refused(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()
