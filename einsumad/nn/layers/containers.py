"""Modules that hold modules.

Owns sequences and lists. Imports modules. Invariant: the names of what they hold are positions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from einsumad.nn.module import Module


class ModuleList(Module):
    """Modules in a list, registered by their positions; it computes nothing itself."""

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        for module in modules:
            self.append(module)

    def append(self, module: Module) -> None:
        """Add a module at the end."""
        if not isinstance(module, Module):
            raise TypeError(f"{type(self).__name__} holds modules, got {type(module).__name__}")
        setattr(self, str(len(self)), module)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(list(self._modules.values()))

    def __getitem__(self, position: int) -> Module:
        found: Module = list(self._modules.values())[position]
        return found


class Sequential(ModuleList):
    """Modules one after the other.

    >>> import numpy as np, einsumad.nn as nn
    >>> net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    >>> print(net.summary((8, 3)))
    module               result  parameters
    ---------------------------------------
    0: Linear            (8, 4)          16
    1: Tanh              (8, 4)           0
    2: Linear            (8, 1)           5
    (whole): Sequential  (8, 1)           0
    21 parameters, 8.4e-05 MB
    """

    def __init__(self, *modules: Module) -> None:
        super().__init__(modules)

    def forward(self, x: Any) -> Any:
        """The last module of ... of the first."""
        for module in self:
            x = module(x)
        return x
