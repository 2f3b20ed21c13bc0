"""Pictures of digits, set upright and moved a little, in plain NumPy.

All is resampling: the new picture has at c the value that the old one has at ``M c + t``, with places counted from the
middle, values between pixels on straight lines, and 0 outside.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


def places(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of all pixels, from the middle of the picture."""
    along = np.arange(size) - (size - 1) / 2
    down, right = np.meshgrid(along, along, indexing="ij")
    return down, right


def resampled(pictures: np.ndarray, matrices: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Square pictures ``(n, size, size)`` at ``M c + t``, for matrices ``(n, 2, 2)`` and offsets ``(n, 2)``."""
    count, size, _ = pictures.shape
    wide = np.pad(pictures, ((0, 0), (1, 1), (1, 1)))
    down, right = places(size)
    at = []
    for row in range(2):
        a, b, t = (part[:, None, None] for part in (matrices[:, row, 0], matrices[:, row, 1], offsets[:, row]))
        at.append(np.clip(a * down + b * right + t + (size + 1) / 2, 0, size + 1 - 1e-6))
    first = [place.astype(np.int64) for place in at]
    y, x = (place - whole for place, whole in zip(at, first, strict=True))
    corner = (np.arange(count)[:, None, None] * (size + 2) + first[0]) * (size + 2) + first[1]
    values = wide.reshape(-1)
    above = values[corner] * (1 - x) + values[corner + 1] * x
    below = values[corner + size + 2] * (1 - x) + values[corner + size + 3] * x
    return (above * (1 - y) + below * y).astype(pictures.dtype)


def deslanted(pictures: np.ndarray) -> np.ndarray:
    """Each picture with its centre of mass in the middle, and its rows moved so that it stands upright.

    Rows are moved by the slope of the line that predicts columns from rows, weighted by the pixels. Linear classifiers
    of MNIST profit much of it (LeCun et al., 1998, section III).
    """
    down, right = places(pictures.shape[1])
    weights = pictures / np.sum(pictures, axis=(1, 2), keepdims=True)

    def mean(values: np.ndarray) -> np.ndarray:
        return np.sum(weights * values, axis=(1, 2), keepdims=True)

    centre = np.concatenate([mean(down), mean(right)], axis=1)[..., 0]
    from_row, from_column = down - centre[:, :1, None], right - centre[:, 1:, None]
    matrices = np.tile(np.eye(2), (len(pictures), 1, 1))
    matrices[:, 1, 0] = (mean(from_row * from_column) / mean(from_row**2))[:, 0, 0]
    return resampled(pictures, matrices, centre)


@dataclass(frozen=True)
class Movement:
    """How far pictures are moved at most, to and fro: by pixels, by radians, and by what they grow, as a logarithm."""

    pixels: float
    radians: float
    growth: float

    def __call__(self, pictures: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """The pictures, each moved by random numbers of its own."""
        count = len(pictures)
        angle = rng.uniform(-self.radians, self.radians, count)
        size = np.exp(rng.uniform(-self.growth, self.growth, count))
        offsets = rng.uniform(-self.pixels, self.pixels, (count, 2))
        rows = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        return resampled(pictures, np.moveaxis(size * np.array(rows), -1, 0), offsets)
