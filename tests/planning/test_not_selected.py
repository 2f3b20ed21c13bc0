"""What is not selected does not contribute, whatever is there: zeros with infinite derivatives, infinities, NaN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import einsumad as ea

NAN, INF = np.nan, np.inf
FIRST = np.array([True, False])
ROWS = np.array([[True, False], [True, False]])
DATA = np.array([[1.0, 2.0], [NAN, 3.0], [4.0, NAN], [0.5, 0.2]])
KNOWN = ~np.isnan(DATA)
ROW = np.array([True, False, False, True])
LAST_IS_ZERO = np.array([[1.0, 2.0, 0.0], [1.0, 2.0, 0.0]])


def sums(x: Any) -> Any:
    return np.sum(sliding_window_view(x, 2, axis=1), axis=-1)


Case = tuple[Callable[[Any], Any], np.ndarray, Callable[[Any], Any]]

INPUTS: dict[str, Case] = {
    "data that is missing": (
        lambda m: np.sum(np.where(KNOWN, np.exp(DATA * m), 0) ** 2 * np.where(KNOWN, DATA * m, 1)),
        np.array([0.5, 0.7]),
        lambda m: (
            np.sum((np.exp(np.where(KNOWN, DATA, 0) * m) ** 2 * (np.where(KNOWN, DATA, 0) * m))[KNOWN]) + 0 * np.sum(m)
        ),
    ),
    "rows that are missing": (
        lambda m: np.sum(np.where(ROW, np.log((DATA @ m) ** 2 + 1), 0) ** 2),
        np.array([0.5, 0.7]),
        lambda m: np.sum(np.log((DATA[ROW] @ m) ** 2 + 1) ** 2),
    ),
    "missing inside of a logarithm": (
        lambda m: np.sum(np.log(np.where(KNOWN, DATA * m, 0) ** 2 + 1) ** 2),
        np.array([0.5, 0.7]),
        lambda m: np.sum(np.log((np.where(KNOWN, DATA, 0) * m) ** 2 + 1) ** 2),
    ),
    "an argument that is NaN": (
        lambda x: np.sum(np.where(FIRST, np.log(x**2 + 0.5), 1.0) ** 2),
        np.array([1.5, NAN]),
        lambda x: np.log(x[0] ** 2 + 0.5) ** 2 + 1,
    ),
    "an argument that is infinite": (
        lambda x: np.sum(np.log(np.where(FIRST, np.sin(x * x), 0.0) ** 2 + 1) ** 2),
        np.array([1.5, INF]),
        lambda x: np.log(np.sin(x[0] * x[0]) ** 2 + 1) ** 2,
    ),
}
ZEROS: dict[str, Case] = {
    "windows of quotients under a mask": (
        lambda x: np.sum(np.where(ROWS, sums(1 / x), 0) ** 2),
        LAST_IS_ZERO,
        lambda x: np.sum((1 / x[:, 0] + 1 / x[:, 1]) ** 2),
    ),
    "windows of logarithms under a mask": (
        lambda x: np.sum(np.where(ROWS, sums(np.log(x)), 0) ** 2),
        LAST_IS_ZERO,
        lambda x: np.sum((np.log(x[:, 0]) + np.log(x[:, 1])) ** 2),
    ),
    "windows of quotients that are picked": (
        lambda x: np.sum(sums(1 / x)[ROWS] ** 2),
        LAST_IS_ZERO,
        lambda x: np.sum((1 / x[:, 0] + 1 / x[:, 1]) ** 2),
    ),
    "windows of quotients, picked twice and weighted": (
        lambda x: np.sum(np.arange(1.0, 5) * sums(1 / x).ravel()[[0, 2, 0, 2]] ** 2),
        LAST_IS_ZERO,
        lambda x: np.sum(np.array([4.0, 6.0]) * (1 / x[:, 0] + 1 / x[:, 1]) ** 2),
    ),
    "a diagonal of indices": (
        lambda x: np.sum(np.diagonal(sums(1 / x).ravel()[np.array([[0, 1], [3, 2]])]) ** 2),
        LAST_IS_ZERO,
        lambda x: np.sum((1 / x[:, 0] + 1 / x[:, 1]) ** 2),
    ),
    "windows of quotients that are cut": (
        lambda x: np.sum(sums(1 / x)[:, ::2] ** 2),
        LAST_IS_ZERO,
        lambda x: np.sum((1 / x[:, 0] + 1 / x[:, 1]) ** 2),
    ),
    "products of windows that are picked": (
        lambda x: np.sum(sums(1 / x)[ROWS] * sums(np.log(x))[ROWS] ** 3),
        LAST_IS_ZERO,
        lambda x: np.sum((1 / x[:, 0] + 1 / x[:, 1]) * (np.log(x[:, 0]) + np.log(x[:, 1])) ** 3),
    ),
    "one of each row": (
        lambda x: -np.sum(np.log(x)[np.arange(2), np.array([0, 1])]),
        LAST_IS_ZERO,
        lambda x: -np.log(x[0, 0]) - np.log(x[1, 1]),
    ),
    "rolled and cut": (
        lambda x: np.sum(np.roll(np.log(x), 1)[1:]),
        LAST_IS_ZERO[0],
        lambda x: np.log(x[0]) + np.log(x[1]),
    ),
    "picked and cut": (
        lambda x: np.sum(np.log(x)[np.array([0, 2])][:1] ** 2),
        LAST_IS_ZERO[0],
        lambda x: np.log(x[0]) ** 2,
    ),
    "repeated and cut": (
        lambda x: np.sum(np.repeat(np.log(x), 2, axis=1)[:, :4] ** 2),
        LAST_IS_ZERO,
        lambda x: 2 * np.sum(np.log(x[:, :2]) ** 2),
    ),
    "some of each row": (
        lambda x: np.sum(np.take_along_axis(np.log(x), np.array([[0, 1], [1, 0]]), axis=1) ** 2),
        LAST_IS_ZERO,
        lambda x: np.sum(np.log(x[:, :2]) ** 2),
    ),
    "padded and cut": (
        lambda x: np.sum(np.pad(np.log(x), 1, mode="edge")[1:3] ** 2),
        LAST_IS_ZERO[0],
        lambda x: np.log(x[0]) ** 2 + np.log(x[1]) ** 2,
    ),
}


@pytest.mark.parametrize("name", INPUTS | ZEROS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_derivatives_are_those_of_what_is_selected(name: str) -> None:
    """Beside the same function of the selected entries alone, which reads no others."""
    f, x, alone = (INPUTS | ZEROS)[name]
    for transform in (ea.grad, ea.hessian):
        expected = transform(alone)(x)
        np.testing.assert_allclose(transform(f)(x), expected, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(ea.compile(transform(f))(x), expected, rtol=1e-12, atol=1e-14)
    for mode in ("forward", "reverse", "cross-country"):
        np.testing.assert_allclose(ea.hessian(f, mode=mode)(x), ea.hessian(alone)(x), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(ea.hessian(f, compressed=True)(x), ea.hessian(alone)(x), rtol=1e-12, atol=1e-14)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_sums_of_windows_are_infinite_where_a_window_is() -> None:
    y = np.array([[1.0, 2.0, 3.0], [4.0, 2.0, INF]])
    np.testing.assert_array_equal(ea.compile(sums)(y), [[3.0, 5.0], [6.0, INF]])
    np.testing.assert_array_equal(ea.compile(lambda x: sums(1 / x))(LAST_IS_ZERO), [[1.5, INF]] * 2)
    tangent = ea.jvp(lambda x: sums(1 / x), (LAST_IS_ZERO,), (np.ones((2, 3)),))[1]
    np.testing.assert_array_equal(tangent, [[-1.25, -INF]] * 2)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("k", [np.array(2), np.array([2]), np.array([[2, 2], [2, 2]]), np.zeros((0,), int)])
def test_indices_of_any_shape(k: np.ndarray) -> None:
    """One window of quotients, picked by a number, again and again, or not at all."""

    def f(x: Any, k: Any) -> Any:
        return np.sum(sums(1 / x).ravel()[k] ** 2)

    expected = k.size * np.array([[0, 0, 0], [-3, -0.75, 0]])
    for transform in (ea.grad, lambda f: ea.compile(ea.grad(f)), lambda f: ea.compile(ea.jacobian(f))):
        np.testing.assert_allclose(transform(f)(LAST_IS_ZERO, k), expected, rtol=1e-14)
    assert np.isfinite(ea.hessian(f)(LAST_IS_ZERO, k)).all()
