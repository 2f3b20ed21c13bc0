"""How layers are compared with PyTorch's: the same states, inputs and cotangents, then outputs and all gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad import nn

torch = pytest.importorskip("torch")


def compare(
    ours: Any, theirs: Any, inputs: Sequence[np.ndarray], fixed: Sequence[np.ndarray] = (), *, seed: int = 0
) -> None:
    """Outputs, gradients of the inputs and of all parameters, eager and by transform, with random cotangents.

    `fixed` are inputs that are not differentiated.
    """
    given = [torch.tensor(x, requires_grad=True) for x in inputs]
    expected = theirs(*given, *[torch.tensor(x) for x in fixed])
    weights = np.random.default_rng(seed).normal(size=tuple(expected.shape)).astype(inputs[0].dtype)
    (expected * torch.tensor(weights)).sum().backward()
    before = ours.state_dict()
    values = ours.arrays()

    def f(values: Any, *inputs: Any) -> Any:
        return np.sum(weights * ours.apply(values, *inputs, *fixed))

    near(ours.apply({**values}, *inputs, *fixed), expected, "value")
    places = tuple(range(len(inputs) + 1))
    found, *of_inputs = ea.grad(f, argnums=places)(values, *inputs)
    for k, (gradient, x) in enumerate(zip(of_inputs, given, strict=True)):
        assert gradient.dtype == inputs[k].dtype
        near(gradient, x.grad, f"gradient of input {k}")
    for name, array in before.items():
        np.testing.assert_array_equal(ours.state_dict()[name], array)
    ours.zero_grad()
    if values:
        np.sum(weights * ours(*inputs, *fixed)).backward()
    for name, parameter in theirs.named_parameters():
        near(found[name], parameter.grad, name)
        near(dict(ours.named_parameters())[name].grad, parameter.grad, f"{name} by backward")


def near(found: Any, expected: Any, what: str, factor: float = 1.0) -> None:
    """Equal up to rounding in the dtype of what is expected, which is measured by its largest entry."""
    expected = expected.detach().numpy()
    assert np.shape(found) == expected.shape, what
    assert np.asarray(found).dtype == expected.dtype, what
    size = np.max(np.abs(expected[np.isfinite(expected)]), initial=1.0)
    tolerance = factor * (1e-11 if expected.dtype == np.float64 else 2e-4)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * size, err_msg=what)


def take_state(ours: nn.Module, theirs: Any) -> None:
    """Give PyTorch's module the arrays of ours: names and shapes have to be the same."""
    theirs.load_state_dict({name: torch.tensor(array) for name, array in ours.state_dict().items()}, strict=True)


def randomised(module: nn.Module, generator: np.random.Generator) -> nn.Module:
    """The module with random parameters."""
    for parameter in module.parameters():
        parameter.data = generator.normal(size=parameter.shape)
    return module
