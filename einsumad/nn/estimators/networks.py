"""The network of an estimator: layers of given sizes, or a module of the user's.

Owns :class:`Network`. Imports layers. Invariant: what the estimator was given is never trained itself; each fit has a
module of its own, in the dtype of the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

import einsumad as ea
from einsumad.nn.context import no_grad
from einsumad.nn.layers.activations import ELU, GELU, Identity, LeakyReLU, ReLU, Sigmoid, SiLU, Softplus, Tanh
from einsumad.nn.layers.containers import Sequential
from einsumad.nn.layers.linear import Linear
from einsumad.nn.module import Module
from einsumad.nn.training.evaluation import evaluating

Activation = Callable[[], Module]

_ACTIVATIONS: dict[str, Activation] = {
    "relu": ReLU,
    "tanh": Tanh,
    "logistic": Sigmoid,
    "identity": Identity,
    "elu": ELU,
    "gelu": GELU,
    "leaky_relu": LeakyReLU,
    "silu": SiLU,
    "softplus": Softplus,
}


@dataclass(frozen=True)
class Network:
    """How the network is made: `given` by the user, or layers of these sizes."""

    given: Module | Callable[..., Any] | None
    sizes: tuple[int, ...]
    activation: Activation

    def __call__(self, inputs: int, outputs: int, dtype: Any, rng: np.random.Generator) -> Module:
        """A new network. Raises :class:`TypeError` if the user's function gives no module."""
        if self.given is None:
            return self._layers(inputs, outputs, dtype, rng)
        made = deepcopy(self.given) if isinstance(self.given, Module) else self.given(inputs, outputs, rng=rng)
        if not isinstance(made, Module):
            raise TypeError(
                f"module(n_inputs, n_outputs, rng=rng) gave {type(made).__name__}, not a module of einsumad.nn"
            )
        return made.to(dtype)

    def _layers(self, inputs: int, outputs: int, dtype: Any, rng: np.random.Generator) -> Module:
        layers: list[Module] = []
        for size in self.sizes:
            layers += [Linear(inputs, size, dtype=dtype, rng=rng), self.activation()]
            inputs = size
        return Sequential(*layers, Linear(inputs, outputs, dtype=dtype, rng=rng))


def network_of(module: Any, sizes: Any, activation: Any) -> Network:
    """What the parameters of an estimator mean.

    Raises :class:`TypeError` or :class:`ValueError` naming the parameter.
    """
    if module is not None and not isinstance(module, Module) and not callable(module):
        raise TypeError(
            "module is None, a module of einsumad.nn, or a function (n_inputs, n_outputs, *, rng) that makes one, got "
            f"{type(module).__name__}"
        )
    return Network(module, _sizes(sizes), _activation(activation))


def check_outputs(module: Module, x: np.ndarray, outputs: int) -> None:
    """Raise :class:`ShapeError` unless the module gives as many outputs for a row."""
    with no_grad(), evaluating(module):
        shape = np.shape(module(x[:2]))
    wanted = (len(x[:2]), outputs)
    if shape != wanted:
        raise ea.ShapeError(
            f"module gives results of shape {shape} for inputs of shape {x[:2].shape}, {wanted} is needed: a column "
            "for each class, or for each target"
        )


def _sizes(given: Any) -> tuple[int, ...]:
    sizes = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    if any(isinstance(size, bool) or not isinstance(size, Integral) or size < 1 for size in sizes):
        raise ValueError(f"hidden_layer_sizes are whole numbers of at least 1, got {given!r}")
    return tuple([int(size) for size in sizes])


def _activation(given: Any) -> Activation:
    if isinstance(given, str) and given in _ACTIVATIONS:
        return _ACTIVATIONS[given]
    if callable(given) and not isinstance(given, Module):
        return given  # type: ignore[no-any-return]
    raise ValueError(
        f"activation is one of {', '.join(map(repr, _ACTIVATIONS))} or what makes a module, such as nn.GELU, "
        f"got {given!r}"
    )
