"""A compiled function never holds on to a value whose derivative somebody may want."""

from __future__ import annotations

import numpy as np
import pytest

import einsumad as ea

X = np.array([1.0, 2.0, 3.0])
W = np.array([5.0, 6.0, 7.0])


def test_a_variable_of_an_enclosing_trace():
    np.testing.assert_array_equal(ea.grad(lambda v: np.sum(ea.compile(lambda w: w * v)(W)))(X), W)
    np.testing.assert_array_equal(
        ea.hessian(lambda v: np.sum(ea.compile(lambda w: w * v**2)(np.ones(3))))(X), 2 * np.eye(3)
    )
    inner = ea.grad(lambda v: np.sum(ea.compile(ea.grad(lambda w: np.sum(w * v * v)))(W)))
    np.testing.assert_array_equal(inner(X), 2 * X)


def test_a_tensor_that_requires_a_gradient():
    t = ea.tensor(X, requires_grad=True)
    (np.sum(ea.compile(lambda w: w * t)(W)) + np.sum(t)).backward()
    np.testing.assert_array_equal(t.grad, W + 1)


def test_the_value_is_that_of_the_call():
    held = [None]
    scaled = ea.compile(lambda w: w * held[0])

    def outer(v):
        held[0] = v
        return scaled(np.ones(3)) @ v

    for factor in (1.0, 2.0):
        value, gradient = ea.value_and_grad(outer)(factor * X)
        np.testing.assert_allclose(value, factor**2 * X @ X)
        np.testing.assert_allclose(gradient, 2 * factor * X)


def test_arguments_that_could_change_unseen_are_refused():
    class Settings:
        k = 2.0

    with pytest.raises(ea.TracingError, match="cannot take a Settings"):
        ea.compile(lambda v, c: v * c.k)(X, Settings())


def test_functions_that_cannot_be_hashed_are_refused():
    class Scaled:
        __hash__ = None

        def __call__(self, v):
            return 2 * v

    with pytest.raises(ea.TracingError, match="a Scaled, which cannot be hashed"):
        ea.compile(lambda v, c: c(v))(X, Scaled())


@pytest.mark.parametrize("limit", ["1GB", -1, 0, True])
def test_memory_limits_are_numbers_of_bytes(limit):
    for make in (ea.grad, ea.hessian, ea.compile):
        with pytest.raises(ValueError, match="memory_limit"):
            make(np.sum, memory_limit=limit)


def test_small_corners():
    np.testing.assert_array_equal(ea.hessian(lambda v: np.linalg.norm(v) ** np.array(2.0))(np.zeros(2)), 2 * np.eye(2))
    assert ea.grad(lambda v: np.sum(np.sum(v), axis=0))(X).shape == (3,)
    assert f"{np.sum(ea.tensor(X)):.3f}" == "6.000"
    with pytest.raises(TypeError, match="vector v"):
        ea.hvp(np.sum)(X)
    with pytest.raises(ValueError, match="two values"):
        ea.evaluate(ea.variable("s", 2), {ea.variable("s", 2): X[:2], ea.variable("s", 2): W[:2]})
