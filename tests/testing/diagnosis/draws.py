"""Synthetic evidence at random shapes and points.

Owns the draws that the makers of wrong derivatives share. Imports the diagnosis. Invariant: everything is drawn from
the generator that is given; `error` is 1e-9 of the largest entry, and the oracle's values are off by less than that.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from einsumad.testing.diagnosis import Evidence

Maker = Callable[[np.random.Generator], Evidence]

VECTORS = ((2,), (3,), (5,), (9,))
MATRICES = ((3, 4), (4, 4), (2, 5), (5, 1), (2, 2))
SQUARES = ((2, 2), (3, 3), (5, 5))
SHAPES = VECTORS + MATRICES + ((2, 3, 4), (3, 3, 3))


def pick(rng: np.random.Generator, shapes: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    return shapes[int(rng.integers(len(shapes)))]


def normal(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Normal entries, all of them away from 0."""
    draw = np.asarray(rng.standard_normal(shape))
    return draw + 0.1 * np.where(draw >= 0, 1, -1)


def complex_normal(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return normal(rng, shape) + 1j * normal(rng, shape)


def evidence(rng, found, expected, *, x=None, value=None, output=(), order=1, others=()) -> Evidence:
    """Evidence with an oracle that is off by a third of its error bound."""
    expected = np.asarray(expected, complex if np.iscomplexobj(expected) else float)
    size = np.max(np.abs(expected), initial=0.0)
    error = np.full(expected.shape, 1e-9 * max(float(size), 1e-12))
    noisy = expected + np.where(expected == 0, 0, error / 3 * rng.uniform(-1, 1, expected.shape))
    if x is None:
        x = normal(rng, expected.shape[len(output) :] if output else expected.shape)
    return Evidence(np.asarray(found), noisy, error, output, (x, *others), value, order)
