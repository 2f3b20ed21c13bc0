"""Some eigenvalues, eigenvectors and their like, taken by their places in any order: as written, and as NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import einsumad as ea
from tests.frontend.test_factorisation_derivatives import normal, symmetrised

LINALG: Any = np.linalg
POINT = np.diag([1.0, 2.0, 5.0, 7.0]) + 0.2 * symmetrised(normal(4, 4))
PARTS: dict[str, Callable[[Any], Any]] = {
    "eigenvalues": LINALG.eigvalsh,
    "singular values": LINALG.svdvals,
    "eigenvectors": lambda a: LINALG.eigh(a)[1] ** 2,
    "left vectors": lambda a: LINALG.svd(a)[0] ** 2,
    "sorted": lambda a: np.sort(LINALG.eigvalsh(a)[::-1]),
}
PLACES = [
    slice(None, 2),
    slice(None, 0, -1),
    slice(None, None, -1),
    slice(None, None, -2),
    slice(3, 0, -2),
    slice(-1, None),
]
TAKEN: dict[str, Callable[[Any], Any]] = {
    "all": lambda part: part,
    "largest": lambda part: np.max(part, -1),
    "smallest": lambda part: np.min(part, -1),
    "reversed again": lambda part: part[..., ::-1],
    "every other of them": lambda part: part[..., ::-1][..., ::2],
}


@pytest.mark.parametrize("places", PLACES, ids=str)
@pytest.mark.parametrize("taken", TAKEN)
@pytest.mark.parametrize("name", PARTS)
def test_places(name: str, taken: str, places: slice) -> None:
    def f(a: Any) -> Any:
        return TAKEN[taken](PARTS[name](a)[..., places])

    weights = normal(*np.shape(f(POINT)), seed=5)
    direction = symmetrised(normal(4, 4, seed=6))
    np.testing.assert_allclose(ea.compile(f)(POINT), f(POINT), rtol=1e-13)
    gradient = ea.grad(lambda a: np.sum(weights * f(a)))(POINT)
    steps = [np.sum(weights * f(POINT + k * 1e-4 * direction)) for k in (-2, -1, 1, 2)]
    expected = np.dot([1 / 12, -2 / 3, 2 / 3, -1 / 12], steps) / 1e-4
    np.testing.assert_allclose(np.sum(gradient * direction), expected, rtol=1e-7, atol=1e-9)
