"""Reductions: value, shape and dtype as in NumPy over every choice of axes."""

from typing import Any

import numpy as np
import pytest

from einsumad.errors import TracingError
from tests.frontend.surface import check, data, traced, value

SHAPES = [(), (1,), (4,), (2, 3), (2, 1, 3), (0,), (3, 0), (0, 3)]
SUMS = [np.sum, np.mean, np.var, np.std, np.prod]
DTYPES = ["f8", "f4", "f2", "i8", "i1", "u1", "?"]


def axis_choices(rank: int) -> list[Any]:
    choices: list[Any] = [None, *range(-rank, rank), ()]
    return [*choices, (0, -1), (1, 0)] if rank > 1 else [*choices, *([(0,)] if rank else [])]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("f", [*SUMS, np.any, np.all], ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_sums_over_axes(f: Any, shape: tuple[int, ...]) -> None:
    x = data(shape)
    for axis in axis_choices(len(shape)):
        check(lambda a, axis=axis: f(a, axis=axis), x)
        check(lambda a, axis=axis: f(a, axis, keepdims=True), x)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("f", [np.max, np.min, np.amax, np.amin], ids=lambda f: f.__name__)
def test_extrema_over_axes(f: Any, shape: tuple[int, ...]) -> None:
    x = data(shape)
    for axis in axis_choices(len(shape)):
        try:
            f(x, axis=axis)
        except ValueError:
            with pytest.raises(ValueError, match="no entries"):
                f(traced(x), axis=axis)
            continue
        check(lambda a, axis=axis: f(a, axis=axis), x)
        check(lambda a, axis=axis: f(a, axis, keepdims=True), x)


@pytest.mark.parametrize("f", [*SUMS, np.max, np.min, np.any, np.all], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes_of_reductions(f: Any, dtype: str) -> None:
    check(f, data((2, 3), dtype))
    check(lambda a: f(a, axis=1), data((2, 3), dtype))


@pytest.mark.parametrize("f", SUMS, ids=lambda f: f.__name__)
def test_the_dtype_that_is_asked_for(f: Any) -> None:
    check(lambda a: f(a, axis=0, dtype=np.float64), data((2, 3), "f4"))
    check(lambda a: f(a, dtype="f4"), data((2, 3), "i8"))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_degrees_of_freedom() -> None:
    x = data((2, 3))
    for f in (np.var, np.std):
        for ddof in (0, 1, 1.5, 2, 3, 6, 7):
            check(lambda a, f=f, ddof=ddof: f(a, axis=1, ddof=ddof), x)
            check(lambda a, f=f, ddof=ddof: f(a, ddof=ddof), x)
            check(
                lambda a, f=f, ddof=ddof: a.std(None, None, None, ddof) if f is np.std else a.var(ddof=ddof),
                x,
            )
        check(lambda a, f=f: f(a, correction=1), x)


def test_methods() -> None:
    x = data((2, 3))
    for f in [
        lambda a: a.sum(),
        lambda a: a.sum(0),
        lambda a: a.mean(axis=-1, keepdims=True),
        lambda a: a.max(),
        lambda a: a.min(axis=(0, 1)),
        lambda a: a.prod(),
        lambda a: a.var(ddof=1),
        lambda a: a.std(),
        lambda a: (a > 0.5).any(),
        lambda a: (a > 0.5).all(0),
    ]:
        check(f, x)


def test_ufunc_methods() -> None:
    x = data((2, 3))
    for f in [
        np.add.reduce,
        lambda a: np.add.reduce(a, axis=(0, 1)),
        lambda a: np.add.reduce(a, axis=None, keepdims=True),
        np.multiply.reduce,
        np.maximum.reduce,
        lambda a: np.minimum.reduce(a, axis=1),
    ]:
        check(f, x)
    check(np.multiply.outer, x, data((4,)))


def test_infinities_and_nan_pass_through() -> None:
    x = np.array([[1.0, np.inf], [np.nan, 0.0]])
    for f in (np.sum, np.max, np.min, np.prod):
        check(lambda a, f=f: f(a, axis=1), x)


def test_a_maximum_over_all_axes_is_one_function_so_that_ties_split_equally() -> None:
    assert len(np.max(traced(data((2, 3)))).node.operands[0].shape) == 2
    assert value(np.max(traced(np.ones((2, 3))))) == 1


@pytest.mark.parametrize("option", ["out", "where", "initial"])
def test_refused_options(option: str) -> None:
    given = {"out": np.zeros(3), "where": np.ones(3, bool), "initial": 0.0}[option]
    if option == "out":
        with pytest.raises(TracingError, match=rf"numpy\.sum\({option}=...\)"):
            np.sum(traced(data((3,))), out=given)
    with pytest.raises(TracingError, match=option):
        np.add.reduce(traced(data((3,))), **{option: given})


def test_bad_axes_raise_numpys_error() -> None:
    with pytest.raises(np.exceptions.AxisError):
        np.sum(traced(data((3,))), axis=1)
    with pytest.raises(ValueError, match="repeated axis"):
        np.sum(traced(data((3, 3))), axis=(0, 0))
    with pytest.raises(TypeError):
        np.mean(traced(data((3,))), axis=0.5)
    with pytest.raises(TracingError, match="int64"):
        np.mean(traced(data((3,))), dtype=int)
