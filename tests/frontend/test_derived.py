"""Programs of derivatives: their leaves have the numbers that they had when the derivative was found."""

from __future__ import annotations

import numpy as np
import pytest

import einsumad as ea
from einsumad.frontend.derived import Given, note, noting, over_slots
from einsumad.graph import add, leaf, multiply
from einsumad.planning import set_apart

x, y, z = [leaf((3,), float, ("variable", name), name) for name in "xyz"]
SLOTS = tuple([leaf((3,), float, ("slot", k)) for k in range(2)])


def test_what_one_derivation_gave_is_its_own_graph():
    outputs = (multiply(SLOTS[0], SLOTS[1]), SLOTS[1])
    given = Given(outputs, SLOTS, (y, x))
    graph, slots, settled = over_slots([multiply(x, y), x], [x, y], [given])
    assert (graph, slots) == (outputs, (SLOTS[1], SLOTS[0]))
    assert settled
    graph, _, settled = over_slots([multiply(x, y)], [x, y], [given])
    assert graph == outputs[:1]
    assert settled


def test_what_is_made_of_it_keeps_the_numbers_and_is_no_normal_form():
    given = Given((multiply(*SLOTS),), SLOTS, (y, x))
    graph, slots, settled = over_slots([add([multiply(x, y), z])], [x, y, z], [given])
    assert slots[:2] == (SLOTS[1], SLOTS[0])
    assert slots[2].key == ("slot", 2)
    assert graph == (add([multiply(*SLOTS), slots[2]]),)
    assert not settled


@pytest.mark.parametrize("noted", [[], [Given((SLOTS[0],), SLOTS, (y, x)), Given((SLOTS[1],), SLOTS, (x, z))]])
def test_without_one_derivation_leaves_are_numbered_as_they_are_met(noted):
    graph, slots, settled = over_slots([multiply(x, y)], [y, x], noted)
    assert [slot.key for slot in slots] == [("slot", 0), ("slot", 1)]
    assert graph == (multiply(*slots),)
    assert not settled


def test_a_leaf_that_stands_for_two_slots_has_one_of_them():
    graph, slots, settled = over_slots([multiply(x, x)], [x], [Given((multiply(*SLOTS),), SLOTS, (x, x))])
    assert slots[0] in SLOTS
    assert graph == (multiply(slots[0], slots[0]),)
    assert not settled


def test_records_are_kept_apart():
    given = Given((), (), ())
    note(given)
    with noting() as outer:
        with noting() as inner:
            note(given)
        assert (inner, outer) == ([given], [])
        note(given)
    assert outer == [given]


def network(weights, inputs):
    def loss(first):
        hidden = inputs
        for w in (first, *weights):
            hidden = np.tanh(hidden @ w)
        return np.sum(np.log(np.sum(np.exp(hidden), axis=1)))

    return loss


def test_a_compiled_derivative_has_the_plan_of_the_call():
    rng = np.random.default_rng(0)
    weights = [rng.normal(size=(4, 4)) for _ in range(4)]
    f, w = network(weights[1:], rng.normal(size=(4, 4))), weights[0]
    for transform in (ea.grad, ea.hessian):
        compiled = ea.compile(transform(f))
        np.testing.assert_allclose(compiled(w), transform(f)(w), rtol=1e-12, atol=1e-13)
        whole = ea.explain(transform(f), w).plan
        apart = set_apart(whole, 1, 2**62)
        assert compiled.program(w).plan.plan.cost == (whole if apart is None else apart.plan).cost


def test_one_argument_for_two():
    rng = np.random.default_rng(1)
    a, w = rng.normal(size=(3, 3)), rng.normal(size=3)

    def f(u, v):
        return np.sum(np.exp(u) * (a @ v) ** 2)

    mixed = ea.compile(lambda w: ea.jacobian(ea.grad(f, 0), 1)(w, w))
    np.testing.assert_allclose(mixed(w), np.diag(np.exp(w) * 2 * (a @ w)) @ a, rtol=1e-12)


def test_derivatives_of_several_functions_in_one_program():
    rng = np.random.default_rng(2)
    a, w = rng.normal(size=(3, 3)), rng.normal(size=3)
    f, g = lambda w: w @ a @ w, lambda w: np.sum(np.sin(a @ w))
    both = ea.compile(lambda w: ea.hessian(f)(w) @ ea.grad(g)(w) + w)
    np.testing.assert_allclose(both(w), (a + a.T) @ (a.T @ np.cos(a @ w)) + w, rtol=1e-12)


def test_what_goes_on_after_a_derivative():
    rng = np.random.default_rng(3)
    a, b, w = rng.normal(size=(3, 3)), rng.normal(size=3), rng.normal(size=3)
    step = ea.compile(lambda w, b: w - np.linalg.solve(ea.hessian(lambda w: np.sum((a @ w) ** 2))(w), b))
    np.testing.assert_allclose(step(w, b), w - np.linalg.solve(2 * a.T @ a, b), rtol=1e-8)


def test_a_derivative_kept_in_its_structure():
    rng = np.random.default_rng(4)
    a, w = rng.normal(size=(5, 3)), rng.normal(size=3)
    kept = ea.compile(ea.hessian(lambda w: np.sum(np.exp(a @ w)), compressed=True))
    np.testing.assert_allclose(np.asarray(kept(w)), a.T @ np.diag(np.exp(a @ w)) @ a, rtol=1e-12)
