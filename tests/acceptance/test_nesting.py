"""Transforms inside transforms: no perturbation of one level is taken for that of another."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import einsumad as ea

RNG = np.random.default_rng(0)


def close(found, expected, tolerance=1e-12):
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def test_gradient_in_gradient():
    assert float(ea.grad(ea.grad(lambda x: x**3))(2.0)) == 12
    assert float(ea.grad(ea.grad(ea.grad(lambda x: x**4)))(2.0)) == 48
    close(ea.grad(ea.grad(np.sin))(0.7), -np.sin(0.7))


def test_the_classic_confusion():
    """``d/dx [x · d/dy (x + y)]`` is 1; it is 2 where the perturbations of x and y are confused."""
    for inner, outer in itertools.product((ea.grad, ea.jacobian), repeat=2):
        found = outer(lambda x, inner=inner: x * inner(lambda y: x + y)(1.0))(1.0)
        assert float(found) == 1
    along = ea.jvp(lambda x: x * ea.jvp(lambda y: x + y, (np.float64(1),), (np.float64(1),))[1], (1.0,), (1.0,))
    assert float(along[1]) == 1


def test_a_gradient_at_a_point_that_depends_on_the_outer_variable():
    """``d/dx [x · (d/dy x y²)(y = x)] = d/dx 2 x³``."""
    found = ea.grad(lambda x: x * ea.grad(lambda y: x * y * y)(x))(3.0)
    assert float(found) == 54


def test_a_gradient_at_a_constant_point_of_a_function_of_the_outer_variable():
    found = ea.grad(lambda x: ea.grad(lambda y: np.sin(x * y))(2.0))(0.5)
    close(found, np.cos(1.0) - 0.5 * 2 * np.sin(1.0))


def test_three_levels_that_share_variables():
    """``f(x) = d/dy [x y · d/dz (x y z² )(z = y)](y = x) = d/dy 2 x² y³ (y = x) = 6 x⁴``."""

    def f(x):
        return ea.grad(lambda y: x * y * ea.grad(lambda z: x * y * z * z)(y))(x)

    # the inner gradient is 2 x y z at z = y, hence 2 x y²; the middle one differentiates 2 x² y³
    assert float(ea.vjp(f, np.float64(1.5))[0]) == 6 * 1.5**4
    close(ea.grad(f)(1.5), 24 * 1.5**3)
    close(ea.grad(ea.grad(f))(1.5), 72 * 1.5**2)


A = RNG.normal(size=(3, 3))
X = RNG.normal(size=3)


def energy(x):
    return np.sum(np.exp(A @ x)) + np.sum(x**3)


def hessian_by_hand(x):
    return A.T @ np.diag(np.exp(A @ x)) @ A + np.diag(6 * x)


def third_by_hand(x):
    third = np.einsum("ka,kb,kc,k->abc", A, A, A, np.exp(A @ x))
    third[range(3), range(3), range(3)] += 6
    return third


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse", "cross-country"])
def test_jacobian_of_a_function_that_calls_hessian(mode):
    found = ea.jacobian(ea.hessian(energy), mode=mode)(X)
    close(found, third_by_hand(X))
    traced = ea.jacobian(lambda x: np.einsum("ij,jk->ik", ea.hessian(energy)(x), A) @ x, mode=mode)(X)
    expected = np.einsum("abc,bd,d->ac", third_by_hand(X), A, X) + hessian_by_hand(X) @ A
    close(traced, expected)


def test_gradient_of_a_function_of_a_hessian():
    found = ea.grad(lambda x: np.linalg.slogdet(ea.hessian(energy)(x))[1])(0.3 + np.abs(X))
    at = 0.3 + np.abs(X)
    expected = np.einsum("ab,bac->c", np.linalg.inv(hessian_by_hand(at)), third_by_hand(at))
    close(found, expected, 1e-11)


def test_newton_step_differentiated():
    """The derivative of one Newton step contains the third derivative of the energy."""

    def step(x):
        return x - np.linalg.solve(ea.hessian(energy)(x), ea.grad(energy)(x))

    at = 0.3 + np.abs(X)
    gradient = A.T @ np.exp(A @ at) + 3 * at**2
    inverse = np.linalg.inv(hessian_by_hand(at))
    expected = np.einsum("ij,jkl,k->il", inverse, third_by_hand(at), inverse @ gradient)
    close(ea.jacobian(step)(at), expected, 1e-10)


@pytest.mark.parametrize(
    "inner", [ea.grad, ea.jacobian, lambda f: lambda x: ea.vjp(f, x)[1](1.0), lambda f: lambda x: columns(f, x)]
)
@pytest.mark.parametrize("outer", [ea.jacobian, lambda f: ea.jacobian(f, mode="forward")])
def test_every_pair_of_transforms_gives_the_hessian(inner, outer):
    close(outer(inner(energy))(X), hessian_by_hand(X))


def columns(f, x):
    total = 0
    for k in range(3):
        unit = np.eye(3)[k]
        total = total + unit * ea.jvp(f, (x,), (unit,))[1]
    return total


def test_derived_transforms_inside_a_gradient():
    v = np.array([0.5, -1.0, 2.0])
    third = third_by_hand(X)
    close(ea.grad(lambda x: np.sum(ea.hvp(energy)(x, v)))(X), np.einsum("abc,b->c", third, v))
    close(ea.grad(ea.laplacian(energy))(X), np.einsum("aac->c", third))
    close(ea.jacobian(ea.hessian_diagonal(energy))(X), np.einsum("aac->ac", third))
    close(ea.grad(lambda v: np.sum(v * ea.hvp(energy)(X, v)))(v), 2 * hessian_by_hand(X) @ v)


def test_gradient_inside_compile():
    compiled = ea.compile(lambda x, s: s * ea.grad(energy)(x * s) @ x)
    for scale in (1.0, 0.5, -0.25):
        gradient = A.T @ np.exp(A @ (scale * X)) + 3 * (scale * X) ** 2
        close(compiled(X, scale), scale * gradient @ X)
    close(ea.compile(ea.hessian(energy))(X), hessian_by_hand(X))
    close(ea.grad(ea.compile(energy))(X), ea.grad(energy)(X))
    close(ea.jacobian(ea.compile(ea.grad(ea.compile(energy))))(X), hessian_by_hand(X))


def test_a_closure_over_an_outer_variable():
    def outer(x):
        def inner(y):
            return np.sum(x * y * y)

        return np.sum(ea.grad(inner)(x) * ea.grad(inner)(2 * np.ones(3)))

    # (2 x²) · (4 x), summed
    close(ea.grad(outer)(X), 24 * X**2)
    hessian = ea.hessian(outer)(X)
    close(hessian, np.diag(48 * X))


def test_an_eager_tensor_captured_by_a_transform():
    w = ea.tensor(np.array([1.0, 2.0]), requires_grad=True)
    inner = ea.grad(lambda x: np.sum(w * x * x))(np.array([3.0, 4.0]))
    loss = np.sum(inner * inner)
    loss.backward()
    np.testing.assert_array_equal(inner.numpy(), [6, 16])
    np.testing.assert_array_equal(w.grad, [72, 256])


def test_symbols_captured_by_a_transform():
    s = ea.variable("s", (2,))
    gradient = ea.grad(lambda x: np.sum(s * x**3))(np.array([1.0, 2.0]))
    value = np.array([5.0, 7.0])
    np.testing.assert_array_equal(ea.evaluate(gradient, {s: value}), [15, 84])
    np.testing.assert_array_equal(ea.evaluate(ea.diff(gradient, s), {s: value}), np.diag([3.0, 12.0]))


def test_several_arguments_and_trees_in_nested_transforms():
    parameters = {"w": np.array([1.0, -2.0]), "b": np.array(0.5)}

    def loss(p, x):
        return np.tanh(p["w"] @ x + p["b"]) ** 2

    def penalty(p):
        by_x = ea.grad(loss, 1)(p, np.array([0.3, 0.7]))
        return by_x @ by_x

    gradient = ea.grad(penalty)(parameters)
    assert set(gradient) == {"w", "b"}
    step = 1e-5
    for name, value in parameters.items():
        for place in np.ndindex(value.shape):
            moved = []
            for sign in (1, -1):
                at = {key: entry.copy() for key, entry in parameters.items()}
                at[name][place] += sign * step
                moved.append(ea.vjp(penalty, at)[0])
            np.testing.assert_allclose(gradient[name][place], (moved[0] - moved[1]) / (2 * step), rtol=1e-7)
