"""The times of tracing, deriving, planning and compiling, and that none is counted twice."""

from __future__ import annotations

import time
from dataclasses import astuple

import numpy as np
import pytest

import einsumad as ea
from einsumad.frontend.timing import seconds_spent, spending


def slow(x):
    time.sleep(0.02)
    return np.sum(np.cosh(x) ** 5)


@pytest.mark.parametrize(
    ("transform", "size"), [(ea.hessian, 3), (lambda f: ea.compile(ea.hessian(f)), 4), (ea.hvp, 5)]
)
def test_a_first_call_is_made_of_stages(transform, size):
    call, x = transform(slow), np.full(size, 0.5)
    arguments = (x, x) if transform is ea.hvp else (x,)
    before, start = ea.statistics(), time.perf_counter()
    call(*arguments)
    whole = time.perf_counter() - start
    after = ea.statistics()
    spent = [getattr(after, name) - getattr(before, name) for name in ("tracing", "deriving", "planning", "compiling")]
    assert spent[0] >= 0.02
    assert min(spent[1:]) > 0
    assert 0.5 * whole < sum(spent) <= whole


def test_a_later_call_only_traces():
    gradient, x = ea.grad(slow), np.ones(2)
    gradient(x)
    before = ea.statistics()
    gradient(x)
    after = ea.statistics()
    assert after.tracing - before.tracing >= 0.02
    assert astuple(after)[4:] == astuple(before)[4:]


def test_what_is_inside_of_another_stage_is_counted_once():
    before = seconds_spent()
    with spending("tracing"):
        time.sleep(0.01)
        with spending("deriving"):
            time.sleep(0.05)
            with spending("planning"):
                time.sleep(0.02)
    spent = {name: value - before[name] for name, value in seconds_spent().items()}
    assert 0.01 <= spent["tracing"] < 0.05 <= spent["deriving"] < 0.12
    assert spent["planning"] >= 0.02


def test_an_error_ends_a_stage():
    before = seconds_spent()
    with pytest.raises(ZeroDivisionError), spending("tracing"), spending("planning"):
        raise ZeroDivisionError
    with spending("deriving"):
        time.sleep(0.01)
    spent = {name: value - before[name] for name, value in seconds_spent().items()}
    assert spent["deriving"] >= 0.01 > spent["tracing"]
