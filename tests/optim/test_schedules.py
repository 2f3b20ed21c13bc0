"""Schedules: the closed formulas, one after another and together, states, and what is refused."""

from __future__ import annotations

import copy
from collections.abc import Callable
from math import cos, pi
from typing import Any

import numpy as np
import pytest

from einsumad import nn, optim
from einsumad.optim import lr_scheduler as schedules

EPOCHS = 25


def optimizer_of(*rates: float) -> optim.Optimizer:
    return optim.SGD([{"params": [nn.Parameter(np.ones(2))], "lr": rate} for rate in rates])


def rates_of(schedule: Any, epochs: int = EPOCHS, *arguments: Any) -> list[list[float]]:
    found = []
    for _ in range(epochs):
        found.append(schedule.get_last_lr())
        assert found[-1] == [group["lr"] for group in schedule.optimizer.param_groups]
        schedule.step(*arguments)
    return found


CURVES: dict[str, tuple[Callable[[Any], schedules.LRScheduler], Callable[[int], float]]] = {
    "lambda": (lambda o: schedules.LambdaLR(o, lambda t: 0.9**t), lambda t: 0.9**t),
    "step": (lambda o: schedules.StepLR(o, 4, 0.5), lambda t: 0.5 ** (t // 4)),
    "milestones": (
        lambda o: schedules.MultiStepLR(o, [9, 3, 9, 0], 0.5),
        lambda t: 0.5 * 0.5 ** (t >= 3) * 0.25 ** (t >= 9),
    ),
    "constant": (lambda o: schedules.ConstantLR(o, 0.25, 4), lambda t: 0.25 if t < 4 else 1.0),
    "linear": (lambda o: schedules.LinearLR(o, 0.25, 0.75, 8), lambda t: 0.25 + 0.5 * min(t, 8) / 8),
    "linear to zero": (lambda o: schedules.LinearLR(o, 1.0, 0.0, 8), lambda t: 1 - min(t, 8) / 8),
    "exponential": (lambda o: schedules.ExponentialLR(o, 0.75), lambda t: 0.75**t),
    "cosine": (lambda o: schedules.CosineAnnealingLR(o, 8), lambda t: (1 + cos(pi * t / 8)) / 2),
}


@pytest.mark.parametrize("name", CURVES)
def test_curves_follow_their_formulas(name: str) -> None:
    make, formula = CURVES[name]
    found = rates_of(make(optimizer_of(1.0, 0.01)))
    expected = [[rate * formula(t) for rate in (1.0, 0.01)] for t in range(EPOCHS)]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-16)


def test_cosine_with_a_minimum_and_functions_for_each_group() -> None:
    found = rates_of(schedules.CosineAnnealingLR(optimizer_of(1.0), 5, eta_min=0.25))
    np.testing.assert_allclose(found, [[0.25 + 0.375 * (1 + cos(pi * t / 5))] for t in range(EPOCHS)], rtol=1e-12)
    found = rates_of(schedules.LambdaLR(optimizer_of(1.0, 2.0), [lambda t: 1 / (t + 1), lambda t: t]), 4)
    assert found == [[1, 0], [1 / 2, 2], [1 / 3, 4], [1 / 4, 6]]


def test_schedules_are_used_together() -> None:
    optimizer = optimizer_of(1.0)
    step, exponential = schedules.StepLR(optimizer, 3, 0.5), schedules.ExponentialLR(optimizer, 0.75)
    for _ in range(7):
        step.step()
        exponential.step()
    np.testing.assert_allclose(optimizer.param_groups[0]["lr"], 0.5**2 * 0.75**7, rtol=1e-12)


def warmed_up(optimizer: Any) -> schedules.SequentialLR:
    parts = [schedules.LinearLR(optimizer, 0.1, 1.0, 5), schedules.CosineAnnealingLR(optimizer, 10)]
    return schedules.SequentialLR(optimizer, [*parts, schedules.ExponentialLR(optimizer, 0.5)], [5, 12])


def warmed_up_formula(t: int) -> float:
    if t < 5:
        return 0.1 + 0.9 * t / 5
    return (1 + cos(pi * (t - 5) / 10)) / 2 if t < 12 else 0.5 ** (t - 12)


def test_one_after_another() -> None:
    found = rates_of(warmed_up(optimizer_of(1.0, 0.1)))
    expected = [[rate * warmed_up_formula(t) for rate in (1.0, 0.1)] for t in range(EPOCHS)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_sequence_within_a_sequence() -> None:
    optimizer = optimizer_of(1.0)
    constant = schedules.ConstantLR(optimizer, 0.5, 100)
    found = rates_of(schedules.SequentialLR(optimizer, [constant, warmed_up(optimizer)], [3]))
    np.testing.assert_allclose(found, [[0.5]] * 3 + [[warmed_up_formula(t)] for t in range(EPOCHS - 3)], rtol=1e-12)


def test_a_milestone_at_zero_skips_the_first() -> None:
    optimizer = optimizer_of(1.0)
    parts = [schedules.ConstantLR(optimizer, 0.5, 3), schedules.ExponentialLR(optimizer, 0.5)]
    assert rates_of(schedules.SequentialLR(optimizer, parts, [0]), 3) == [[1], [0.5], [0.25]]


MEASURES = [3.0, 2.0, 2.0, 1.99995, 1.9, 1.9, 1.9, float("nan"), 1.9, 1.9, 1.9, 1.9, 1.9, 1.0, 1.0, 1.0, 1.0]


def plateau(optimizer: Any, **options: Any) -> schedules.ReduceLROnPlateau:
    return schedules.ReduceLROnPlateau(optimizer, factor=0.5, patience=1, cooldown=1, **options)


def test_plateau() -> None:
    schedule, found = plateau(optimizer_of(1.0, 0.1), min_lr=[0.3, 0.001]), []
    for measure in MEASURES:
        schedule.step(np.float32(measure))
        found.append(schedule.get_last_lr()[0])
    assert found == [1.0] * 3 + [0.5] * 3 + [0.3] * 11
    assert schedule.get_last_lr()[1] == 0.1 * 0.5**5
    rising, absolute = plateau(optimizer_of(1.0), mode="max"), plateau(optimizer_of(1.0), threshold_mode="abs")
    for measure in (1.0, 2.0, 1.5, 1.4):
        rising.step(measure)
    for measure in (1.0, 0.99995, 0.9, 0.85):
        absolute.step(measure)
    assert rising.get_last_lr() == [0.5]
    assert absolute.get_last_lr() == [1.0]


@pytest.mark.parametrize("name", [*CURVES, "sequence"])
def test_schedules_go_on_from_their_states(name: str) -> None:
    make = warmed_up if name == "sequence" else CURVES[name][0]
    optimizer = optimizer_of(1.0, 0.1)
    schedule = make(optimizer)
    rates_of(schedule, 7)
    states = copy.deepcopy((optimizer.state_dict(), schedule.state_dict()))
    expected = rates_of(schedule, 12)
    for optimizer_first in (True, False):
        again = optimizer_of(0.7, 0.7)
        if optimizer_first:
            again.load_state_dict(states[0])
        resumed = make(again)
        if not optimizer_first:
            again.load_state_dict(states[0])
        resumed.load_state_dict(states[1])
        assert rates_of(resumed, 12) == expected


def test_plateau_takes_a_loss_as_it_is() -> None:
    optimizer = optimizer_of(1.0)
    schedule = schedules.ReduceLROnPlateau(optimizer, factor=0.5, patience=0)
    for _ in range(2):
        schedule.step(np.sum(optimizer.param_groups[0]["params"][0] ** 2))
    assert (schedule.best, schedule.get_last_lr()) == (2.0, [0.5])


def test_plateau_goes_on_from_its_state() -> None:
    schedule = plateau(optimizer_of(1.0))
    for measure in MEASURES[:6]:
        schedule.step(measure)
    resumed = plateau(optimizer_of(0.5))
    resumed.load_state_dict(copy.deepcopy(schedule.state_dict()))
    for measure in MEASURES[6:]:
        schedule.step(measure)
        resumed.step(measure)
        assert schedule.state_dict() == resumed.state_dict()


def test_states_that_do_not_fit_change_nothing() -> None:
    schedule = warmed_up(optimizer_of(1.0))
    rates_of(schedule, 3)
    good = copy.deepcopy(schedule.state_dict())
    other = warmed_up(optimizer_of(1.0, 2.0)).state_dict()
    step = schedules.StepLR(optimizer_of(1.0), 2).state_dict()
    for state, text in [
        ({}, "this has "),
        ([], "this has list"),
        (step, "entries last_epoch, last_lr, schedulers, this has last_epoch, base_lrs, last_lr"),
        (other, "for 2 groups, the optimiser has 1"),
        ({**good, "schedulers": good["schedulers"][:2]}, "2 schedules, there are 3"),
        ({**good, "schedulers": [*good["schedulers"][:2], other]}, "entries"),
        ({**good, "last_lr": "0"}, "'0' for last_lr"),
        ({**good, "last_epoch": [1]}, "last_epoch"),
    ]:
        with pytest.raises(ValueError, match=text):
            schedule.load_state_dict(state)
        assert schedule.state_dict() == good


def test_bad_arguments() -> None:
    one, two = optimizer_of(1.0), optimizer_of(1.0, 2.0)
    step = schedules.StepLR(one, 3)
    calls: list[tuple[Callable[[], Any], type[Exception], str]] = [
        (lambda: schedules.StepLR(nn.Parameter(np.ones(2)), 3), TypeError, "optimiser"),
        (lambda: schedules.StepLR(one, 0), ValueError, "step_size"),
        (lambda: schedules.StepLR(one, 1.5), ValueError, "step_size"),  # type: ignore[arg-type] # on purpose
        (lambda: schedules.CosineAnnealingLR(one, 0), ValueError, "T_max"),
        (lambda: schedules.LinearLR(one, 0.0), ValueError, "start_factor"),
        (lambda: schedules.LinearLR(one, 0.5, 1.5), ValueError, "end_factor"),
        (lambda: schedules.LinearLR(one, total_iters=0), ValueError, "total_iters"),
        (lambda: schedules.ConstantLR(one, 0.0), ValueError, "factor"),
        (lambda: schedules.LambdaLR(two, [lambda _: 1.0]), ValueError, "2 groups"),
        (lambda: schedules.SequentialLR(one, [step, step], []), ValueError, "need 1 milestones, got 0"),
        (lambda: schedules.SequentialLR(one, [step] * 3, [5, 5]), ValueError, "rise"),
        (lambda: schedules.SequentialLR(two, [step], []), ValueError, "another optimiser"),
        (lambda: schedules.SequentialLR(one, [plateau(one)], []), TypeError, "ReduceLROnPlateau"),
        (lambda: plateau(two, min_lr=[0.1]), ValueError, "1 numbers for 2 groups"),
        (lambda: plateau(two, mode="least"), ValueError, "mode"),
        (lambda: plateau(two, threshold_mode="least"), ValueError, "threshold_mode"),
        (lambda: schedules.ReduceLROnPlateau(one, factor=1.0), ValueError, "factor"),
    ]
    for call, error, text in calls:
        with pytest.raises(error, match=text):
            call()
    one.add_param_group({"params": [nn.Parameter(np.ones(2))]})
    with pytest.raises(ValueError, match="made for 1 groups, now there are 2"):
        step.step()


def test_repr() -> None:
    assert repr(schedules.StepLR(optimizer_of(1.0), 3)) == "StepLR(last_epoch=0, last_lr=[1.0])"


def test_a_curve_says_how_its_rates_go() -> None:
    """A schedule of one's own that leaves it out is refused when it is made, not in the midst of a run."""
    with pytest.raises(TypeError, match="next_rate"):
        schedules.schedule.Curve(optim.SGD([nn.Parameter(np.ones(1))], lr=0.1))
