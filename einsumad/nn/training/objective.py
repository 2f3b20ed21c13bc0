"""What is trained: a model and its loss as one module.

Owns :class:`Objective`. Imports modules. Invariant: parameters and buffers of the loss are held beside those of the
model, so that whoever steps or measures sees the arrays of now.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from einsumad.nn.module import Module


class Objective(Module):
    """A model and its loss as one module, so that a loss may have parameters too."""

    def __init__(self, model: Module, loss: Callable[..., Any] | None) -> None:
        self.model = model
        self.loss = loss

    def forward(self, inputs: Sequence[Any], target: Any) -> tuple[Any, Any]:
        """The loss and the outputs; no loss without a target."""
        outputs = self.model(*inputs)
        return None if target is None or self.loss is None else self.loss(outputs, target), outputs
