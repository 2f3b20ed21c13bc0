"""The generator of random numbers that layers use where they are given none.

Owns that generator. Imports NumPy. Invariant: NumPy's own global generator is neither used nor seeded.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

Random: TypeAlias = np.random.Generator | int | None
"""A generator, a seed for a new one, or None for the library's own."""

_own = np.random.default_rng()


def manual_seed(seed: int) -> None:
    """Start the library's own generator anew: layers made and random numbers drawn after it are the same each time.

    Layers that were given a generator are not concerned, and ``np.random`` is not touched.

    >>> import einsumad.nn as nn
    >>> nn.manual_seed(0)
    >>> first = nn.Linear(2, 2).weight.data
    >>> nn.manual_seed(0)
    >>> bool((nn.Linear(2, 2).weight.data == first).all())
    True
    """
    _own.bit_generator.state = np.random.default_rng(seed).bit_generator.state


def generator_of(random: Random) -> np.random.Generator:
    """The generator that is meant. Raises :class:`TypeError` for what is none."""
    if random is None:
        return _own
    if isinstance(random, np.random.Generator):
        return random
    if isinstance(random, (int, np.integer)):
        return np.random.default_rng(random)
    raise TypeError(
        f"rng is a numpy.random.Generator, a seed or None, got {type(random).__name__}: make one with "
        "np.random.default_rng(seed)"
    )
