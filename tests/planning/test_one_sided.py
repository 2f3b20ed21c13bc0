"""The kink of a maximum against what is not differentiated is one-sided, wherever that comes from."""

import numpy as np
import pytest

import einsumad as ea

Z = np.zeros(2)
AT_TIES = {
    "clip": lambda x, bound: np.sum(np.clip(x, bound, 9.0)),
    "clip from above": lambda x, bound: np.sum(np.clip(x, -9.0, bound)),
    "maximum": lambda x, bound: np.sum(np.maximum(x, bound)),
    "minimum": lambda x, bound: np.sum(np.minimum(bound, x)),
    "fmax": lambda x, bound: np.sum(np.fmax(x, bound * 1.0)),
    "fmin": lambda x, bound: np.sum(np.fmin(np.sin(bound), x)),
}


@pytest.mark.parametrize("name", AT_TIES)
def test_the_derivative_in_one_argument_is_zero_at_the_kink(name):
    f = AT_TIES[name]
    calls = {
        "uncompiled": lambda: ea.grad(f)(Z, Z),
        "compiled": lambda: ea.compile(ea.grad(f))(Z, Z),
        "captured": lambda: ea.compile(ea.grad(lambda x: f(x, Z)))(Z),
        "a pullback": lambda: ea.vjp(lambda x: f(x, Z), Z)[1](1.0),
        "reverse Hessian": lambda: ea.compile(ea.value_grad_and_hessian(f))(Z, Z)[1],
    }
    for how, call in calls.items():
        np.testing.assert_array_equal(call(), Z, err_msg=how)
    bound = ea.tensor(Z, requires_grad=True)
    x = ea.tensor(Z, requires_grad=True)
    f(x, Z).backward()
    np.testing.assert_array_equal(x.grad, Z)
    assert bound.grad is None


@pytest.mark.parametrize("name", AT_TIES)
def test_in_both_arguments_it_is_split(name):
    f = AT_TIES[name]
    for transform in (ea.grad(f, (0, 1)), ea.compile(ea.grad(f, (0, 1)))):
        np.testing.assert_array_equal(transform(Z, Z), np.full((2, 2), 0.5))


@pytest.mark.parametrize("name", AT_TIES)
def test_away_from_ties_nothing_changes(name):
    f = AT_TIES[name]
    x, bound = np.array([0.3, -0.3, 0.1]), np.array([-0.2, 0.4, 0.15])
    step = 1e-6
    for k in range(3):
        e = step * np.eye(3)[k]
        expected = (f(x + e, bound) - f(x - e, bound)) / (2 * step)
        assert ea.compile(ea.grad(f))(x, bound)[k] == pytest.approx(expected, abs=1e-8)


def test_a_relu_whose_zero_is_an_argument():
    """Layer by layer, in all modes: what is between the variables of the derivative and others."""
    rng = np.random.default_rng(0)
    W, V, x = rng.normal(size=(3, 4)), rng.normal(size=(2, 3)), np.zeros(4)

    def f(x, V, floor):
        return np.sum(np.maximum(V @ np.maximum(W @ x, floor[:3]), floor[:2]) ** 2 + V[:, 0])

    for mode in ("auto", "forward", "reverse", "cross-country"):
        found = ea.compile(ea.jacobian(ea.grad(f), mode=mode))(x, V, np.zeros(3))
        np.testing.assert_array_equal(found, np.zeros((4, 4)))
