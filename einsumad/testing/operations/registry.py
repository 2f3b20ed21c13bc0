"""A registry of operations: found by name, iterated in the order in which they came.

Owns the registry. Imports the records. Invariant: names are unique, and it is remembered where each operation was made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from einsumad.testing.operations.operation import Operation


class UnknownOperationError(KeyError):
    """A name that is not in a registry; the message has near names."""

    def __str__(self) -> str:
        """Return the message as it is, where a KeyError would quote it."""
        return str(self.args[0])


class Registry:
    """Operations by their names.

    >>> import numpy as np
    >>> registry = Registry([Operation("square", np.square, lambda rng: (rng.standard_normal(3),))])
    >>> [operation.name for operation in registry], len(registry), "square" in registry
    (['square'], 1, True)
    >>> registry["sqare"]
    Traceback (most recent call last):
        ...
    einsumad.testing.operations.registry.UnknownOperationError: there is no operation 'sqare': did you mean 'square'?
    """

    def __init__(self, operations: Iterable[Operation] = ()) -> None:
        self._operations: dict[str, Operation] = {}
        for operation in operations:
            self.add(operation)

    def add(self, operation: Operation) -> Operation:
        """Keep an operation and return it.

        Raises ``TypeError`` for anything else, and ``ValueError`` if there is one of this name, saying where it was
        made.
        """
        if not isinstance(operation, Operation):
            raise TypeError(f"a registry takes operations, got {type(operation).__name__}")
        known = self._operations.get(operation.name)
        if known is not None:
            raise ValueError(
                f"there is an operation {operation.name!r} already, made at {known.place}: give the one made at "
                f"{operation.place} another name"
            )
        self._operations[operation.name] = operation
        return operation

    def __getitem__(self, name: str) -> Operation:
        if name not in self._operations:
            near = get_close_matches(name, self._operations, n=2)
            hint = (
                f"did you mean {' or '.join(map(repr, near))}?"
                if near
                else f"there are {', '.join(self._operations) or 'none'}"
            )
            raise UnknownOperationError(f"there is no operation {name!r}: {hint}")
        return self._operations[name]

    def __contains__(self, name: object) -> bool:
        return name in self._operations

    def __iter__(self) -> Iterator[Operation]:
        return iter(self._operations.values())

    def __len__(self) -> int:
        return len(self._operations)
