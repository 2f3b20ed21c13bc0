"""Entries that are not read take no part in derivatives, whatever is NaN or infinite there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import einsumad as ea

Function = Callable[[Any], Any]
POINT = np.array([0.0, 4.0, 5.0])
MODES: tuple[Any, ...] = ("auto", "forward", "reverse", "cross-country")


def singular_at_zero(x: Any) -> Any:
    return np.sqrt(x) * np.log(x) + 1 / x


PAIRS: dict[str, tuple[Function, Function]] = {
    "one entry": (lambda x: np.sqrt(x)[1] * np.log(x)[1], lambda x: np.sqrt(x[1]) * np.log(x[1])),
    "exponential": (lambda x: np.exp(singular_at_zero(x)[1]), lambda x: np.exp(singular_at_zero(x[1]))),
    "slice": (lambda x: np.exp(singular_at_zero(x)[1:]), lambda x: np.exp(singular_at_zero(x[1:]))),
    "used twice": (
        lambda x: np.exp(np.log(x)[1:]) @ (np.sqrt(x) * np.log(x))[1:],
        lambda x: x[1:] @ (np.sqrt(x[1:]) * np.log(x[1:])),
    ),
    "norm": (lambda x: np.linalg.norm(singular_at_zero(x)[1:]), lambda x: np.linalg.norm(singular_at_zero(x[1:]))),
    "reversed": (lambda x: singular_at_zero(x)[:0:-1] ** 2, lambda x: singular_at_zero(x[:0:-1]) ** 2),
    "places": (lambda x: singular_at_zero(x)[np.array([2, 1])][:1], lambda x: singular_at_zero(x[2:])),
    "rows": (
        lambda x: np.sum((np.log(x)[:, None] * np.ones(2))[1:] ** 2),
        lambda x: np.sum((np.log(x[1:])[:, None] * np.ones(2)) ** 2),
    ),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", PAIRS)
def test_entries_that_are_not_read(name: str, mode: Any) -> None:
    behind, before = PAIRS[name]
    for order in (1, 2, 3):
        found = ea.derivative(behind, order=order, mode=mode)(POINT)
        assert np.isfinite(found).all()
        np.testing.assert_allclose(found, ea.derivative(before, order=order)(POINT), rtol=1e-11, atol=1e-12)


def test_what_else_is_used_stays_whole() -> None:
    """The function is computed once where all of it is used too; and reading it costs no second evaluation."""
    x = np.arange(1.0, 7.0)
    plan = str(ea.explain(lambda x: np.exp(x)[1:] @ np.exp(x)[:-1], x).plan)
    assert plan.count("exp(") == 1
    assert str(ea.explain(lambda x: np.sum(np.exp(x)[4:]), x).plan).count("float64(2)") >= 1
