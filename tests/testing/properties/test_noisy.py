"""Monte Carlo arithmetic: it shows what rounding does, moves nothing that is exact, and answers like the library."""

from __future__ import annotations

import numpy as np
import pytest

from einsumad.execution.reference import evaluate
from einsumad.testing.bits import overlaps_itself, same_bits, shares_memory
from einsumad.testing.properties import Case, run_properties
from einsumad.testing.systems import EINSUMAD, flat_tensor
from einsumad.testing.systems.noisy import TooLargeError, moved, noisy_system, noisy_values
from einsumad.testing.systems.own import traced

X, Y = np.array([0.5, -1.25, 2.0]), np.array([1.5, 0.25, -0.5])


def loss(x, y):
    return np.sum(np.exp(x) * y) + np.sum(x * y) ** 2 + np.linalg.slogdet(np.eye(3) * 3 + x[:, None] @ y[None, :])[1]


def spread(f, *arrays):
    """How much the value of a function changes from run to run, in rounding units of the value."""
    graph = traced(f, arrays)
    values = [float(noisy_values([graph.root], graph.values, number)[0]) for number in range(1, 20)]
    return np.ptp(values) / np.finfo(float).eps / abs(values[0])


def smooth(x, y):
    return np.sum(np.exp(x) * y) + np.sum(x * y) ** 2


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("number", [0, 1, 2])
def test_every_transform_answers_like_the_library(number, dtype):
    noisy = noisy_system(EINSUMAD, number)
    arrays, vs, u = (X.astype(dtype), Y.astype(dtype)), (Y.astype(dtype), X.astype(dtype)), np.asarray(1.5, dtype)
    close = {"rtol": 2e3 * np.finfo(dtype).eps, "atol": 1e2 * np.finfo(dtype).eps}
    np.testing.assert_allclose(noisy.evaluate(smooth, arrays), EINSUMAD.evaluate(smooth, arrays), **close)
    for order in (1, 2, 3):
        for mode in noisy.modes:
            found, right = (
                flat_tensor(s.derivative(smooth, arrays, order, mode), (), [(3,), (3,)], order)
                for s in (noisy, EINSUMAD)
            )
            assert found.dtype == dtype
            np.testing.assert_allclose(found, right, **close)
    for found, right in zip(noisy.jvp(smooth, arrays, vs), EINSUMAD.jvp(smooth, arrays, vs), strict=True):
        np.testing.assert_allclose(found, right, **close)
    for found, right in zip(noisy.vjp(smooth, arrays, u)[1], EINSUMAD.vjp(smooth, arrays, u)[1], strict=True):
        np.testing.assert_allclose(found, right, **close)
    for found, right in zip(noisy.hvp(smooth, arrays, vs), EINSUMAD.hvp(smooth, arrays, vs), strict=True):
        np.testing.assert_allclose(found, right, **close)
    for name in set(EINSUMAD.extras) - {"graph"}:
        found, right = (flat_leaves(s.extras[name](smooth, arrays)) for s in (noisy, EINSUMAD))
        np.testing.assert_allclose(found, right, **close)


def flat_leaves(nested):
    if isinstance(nested, tuple):
        return np.concatenate([flat_leaves(part) for part in nested])
    return np.reshape(nested, -1)


def test_the_noise_of_ordinary_sums_is_small_and_that_of_cancellation_is_not():
    assert 1 < spread(lambda x: np.sum(x * x), X) < 100
    assert spread(lambda x: np.sum((x + 1e8) * x - 1e8 * x), X) > 1e6
    hilbert = 1 / (np.arange(8)[:, None] + np.arange(8) + 1.0)
    inverse = np.linalg.inv(hilbert)
    assert spread(lambda x: np.sum(inverse @ (hilbert @ x)), np.arange(1.0, 9.0)) > 1e6
    assert spread(lambda x: 1 - 1 / (1 + np.exp(-x)), np.array(35.0)) > 1e6


def test_runs_are_repeatable_and_differ():
    graph = traced(lambda x: np.sum(np.exp(x)), (X,))
    values = [float(noisy_values([graph.root], graph.values, number)[0]) for number in (1, 1, 2, 3, 4)]
    assert values[0] == values[1]
    assert len({*values}) >= 3


@pytest.mark.parametrize(
    "f",
    [
        np.max,
        lambda x: np.maximum(x, 0.25),
        lambda x: -2 * np.abs(x.T),
        lambda x: np.where(x > 0, x, np.abs(x)),
        lambda x: np.floor(x) * 0.5,
        lambda x: np.maximum(np.sign(x), x) + np.zeros((2, 3)),
    ],
)
def test_what_is_exact_is_not_moved(f):
    graph = traced(f, (X,))
    (right,), (found,) = evaluate([graph.root], graph.values), noisy_values([graph.root], graph.values, 5)
    np.testing.assert_array_equal(found, right)


def test_moving_keeps_ties_signs_zeros_and_what_is_no_float():
    x = np.array([1.5, -1.5, 0.0, -0.0, np.inf, np.nan, 1e-310, 3.0])
    for number in range(1, 9):
        y = moved(x, number)
        assert y[0] == -y[1] != 1.5
        assert same_bits(y[2:6], x[2:6])
        np.testing.assert_allclose(y[-2:], x[-2:], rtol=1e-14)
    assert moved(np.arange(3), 1).dtype == np.arange(3).dtype
    assert same_bits(moved(np.array([True, False]), 1), np.array([True, False]))
    single = moved(np.float32([1.1, 2.2]), 3)
    assert single.dtype == np.float32
    assert 0 < np.max(np.abs(single / np.float32([1.1, 2.2]) - 1)) < 1e-6


def test_what_is_too_large_is_computed_by_the_library():
    big = np.ones((200, 200))
    arrays = (big,)
    graph = traced(lambda x: x @ x, (big,))
    with pytest.raises(TooLargeError, match="8000000 indices"):
        noisy_values([graph.root], graph.values, 1)
    noisy = noisy_system(EINSUMAD, 1)
    assert same_bits(noisy.evaluate(lambda x: x @ x, arrays), EINSUMAD.evaluate(lambda x: x @ x, arrays))


def test_constants_of_a_function_move_too():
    noisy = [noisy_system(EINSUMAD, number) for number in range(1, 9)]
    values = {float(system.evaluate(lambda x: np.maximum(x, 1.1), (np.array(0.5),))) for system in noisy}
    assert len(values) > 3
    assert {float(system.evaluate(lambda x: np.maximum(x, 1.1), (np.array(2.5),))) for system in noisy} == {2.5}


def test_a_wrong_rule_is_not_taken_for_noise():
    """The right system in Monte Carlo arithmetic beside a wrong one: the difference is no noise."""

    def wrong(f, arrays, order, mode):
        (block,) = EINSUMAD.derivative(f, arrays, order, mode)
        return (block * (1.03 if mode == "forward" else 1.0),)

    system = type(EINSUMAD)(
        "wrong",
        EINSUMAD.modes,
        EINSUMAD.evaluate,
        wrong,
        EINSUMAD.jvp,
        EINSUMAD.vjp,
        EINSUMAD.hvp,
        noisy=EINSUMAD.noisy,
    )
    found = run_properties(Case(system, lambda x: np.sin(x) * x, (X,), order=1), ["mode agreement"])
    assert {finding.mode for finding in found if finding.verdict == "wrong"} == {"forward"}


def test_bits():
    assert same_bits(np.array([1.0, np.nan]), np.array([1.0, np.nan]))
    assert same_bits(np.array([1j, complex(0, np.nan)]), np.array([1j, complex(0, np.nan)]))
    assert not same_bits(np.array([0.0]), np.array([-0.0]))
    assert not same_bits(np.array([0j]), np.array([complex(0.0, -0.0)]))
    assert not same_bits(np.zeros(2), np.zeros(2, np.float32))
    assert not same_bits(np.zeros(2), np.zeros((2, 1)))
    assert same_bits(np.longdouble([1, 2]) / 3, np.longdouble([1, 2]) / 3)
    assert same_bits(np.array(["a", None], object), np.array(["a", None], object))
    assert not same_bits(np.arange(3), np.arange(3)[::-1])


def test_memory():
    base = np.arange(12.0)
    assert shares_memory(base[:5], base[4:])
    assert not shares_memory(base[::2], base[1::2])
    assert not overlaps_itself(base.reshape(3, 4).T[::-1])
    assert not overlaps_itself(np.zeros((0, 3)))
    assert overlaps_itself(np.broadcast_to(base, (2, 12)))
    assert overlaps_itself(np.lib.stride_tricks.sliding_window_view(base, 3))
    strided = np.lib.stride_tricks.as_strided
    assert not overlaps_itself(strided(base, (3, 2), (8, 24)))
    assert overlaps_itself(strided(base, (4, 2), (8, 24)))
    assert overlaps_itself(strided(base, (2, 2), (4, 8)))
