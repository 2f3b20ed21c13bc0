"""Activations: values by their formulas, derivatives far out, at kinks, and against differences."""

from __future__ import annotations

from math import erf, exp, log1p, sqrt, tanh
from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad import nn
from tests.nn.derivatives import cotangent, right

F = nn.functional

CASES: dict[str, tuple[nn.Module, Any, Any]] = {
    "ReLU": (nn.ReLU(), F.relu, lambda x: max(x, 0.0)),
    "LeakyReLU": (nn.LeakyReLU(0.2), lambda x: F.leaky_relu(x, 0.2), lambda x: x if x > 0 else 0.2 * x),
    "ELU": (nn.ELU(1.5), lambda x: F.elu(x, 1.5), lambda x: x if x > 0 else 1.5 * (exp(x) - 1)),
    "GELU": (nn.GELU(), F.gelu, lambda x: x * (1 + erf(x / sqrt(2))) / 2),
    "GELU by tanh": (
        nn.GELU("tanh"),
        lambda x: F.gelu(x, "tanh"),
        lambda x: 0.5 * x * (1 + tanh(sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    ),
    "SiLU": (nn.SiLU(), F.silu, lambda x: x / (1 + exp(-x))),
    "Sigmoid": (nn.Sigmoid(), F.sigmoid, lambda x: 1 / (1 + exp(-x))),
    "Tanh": (nn.Tanh(), F.tanh, tanh),
    "Softplus": (nn.Softplus(2.0), lambda x: F.softplus(x, 2.0), lambda x: log1p(exp(2 * x)) / 2),
    "Softplus with a threshold": (
        nn.Softplus(1.0, 1.0),
        lambda x: F.softplus(x, threshold=1.0),
        lambda x: x if x > 1 else log1p(exp(x)),
    ),
    "Identity": (nn.Identity(3, unused=True), F.identity, lambda x: x),
}
X = np.array([-2.3, -0.4, 0.7, 1.9, -1.1, 0.2])


@pytest.mark.parametrize("name", CASES)
def test_values_and_derivatives(name: str) -> None:
    module, function, formula = CASES[name]
    expected = [formula(float(x)) for x in X]
    np.testing.assert_allclose(module(X), expected, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(function(X.reshape(2, 3)), np.reshape(expected, (2, 3)), rtol=1e-13, atol=1e-15)
    weights = cotangent(6)
    right(lambda x: np.sum(weights * module.apply({}, x) ** 2), X, entries=4)


@pytest.mark.parametrize("name", CASES)
def test_single_precision_empty_arrays_and_numbers(name: str) -> None:
    module = CASES[name][0]
    x = X.astype(np.float32)
    for value in (module(x), module(ea.tensor(x)), ea.compile(module)(x), module(x[:0]), module(x[0])):
        assert value.dtype == np.float32
    assert ea.grad(lambda x: np.sum(module(x)))(x[:0]).shape == (0,)
    np.testing.assert_allclose(ea.compile(module)(x), module(X), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    ("function", "slope"),
    [
        (F.relu, 0.0),
        (F.leaky_relu, 0.01),
        (lambda x: F.elu(x, 0.5), 0.5),
        (F.gelu, 0.5),
        (lambda x: F.gelu(x, "tanh"), 0.5),
        (F.silu, 0.5),
        (F.softplus, 0.5),
    ],
)
def test_derivatives_at_zero(function: Any, slope: float) -> None:
    for mode in ("forward", "reverse", "cross-country"):
        assert ea.jacobian(function, mode=mode)(np.float64(0)) == pytest.approx(slope, rel=1e-15)


def test_elu_of_a_whole_slope_has_no_kink() -> None:
    at = np.array([-1e-9, 0.0, 1e-9])
    np.testing.assert_allclose(ea.grad(lambda x: np.sum(F.elu(x)))(at), 1, rtol=1e-8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_n14_softplus_and_sigmoid_far_out(dtype: Any) -> None:
    """Row N14 (burn#5373; snntorch PR#433; tt-metal PR#56397; TG PR#11796): 1000 and 0, slopes 1 and 0, then 0."""
    x = np.array([-1e3, 1e3], dtype)
    for layer in (nn.Softplus(), nn.Softplus(beta=3.0)):
        np.testing.assert_array_equal(layer(x), [0, 1000])
        np.testing.assert_array_equal(ea.grad(lambda x, layer=layer: np.sum(layer(x)))(x), [0, 1])
        np.testing.assert_array_equal(ea.hessian_diagonal(lambda x, layer=layer: np.sum(layer(x)))(x), [0, 0])
    assert ea.grad(nn.Sigmoid())(np.float32(-125)) == 0
    for function in (F.sigmoid, F.silu, F.gelu, F.tanh, F.elu, lambda x: F.gelu(x, "tanh")):
        for order in (1, 2):
            assert np.isfinite(ea.derivative(lambda x, function=function: np.sum(function(x)), order=order)(x)).all()


def by_rows(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def test_softmax_and_its_logarithm() -> None:
    x = np.random.default_rng(1).normal(size=(3, 4, 2))
    np.testing.assert_allclose(nn.Softmax()(x), by_rows(x), rtol=1e-13)
    np.testing.assert_allclose(nn.LogSoftmax()(x), np.log(by_rows(x)), rtol=1e-12)
    moved = np.moveaxis(x, 1, -1)
    np.testing.assert_allclose(nn.Softmax(1)(x), np.moveaxis(by_rows(moved), -1, 1), rtol=1e-13)
    weights = cotangent(2, 3)
    small = x[:2, :3, 0]
    for layer in (nn.Softmax(dim=0), nn.Softmax(dim=1), nn.LogSoftmax(dim=1)):
        right(lambda x, layer=layer: np.sum(weights * layer.apply({}, x)), small)


@pytest.mark.parametrize("scale", [1.0, 1e3])
def test_n12_the_gradient_of_log_softmax_is_stable(scale: float) -> None:
    """Row N12 (TF#11756; allennlp#890; optax PR#1762; dynet#218): g - sum(g) p, also at scores of ±1000."""
    z, g = scale * np.array([1.0, -1.0, 0.5]), np.array([0.2, 0.5, 0.3])
    found = ea.grad(lambda z: np.sum(g * nn.LogSoftmax(dim=0)(z)))(z)
    np.testing.assert_allclose(found, g - by_rows(z), rtol=1e-14, atol=1e-14)


def test_texts_and_options() -> None:
    modules = [nn.LeakyReLU(np.float64(0.2)), nn.GELU(), nn.Softmax(dim=1), nn.ReLU(), nn.ELU()]
    assert [repr(module) for module in modules] == [
        "LeakyReLU(negative_slope=0.2)",
        "GELU(approximate='none')",
        "Softmax(dim=1)",
        "ReLU()",
        "ELU(alpha=1.0)",
    ]
    with pytest.raises(ValueError, match="'none' or 'tanh'"):
        nn.GELU("erf")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="inplace"):
        nn.ReLU(inplace=True)  # type: ignore[call-arg]
