"""A model and its loss as one module.

Owns it. Imports modules. Invariant: both are called as they are, the model first; parameters and buffers of the loss
are held beside those of the model, so that whoever steps or measures sees the arrays of now.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from einsumad.nn.module import Module
from einsumad.nn.parameter import Parameter


class Composed(Module):
    """A model and its loss as one module, so that a loss may have parameters too."""

    def __init__(self, model: Module, loss: Callable[..., Any] | None) -> None:
        self.model = model
        self.loss = loss

    def forward(self, *batch: Any) -> tuple[Any, Any]:
        """The loss and the outputs, for inputs and, last, the target; no loss without a target."""
        *inputs, target = batch
        outputs = self.model(*inputs)
        return None if target is None or self.loss is None else self.loss(outputs, target), outputs

    def names_of(self, learned: Collection[Parameter]) -> list[str]:
        """The names of these parameters. Raises :class:`ValueError` for those that are not here, or frozen."""
        named = {id(parameter): name for name, parameter in self.named_parameters()}
        lost = [p.shape for p in learned if id(p) not in named]
        if lost:
            raise ValueError(
                f"the optimiser has {len(lost)} parameter{'s' * (len(lost) > 1)} that the model has not, of "
                f"shape{'s' * (len(lost) > 1)} {', '.join(map(str, lost))}: was it made for another model? It is made "
                "with model.parameters()"
            )
        frozen = [named[id(p)] for p in learned if not p.requires_grad]
        if frozen:
            raise ValueError(
                f"{', '.join(frozen)} {'do' if len(frozen) > 1 else 'does'} not require gradients: make the optimiser "
                "from [p for p in model.parameters() if p.requires_grad]"
            )
        return [named[id(p)] for p in learned]
