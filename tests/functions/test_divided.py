"""Divided differences against exact arithmetic: points apart, close, equal, and on both sides of kinks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from einsumad.functions import apply
from einsumad.functions.general.divided import divided_differences
from einsumad.functions.general.templates import extended, root_of, sides, slot, text_of
from einsumad.graph import multiply

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "exp": mp.exp,
    "log": mp.log,
    "sqrt": mp.sqrt,
    "reciprocal": lambda z: 1 / z,
    "sin": mp.sin,
    "arctan": mp.atan,
}
POINTS = [
    [1.0, 1 + 1e-8, 1 + 1e-3, 1.3],
    [2.0, 2.0, 2.0, 2.0],
    [0.5, 0.5 + 1e-14, 0.6, 0.60001],
    [1e-3, 2e-3, 1.0, 1.00001],
    [3.0, 4.0, 4.3, 5.0],
]


def exact(f: Callable[[Any], Any], points: Sequence[float]) -> Any:
    """By the recursion in 220 digits, equal points moved by 1e-40."""
    with mp.workdps(220):
        moved = [mp.mpf(float(p)) + mp.mpf(10) ** -40 * k for k, p in enumerate(points)]
        table = [f(p) for p in moved]
        for m in range(1, len(moved)):
            table = [(table[i + 1] - table[i]) / (moved[i + m] - moved[i]) for i in range(len(moved) - m)]
        return table[0]


def check(text: str, f: Callable[[Any], Any], points: Sequence[float], order: int, tolerance: float) -> None:
    """Relative to each entry, or to a millionth of the largest."""
    found = divided_differences(np.array([points]), np.zeros((1, 0)), order, text)[0]
    index = list(combinations_with_replacement(range(len(points)), order + 1))
    expected = [exact(f, [points[k] for k in which]) for which in index]
    floor = 1e-6 * max(abs(entry) for entry in expected)
    for which, entry in zip(index, expected, strict=True):
        for places in (which, which[::-1]):
            assert abs(found[places] - entry) <= tolerance * (abs(entry) + floor)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("name", FUNCTIONS)
@np.errstate(all="ignore")
def test_points_near_and_far(name: str, order: int) -> None:
    for points in POINTS:
        check(text_of(apply(name, slot(0))), FUNCTIONS[name], points, order, 2e-12)


@np.errstate(all="ignore")
def test_functions_that_vary_fast_and_kinks() -> None:
    fast = text_of(apply("exp", multiply(slot(0), slot(0), coefficient=30)))
    for order in (1, 2, 3):
        check(fast, lambda z: mp.exp(30 * z * z), [0.5, 2.0, 2.1, 3.0], order, 1e-11)
        check(text_of(apply("abs", slot(0))), abs, [-0.7, -0.69, 0.7, 0.71], order, 2e-12)
        check(text_of(apply("sin", apply("abs", slot(0)))), lambda z: mp.sin(abs(z)), [-0.7, -0.69, 0.2], order, 2e-12)


@pytest.mark.fuzz
@settings(max_examples=25 if settings().max_examples <= 100 else settings().max_examples)
@given(
    st.sampled_from(sorted(FUNCTIONS)),
    st.lists(st.floats(0.01, 10.0), min_size=1, max_size=3),
    st.lists(st.floats(-17, -1), min_size=3, max_size=3),
    st.integers(1, 3),
)
def test_random_clusters(name: str, centres: list[float], distances: list[float], order: int) -> None:
    points = [centres[k % len(centres)] * (1 + 10**distance) for k, distance in enumerate(distances)]
    with np.errstate(all="ignore"):
        check(text_of(apply(name, slot(0))), FUNCTIONS[name], [*points, centres[0]], order, 1e-10)


@np.errstate(all="ignore")
def test_single_precision_and_batches() -> None:
    text = text_of(multiply(slot(0), slot(0), slot(1)))
    found = divided_differences(np.array([[1.0, 2.0], [3.0, 3.0]], "f4"), np.array([[2.0], [1.0]], "f4"), 1, text)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, [[[4, 6], [6, 8]], [[6, 6], [6, 6]]], rtol=1e-6)
    assert divided_differences(np.zeros((2, 0)), np.zeros((2, 1)), 2, text).shape == (2, 0, 0, 0)
    assert divided_differences(np.zeros((0, 3)), np.zeros((0, 1)), 1, text).shape == (0, 3, 3)


def test_poles_and_edges_of_the_domain_are_no_numbers() -> None:
    with np.errstate(all="ignore"):
        for name, points in (("log", [0.0, 1.0]), ("reciprocal", [0.0, 1e-3]), ("sqrt", [0.0, 0.0])):
            found = divided_differences(np.array(points), np.zeros(0), 1, text_of(apply(name, slot(0))))
            assert not np.isfinite(found[0]).any()


@pytest.mark.parametrize("name", ["sin", "exp", "cos", "square", "abs"])
def test_odd_extensions(name: str) -> None:
    text = text_of(apply(name, slot(0)))
    odd = extended(text)
    assert (odd == text) == (name == "sin")
    assert bool(sides(odd)) == (name != "sin")
    assert root_of(odd).shape == ()
