"""Every property is violated by a system with one thing wrong, which is right otherwise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from einsumad.testing.properties import PROPERTIES, Case, elimination, run_properties
from einsumad.testing.systems import EINSUMAD
from tests.testing.properties import broken
from tests.testing.properties.broken import (
    Buffered,
    Cached,
    Random,
    in_mode,
    in_order,
    mutating_arguments,
    mutating_directions,
    same_memory,
    scaled,
    with_derivative,
    with_extra,
    with_jvp,
    with_vjp,
)

X, Y = np.array([0.5, -1.25, 1.0]), np.array([1.5, 0.25, -0.5])


def loss(x):
    return np.sum(np.exp(x) * x) + np.sum(x) ** 3


def vector(x, y):
    return np.tanh(x) * y + np.sum(x * x)


def rows(x):
    return np.sum(np.sin(x) * x, axis=1)


def case_of(name, system):
    if name == "shapes and dtypes":
        return Case(system, rows, (np.array([[0.5, 1.0, -0.5], [2.0, -1.0, 1.0]]),))
    if name == "batching":
        return Case(system, rows, (np.array([[0.5, 1.0], [2.0, -1.0]]),), batched=True)
    scalar = ("symmetry", "hvp is H v", "hessian diagonal", "laplacian", "parts together", "structured against dense")
    return Case(system, loss, (X,)) if name in scalar else Case(system, vector, (X, Y))


BROKEN = [
    ("value", replace(EINSUMAD, evaluate=lambda f, xs: 1.03 * EINSUMAD.evaluate(f, xs)), "constant factor"),
    ("value", replace(EINSUMAD, jvp=lambda f, xs, vs: (0 * X, EINSUMAD.jvp(f, xs, vs)[1])), "zero"),
    ("shapes and dtypes", with_derivative(broken.output_last), "wrong shape"),
    ("shapes and dtypes", replace(EINSUMAD, vjp=lambda f, xs, u: (u, EINSUMAD.vjp(f, xs, u)[1] * 2)), "wrong shape"),
    ("shapes and dtypes", with_derivative(lambda nested, *_: nested[0]), "wrong shape"),
    ("adjoint identity", with_vjp(lambda pull, u: pull(1.03 * u)), "constant factor"),
    ("adjoint identity", with_jvp(lambda push, vs: push([vs[0], -vs[1]])), ""),
    ("adjoint identity", with_vjp(broken.ones_only), "ones cotangent only"),
    ("mode agreement", with_derivative(in_mode("reverse", scaled(1.03))), "constant factor"),
    ("mode agreement", with_derivative(in_mode("forward", in_order(2, scaled(0.5)))), "constant factor"),
    ("mode agreement", with_derivative(in_mode("cross-country", scaled(np.nan))), "not a number"),
    ("symmetry", with_derivative(broken.only_lower), "only one triangle"),
    ("symmetry", with_derivative(in_order(2, broken.rows_weighted)), "not symmetrised"),
    ("jvp is J v", with_jvp(lambda push, vs: push([1.03 * v for v in vs])), "constant factor"),
    ("vjp is u J", with_vjp(lambda pull, u: pull(u[::-1])), ""),
    ("hvp is H v", replace(EINSUMAD, hvp=lambda f, xs, vs: (2 * EINSUMAD.hvp(f, xs, vs)[0],)), "constant factor"),
    ("hessian diagonal", with_extra("hessian_diagonal", lambda parts: (parts[0] + 0.1,)), ""),
    ("laplacian", with_extra("laplacian", lambda total: 1.03 * total), ""),
    (
        "parts together",
        with_extra("value_and_grad", lambda parts: (parts[0], (1.03 * parts[1][0],))),
        "constant factor",
    ),
    ("parts together", with_extra("gradient", lambda parts: (parts[0][::-1],)), ""),
    ("parts together", with_extra("value_grad_and_hessian", lambda p: (*p[:2], ((0 * p[2][0][0],),))), "zero"),
    ("linearity in the tangent", with_jvp(broken.shifted), ""),
    ("linearity in the tangent", with_jvp(lambda push, vs: push([np.abs(v) for v in vs])), ""),
    ("linearity in the cotangent", with_vjp(broken.clipped), ""),
    ("linearity in the function", with_derivative(broken.by_value), ""),
    ("product rule", with_derivative(broken.by_value), ""),
    ("quotient rule", with_derivative(broken.by_value), ""),
    ("chain rule", with_derivative(broken.by_value), ""),
    ("chain rule", with_derivative(in_order(2, scaled(1.03))), ""),
    ("permuted input", with_derivative(broken.by_position), ""),
    ("scaled input", with_derivative(broken.by_argument), ""),
    ("constant function", with_derivative(broken.never_zero), ""),
    ("constant function", with_vjp(lambda pull, u: tuple(p if p.any() else u for p in pull(u))), ""),
    ("unused argument", with_derivative(broken.never_zero), ""),
    ("unused argument", with_vjp(lambda pull, u: tuple(p if p.any() else p + 1 for p in pull(u))), ""),
    ("batching", with_derivative(broken.leaking), ""),
    ("batching", replace(EINSUMAD, evaluate=lambda f, xs: EINSUMAD.evaluate(f, xs) * len(xs[0])), "constant factor"),
    ("reference interpreter", with_derivative(scaled(1.03)), "constant factor"),
    ("reference interpreter", replace(EINSUMAD, evaluate=lambda f, xs: EINSUMAD.evaluate(f, xs)[::-1]), ""),
    ("purity", replace(EINSUMAD, derivative=mutating_arguments(EINSUMAD.derivative)), ""),
    ("purity", replace(EINSUMAD, jvp=mutating_directions), ""),
    ("determinism", replace(EINSUMAD, derivative=Random(0.1).derivative), ""),
    ("determinism", replace(EINSUMAD, derivative=Random(3e-16).derivative), ""),
    ("no aliasing", replace(EINSUMAD, evaluate=Buffered().evaluate), ""),
    ("no aliasing", replace(EINSUMAD, jvp=lambda f, xs, vs: (EINSUMAD.evaluate(f, xs) + 0 * xs[0], vs[0])), ""),
    ("no aliasing", replace(EINSUMAD, vjp=same_memory), ""),
    ("freshness", replace(EINSUMAD, derivative=Cached(lambda _, xs: id(xs[0])).derivative), "stale value"),
    ("freshness", replace(EINSUMAD, derivative=Cached(lambda f, _: id(f)).derivative), "stale value"),
    ("freshness", replace(EINSUMAD, evaluate=Cached(lambda _, xs: xs[0].shape).evaluate), "stale value"),
]


@pytest.mark.parametrize("alone", [False, True], ids=["", "without Monte Carlo arithmetic"])
@pytest.mark.parametrize(("name", "system", "cause"), BROKEN)
def test_a_broken_system_is_found(name, system, cause, alone):
    if alone:
        system = replace(system, noisy=None)
    found = run_properties(case_of(name, system), [name])
    wrong = [finding for finding in found if finding.verdict == "wrong"]
    assert wrong, [str(finding) for finding in found]
    assert all(finding.claim == name for finding in wrong)
    assert all(finding.wrong <= finding.entries for finding in wrong)
    assert cause in {finding.cause.split(":")[0] for finding in wrong} or not cause
    assert "WRONG" in str(wrong[0])


@pytest.mark.parametrize("name", [each.name for each in PROPERTIES if each.name != "structured against dense"])
def test_the_right_system_has_all_of_them(name):
    found = run_properties(case_of(name, EINSUMAD), [name])
    assert found
    assert {finding.verdict for finding in found} == {"right"}, [str(finding) for finding in found]


def test_an_order_of_elimination_that_matters_is_found(monkeypatch):
    right = elimination.derivative

    def wrong_in_one_order(root, sources, mode="reverse", order=(), simplify=lambda edge: edge):
        found = right(root, sources, mode, order, simplify)
        calls.append(mode)
        return found if calls.count("cross-country") != 3 else found[::-1]

    calls = []
    monkeypatch.setattr(elimination, "derivative", wrong_in_one_order)
    found = run_properties(case_of("elimination orders", EINSUMAD), ["elimination orders"])
    assert [finding.verdict for finding in found] == ["wrong"]
    assert "of expression 1" in found[0].index


def test_every_property_is_violated_somewhere():
    covered = {name for name, *_ in BROKEN} | {"elimination orders", "structured against dense"}
    assert covered == {each.name for each in PROPERTIES}


def test_single_precision_that_becomes_double_is_found():
    arrays = (X.astype(np.float32), Y.astype(np.float32))
    (found,) = {
        finding.cause.split(":")[0]
        for finding in run_properties(Case(with_derivative(broken.double), vector, arrays), ["shapes and dtypes"])
        if finding.verdict == "wrong"
    }
    assert found == "wrong dtype"


def test_three_percent_are_found_in_single_precision():
    arrays = (X.astype(np.float32), Y.astype(np.float32))
    system = with_derivative(in_mode("reverse", scaled(1.03)))
    found = run_properties(Case(system, vector, arrays), ["mode agreement"])
    assert {finding.mode for finding in found if finding.verdict == "wrong"} == {"reverse"}


def test_rounding_that_differs_is_undecided_where_no_bits_are_promised():
    system = replace(EINSUMAD, bitwise=False, derivative=Random(3e-16).derivative)
    found = run_properties(Case(system, vector, (X, Y)), ["determinism"])
    assert {finding.verdict for finding in found} == {"right", "undecided"}
