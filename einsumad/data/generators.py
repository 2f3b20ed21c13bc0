"""Generators of random numbers, and their states as plain numbers.

Owns what `rng` means in this folder, and how a state is written. Imports NumPy. Invariant: NumPy's own global
generator is neither used nor seeded; a state is made of dicts, lists, texts and whole numbers, so that it is the same
after a way through JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

Random: TypeAlias = np.random.Generator | int | None
"""A generator, a seed for a new one, or None for a new one that nobody can foresee."""


def generator_of(random: Random) -> np.random.Generator:
    """The generator that is meant. Raises :class:`TypeError` for what is none."""
    if isinstance(random, np.random.Generator):
        return random
    if random is None or isinstance(random, (int, np.integer)):
        return np.random.default_rng(random)
    raise TypeError(
        f"rng is a numpy.random.Generator, a seed or None, got {type(random).__name__}: make one with "
        "np.random.default_rng(seed)"
    )


def state_of(generator: np.random.Generator) -> dict[str, Any]:
    """What the generator has come to, as it can be written to JSON."""
    state: dict[str, Any] = _plain(dict(generator.bit_generator.state))
    return state


def like(generator: np.random.Generator, state: Any) -> np.random.Generator:
    """Another generator of the same kind, in this state. Raises :class:`ValueError` for a state of another kind."""
    kind = type(generator.bit_generator)
    made = kind()
    try:
        made.state = dict(state)
    except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
        named = state.get("bit_generator") if isinstance(state, Mapping) else None
        raise ValueError(
            f"the state of a {kind.__name__} generator is needed, got one of {named or type(state).__name__}"
        ) from error
    return np.random.Generator(made)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return value
