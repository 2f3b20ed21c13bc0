"""Samplers of arguments: arrays of random small shapes, drawn from a generator and from nothing else.

Imports the records. Invariant: equal letters are axes of equal length within one draw; the same generator state gives
the same arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.testing.cases.records import Sampler

Array = np.ndarray[Any, Any]


def lengths(rng: np.random.Generator, *axes: str, low: int = 3, high: int = 5) -> list[tuple[int, ...]]:
    """One shape for every string of letters, a length from `low` to `high` for every letter."""
    sizes = {letter: int(rng.integers(low, high + 1)) for letter in sorted(set("".join(axes)))}
    return [tuple([sizes[letter] for letter in letters]) for letters in axes]


def normals(*axes: str, low: int = 3, high: int = 5, scale: float = 1.0, shift: float = 0.0) -> Sampler:
    """Normal entries: ``normals("n", "mn", "m")`` draws a vector, a matrix and another vector that fit together."""

    def draw(rng: np.random.Generator) -> tuple[Array, ...]:
        return tuple(
            [np.asarray(shift + scale * rng.standard_normal(s)) for s in lengths(rng, *axes, low=low, high=high)]
        )

    return draw


def uniforms(start: float, stop: float, *axes: str, low: int = 3, high: int = 5) -> Sampler:
    """Entries between `start` and `stop`."""

    def draw(rng: np.random.Generator) -> tuple[Array, ...]:
        return tuple([np.asarray(rng.uniform(start, stop, s)) for s in lengths(rng, *axes, low=low, high=high)])

    return draw


def separated(*axes: str, low: int = 3, high: int = 5, gap: float = 0.5) -> Sampler:
    """Entries of both signs, in random order, at least `gap`/2 apart from each other and from zero."""

    def draw(rng: np.random.Generator) -> tuple[Array, ...]:
        arrays = []
        for shape in lengths(rng, *axes, low=low, high=high):
            size = int(np.prod(shape))
            steps = gap * (np.arange(size) - size // 2) + gap * 0.5
            arrays.append(rng.permutation(steps + rng.uniform(0, gap * 0.4, size) * np.sign(steps)).reshape(shape))
        return tuple(arrays)

    return draw


def spd(rng: np.random.Generator, n: int) -> Array:
    """A symmetric positive definite matrix with eigenvalues of at least one."""
    root = rng.standard_normal((n, n))
    return root @ root.T / n + np.eye(n)


def invertible(rng: np.random.Generator, n: int) -> Array:
    """A matrix without symmetry whose singular values are between 1/2 and 7/2."""
    noise = rng.standard_normal((n, n))
    return 2.0 * np.eye(n) + 1.5 * noise / np.linalg.norm(noise, 2)


def joined(*parts: Sampler) -> Sampler:
    """The arguments of several samplers, one after the other; their axes are drawn independently."""

    def draw(rng: np.random.Generator) -> tuple[Any, ...]:
        return tuple([argument for part in parts for argument in part(rng)])

    return draw


def mapped(sample: Sampler, *maps: Callable[[Array], Any] | None) -> Sampler:
    """A sampler followed by one map for each of its arguments; None leaves an argument as it is."""

    def draw(rng: np.random.Generator) -> tuple[Any, ...]:
        drawn = zip(sample(rng), maps, strict=True)
        return tuple([argument if change is None else change(argument) for argument, change in drawn])

    return draw
