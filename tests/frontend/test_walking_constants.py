"""Known ways through calls with arrays that count by their content, with arrays of their own, and with many results.

The oracle is a central difference of the function on plain arrays, or what a first call gives.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import einsumad as ea
from einsumad.frontend import replay, walking
from einsumad.scipy import linalg, special
from tests.frontend.walks import anew, counting, differences, forget

X = np.array([[0.3, -0.7, 1.2], [0.11, 0.5, -0.4], [1.3, 0.21, -0.9]])
PLACES = np.array([0, 2, 1])
MASK = np.array([True, False, True])
KNOTS, HEIGHTS = np.array([-1.0, 0.1, 2.0]), np.array([0.5, 3.0, -1.0])
BIG = np.arange(3000) % 3


@pytest.fixture(autouse=True)
def _no_ways() -> None:
    forget()


def chosen(x: Any) -> Any:
    return np.sum(x[PLACES] * x[:, PLACES] * x)


def chosen_twice(x: Any) -> Any:
    return np.sum(np.sin(x[PLACES]) * x[PLACES] ** 2) + np.sum(x[[0, 1], [1, 2]] * x[PLACES[:2], [1, 2]])


def changed_between(x: Any) -> Any:
    y = x[PLACES]
    PLACES[:] = PLACES[::-1].copy()
    return np.sum(y * x[PLACES])


def place_and_factor(x: Any) -> Any:
    return np.sum(x[PLACES] * PLACES * x) + np.sum(np.take(x, PLACES, axis=1) ** 2 * PLACES)


def masked(x: Any) -> Any:
    return np.sum(x[MASK] ** 3) + np.sum(x[:, MASK] @ x[MASK])


def interpolated(x: Any) -> Any:
    return np.sum(np.interp(x, KNOTS, HEIGHTS)) * np.sum(np.polyval(HEIGHTS, x))


def too_large(x: Any) -> Any:
    return np.sum(x[BIG] * x[0]) * np.average(x, weights=KNOTS + 2, axis=0)[1]


def grids(x: Any) -> Any:
    return np.sum(np.linspace(x[0], x[1], 5) * np.linspace(0, 1, 5)[:, None]) + np.sum(
        np.roll(x, 2) * np.kron(x, x)[:3, :3]
    )


def eigenvalues(x: Any) -> Any:
    values, vectors = np.linalg.eigh(x + x.T)
    return np.sum(values**2 * np.arange(3)) + np.sum(vectors**2 * x)


def factors(x: Any) -> Any:
    sign, logarithm = np.linalg.slogdet(np.eye(3) * 3 + x)
    q, r = np.linalg.qr(np.eye(3) * 2 + x)
    return sign * logarithm + np.sum((q @ r) * x) + np.sum(linalg.svd(x)[1])


def parts_of_a_list(x: Any) -> Any:
    parts = np.split(x, 3)
    parts.reverse()
    parts.append(parts[0] * 2)
    whole, rest = np.divmod(x, 0.75)
    return np.sum(parts[0] * parts[-1]) + sum(np.sum(part**2) for part in parts) + np.sum(rest * rest) + np.sum(whole)


def written_parts(x: Any) -> Any:
    y = x * 1.5
    first, _, last = np.split(y, 3)
    first[0] = 2 * x[1]
    return np.sum(y * y) + np.sum(last * first)


def normalised(x: Any) -> Any:
    return (
        np.sum(special.softmax(x, axis=1) * x)
        + np.sum(special.log_softmax(x, axis=0) ** 2)
        + special.logsumexp(x, keepdims=True)[0, 0]
    )


def reduced(x: Any) -> Any:
    return np.sum(np.add.reduce(x, axis=1) ** 2) + np.sum(np.multiply.outer(x[0], KNOTS) * np.add.accumulate(x, axis=0))


FUNCTIONS = [
    *(chosen, chosen_twice, changed_between, place_and_factor, masked, interpolated, too_large, grids),
    *(eigenvalues, factors, parts_of_a_list, written_parts, normalised, reduced),
]


def _states() -> Any:
    for places, mask, knots in itertools.product(([0, 2, 1], [2, 2, 0]), ([1, 0, 1], [0, 1, 0]), (0.45, 0.77)):
        PLACES[:], MASK[:], KNOTS[:] = places, mask, (-1.0, knots, 2.0)
        yield


@pytest.mark.parametrize("f", FUNCTIONS)
def test_gradients_are_those_of_the_arrays_of_the_moment(f: Callable[..., Any]) -> None:
    gradient = ea.grad(f)
    for _ in itertools.chain(_states(), _states(), _states()):
        for x in (X, X[::-1] * 1.1, X):
            places = PLACES.copy()
            expected = differences(f, x) if f is not changed_between else None
            PLACES[:] = places
            found = gradient(x)
            if expected is None:
                PLACES[:] = places
                expected = anew(gradient, x)
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_a_place_that_changes_within_the_call_is_read_when_it_is_used() -> None:
    gradient = ea.grad(changed_between)
    for _ in range(6):
        PLACES[:] = [0, 2, 1]
        np.testing.assert_allclose(gradient(X), _by_hand(X))


def _by_hand(x: np.ndarray) -> np.ndarray:
    """Of ``sum(x[p] * x[q])`` with p = (0, 2, 1) and q = (1, 2, 0)."""
    found = np.zeros_like(x)
    for p, q in zip([0, 2, 1], [1, 2, 0], strict=True):
        found[p] += x[q]
        found[q] += x[p]
    return found


@pytest.mark.parametrize("f", [g for g in FUNCTIONS if g not in (too_large, changed_between, written_parts)])
def test_calls_come_to_a_known_end(f: Callable[..., Any]) -> None:
    for call in (ea.grad(f), ea.value_and_grad(f)):
        for _ in range(4):
            call(X)
        with counting() as ends:
            call(X)
        assert ends


@pytest.mark.parametrize("f", [chosen, chosen_twice, masked, normalised, grids, parts_of_a_list])
def test_second_derivatives_are_those_of_first_calls(f: Callable[..., Any]) -> None:
    for call in (ea.hessian(f), lambda x: ea.hvp(f)(x, x + 1), lambda x: ea.hessian(f, compressed=True)(x).dense()):
        expected = [anew(call, x) for x in (X, 2 * X)]
        forget()
        for _ in range(4):
            for x, known in zip((X, 2 * X), expected, strict=True):
                np.testing.assert_array_equal(call(x), known)


def test_places_that_never_come_again_leave_nothing() -> None:
    rng = np.random.default_rng(0)
    gradient = ea.grad(lambda x, places: np.sum(np.sin(x[places])))
    for _ in range(300):
        gradient(X, rng.integers(0, 3, 40))
    assert len(replay._recipes) < 50
    assert walking._kept < 50


def test_results_of_one_call_are_told_apart() -> None:
    def f(x: Any) -> Any:
        values, vectors = np.linalg.eigh(x @ x.T + np.diag([0.0, 1.0, 2.0]))
        return np.sum(vectors[:, 0] ** 2 * x[0]) + values[0]

    gradient = ea.grad(f)
    for _ in range(5):
        np.testing.assert_allclose(gradient(X), differences(f, X), rtol=1e-5, atol=1e-6)


def test_a_tuple_of_one_result_stays_one() -> None:
    def f(x: Any) -> Any:
        (only,) = np.split(x, 1)
        return np.sum(linalg.qr(np.eye(3) + x, mode="r")[0] * x) + np.sum(only[0] ** 2) + np.sum(np.split(x, 1)[0][1])

    gradient = ea.grad(f)
    expected = differences(_of_one, X)
    for _ in range(5):
        np.testing.assert_allclose(gradient(X), expected, rtol=1e-5, atol=1e-6)


def _of_one(x: np.ndarray) -> Any:
    return np.sum(scipy.linalg.qr(np.eye(3) + x, mode="r")[0] * x) + np.sum(x[0] ** 2) + np.sum(x[1])


def test_what_was_written_is_read_whatever_is_beside_it() -> None:
    def written(x: Any) -> Any:
        y = np.zeros_like(x)
        y[0] = np.inf * x[0]
        y[1] = x[1] ** 2
        return np.sum(y[1] * x[1]) + np.sum(y[1:] * x[1:])

    def added(x: Any) -> Any:
        y = np.stack([np.inf * x[0], x[1] * 0, x[2] * 0]) + np.stack([x[0] * 0, x[1] ** 2, x[2] * 0])
        return np.sum(y[1] * x[1]) + np.sum(y[1:] * x[1:])

    expected = np.zeros_like(X)
    expected[1] = 6 * X[1] ** 2
    gradients = [ea.grad(written), ea.grad(added), ea.grad(written)]
    for _ in range(5):
        for gradient in gradients:
            np.testing.assert_allclose(gradient(X)[1:], expected[1:], atol=1e-12)


def test_named_results_keep_their_names() -> None:
    def f(x: Any) -> Any:
        found = np.linalg.eigh(x + x.T)
        return np.sum(found.eigenvalues**2) + np.sum(np.linalg.slogdet(3 * np.eye(3) + x).logabsdet)

    gradient = ea.grad(f)
    for _ in range(5):
        np.testing.assert_allclose(gradient(X), differences(f, X), rtol=1e-5, atol=1e-6)


def test_a_result_that_is_written_to_leaves_the_argument_alone() -> None:
    def f(x: Any) -> Any:
        y = np.real_if_close(x * 1.0)
        z = special.softmax(y, axis=0)
        z[0] = 0.0
        return np.sum(z * y) + np.sum(y)

    gradient = ea.grad(f)
    for _ in range(5):
        np.testing.assert_allclose(gradient(X), differences(_plain, X), rtol=1e-5, atol=1e-6)


def _plain(x: np.ndarray) -> Any:
    z = np.exp(x) / np.sum(np.exp(x), axis=0)
    z[0] = 0.0
    return np.sum(z * x) + np.sum(x)


def test_every_call_warns() -> None:
    gradient = ea.grad(lambda x: np.sum(np.cov(x[:, :1])))
    fitted = ea.grad(lambda x: np.sum(np.polyfit(np.ones(3), x[0], 2)))
    for _ in range(5):
        with pytest.warns(RuntimeWarning, match="Degrees of freedom"):
            gradient(X)
        with pytest.warns(np.exceptions.RankWarning, match="poorly conditioned"):
            fitted(X)


def test_an_error_is_the_same_at_every_call() -> None:
    gradient = ea.grad(lambda x: np.sum(x[PLACES]))
    for _ in range(4):
        PLACES[:] = [0, 1, 2]
        gradient(X)
        PLACES[:] = [0, 1, 7]
        with pytest.raises(IndexError, match="out of bounds"):
            gradient(X)


def test_dtypes_and_shapes_of_places_are_told_apart() -> None:
    def f(x: Any, places: Any) -> Any:
        return np.sum(x[places] ** 2)

    gradient = ea.grad(f)
    for _ in range(4):
        for places in (
            np.array([0, 1]),
            np.array([0, 1], np.int8),
            np.array([[0, 1]]),
            np.array([False, True, False]),
            np.array([0, 1, 0], np.uint8),
            [0, 1],
            np.array([], int),
        ):
            np.testing.assert_allclose(
                gradient(X, places), differences(lambda x, p=places: f(x, p), X), rtol=1e-5, atol=1e-6
            )


def test_equal_places_of_two_functions_are_one_constant_of_each_trace() -> None:
    def f(x: Any) -> Any:
        return np.sum(x[PLACES] * np.take(x, [0, 2, 1], axis=0))

    PLACES[:] = [0, 2, 1]
    compressed = ea.hessian(f, compressed=True)
    for _ in range(5):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            np.testing.assert_allclose(compressed(X).dense(), 2 * np.eye(9).reshape(3, 3, 3, 3), atol=1e-12)
