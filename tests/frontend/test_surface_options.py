"""Options of reductions and of pad: entries chosen by ``where=``, initial values, given means, statistics around."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import einsumad as ea
from tests.frontend.slopes import check_slopes
from tests.frontend.surface import check, data, traced

SHAPE = (3, 4)
SOME = np.array([[True, False, True, True], [False] * 4, [True] * 4])
FEW = np.array([True, False, False, True])
FUNCTIONS = {
    "sum": lambda x: np.sum(x, 1, where=SOME, initial=2),
    "sum, where it is large": lambda x: np.sum(x, where=x > 0.5, initial=x[0, 0]),
    "prod": lambda x: np.prod(x, 0, where=SOME, initial=3, keepdims=True),
    "max": lambda x: np.max(x, 1, where=SOME, initial=0),
    "min": lambda x: np.min(x, initial=9),
    "mean": lambda x: np.mean(x, 1, where=SOME),
    "mean, broadcast": lambda x: np.mean(x, where=FEW, keepdims=True),
    "var": lambda x: np.var(x, 1, ddof=1, where=SOME),
    "std": lambda x: np.std(x, 0, where=SOME, keepdims=True),
    "var of a mean": lambda x: np.var(x, 1, mean=np.mean(x, 1, keepdims=True)),
    "std of another mean": lambda x: np.std(x, 1, mean=x[:, :1] ** 2, ddof=1),
    "var of some and a mean": lambda x: np.var(x, 1, where=SOME, mean=x[:, :1]),
    "any": lambda x: x * np.any(x > 0.5, 0, where=SOME),
    "all": lambda x: x * np.all(x > 0.3, 0, where=SOME),
    **{
        f"pad, {mode}": lambda x, mode=mode: np.pad(x, ((1, 2), (0, 3)), mode, stat_length=((2, 3), (1, 9)))
        for mode in ("maximum", "minimum", "mean", "median")
    },
    "pad, all entries": lambda x: np.pad(x, 2, "mean"),
    "pad, linear_ramp": lambda x: np.pad(x, ((1, 2), (0, 3)), "linear_ramp", end_values=((1, 2), (3, 4))),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8"])
def test_values(name: str, dtype: str) -> None:
    if dtype == "i8" and ("linear" in name or name in ("pad, mean", "pad, median", "pad, all entries")):
        pytest.skip("floats in an array of whole numbers")
    check(FUNCTIONS[name], data(SHAPE, dtype))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(name: str) -> None:
    check_slopes(FUNCTIONS[name], data(SHAPE), twice=" of " in name)


def test_what_does_not_count_contributes_nothing() -> None:
    x = np.array([0.0, 4.0, 9.0])
    for f in (np.sum, np.mean, np.var, np.prod):
        found = ea.grad(lambda v, f=f: f(np.sqrt(v), where=v > 0))(x)
        assert found[0] == 0
        assert np.isfinite(found).all()


def test_initial_values() -> None:
    nothing = np.zeros((0, 2))
    for f, start in ((np.sum, 1.5), (np.prod, 2), (np.max, 3.0), (np.min, -1)):
        check(lambda v, f=f, s=start: f(v, 0, initial=s), nothing)
        check(lambda v, f=f, s=start: f(v, initial=s, keepdims=True), nothing)
    assert ea.grad(lambda v: np.max(v, initial=2.0))(np.array([1.0, 2.0])).tolist() == [0, 0]
    assert ea.grad(lambda v: np.max(v, initial=2.0))(np.array([3.0, 3.0])).tolist() == [0.5, 0.5]


def test_bad_input() -> None:
    x: Any = traced(data(SHAPE))
    with pytest.raises(ValueError, match="initial"):
        np.max(x, where=SOME)
    with pytest.raises(ValueError, match="broadcast"):
        np.sum(x, where=SOME[:2])
