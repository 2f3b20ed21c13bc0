"""Calls of every function of the surface that go the way of earlier ones: what they give is what a first call gives."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import einsumad as ea
from tests.frontend.walks import anew, counting, forget
from tests.surface.all_specs import SPECS, Spec
from tests.surface.drawing import Drawer

NAMES = [name for name, spec in SPECS.items() if spec.order]
LEFT = 60
"""Specs at most whose calls are on no known way: they write, or depend on values."""


def summed(f: Callable[..., Any]) -> Callable[..., Any]:
    """The sum of all floats that a function gives, each part weighted by its number."""

    def total(*args: Any) -> Any:
        result = f(*args)
        parts = result if isinstance(result, (tuple, list)) else [result]
        return sum((k + 1) * np.sum(part) for k, part in enumerate(parts) if part.dtype.kind == "f")

    return total


def drawn(spec: Spec, seed: int) -> tuple[Callable[..., Any], list[list[np.ndarray]]]:
    """A function of the spec, and some points."""
    rng = np.random.default_rng(seed)
    f, operands = spec.make(Drawer(rng, empty=False))
    points = [[np.array(x.made_of(rng.uniform(-1, 1, x.size)), float) for x in operands] for _ in range(3)]
    return summed(f), points


@pytest.mark.parametrize("name", NAMES)
def test_gradients_on_known_ways_are_those_of_first_calls(name: str) -> None:
    for seed in range(2):
        f, points = drawn(SPECS[name], seed)
        gradient = ea.grad(f, tuple(range(len(points[0]))))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = [anew(gradient, *point) for point in points]
            forget()
            for _ in range(4):
                for point, known in zip(points, expected, strict=True):
                    for found, first in zip(gradient(*point), known, strict=True):
                        assert found.dtype == first.dtype
                        largest = np.max(np.abs(first), initial=1.0, where=np.isfinite(first))
                        np.testing.assert_allclose(found, first, rtol=1e-12, atol=1e-12 * largest)


def test_few_functions_are_on_no_known_way() -> None:
    left = []
    for name in NAMES:
        f, points = drawn(SPECS[name], 0)
        gradient = ea.grad(f, tuple(range(len(points[0]))))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(5):
                gradient(*points[0])
            with counting() as ends:
                gradient(*points[0])
        if not ends:
            left.append(name)
    assert len(left) <= LEFT, left
