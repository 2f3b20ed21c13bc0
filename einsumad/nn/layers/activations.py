"""Activations as modules without parameters.

Owns them. Imports modules and their functions. Invariant: each is its function with fixed options.
"""

from __future__ import annotations

from typing import Any, ClassVar

from einsumad.nn import functional
from einsumad.nn.module import Module


class Activation(Module):
    """A function of one argument as a module; subclasses say which, and the defaults of its options."""

    function: ClassVar[Any]

    def __init__(self, **options: Any) -> None:
        self.options = options

    def forward(self, x: Any) -> Any:
        """The function of x."""
        return type(self).function(x, **self.options)

    def extra_repr(self) -> str:
        """The options."""
        return ", ".join([f"{name}={value!r}" for name, value in self.options.items()])


class ReLU(Activation):
    """``max(x, 0)``."""

    function = staticmethod(functional.relu)

    def __init__(self) -> None:
        super().__init__()


class Tanh(Activation):
    """The hyperbolic tangent."""

    function = staticmethod(functional.tanh)

    def __init__(self) -> None:
        super().__init__()
