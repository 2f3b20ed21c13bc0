"""Made data for small tasks.

Owns them. Imports NumPy, generators and data sets. Invariant: the same state of the generator gives the same data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from einsumad.data.datasets import ArrayDataset
from einsumad.data.generators import Random, generator_of


def make_moons(n: int = 100, noise: float = 0.0, rng: Random = None, dtype: Any = np.float32) -> ArrayDataset:
    """Two half circles that reach into each other: points ``(n, 2)``, and which one, ``(n,)`` int64, in random order.

    One is ``(cos t, sin t)``, the other ``(1 - cos t, 1/2 - sin t)``, for t from 0 to π in equal steps; normal noise of
    this standard deviation is added to both coordinates. As in scikit-learn the first has n // 2 points.

    >>> x, y = make_moons(5, rng=0).arrays
    >>> x.shape, sorted(y.tolist())
    ((5, 2), [0, 0, 1, 1, 1])
    """
    generator = generator_of(rng)
    outer, inner = (np.linspace(0, np.pi, count) for count in (n // 2, n - n // 2))
    above = np.stack([np.cos(outer), np.sin(outer)], -1)
    below = np.stack([1 - np.cos(inner), 0.5 - np.sin(inner)], -1)
    order = generator.permutation(n)
    points = np.concatenate([above, below])[order] + noise * generator.normal(size=(n, 2))
    return ArrayDataset(points.astype(dtype), (order >= n // 2).astype(np.int64))


def curve(
    function: Callable[[np.ndarray], np.ndarray],
    n: int = 100,
    noise: float = 0.0,
    *,
    rng: Random = None,
    interval: tuple[float, float] = (-1.0, 1.0),
    dtype: Any = np.float32,
) -> ArrayDataset:
    """``y = f(x)`` with normal noise at n places drawn from the interval: two arrays ``(n, 1)``.

    >>> x, y = curve(lambda x: np.cos(15 * x), 200, rng=0).arrays
    >>> bool(np.allclose(y, np.cos(15 * x), atol=1e-5))
    True
    """
    generator = generator_of(rng)
    x = generator.uniform(*interval, size=(n, 1)).astype(dtype)
    y = function(x.astype(np.float64)) + noise * generator.normal(size=(n, 1))
    return ArrayDataset(x, y.astype(dtype))


def sine(n: int = 100, noise: float = 0.0, rng: Random = None, dtype: Any = np.float32) -> ArrayDataset:
    """``y = sin x`` with normal noise, for x between -π and π: two arrays ``(n, 1)``."""
    return curve(np.sin, n, noise, rng=rng, interval=(-np.pi, np.pi), dtype=dtype)
