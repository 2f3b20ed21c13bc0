"""Traced values that outlive the call in which they were traced: refused where they are used in another one."""

import threading

import numpy as np
import pytest

import einsumad as ea
from einsumad.errors import TracingError
from tests.frontend.walks import forget

X = np.array([0.5, -1.0, 2.0])
REFUSED = r"a traced value of an earlier call, which is over.* it depends on .* of shape \(3,\)"


@pytest.fixture(autouse=True)
def _no_ways():
    forget()


def with_memory():
    memory = {}

    def f(x):
        if "sine" not in memory:
            memory["sine"] = np.sin(x)
        return np.sum(memory["sine"] * x)

    return f


CALLS = {
    "grad": lambda f: ea.grad(f)(X),
    "value_and_grad": lambda f: ea.value_and_grad(f)(X),
    "hessian": lambda f: ea.hessian(f)(X),
    "structure": lambda f: ea.hessian(f, compressed=True)(X),
    "hvp": lambda f: ea.hvp(f)(X, X),
    "jvp": lambda f: ea.jvp(f, (X,), (X,)),
    "vjp": lambda f: ea.vjp(f, X)[1](1.0),
    "tree": lambda f: ea.grad(lambda tree: f(tree["x"]))({"x": X}),
    "nested": lambda f: ea.grad(lambda x: np.sum(ea.grad(f)(x)))(X),
    "compile": lambda f: ea.compile(f)(X),
    "compiled gradient": lambda f: ea.compile(ea.grad(f))(X),
}


@pytest.mark.parametrize("first", CALLS)
@pytest.mark.parametrize("then", CALLS)
def test_a_value_that_was_kept_is_refused(first, then):
    f = with_memory()
    CALLS[first](f)
    for _ in range(2):
        with pytest.raises(TracingError, match=REFUSED):
            CALLS[then](f)


def test_after_many_calls_of_a_known_way():
    kept = []

    def f(x):
        sine = np.sin(x)
        if not keep:
            return np.sum(sine * x) + 0 * np.sum(kept[0])
        kept[:] = [sine]
        return np.sum(sine * x)

    keep = True
    for _ in range(4):
        np.testing.assert_allclose(ea.grad(f)(X), X * np.cos(X) + np.sin(X))
    np.testing.assert_allclose(kept[0].numpy(), np.sin(X))  # its value may be looked at
    keep = False
    with pytest.raises(TracingError, match=REFUSED):
        ea.grad(f)(X)


def test_after_an_error():
    kept = []

    def f(x):
        kept.append(x * 2)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ea.grad(f)(X)
    with pytest.raises(TracingError, match=REFUSED):
        ea.grad(lambda x: np.sum(x * kept[0]))(X)


def test_what_an_inner_function_leaves_behind():
    def f(x):
        left = []

        def inner(y):
            left.append(np.sin(y))
            return np.sum(y**2)

        return np.sum(ea.grad(inner)(x)) + np.sum(left[0])

    with pytest.raises(TracingError, match="it depends on y of shape"):
        ea.grad(f)(X)


def test_a_pull_that_outlives_the_trace_around_it():
    kept = []

    def f(x):
        value, pull = ea.vjp(lambda y: np.sum(np.sin(y) * x), x)
        kept.append(pull)
        return value + np.sum(pull(1.0))

    expected = np.cos(X) * X + np.sin(X) + np.cos(X) - np.sin(X) * X
    np.testing.assert_allclose(ea.grad(f)(X), expected)
    with pytest.raises(TracingError, match=REFUSED):
        kept[0](1.0)


def test_a_value_of_a_rule():
    kept = []

    def pull(arguments, _, bar):
        kept.append(arguments[0])
        return 2 * bar * arguments[0]

    @ea.custom_function(pull=pull)
    def square(x):
        return x * x

    np.testing.assert_allclose(ea.grad(lambda x: np.sum(square(x)))(X), 2 * X)
    with pytest.raises(TracingError, match=REFUSED):
        ea.grad(lambda x: np.sum(x * kept[0]))(X)


def test_values_of_calls_that_are_not_over():
    def f(x):
        sine = np.sin(x)
        found = []

        def inner(y):
            return np.sum(y**2 * sine)

        worker = threading.Thread(target=lambda: found.append(ea.grad(inner)(np.ones(3))))
        worker.start()
        worker.join()
        return np.sum(found[0]) + np.sum(ea.grad(inner)(x)) + ea.compile(lambda y: np.sum(y * sine))(np.ones(3))

    expected = 2 * np.cos(X) + 2 * (np.sin(X) + X * np.cos(X)) + np.cos(X)
    for _ in range(3):
        np.testing.assert_allclose(ea.grad(f)(X), expected)


def test_values_that_belong_to_no_call():
    memory = {"tensor": ea.tensor(X), "parameter": ea.tensor(X, requires_grad=True), "symbol": ea.variable("s", 3)}
    made = {name: np.sin(value) for name, value in memory.items()}
    for _ in range(2):
        np.testing.assert_allclose(ea.grad(lambda x: np.sum(x * made["tensor"]))(X), np.sin(X))
        loss = np.sum(ea.grad(lambda x: np.sum(x * made["parameter"]))(X))
        memory["parameter"].grad = None
        loss.backward()
        np.testing.assert_allclose(memory["parameter"].grad, np.cos(X))
        found = ea.grad(lambda x: np.sum(x * made["symbol"]))(X)
        np.testing.assert_allclose(ea.evaluate(found, {memory["symbol"]: X}), np.sin(X))
