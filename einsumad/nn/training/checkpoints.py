"""A run that is saved, so that it can stop and go on exactly.

Owns :class:`Checkpoint`. Imports saving and modules. Invariant: what is saved is all that a run changes from epoch to
epoch: arrays and generators of model and loss, the states of optimiser, schedule, loader and stopping, and the history.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from einsumad.nn.module import Module
from einsumad.nn.random import generator_of
from einsumad.nn.saving import load, save
from einsumad.nn.training.history import History

_OWN = "optimizer"


class Checkpoint:
    """Save a run under `path` after every so many epochs, and at its end.

    A call of :func:`fit` with the same arguments goes on from the file, if there is one, and ends as a run would that
    was never interrupted, to the bit.

    Raises :class:`ValueError` for a file that is damaged or of another run.
    """

    def __init__(self, path: str | PathLike[str], every: int = 1) -> None:
        if every < 1:
            raise ValueError(f"a checkpoint is saved every epoch or every so many, got every={every}")
        self.path, self.every = Path(path), every

    def exists(self) -> bool:
        """Whether a run was saved there."""
        return self.path.exists()

    def is_due(self, epoch: int, epochs: int) -> bool:
        """Whether this epoch is one after which the run is saved."""
        return epoch % self.every == 0 or epoch == epochs

    def save(self, model: Module, parts: Mapping[str, Any], history: History) -> None:
        """Save the run."""
        metadata = {
            "records": history.records,
            "stopped": history.stopped,
            "generators": {name: g.bit_generator.state for name, g in _generators(model, parts["loss"]).items()},
            "parts": {name: _state_of(part) for name, part in parts.items() if name != _OWN},
        }
        save(model, self.path, parts[_OWN], metadata)

    def restore(self, model: Module, parts: Mapping[str, Any], history: History) -> None:
        """Give all parts what was saved, and the history the epochs that are over."""
        metadata = load(self.path).metadata
        generators = _generators(model, parts["loss"])
        saved = metadata.get("generators")
        if saved is None or set(saved) != set(generators) or "records" not in metadata:
            raise ValueError(f"{self.path} is no checkpoint of this run: its model draws other random numbers")
        states = metadata["parts"]
        own = {name: part for name, part in parts.items() if name != _OWN}
        others = [name for name, part in own.items() if _has_state(part) != (states.get(name) is not None)]
        if others:
            raise ValueError(f"{self.path} is no checkpoint of this run: it has another {' and '.join(others)}")
        load(self.path, model, parts[_OWN])
        for name, part in own.items():
            if states[name] is not None:
                part.load_state_dict(states[name])
        for name, generator in generators.items():
            generator.bit_generator.state = saved[name]
        history.records, history.stopped = list(metadata["records"]), str(metadata["stopped"])


def generators_of(model: Module) -> dict[str, np.random.Generator]:
    """The generators that modules draw from by the name of the attribute, each once, and the library's own."""
    found = {"": generator_of(None)}
    for name, module in model.named_modules():
        for key, value in vars(module).items():
            if isinstance(value, np.random.Generator) and all(value is not other for other in found.values()):
                found[f"{name}.{key}" if name else key] = value
    return found


def _generators(model: Module, loss: Any) -> dict[str, np.random.Generator]:
    """Those of the model, and of a loss that is a module."""
    found = generators_of(model)
    if isinstance(loss, Module):
        for name, generator in generators_of(loss).items():
            if all(generator is not other for other in found.values()):
                found[f"loss.{name}"] = generator
    return found


def _has_state(part: Any) -> bool:
    return hasattr(part, "state_dict")


def _state_of(part: Any) -> Any:
    return part.state_dict() if _has_state(part) else None
