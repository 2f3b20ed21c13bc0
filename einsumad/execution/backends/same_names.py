"""Tables of functions that are those of a module, by its own names.

Owns that mapping. Imports nothing. Invariant: what the module does not have is not in the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any


class SameNames(Mapping[str, Callable[..., Any]]):
    """The functions of a module by their names."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getitem__(self, name: str) -> Callable[..., Any]:
        found = getattr(self._module, name, None)
        if found is None:
            raise KeyError(name)
        return found  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[str]:
        return iter([name for name in dir(self._module) if not name.startswith("_")])

    def __len__(self) -> int:
        return len(list(iter(self)))
