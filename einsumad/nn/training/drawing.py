"""The random numbers that a call of a module draws, drawn before it, so that a compiled plan takes them as arrays.

Owns that. Imports the context of calls and modules. Invariant: what is drawn is found by a call that changes nothing,
once for each form of a batch and number of the settings; then generators go on as they would if the module were called.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from einsumad.nn.context import Draw, Recorded, calling, no_grad, within_call
from einsumad.nn.module import Module


class Draws:
    """What calls of a module draw."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._requests: dict[Any, list[tuple[np.random.Generator, Draw]]] = {}

    def __call__(self, settings: int, batch: Sequence[np.ndarray]) -> list[Any]:
        """The numbers for the next call on such a batch, an array for each layer that draws some."""
        return [how(generator) for generator, how in self.requests(settings, batch)]

    def requests(self, settings: int, batch: Sequence[np.ndarray]) -> list[tuple[np.random.Generator, Draw]]:
        """From which generators the numbers come, and how, in order, under the settings of this number."""
        try:
            form = settings, tuple([(array.shape, array.dtype) for array in batch])
        except AttributeError:
            _check(batch)
            raise
        if form not in self._requests:
            _check(batch)
            recorded = Recorded()
            with no_grad(), calling({}, recorded), within_call():
                self._module(*batch)
            self._requests[form] = recorded.requests
        return self._requests[form]


def _check(batch: Sequence[Any]) -> None:
    """Raise :class:`TypeError` for what is no array, and for arrays whose dtype is none of NumPy's."""
    foreign = [type(part) for part in batch if not isinstance(getattr(part, "dtype", None), np.dtype)]
    if foreign:
        kind, home = foreign[0].__name__, foreign[0].__module__.partition(".")[0]
        raise TypeError(
            f"a batch has a {kind}{'' if home == 'builtins' else f' of {home}'}: batches are tuples of NumPy's arrays, "
            "as np.asarray makes them"
        )
