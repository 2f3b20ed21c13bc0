"""Modules that hold modules.

Owns sequences, lists and dictionaries of modules. Imports modules. Invariant: the names of what they hold are positions
or keys, in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

from einsumad.nn.module import Module


class ModuleList(Module):
    """Modules in a list, registered by their positions; it computes nothing itself.

    >>> import einsumad.nn as nn
    >>> layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)])
    >>> len(layers[1:]), [name for name, _ in layers.named_children()]
    (2, ['0', '1', '2'])
    """

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        self.extend(modules)

    def append(self, module: Module) -> Self:
        """Add a module at the end."""
        position = len(self)
        while str(position) in self._modules:  # a part of a sequence keeps its names
            position += 1
        setattr(self, str(position), self._of_kind(module))
        return self

    def extend(self, modules: Iterable[Module]) -> Self:
        """Add modules at the end."""
        for module in modules:
            self.append(module)
        return self

    def insert(self, position: int, module: Module) -> None:
        """Put a module before this position."""
        modules = list(self)
        modules.insert(position, self._of_kind(module))
        self._hold(modules)

    def pop(self, position: int = -1) -> Module:
        """Take a module out."""
        module = self._at(position)
        del self[position]
        return module

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._modules.values()))

    def __getitem__(self, position: int | slice) -> Any:
        if isinstance(position, slice):
            return ModuleList(list(self)[position])
        return self._at(position)

    def __setitem__(self, position: int, module: Module) -> None:
        self._at(position)
        setattr(self, list(self._modules)[position], self._of_kind(module))

    def __delitem__(self, position: int | slice) -> None:
        modules = list(self)
        del modules[position]
        self._hold(modules)

    def _at(self, position: int) -> Module:
        if not -len(self) <= position < len(self):
            raise IndexError(f"{type(self).__name__} holds {len(self)} modules, none at {position}")
        found: Module = list(self._modules.values())[position]
        return found

    def _hold(self, modules: list[Module]) -> None:
        """Hold these modules, by their positions."""
        for name in list(self._modules):
            delattr(self, name)
        for position, module in enumerate(modules):
            setattr(self, str(position), module)

    def _of_kind(self, module: Any) -> Module:
        if not isinstance(module, Module):
            raise TypeError(f"{type(self).__name__} holds modules, got {type(module).__name__}")
        return module


class Sequential(ModuleList):
    """Modules one after the other, by their positions or by the names of a dictionary.

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
    >>> nn.Sequential({"hidden": net[:2], "last": net[2]}).last is net[2]
    True
    """

    def __init__(self, *modules: Module | Mapping[str, Module]) -> None:
        if len(modules) == 1 and isinstance(modules[0], Mapping):
            for name, module in modules[0].items():
                self.register_module(name, self._of_kind(module))
        else:
            super().__init__(modules)  # type: ignore[arg-type]  # what is no module is refused there

    def __getitem__(self, position: int | slice) -> Any:
        if isinstance(position, slice):
            return Sequential(dict(list(self._modules.items())[position]))
        return self._at(position)

    def forward(self, x: Any) -> Any:
        """The last module of ... of the first."""
        for module in self:
            x = module(x)
        return x


class ModuleDict(Module):
    """Modules in a dictionary, registered by their keys; it computes nothing itself.

    >>> import einsumad.nn as nn
    >>> heads = nn.ModuleDict({"class": nn.Linear(4, 3), "place": nn.Linear(4, 2)})
    >>> list(heads.state_dict())
    ['class.weight', 'class.bias', 'place.weight', 'place.bias']
    """

    def __init__(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]] = ()) -> None:
        self.update(modules)

    def update(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]]) -> None:
        """Hold these modules too, in the place of those with the same keys."""
        for key, module in dict(modules).items():
            self[key] = module

    def pop(self, key: str) -> Any:
        """Take a module out."""
        module = self[key]
        del self[key]
        return module

    def keys(self) -> Iterable[str]:
        """The keys."""
        return self._modules.keys()

    def values(self) -> Iterable[Any]:
        """The modules."""
        return self._modules.values()

    def items(self) -> Iterable[tuple[str, Any]]:
        """The keys and modules."""
        return self._modules.items()

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        if not isinstance(module, Module):
            raise TypeError(f"{type(self).__name__} holds modules, got {type(module).__name__}")
        self.register_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __contains__(self, key: object) -> bool:
        return key in self._modules

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __len__(self) -> int:
        return len(self._modules)
