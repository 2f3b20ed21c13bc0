"""How derivatives of layers are checked: against differences, in every mode, to order 2."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import einsumad as ea
from einsumad.testing import check_derivatives

PROPERTIES = ("shapes and dtypes", "mode agreement", "symmetry", "jvp is J v", "hvp is H v", "purity", "determinism")


def right(f: Callable[..., Any], *args: Any, entries: int = 12, value: bool = True) -> None:
    """Value, gradient and Hessian of a scalar function in all floating arguments, a sample of entries each."""
    if value:
        np.testing.assert_allclose(ea.compile(f)(*args), f(*args), rtol=1e-12, atol=1e-12)
    report = check_derivatives(f, *args, order=2, properties=PROPERTIES, entries=entries, directions=1, minimal=False)
    report.raise_if_wrong()
    assert report.verdict == "right", str(report)


def cotangent(*shape: int, seed: int = 99) -> np.ndarray:
    """Weights of the entries of a result: of a sum of normalised values the derivative would be 0."""
    return np.random.default_rng(seed).normal(size=shape)
