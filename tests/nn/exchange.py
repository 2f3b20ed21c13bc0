"""Modules of this library and of PyTorch with the same arrays, and the comparison of their gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import einsumad as ea


def with_the_state_of(module: Any, other: Any, torch: Any) -> Any:
    """The module of PyTorch with the arrays of the other, which has to have the same names in the same order."""
    state = other.state_dict()
    assert list(state) == list(module.state_dict())
    module.load_state_dict({name: torch.tensor(np.array(array)) for name, array in state.items()})
    other.load_state_dict({name: tensor.numpy() for name, tensor in module.state_dict().items()})
    return module


def agree(
    modules: tuple[Any, Any], inputs: Sequence[np.ndarray], call: Callable[..., Any], torch: Any, tolerance: float
) -> None:
    """Outputs, and all gradients of a random product with these, are equal; `call` gives a tuple of outputs."""
    own, theirs = modules
    tensors = [torch.tensor(array, requires_grad=True) for array in inputs]
    expected = call(theirs, *tensors)
    found = call(lambda *args, **kwargs: own.apply(own.arrays(), *args, **kwargs), *inputs)
    rng = np.random.default_rng(0)
    weights = []
    for one, other in zip(found, expected, strict=True):
        assert np.shape(one) == tuple(other.shape)
        assert one.dtype == inputs[0].dtype
        np.testing.assert_allclose(one, other.detach().numpy(), rtol=tolerance, atol=tolerance)
        weights.append(rng.normal(size=np.shape(one)).astype(inputs[0].dtype))
    sum([torch.sum(torch.tensor(w) * y) for w, y in zip(weights, expected, strict=True)]).backward()

    def loss(values: Any, *inputs: Any) -> Any:
        outputs = call(lambda *args, **kwargs: own.apply(values, *args, **kwargs), *inputs)
        return sum([np.sum(w * y) for w, y in zip(weights, outputs, strict=True)])

    slopes, *in_inputs = ea.grad(loss, argnums=tuple(range(len(inputs) + 1)))(own.arrays(), *inputs)
    for name, parameter in theirs.named_parameters():
        wanted = np.zeros(parameter.shape) if parameter.grad is None else parameter.grad.numpy()
        np.testing.assert_allclose(slopes[name], wanted, rtol=10 * tolerance, atol=10 * tolerance, err_msg=name)
    for slope, tensor in zip(in_inputs, tensors, strict=True):
        wanted = np.zeros(tensor.shape) if tensor.grad is None else tensor.grad.numpy()
        np.testing.assert_allclose(slope, wanted, rtol=10 * tolerance, atol=10 * tolerance)
