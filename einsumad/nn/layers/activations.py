"""Activations as modules without parameters.

Owns them. Imports modules and their functions. Invariant: each is its function with the options that are its
attributes; numbers among them are Python's, so that they do not change the dtype.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from einsumad.nn import functional
from einsumad.nn.module import Module


class Activation(Module):
    """A function of one argument as a module; subclasses say which, and which attributes are its options."""

    function: ClassVar[Any]
    options: ClassVar[tuple[str, ...]] = ()

    def forward(self, input: Any) -> Any:
        """The function of the input."""
        return type(self).function(input, **self._given())

    def extra_repr(self) -> str:
        """The options."""
        return ", ".join([f"{name}={value!r}" for name, value in self._given().items()])

    def _given(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.options}


class Identity(Activation):
    """The input itself; arguments of the constructor are for the layer that it stands in for, and mean nothing."""

    function = staticmethod(functional.identity)

    def __init__(self, *_: Any, **__: Any) -> None:
        super().__init__()


class ReLU(Activation):
    """``max(x, 0)``; the derivative at 0 is 0.

    >>> import numpy as np, einsumad.nn as nn
    >>> nn.ReLU()(np.array([-1.0, 2.0]))
    array([0., 2.])
    """

    function = staticmethod(functional.relu)


class LeakyReLU(Activation):
    """``x`` where it is positive, else ``negative_slope x`` (Maas et al., 2013)."""

    function = staticmethod(functional.leaky_relu)
    options = ("negative_slope",)

    def __init__(self, negative_slope: float = 0.01) -> None:
        self.negative_slope = float(negative_slope)


class ELU(Activation):
    """``x`` where it is positive, else ``alpha (exp(x) - 1)`` (Clevert, Unterthiner and Hochreiter, 2016)."""

    function = staticmethod(functional.elu)
    options = ("alpha",)

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = float(alpha)


class GELU(Activation):
    """``x Φ(x)``, or its approximation by tanh (Hendrycks and Gimpel, 2016)."""

    function = staticmethod(functional.gelu)
    options = ("approximate",)

    def __init__(self, approximate: Literal["none", "tanh"] = "none") -> None:
        if approximate not in ("none", "tanh"):
            raise ValueError(f"approximate is 'none' or 'tanh', got {approximate!r}")
        self.approximate = approximate


class SiLU(Activation):
    """``x σ(x)``."""

    function = staticmethod(functional.silu)


class Sigmoid(Activation):
    """``1 / (1 + exp(-x))``."""

    function = staticmethod(functional.sigmoid)


class Tanh(Activation):
    """The hyperbolic tangent."""

    function = staticmethod(functional.tanh)


class Softplus(Activation):
    """``log(1 + exp(beta x)) / beta``, exact unless there is a threshold, above which it is x (PyTorch's is 20)."""

    function = staticmethod(functional.softplus)
    options = ("beta", "threshold")

    def __init__(self, beta: float = 1.0, threshold: float | None = None) -> None:
        self.beta = float(beta)
        self.threshold = None if threshold is None else float(threshold)


class Softmax(Activation):
    """``exp(x) / Σ exp(x)`` along an axis, the last one unless it is given.

    >>> import numpy as np, einsumad.nn as nn
    >>> nn.Softmax(dim=1)(np.zeros((1, 4)))
    array([[0.25, 0.25, 0.25, 0.25]])
    """

    function = staticmethod(functional.softmax)
    options = ("dim",)

    def __init__(self, dim: int = -1) -> None:
        self.dim = dim


class LogSoftmax(Softmax):
    """``x - log Σ exp(x)`` along an axis, the last one unless it is given."""

    function = staticmethod(functional.log_softmax)
