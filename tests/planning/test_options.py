"""The planner's switches: results stay, plans differ where a switch matters, and nothing made under others is used."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings

import einsumad as ea
from einsumad.planning import Plan, option_names, options_in_force
from einsumad.testing.strategies import Program, programs

pytestmark = pytest.mark.whole_planner  # sets the options itself

RNG = np.random.default_rng(11)
NAMES = option_names()
X, Y = RNG.normal(size=(8, 4)), np.sign(RNG.normal(size=8))
T, OMEGA, V = RNG.normal(size=(5, 4)), RNG.random((5, 4)) < 0.6, RNG.normal(size=(4, 2))
INPUT, TARGET = RNG.normal(size=(4, 3)), np.eye(3)[[0, 2, 1, 0]]
WEIGHTS = RNG.normal(size=(4, 3, 3))


def logistic(w):
    return np.sum(np.log(np.exp(-Y * (X @ w)) + 1))


def factorisation(u):
    return np.sum((OMEGA * (T - u @ V.T)) ** 2)


def network(activation):
    def loss(first):
        a = INPUT
        for weights in (first, *WEIGHTS):
            a = activation(a @ weights)
        return np.sum(np.log(np.sum(np.exp(a), axis=1))) - np.sum(TARGET * a)

    return loss


def relu(z):
    return np.maximum(z, 0)


FUNCTIONS = {
    "logistic": (logistic, RNG.normal(size=4)),
    "factorisation": (factorisation, RNG.normal(size=(5, 2))),
    "relu network": (network(relu), RNG.normal(size=(3, 3))),
    "tanh network": (network(np.tanh), RNG.normal(size=(3, 3))),
    "logsumexp": (lambda x: np.log(np.sum(np.exp(x))), RNG.normal(size=5)),
    "quadratic form": (lambda x: x @ X.T @ X @ x, RNG.normal(size=4)),
    "determinant": (lambda a: np.log(np.linalg.det(a @ a.T + np.eye(3))), RNG.normal(size=(3, 3))),
    "eigenvalues": (lambda a: np.sum(np.exp(np.linalg.eigvalsh(a + a.T))), RNG.normal(size=(3, 3))),
    "gather": (lambda x: np.sum(np.sin(x[[0, 2, 2, 1]]) * x[[3, 2, 1, 1]] ** 2), RNG.normal(size=4)),
    "windows": (lambda x: np.sum(np.convolve(x, x[:2]) ** 2), RNG.normal(size=4)),
    "norm": (lambda x: np.sqrt(np.sum(x**2)) ** 3, RNG.normal(size=4)),
    "diagonal": (lambda x: np.sum(np.exp(np.diag(x) @ X[:3]) * np.trace(np.diag(x))), RNG.normal(size=3)),
}


def combinations() -> Iterator[dict[str, bool]]:
    """Every option off alone, every pair of them, and all."""
    for count in (1, 2, len(NAMES)):
        for off in itertools.combinations(NAMES, count):
            yield dict.fromkeys(off, False)


def close(found, expected, tolerance=1e-10):
    scale = max(1.0, float(np.max(np.abs(expected))))
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * scale)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_of_three_orders_are_the_same(name):
    """To third order with each option off and with all, to second order with each two."""
    f, x = FUNCTIONS[name]
    expected = [ea.derivative(f, order=order)(x) for order in (1, 2, 3)]
    for off in combinations():
        with ea.planner_options(**off):
            for order, wanted in enumerate(expected[: 2 if len(off) == 2 else 3], 1):
                close(ea.derivative(f, order=order)(x), wanted)


@pytest.mark.parametrize("off", NAMES)
@pytest.mark.parametrize("mode", ["forward", "reverse", "cross-country"])
def test_hessians_by_every_mode(off, mode):
    """Against a formula by hand: what is asked for by name is done, whatever is off."""
    w = RNG.normal(size=4)
    p = 1 / (1 + np.exp(Y * (X @ w)))
    with ea.planner_options(**{off: False}):
        close(ea.hessian(logistic, mode=mode)(w), X.T @ (X * (p * (1 - p))[:, None]))
        chosen = ea.explain(ea.hessian(logistic, mode=mode), w).choices[-1]
    assert chosen.mode == mode


@pytest.mark.parametrize("off", NAMES)
def test_what_else_can_be_asked_for(off):
    f, x = FUNCTIONS["tanh network"]
    v = RNG.normal(size=x.shape)

    def residuals(w):
        return np.tanh(INPUT @ w)

    def ask():
        hessian = ea.hessian(f, compressed=True)(x)
        return [
            ea.hvp(f)(x, v),
            ea.jacobian(residuals)(x),
            ea.jvp(residuals, (x,), (v,))[1],
            ea.hessian_diagonal(f)(x),
            ea.laplacian(f)(x),
            ea.gauss_newton(residuals)(x),
            hessian.dense(),
            hessian @ v,
            ea.compile(ea.hessian(f))(x),
        ]

    expected = ask()
    with ea.planner_options(**{off: False}):
        found = ask()
    for ours, wanted in zip(found, expected, strict=True):
        close(ours, wanted)


@pytest.mark.parametrize("off", NAMES)
@settings(max_examples=max(12, settings().max_examples // 8))
@given(program=programs(("smooth", "arithmetic", "products", "reductions"), max_statements=4, max_side=3))
def test_random_programs(off: str, program: Program) -> None:
    def total(*args: np.ndarray) -> np.ndarray:
        return np.sum(program(*args))

    point = program.point
    expected = ea.hessian(total, argnums=0)(*point)
    with ea.planner_options(**{off: False}):
        found = ea.hessian(total, argnums=0)(*point)
    scale = np.max(np.abs(expected[np.isfinite(expected)]), initial=1.0)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8 * scale)


def hessian_plan(name: str, **options: bool) -> Plan:
    f, x = FUNCTIONS[name]
    with ea.planner_options(**options):
        return ea.explain(ea.hessian(f), x).plan


def test_without_cross_country_two_orders_are_compared():
    f, x = FUNCTIONS["relu network"]
    with ea.planner_options(cross_country=False):
        assert [c.mode for c in ea.explain(ea.hessian(f), x).choices[-1].candidates] == ["reverse", "forward"]
    assert hessian_plan("relu network").flops < hessian_plan("relu network", cross_country=False).flops


def test_without_factoring_more_is_multiplied():
    """``Σ a b + Σ a c``: two matrix products of two terms, one of their sum."""
    flops = {}
    for factoring in (True, False):
        with ea.planner_options(factoring=factoring):
            flops[factoring] = ea.explain(lambda a, b, c: a @ b + a @ c, *[np.ones((30, 30))] * 3).plan.flops
    assert flops == {True: 2 * 30**3 + 900, False: 4 * 30**3 + 900}
    assert hessian_plan("tanh network").flops < hessian_plan("tanh network", factoring=False).flops


def test_without_sharing_equal_parts_are_computed_again():
    """``A B`` is no node of the function: the products ``A B C`` and ``A B Cᵀ`` begin with it."""

    def f(a, b, c):
        return np.einsum("ij,jk,kl->il", a, b, c), np.sin(np.einsum("ij,jk,lk->il", a, b, c))

    big, small = np.ones((3, 20)), np.ones((20, 3))
    flops = {}
    for sharing in (True, False):
        with ea.planner_options(sharing=sharing):
            flops[sharing] = ea.explain(f, big, small, np.ones((3, 3))).plan.flops
    assert flops[False] - flops[True] == 2 * 3 * 20 * 3
    assert hessian_plan("tanh network").flops < hessian_plan("tanh network", sharing=False).flops


def test_without_compression_deltas_are_stored_and_multiplied():
    plan = hessian_plan("factorisation", compression=False)
    assert "δ[i,j]  " in str(plan)
    assert plan.flops > 3 * hessian_plan("factorisation").flops
    f, x = FUNCTIONS["factorisation"]
    expected = str(ea.explain(ea.grad(f), x).plan)
    with ea.planner_options(compression=False):
        assert str(ea.explain(ea.grad(f), x).plan) == expected  # no Jacobian is multiplied for a gradient
        assert ea.hessian(f, compressed=True)(x).nbytes < 8 * x.size**2


def test_without_compression_a_memory_limit_holds():
    limit = hessian_plan("factorisation").peak_bytes
    with ea.planner_options(compression=False), pytest.raises(ea.MemoryLimitError):
        ea.hessian(factorisation, memory_limit=limit)(RNG.normal(size=(5, 2)))
    ea.hessian(factorisation, memory_limit=limit)(RNG.normal(size=(5, 2)))


def test_infinite_entries_do_not_meet_stored_deltas():
    x = np.array([0.0, 1.0, 4.0])
    with ea.planner_options(compression=False), np.errstate(all="ignore"):
        np.testing.assert_array_equal(np.diag([np.inf, 0.5, 0.25]), ea.jacobian(np.sqrt)(x))


@pytest.mark.parametrize("off", NAMES)
def test_what_was_derived_under_other_options_is_not_used(off):
    def f(x):
        return np.sum(np.cosh(x) ** 3)

    x, gradient = np.ones(3), ea.grad(f)

    def derived() -> int:
        before = ea.statistics().derived
        gradient(x)
        return ea.statistics().derived - before

    derived()
    assert derived() == 0
    with ea.planner_options(**{off: False}):
        assert derived() == 1
        assert derived() == 0
    assert derived() == 0


def test_a_compiled_function_has_a_program_for_each():
    fast = ea.compile(ea.hessian(network(np.tanh)))
    x = RNG.normal(size=(3, 3))
    with ea.planner_options(sharing=False):
        fast(x)
    programs_of = fast._by_arrays
    assert len(programs_of) == 1
    fast(x)
    fast(x)
    assert len(programs_of) == 2
    first, second = programs_of.values()
    assert first.plan.plan.flops > second.plan.plan.flops


def test_operations_on_structured_tensors_are_planned_for_each():
    hessian = ea.hessian(factorisation, compressed=True)(RNG.normal(size=(5, 2)))
    v = RNG.normal(size=(5, 2))
    expected = hessian @ v
    with ea.planner_options(compression=False):
        close(hessian @ v, expected)


def test_nested_options_are_restored():
    with ea.planner_options(factoring=False) as outer:
        assert options_in_force() == outer == ea.PlannerOptions(factoring=False)
        with ea.planner_options(sharing=False):
            assert ea.planner_options() == ea.PlannerOptions(factoring=False, sharing=False)
            with ea.planner_options(factoring=True):
                assert ea.planner_options() == ea.PlannerOptions(sharing=False)
        with outer:  # once more
            assert options_in_force() == outer
        assert options_in_force() == outer
    assert options_in_force() == ea.PlannerOptions()


def test_options_are_restored_after_an_error():
    with pytest.raises(ZeroDivisionError), ea.planner_options(factoring=False):
        raise ZeroDivisionError
    assert options_in_force() == ea.PlannerOptions()


def test_options_belong_to_a_thread():
    met: dict[str, ea.PlannerOptions] = {}
    inside, outside = threading.Event(), threading.Event()

    def other() -> None:
        with ea.planner_options(symmetry=False):
            inside.set()
            outside.wait(10)
            met["other"] = ea.planner_options()

    thread = threading.Thread(target=other)
    thread.start()
    inside.wait(10)
    met["main"] = ea.planner_options()
    outside.set()
    thread.join()
    assert met == {"main": ea.PlannerOptions(), "other": ea.PlannerOptions(symmetry=False)}


def test_what_is_no_option():
    with pytest.raises(TypeError, match="unexpected keyword argument 'speed'"):
        ea.planner_options(speed=True)
    with pytest.raises(TypeError, match="sharing must be True or False, got 1"):
        ea.planner_options(sharing=1)
    with pytest.raises(TypeError):
        ea.planner_options(True)


def test_options_are_readable():
    with ea.planner_options(compression=False):
        text = repr(ea.planner_options())
    assert text == (
        "PlannerOptions(cross_country=True, compression=False, factoring=True, sharing=True, symmetry=True)"
    )
