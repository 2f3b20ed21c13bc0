"""PyTorch as a system: functions that torch.func refuses, and nothing left behind in the user's tensors."""

from typing import Any

import numpy as np
import pytest

from einsumad.testing.systems import TORCH

torch = pytest.importorskip("torch")

MODES = ("auto", "forward", "reverse")


class Cube(torch.autograd.Function):
    """Written in the older way: torch.func does not take it."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, u: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 3 * x**2 * u


class Square(torch.autograd.Function):
    """Written in the newer way, with no rule for batches, so that torch.func.jacfwd does not take it."""

    @staticmethod
    def forward(x: Any) -> Any:
        return x**2

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:  # noqa: ARG004  torch's signature
        ctx.save_for_backward(inputs[0])
        ctx.save_for_forward(inputs[0])

    @staticmethod
    def backward(ctx: Any, u: Any) -> Any:
        return 2 * ctx.saved_tensors[0] * u

    @staticmethod
    def jvp(ctx: Any, v: Any) -> Any:
        return 2 * ctx.saved_tensors[0] * v


def blocks(nested: Any, order: int) -> list[np.ndarray]:
    found = [nested]
    for _ in range(order):
        found = [part for block in found for part in block]
    return found


@pytest.mark.parametrize("mode", ["auto", "reverse"])
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_functions_that_torch_func_refuses(mode: str, order: int) -> None:
    def refused(x: Any, y: Any) -> Any:
        return Cube.apply(x) * y.sum()

    def plain(x: Any, y: Any) -> Any:
        return x**3 * y.sum()

    arrays = [np.array([0.5, 1.5]), np.array([2.0, 3.0, -1.0])]
    with pytest.raises(RuntimeError):
        torch.func.jacrev(Cube.apply)(torch.ones(2))
    found = TORCH.derivative(refused, arrays, order, mode)
    expected = TORCH.derivative(plain, arrays, order, mode)
    for block, own in zip(blocks(found, order), blocks(expected, order), strict=True):
        assert block.shape == own.shape
        np.testing.assert_allclose(block, own, rtol=1e-13)


def test_products_of_functions_that_torch_func_refuses() -> None:
    x, v = np.array([0.5, 1.5]), np.array([1.0, -2.0])
    value, tangent = TORCH.jvp(Cube.apply, [x], [v])
    np.testing.assert_allclose(value, x**3)
    np.testing.assert_allclose(tangent, 3 * x**2 * v)
    value, (pulled,) = TORCH.vjp(Cube.apply, [x], v)
    np.testing.assert_allclose(value, x**3)
    np.testing.assert_allclose(pulled, 3 * x**2 * v)
    (product,) = TORCH.hvp(lambda y: Cube.apply(y).sum(), [x], [v])
    np.testing.assert_allclose(product, 6 * x * v)


def test_forward_mode_needs_a_rule_of_its_own() -> None:
    with pytest.raises(NotImplementedError, match="jvp"):
        TORCH.derivative(Cube.apply, [np.ones(2)], 1, "forward")


def test_forward_mode_without_a_rule_for_batches() -> None:
    def f(x: Any, y: Any) -> Any:
        return Square.apply(x).sum() * y

    arrays = [np.array([0.5, 1.5]), np.zeros((0, 2)) + 1.0]
    with pytest.raises(RuntimeError):
        torch.func.jacfwd(Square.apply)(torch.ones(2))
    for y in (arrays[1], np.array([2.0, 3.0])):
        found = TORCH.derivative(f, [arrays[0], y], 1, "forward")
        expected = TORCH.derivative(lambda a, b: (a**2).sum() * b, [arrays[0], y], 1, "forward")
        for block, own in zip(found, expected, strict=True):
            assert block.shape == own.shape
            np.testing.assert_allclose(block, own)


@pytest.mark.parametrize("mode", MODES)
def test_random_numbers_are_no_reason_to_refuse(mode: str) -> None:
    def seeded(x: Any) -> Any:
        return torch.rand(2, generator=torch.Generator().manual_seed(0), dtype=x.dtype) * x**3

    x = np.array([1.0, 2.0])
    weights = TORCH.evaluate(seeded, [np.ones(2)])
    for order, factor in ((1, 3 * x**2), (2, 6 * x)):
        (block,) = blocks(TORCH.derivative(seeded, [x], order, mode), order)
        np.testing.assert_allclose(np.einsum("i" * (order + 1) + "->i", block), weights * factor)
        assert np.count_nonzero(block) == 2


def test_functions_that_overwrite_their_argument_get_a_fresh_one_each_time() -> None:
    def overwrites(x: Any) -> Any:
        y = x.mul_(2)
        return Cube.apply(y)

    x = np.array([1.0, 2.0])
    value, tangent = TORCH.jvp(overwrites, [x], [np.ones(2)])
    np.testing.assert_allclose(value, 8 * x**3)
    np.testing.assert_allclose(tangent, 24 * x**2)
    (jacobian,) = TORCH.derivative(overwrites, [x], 1, "reverse")
    np.testing.assert_allclose(jacobian, np.diag(24 * x**2))
    np.testing.assert_allclose(TORCH.vjp(overwrites, [x], np.ones(2))[1][0], 24 * x**2)
    (product,) = TORCH.hvp(lambda v: overwrites(v).sum(), [x], [np.ones(2)])
    np.testing.assert_allclose(product, 48 * x)
    assert x.tolist() == [1.0, 2.0]


def test_parameters_get_no_gradients() -> None:
    layer = torch.nn.Linear(2, 1).double()
    x = np.array([1.0, 2.0])

    def loss(v: Any) -> Any:
        return torch.tanh(layer(v)).sum()

    for mode in MODES:
        TORCH.derivative(loss, [x], 2, mode)
    TORCH.derivative(lambda v: Cube.apply(layer(v)), [x], 2, "reverse")
    TORCH.vjp(loss, [x], np.float64(1))
    TORCH.jvp(loss, [x], [x])
    TORCH.hvp(loss, [x], [x])
    assert TORCH.evaluate(layer, [x]).shape == (1,)
    assert all(parameter.grad is None and parameter.requires_grad for parameter in layer.parameters())


def test_derivatives_where_gradients_are_switched_off() -> None:
    x = np.array([1.0, 2.0])
    with torch.no_grad():
        for mode in MODES:
            (jacobian,) = TORCH.derivative(lambda v: v**3, [x], 1, mode)
            np.testing.assert_allclose(jacobian, np.diag(3 * x**2))
        np.testing.assert_allclose(TORCH.derivative(Cube.apply, [x], 1, "reverse")[0], np.diag(3 * x**2))
        np.testing.assert_allclose(TORCH.vjp(Cube.apply, [x], np.ones(2))[1][0], 3 * x**2)
        assert not torch.is_grad_enabled()


def test_functions_may_differentiate_inside() -> None:
    def residual(v: Any) -> Any:
        return torch.func.grad(lambda w: (w**3).sum())(v)

    x = np.array([1.0, 2.0])
    np.testing.assert_allclose(TORCH.evaluate(residual, [x]), 3 * x**2)
    np.testing.assert_allclose(TORCH.derivative(residual, [x], 1, "auto")[0], np.diag(6 * x))


def test_narrow_floats_come_back_in_single_precision() -> None:
    value = TORCH.evaluate(lambda v: v.to(torch.bfloat16), [np.array([1.5, 0.25])])
    assert value.dtype == np.float32
    assert value.tolist() == [1.5, 0.25]
