"""Derivatives that are wrong at special points or have a wrong shape, and systems that cannot do everything.

Owns how the checks meet them. Imports the public checks and systems. Invariant: beside each fault stands what looks
like it and is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from einsumad.testing import System, check_derivatives, check_user_gradient
from einsumad.testing.systems import EINSUMAD

TIES = (np.array([2.0, 2.0]), np.array([0.7, 3.0, -0.7]), np.array([1.5, 1.5, 1.5, 1.5]))


def log_sum(x: Any) -> Any:
    return np.log(np.sum(np.exp(x)))


def shares(x: np.ndarray) -> np.ndarray:
    return np.exp(x) / np.sum(np.exp(x))


def shares_wrong_at_ties(x: np.ndarray) -> np.ndarray:
    return shares(x) if np.unique(np.abs(x)).size == x.size else 1.5 * shares(x)


def half_each(x: np.ndarray) -> np.ndarray:
    largest = x == np.max(x)
    return largest / np.sum(largest)


class TestTies:
    @pytest.mark.parametrize("x", TIES)
    def test_what_is_wrong_at_ties_alone_is_found(self, x: np.ndarray) -> None:
        report = check_user_gradient(log_sum, shares_wrong_at_ties, x, minimal=False)
        assert report.verdict == "wrong"
        assert report.causes[0] == "constant factor"

    @pytest.mark.parametrize("x", TIES)
    def test_what_is_right_at_ties_passes(self, x: np.ndarray) -> None:
        assert check_user_gradient(log_sum, shares, x)
        assert check_user_gradient(log_sum, shares_wrong_at_ties, x + np.arange(x.size))

    @pytest.mark.parametrize("x", TIES)
    def test_conventions_at_kinks_are_not_flagged(self, x: np.ndarray) -> None:
        assert check_user_gradient(np.max, half_each, x).verdict in ("right", "undecided")

    def test_second_derivatives_too(self) -> None:
        def at_ties(f: Any, arrays: Sequence[np.ndarray], order: int, mode: str) -> Any:
            nested = EINSUMAD.derivative(f, arrays, order, mode)
            (x,) = arrays
            return ((np.full((2, 2), nested[0][0].mean()),),) if order == 2 and x[0] == x[1] else nested

        system = replace(EINSUMAD, name="averaged", derivative=at_ties)
        report = check_derivatives(log_sum, np.array([2.0, 2.0]), using=system, properties=[], minimal=False)
        assert {finding.claim for finding in report.wrong} == {"derivative", "derivative along lines"}
        assert {finding.order for finding in report.wrong} == {2}
        assert check_derivatives(log_sum, np.array([2.0, 2.5]), using=system, properties=[])


def total(x: Any) -> Any:
    return np.sum(np.sin(x) * x)


def with_shape(order: int, wrong_mode: str, shape: tuple[int, ...]) -> System:
    """This library, its derivative of one order and mode put into another shape."""

    def derivative(f: Any, arrays: Sequence[np.ndarray], asked: int, mode: str) -> Any:
        nested = EINSUMAD.derivative(f, arrays, asked, mode)
        if (asked, mode) != (order, wrong_mode):
            return nested
        (only,) = nested if asked == 1 else nested[0]
        changed = np.resize(only, shape)
        return (changed,) if asked == 1 else ((changed,),)

    return replace(EINSUMAD, name="misshapen", derivative=derivative)


class TestShapes:
    @pytest.mark.parametrize("shape", [(), (1,), (2,), (3, 2), (6,), (1, 2, 3)])
    def test_a_first_derivative_of_a_wrong_shape(self, shape: tuple[int, ...]) -> None:
        system = with_shape(1, "reverse", shape)
        report = check_derivatives(total, np.arange(1.0, 7.0).reshape(2, 3), using=system, order=1, minimal=False)
        first = report.wrong[0]
        assert (first.claim, first.mode, first.against) == ("derivative", "reverse", "the shape")
        assert f"shape {shape}, and (2, 3) is right" in first.detail
        assert first.cause
        assert any(finding.verdict == "right" and finding.mode == "forward" for finding in report.findings)

    @pytest.mark.parametrize("mode", ["auto", "forward"])
    def test_orders_above_a_wrong_shape_are_left_out_if_they_rest_on_it(self, mode: str) -> None:
        system = with_shape(1, mode, (3,))
        report = check_derivatives(total, np.array([1.0, 2.0]), using=system, order=2, properties=[], minimal=False)
        assert report.verdict == "wrong"
        compared = {finding.order for finding in report.findings if finding.claim == "derivative"}
        assert compared == ({1} if mode == "auto" else {1, 2})

    def test_a_hessian_of_a_wrong_shape(self) -> None:
        system = with_shape(2, "auto", (4,))
        report = check_derivatives(total, np.array([1.0, 2.0]), using=system, properties=[], minimal=False)
        assert [(f.order, f.mode) for f in report.wrong] == [(2, "auto")]
        assert "wrong shape" in report.wrong[0].cause

    def test_the_parts_of_several_arguments_are_named(self) -> None:
        def derivative(f: Any, arrays: Sequence[np.ndarray], order: int, mode: str) -> Any:
            first, second = EINSUMAD.derivative(f, arrays, order, mode)
            return first, second[None]

        system = replace(EINSUMAD, name="misshapen", derivative=derivative)
        args = (np.array([1.0, 2.0]), np.array([3.0, 4.0]))
        report = check_derivatives(lambda x, y: np.sum(x * y), *args, using=system, order=1, properties=[])
        assert report.wrong[0].detail == "block (1,) of the derivative of order 1 has shape (1, 2), and (2,) is right"


def without(missing: str) -> System:
    """This library without one mode."""

    def derivative(f: Any, arrays: Sequence[np.ndarray], order: int, mode: str) -> Any:
        if mode == missing:
            raise NotImplementedError("no rule for sin")
        return EINSUMAD.derivative(f, arrays, order, mode)

    return replace(EINSUMAD, name="partial", derivative=derivative)


class TestMissingModes:
    def test_a_mode_that_a_system_lacks_is_undecided_and_told(self) -> None:
        report = check_derivatives(total, np.array([1.1, 2.0]), using=without("forward"))
        assert report
        told = " ".join(str(report).split())
        assert "(forward), against partial (partial does not have it: no rule for sin)" in told

    def test_without_its_first_mode_the_next_is_the_one_that_is_differentiated(self) -> None:
        report = check_derivatives(total, np.array([1.1, 2.0]), using=without("auto"))
        assert report
        assert {f.mode for f in report.findings if f.claim == "derivative" and f.verdict == "right"} >= {"reverse"}
        nothing = check_derivatives(total, np.array([1.1, 2.0]), using=without("forward"), modes=["forward"])
        assert nothing.verdict == "undecided"


class TestSmallCases:
    def test_they_repeat_what_was_asked(self) -> None:
        system = with_shape(1, "reverse", ())
        report = check_derivatives(total, np.array([1.0, 2.0]), using=system, order=1, modes=["reverse"])
        assert "check_derivatives(total, x, order=1, modes=('reverse',), using='misshapen').raise" in report.case

    def test_and_leave_out_what_was_not(self) -> None:
        report = check_derivatives(total, np.array([1.0, 2.0]), using=with_shape(1, "reverse", (1,)))
        assert "check_derivatives(total, x, using='misshapen').raise" in report.case

    def test_a_case_of_chosen_arguments(self) -> None:
        def product(x: Any, y: Any) -> Any:
            return np.sum(x * y)

        args = (np.array([1.0, 2.0]), np.array([3.0, 4.0]))
        report = check_derivatives(product, *args, argnums=1, using=with_shape(1, "auto", (5,)))
        assert "check_derivatives(product, x, y, using='misshapen', argnums=1).raise" in report.case


class TestComplexNumbers:
    @pytest.mark.parametrize("refusal", [RuntimeError, NotImplementedError, TypeError, AssertionError])
    def test_a_system_that_refuses_them_is_compared_with_other_oracles(self, refusal: type[Exception]) -> None:
        def evaluate(f: Any, arrays: Sequence[np.ndarray]) -> np.ndarray:
            if any(array.dtype.kind == "c" for array in arrays):
                raise refusal("real numbers only")
            return EINSUMAD.evaluate(f, arrays)

        system = replace(EINSUMAD, name="real", evaluate=evaluate)
        report = check_derivatives(total, np.array([1.1, 2.0]), using=system, properties=[])
        assert report
        assert {finding.against for finding in report.findings if finding.order == 1} == {"differences"}

    def test_other_errors_come_through(self) -> None:
        def evaluate(_: Any, __: Sequence[np.ndarray]) -> np.ndarray:
            raise RuntimeError("out of order")

        system = replace(EINSUMAD, name="broken", evaluate=evaluate)
        with pytest.raises(RuntimeError, match="out of order"):
            check_derivatives(total, np.array([1.1, 2.0]), using=system)
