"""Views that a known way has made: writes into them and into what they are views of are seen as NumPy shows them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad.errors import TracingError
from tests.frontend.walks import counting, differences, forget

Y = np.array([[0.3, -0.7, 1.2], [0.11, 0.5, -0.4], [1.3, 0.21, -0.9]])
WEIGHTS = np.arange(1.0, 10).reshape(3, 3)


def through_a_list(x: Any) -> Any:
    axes = [1, 0]
    view = np.transpose(x, axes)
    axes[:] = [0, 1]  # which the view does not follow
    return view


VIEWS: list[Callable[..., Any]] = [
    *(lambda x: x.T, lambda x: np.transpose(a=x), lambda x: np.transpose(x, (1, 0)), through_a_list),
    *(lambda x: x[1:], lambda x: x[::-1], lambda x: x[:, 0], lambda x: x[0], lambda x: x[..., None]),
    *(lambda x: x[1, 1:], lambda x: np.swapaxes(x, axis2=1, axis1=0), lambda x: np.expand_dims(x, 0)),
    *(lambda x: np.moveaxis(x, 0, -1), lambda x: x.T[1:].T, np.flip, np.atleast_2d, np.real, np.squeeze, np.rot90),
]
OF_NODES: list[Callable[..., Any]] = [lambda x: np.einsum("ij->ji", x), lambda x: np.einsum("ii->i", x)]
"""Whether these are views is read from their node, which ends the walk."""


@pytest.fixture(autouse=True)
def _no_ways() -> None:
    forget()


def reads(x: Any, view: Callable[..., Any]) -> Any:
    y = x * 2
    seen = view(y)
    return np.sum(seen * seen * 3) + np.sum(y * WEIGHTS)


def writes_the_view(x: Any, view: Callable[..., Any]) -> Any:
    y = x * 2
    seen = view(y)
    seen[0] = x[0, 0] ** 2
    return np.sum(y * y * WEIGHTS) + np.sum(seen * seen)


def writes_the_base(x: Any, view: Callable[..., Any]) -> Any:
    y = x * 2
    seen = view(y)
    y[0] = x[1] ** 2
    y += 1
    return np.sum(seen**3) + np.sum(y * WEIGHTS)


@pytest.mark.parametrize("view", [*VIEWS, *OF_NODES])
def test_writes_are_seen(view: Callable[..., Any]) -> None:
    with counting() as ends:
        for f in (reads, reads, writes_the_view, writes_the_base, reads, reads, writes_the_base, writes_the_view) * 2:
            found = ea.grad(f)(Y, view)
            np.testing.assert_allclose(found, differences(lambda x, f=f: f(x, view), Y), rtol=1e-6, atol=1e-6)
    assert len(ends) > 1 or view in OF_NODES


@pytest.mark.parametrize("view", [lambda x: np.reshape(x, (9,)), lambda x: x.reshape(1, 9), np.ravel])
def test_views_by_the_order_in_memory_are_refused_after_writes_on_known_ways_too(view: Callable[..., Any]) -> None:
    def write_after(x: Any, write: bool) -> Any:
        y = x * 2
        seen = view(y)
        if write:
            y[0] = x[1] ** 2
        return np.sum(seen**3) + np.sum(y * WEIGHTS)

    gradient = ea.grad(write_after)
    with counting() as ends:
        for _ in range(3):
            for _ in range(3):
                np.testing.assert_allclose(gradient(Y, False), 24 * Y**2 + 2 * WEIGHTS)
            with pytest.raises(TracingError, match="whether NumPy would show the change"):
                gradient(Y, True)
    assert len(ends) > 3


def test_a_write_is_seen_in_what_is_alive_of_many_views() -> None:
    def f(x: Any) -> Any:
        y = x * 2
        kept = [y[k % 3] for k in range(100)][-2:]
        y[0] = x[1] ** 2
        y[2] = x[0] ** 3
        return np.sum(kept[0] * kept[1]) + np.sum(y * WEIGHTS)

    for _ in range(4):
        np.testing.assert_allclose(ea.grad(f)(Y), differences(f, Y), rtol=1e-6, atol=1e-6)


def test_a_write_is_refused_while_one_of_many_views_is_alive_that_it_may_miss() -> None:
    def f(x: Any, kept: int) -> Any:
        y = x * 2
        flat = np.reshape(y, (9,))
        views = [y[k % 3] for k in range(100)]
        views = views[:kept]
        flat[0] = x[0, 0]
        return np.sum(flat) + sum(map(np.sum, views))

    for _ in range(3):
        with pytest.raises(TracingError, match="whether NumPy would change that too"):
            ea.grad(f)(Y, 1)


NUMBERS: list[Callable[[Any], Any]] = [
    np.atleast_1d,
    lambda s: s[None],
    lambda s: np.expand_dims(s, 0),
    lambda s: np.meshgrid(s, copy=False)[0],
]


@pytest.mark.parametrize("view", NUMBERS)
def test_an_array_made_of_a_number_is_not_written_through(view: Callable[[Any], Any]) -> None:
    def written(x: Any) -> Any:
        s = np.sum(x)
        v = view(s)
        v *= 10
        return s * v[0]

    def copied(x: Any) -> Any:
        s = np.sum(x)
        v = np.copy(view(s))
        v *= 10
        return s * v[0]

    x = np.array([1.0, 2.0])
    for _ in range(4):
        with pytest.raises(TracingError, match="of a value without axes that is still in use"):
            ea.grad(written)(x)
        np.testing.assert_allclose(ea.grad(copied)(x), [60.0, 60.0])
        np.testing.assert_allclose(ea.grad(lambda x: np.sum(view(np.sum(x)) ** 2))(x), [6.0, 6.0])


def test_a_value_that_is_no_longer_in_use_may_be_written_through_its_view() -> None:
    def f(x: Any) -> Any:
        v = np.atleast_1d(np.sum(x))
        v *= 10
        return np.sum(v * x)

    x = np.array([1.0, 2.0])
    for _ in range(4):
        np.testing.assert_allclose(ea.grad(f)(x), [60.0, 60.0])
