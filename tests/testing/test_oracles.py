"""The oracles: right values, honest errors, and nothing said where nothing is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from einsumad.testing.oracles.along import Surroundings
from einsumad.testing.oracles.differences import differentiate
from einsumad.testing.oracles.estimate import Estimate
from einsumad.testing.oracles.noise import noise_of
from einsumad.testing.oracles.polynomial import exact_derivative
from einsumad.testing.oracles.stencils import weights
from einsumad.testing.oracles.taylor import remainder_rate
from einsumad.testing.point import point_of
from einsumad.testing.subject import Subject

Function = Callable[[Any], Any]
SMOOTH: list[tuple[str, Function, list[Function]]] = [
    ("sin", np.sin, [np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x)]),
    ("exp", np.exp, [np.exp] * 3),
    ("fifth power", lambda x: x**5, [lambda x: 5 * x**4, lambda x: 20 * x**3, lambda x: 60 * x**2]),
    ("fast sine", lambda x: np.sin(100 * x), [lambda x: 100 * np.cos(100 * x), lambda x: -1e4 * np.sin(100 * x)]),
    ("period of two", lambda x: np.sin(np.pi * x), [lambda x: np.pi * np.cos(np.pi * x)]),
    ("1/x", lambda x: 1 / x, [lambda x: -1 / x**2, lambda x: 2 / x**3, lambda x: -6 / x**4]),
    ("log", lambda x: np.log(np.abs(x)), [lambda x: 1 / x]),
    ("tiny", lambda x: 1e-150 * x * x, [lambda x: 2e-150 * x]),
    ("huge", lambda x: 1e150 * x * x, [lambda x: 2e150 * x]),
    ("far from zero", lambda x: 1e6 + x * x, [lambda x: 2 * x]),
]
CASES = [(name, f, k + 1, d) for name, f, derivatives in SMOOTH for k, d in enumerate(derivatives)]


def surroundings(f: Function, x: Any, **options: Any) -> Surroundings:
    subject = Subject(f, point_of([np.asarray(x, float)], ["x"]), "f")
    return Surroundings(subject, subject.point.vector, **options)


def along(f: Function, x: float, order: int = 1, **options: Any) -> Estimate:
    base = surroundings(f, x, **options)
    return base.along([base.scales], order)[0].scaled(1 / float(base.scales[0]) ** order)


@pytest.mark.parametrize(
    ("f", "order", "derivative"), [case[1:] for case in CASES], ids=[f"{c[0]}-{c[2]}" for c in CASES]
)
@given(x=st.one_of(st.floats(0.05, 20), st.floats(-20, -0.05)), seed=st.integers(0, 99))
def test_the_error_bounds_the_distance_from_the_truth(
    f: Function, order: int, derivative: Function, x: float, seed: int
) -> None:
    found, truth = along(f, x, order, seed=seed), derivative(np.float64(x))
    slack = 1e-12 * abs(truth) + 64 * np.finfo(float).eps * abs(f(np.float64(x))) if order == 1 else 0
    assert abs(found.value[0] - truth) <= 10 * found.error[0] + slack
    assert not found.kink[0]


@pytest.mark.parametrize("order", [1, 2, 3])
def test_ordinary_functions_are_known_well(order: int) -> None:
    found = along(np.sin, 1.3, order)
    assert found.error[0] < {1: 1e-12, 2: 1e-6, 3: 1e-3}[order]


KINKS: list[tuple[str, Function, float, float]] = [
    ("abs", np.abs, -1, 1),
    ("relu", lambda x: np.maximum(x, 0), 0, 1),
    ("leaky", lambda x: np.where(x > 0, x, 0.1 * x), 0.1, 1),
    ("abs of sine", lambda x: np.abs(np.sin(x)), -1, 1),
]


@pytest.mark.parametrize(("f", "left", "right"), [k[1:] for k in KINKS], ids=[k[0] for k in KINKS])
def test_a_kink_is_seen_with_its_one_sided_derivatives(f: Function, left: float, right: float) -> None:
    found = along(f, 0.0)
    assert found.kink[0]
    np.testing.assert_allclose([found.left[0], found.right[0]], [left, right], atol=1e-6)
    assert found.error[0] >= 0.5 * (right - left)


@pytest.mark.parametrize("distance", [1e-7, 1e-5, 1e-3, 0.1])
@pytest.mark.parametrize("side", [-1, 1])
def test_a_kink_nearby_is_stepped_short_of(distance: float, side: int) -> None:
    found = along(lambda x: np.abs(x - 1), 1 + side * distance)
    assert abs(found.value[0] - side) <= 10 * found.error[0] < 0.1
    flat = along(lambda x: np.maximum(x - 1, 0), 1 - distance)
    assert abs(flat.value[0]) <= 10 * flat.error[0] < 0.1


@pytest.mark.parametrize(
    ("f", "x", "truth"),
    [(np.floor, 2.5, 0), (np.sign, 0.3, 0), (lambda x: np.round(3 * x) * x, 2.13, 6), (lambda x: 5.0 + 0 * x, 1.0, 0)],
)
def test_piecewise_constant_parts(f: Function, x: float, truth: float) -> None:
    found = along(f, x)
    assert abs(found.value[0] - truth) <= 10 * found.error[0] + 1e-12
    assert found.error[0] < 1e-3


@pytest.mark.parametrize(("f", "x"), [(np.floor, 2.0), (np.sign, 0.0), (np.sqrt, 0.0), (lambda x: 1e300 * x**3, 1e80)])
def test_nothing_is_claimed_at_a_jump_or_where_values_are_infinite(f: Function, x: float) -> None:
    found = along(f, x)
    assert not found.error[0] < 0.01 * abs(found.value[0])


def test_at_the_border_of_the_domain_the_one_sided_derivative_counts() -> None:
    found = along(lambda x: np.sqrt(x) ** 3 * np.sqrt(x), 0.0)
    assert abs(found.value[0]) <= 10 * found.error[0] < 1e-6


def test_cancellation_inside_is_noise() -> None:
    x = 1e-5
    quotient = along(lambda x: (np.exp(x) - 1) / x, x)
    assert abs(quotient.value[0] - (0.5 + x / 3)) <= 10 * quotient.error[0]
    cosine = along(lambda x: 1 - np.cos(x), x)
    assert abs(cosine.value[0] - np.sin(x)) <= 10 * cosine.error[0]


def test_functions_that_round_to_single_precision_have_its_noise() -> None:
    found = along(lambda x: np.sin(x.astype(np.float32)), 1.3)
    assert abs(found.value[0] - np.cos(1.3)) <= 10 * found.error[0] < 1e-2


def test_the_complex_step_is_taken_back_where_it_misleads() -> None:
    exact = along(lambda x: np.sin(x) * x**2, 1.3)
    assert exact.name(0) == "complex step"
    assert abs(exact.value[0] - (np.cos(1.3) * 1.3**2 + np.sin(1.3) * 2.6)) < 1e-14
    for f in (lambda x: np.abs(x) * x, lambda x: np.real(x) ** 2, lambda x: (x * np.conj(x)) + 0 * x):
        found = along(f, 1.3)
        assert found.name(0) == "differences"
        assert abs(found.value[0] - 2.6) <= 10 * found.error[0]


def test_whole_numbers_are_exact_and_look_alikes_are_refuted() -> None:
    line = lambda t: np.array([(3 + t) ** 6 - 2 * (3 + t), np.round(3.0 + t), np.abs(t)])  # noqa: E731
    first, second = (exact_derivative(line, line(0.0), order) for order in (1, 2))
    assert first is not None
    assert second is not None
    assert first.value[0] == 6 * 3**5 - 2
    assert second.value[0] == 30 * 3**4
    assert np.isinf(first.error[2])
    assert along(np.round, 3.0).value[0] == 0
    assert along(lambda x: x**3, 3.0).name(0) == "whole-number differences"


@given(st.integers(-5, 5), st.integers(-5, 5), st.integers(1, 3))
def test_whole_number_polynomials_have_no_error(a: int, x: int, order: int) -> None:
    polynomial = np.polynomial.Polynomial([1, a, 2, -a, 3])
    found = along(polynomial, float(x), order)
    assert found.value[0] == polynomial.deriv(order)(x)


def test_weights_are_exact_for_polynomials() -> None:
    nodes = (-8, -4, -2, -1, 0, 1, 2, 4, 8)
    for order in (1, 2, 3):
        for degree in range(9):
            values = np.array(nodes, float) ** degree
            exact = float(np.prod(range(degree - order + 1, degree + 1))) if degree == order else 0.0
            assert abs(weights(nodes, order) @ values - exact) < 1e-6


def test_noise_measures_rounding() -> None:
    clean = noise_of(np.sin, np.array([1.0]), [np.ones(1), -np.ones(1)], 2.2e-16, 2.2e-16)
    coarse = noise_of(lambda x: np.round(np.sin(x), 6), np.array([1.0]), [np.ones(1), -np.ones(1)], 2.2e-16, 2.2e-16)
    assert clean[0] < 1e-14
    assert 1e-8 < coarse[0] < 1e-4


@pytest.mark.parametrize(("slope", "verdict"), [(1.0, "right"), (1.03, "wrong"), (0.0, "wrong"), (1 + 1e-12, "right")])
def test_the_taylor_rate_needs_no_step(slope: float, verdict: str) -> None:
    rate = remainder_rate(lambda t: np.array([np.sin(t)]), [np.zeros(1), np.array([slope])], np.array([1e-17]))
    assert rate.verdict == verdict


def test_the_taylor_rate_of_second_order_and_of_kinks() -> None:
    line = lambda t: np.array([np.exp(t)])  # noqa: E731
    one = np.ones(1)
    assert remainder_rate(line, [one, one, one], np.array([1e-16])).verdict == "right"
    assert remainder_rate(line, [one, one, 1.1 * one], np.array([1e-16])).verdict == "wrong"
    assert remainder_rate(lambda _: np.array([np.nan]), [one, one], np.array([0.0])).verdict == "undecided"


def test_a_line_that_is_not_finite_gives_no_estimate() -> None:
    found = differentiate([lambda _: np.array([np.nan])], np.array([1.0]), np.array([0.0]), 1)[0]
    assert np.isinf(found.error[0])
