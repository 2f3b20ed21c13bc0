"""Chains of up to 100,000 operations: no recursion anywhere, and time that grows with the length (takes a while)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

import einsumad as ea
from tests.acceptance.chains import RATE, chain

ROOT = Path(__file__).parents[2]
SHORT, LONG, LONGEST = 400, 4_000, 50_000  # steps of two operations each


def life(steps: int, *options: str) -> dict[str, Any]:
    """What a chain of so many steps went through in a process with a recursion limit of 200 and a small stack."""
    command = [sys.executable, "-m", "tests.acceptance.chains", str(steps), *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def check_values(found: dict[str, Any], steps: int) -> None:
    factor = (1 + RATE) ** steps
    np.testing.assert_allclose(found["value"], [factor, 2 * factor], rtol=1e-9)
    np.testing.assert_allclose(found["gradient"], [factor, factor], rtol=1e-9)
    assert found["copied"]
    assert found["restored"] == found["value"]


def grows_linearly(long: dict[str, Any], short: dict[str, Any]) -> None:
    """Ten times as long takes about ten times as long; quadratic growth would take a hundred times."""
    for part, seconds in long["seconds"].items():
        assert seconds < 20 * short["seconds"][part] + 0.5, part


@pytest.mark.fuzz
def test_life_of_a_long_chain():
    """Built, printed, evaluated, differentiated, copied, pickled and deleted, in linear time; longer in `make fuzz`."""
    times = 1 if settings().max_examples <= 100 else 5
    short, long = life(times * SHORT), life(times * LONG)
    check_values(short, times * SHORT)
    check_values(long, times * LONG)
    grows_linearly(long, short)


def test_a_chain_of_100000_operations_that_is_not_evaluated():
    """Built, printed, copied, pickled and deleted, in linear time."""
    short, long = life(LONGEST // 10, "kept"), life(LONGEST, "kept")
    assert long["copied"]
    assert long["restored"] == [2]
    assert "not shown" in long["text"]
    assert len(long["text"]) < 5000
    assert len(long["repr"]) < 200
    grows_linearly(long, short)


@pytest.mark.parametrize("transform", [ea.grad, lambda f: lambda x: ea.hvp(f)(x, np.ones(2))])
def test_transforms_of_a_long_chain(transform):
    steps = 1000
    x = np.array([1.0, 2.0])
    factor = (1 + RATE) ** steps
    found = transform(lambda x: np.sum(chain(x, steps) ** 2))(x)
    expected = 2 * factor**2 * (x if transform is ea.grad else np.ones(2))
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_a_long_chain_of_functions():
    """``sin(sin(... sin(x)))``: the derivative is the product of the cosines on the way."""
    steps = 2000
    x = np.array([0.5, 1.0])

    def f(x):
        y = x
        for _ in range(steps):
            y = np.sin(y)
        return np.sum(y)

    slope, y = np.ones(2), x
    for _ in range(steps):
        slope, y = slope * np.cos(y), np.sin(y)
    np.testing.assert_allclose(ea.grad(f)(x), slope, rtol=1e-10)
