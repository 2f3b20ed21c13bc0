"""Modules that hold parameters only.

Owns lists and dictionaries of parameters. Imports modules. Invariant: the names of what they hold are positions or
keys, in order; arrays become parameters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

from einsumad.nn.module import Module
from einsumad.nn.parameter import Parameter


class ParameterList(Module):
    """Parameters in a list, registered by their positions.

    >>> import numpy as np, einsumad.nn as nn
    >>> list(nn.ParameterList([np.zeros(2), nn.Parameter(np.ones(3))]).state_dict())
    ['0', '1']
    """

    def __init__(self, values: Iterable[Any] = ()) -> None:
        for value in values:
            self.append(value)

    def append(self, value: Any) -> Self:
        """Add a parameter at the end."""
        self.register_parameter(str(len(self)), _parameter(value))
        return self

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[Any]:
        return (getattr(self, name) for name in list(self._parameters))

    def __getitem__(self, position: int) -> Any:
        return getattr(self, list(self._parameters)[position])

    def __setitem__(self, position: int, value: Any) -> None:
        setattr(self, list(self._parameters)[position], value)


class ParameterDict(Module):
    """Parameters in a dictionary, registered by their keys.

    >>> import numpy as np, einsumad.nn as nn
    >>> list(nn.ParameterDict({"scale": np.ones(2), "shift": np.zeros(2)}).state_dict())
    ['scale', 'shift']
    """

    def __init__(self, parameters: Mapping[str, Any] | Iterable[tuple[str, Any]] = ()) -> None:
        for key, value in dict(parameters).items():
            self[key] = value

    def keys(self) -> Iterable[str]:
        """The keys."""
        return self._parameters.keys()

    def values(self) -> Iterator[Any]:
        """The parameters, or what stands for them within ``apply``."""
        return (self[key] for key in list(self._parameters))

    def items(self) -> Iterator[tuple[str, Any]]:
        """Both."""
        return ((key, self[key]) for key in list(self._parameters))

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._parameters))

    def __contains__(self, key: object) -> bool:
        return key in self._parameters

    def __getitem__(self, key: str) -> Any:
        if key not in self._parameters:
            raise KeyError(key)
        return self.__getattr__(key)

    def __setitem__(self, key: str, value: Any) -> None:
        if key in self._parameters and not isinstance(value, Parameter):
            setattr(self, key, value)
        else:
            self.register_parameter(key, _parameter(value))


def _parameter(value: Any) -> Parameter:
    return value if isinstance(value, Parameter) else Parameter(value)
