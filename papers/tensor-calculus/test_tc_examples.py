"""The paper's examples: the running one, the cross-country one, and compression."""

from __future__ import annotations

import numpy as np
import pytest

import einsumad as ea
from einsumad.graph.display import index_notation, matrix_notation
from einsumad.planning.kernels import Contract, Group

MODES = ("auto", "forward", "reverse", "cross-country")
RNG = np.random.default_rng(3)


def sigmoid(z):
    return 0.5 * (1 + np.tanh(z / 2))


X = RNG.normal(size=(7, 4))
W = RNG.normal(size=4)


def running(w):
    """``Xᵀ ((exp(X w) + 1)⁻¹ ⊙ exp(X w))``."""
    return X.T @ ((np.exp(X @ w) + 1) ** -1 * np.exp(X @ w))


@pytest.mark.parametrize("mode", MODES)
def test_running_example(mode):
    s = sigmoid(X @ W)
    value, _ = ea.vjp(running, W)
    np.testing.assert_allclose(value, X.T @ s, rtol=1e-13)
    jacobian = ea.jacobian(running, mode=mode)(W)
    np.testing.assert_allclose(jacobian, X.T @ np.diag(s * (1 - s)) @ X, rtol=1e-13, atol=1e-14)
    second = ea.derivative(running, order=2, mode=mode)(W)
    by_hand = np.einsum("ka,k,kb,kc->abc", X, s * (1 - s) * (1 - 2 * s), X, X)
    np.testing.assert_allclose(second, by_hand, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("scale", [1e3, 1e5])
def test_running_example_at_large_arguments(mode, scale):
    jacobian = ea.jacobian(running, mode=mode)(scale * W)
    s = sigmoid(scale * X @ W)
    assert np.isfinite(jacobian).all()
    np.testing.assert_allclose(jacobian, X.T @ np.diag(s * (1 - s)) @ X, atol=1e-12)


@pytest.mark.whole_planner
def test_derivative_of_the_running_example_is_one_product():
    x, w = ea.variable("X", (7, 4)), ea.variable("w", (4,))
    z = x @ w
    derivative = ea.diff(x.T @ ((np.exp(z) + 1) ** -1 * np.exp(z)), w)
    assert matrix_notation(derivative.node) == "Xᵀ diag(sigmoid(-(Xw)) ⊙ sigmoid(Xw)) X"


def steps_of(explained, kind):
    return [step for step in explained.plan.steps if isinstance(step.kernel, kind)]


A, B = RNG.normal(size=(5, 6)), RNG.normal(size=(4, 5))
AT = 0.3 * RNG.normal(size=6)


def composed(x):
    """``B g(h(A x))`` with g = sin and h = exp."""
    return B @ np.sin(np.exp(A @ x))


@pytest.mark.parametrize("mode", MODES)
def test_cross_country_example(mode):
    """``B diag(u) diag(v) A``."""
    v = np.exp(A @ AT)
    u = np.cos(v)
    found = ea.jacobian(composed, mode=mode)(AT)
    np.testing.assert_allclose(found, B @ np.diag(u) @ np.diag(v) @ A, rtol=1e-13, atol=1e-14)


@pytest.mark.whole_planner
def test_cross_country_example_multiplies_the_vectors_first():
    """Forward mode would scale A twice, reverse mode B twice; the plan multiplies u ⊙ v, then scales once."""
    explained = ea.explain(ea.jacobian(composed), AT)
    vectors = [step for step in steps_of(explained, Group) if step.shape == (5,)]
    matrices = [step for step in steps_of(explained, Group) if len(step.shape) == 2]
    assert len(vectors) == 1
    assert len(vectors[0].operands) == 2
    assert len(matrices) == 1
    assert vectors[0].register in matrices[0].operands
    products = [step for step in steps_of(explained, Contract) if len(step.shape) == 2]
    assert len(products) == 1
    assert matrices[0].register in products[0].operands
    order = [step.register for step in explained.plan.steps]
    assert order.index(vectors[0].register) < order.index(matrices[0].register) < order.index(products[0].register)


@pytest.mark.whole_planner
@pytest.mark.parametrize("mode", MODES)
def test_the_hessian_of_a_sum_has_the_same_shape(mode):
    """Hessian of ``Σ g(h(A x))``: the example again, with Aᵀ for B."""

    def f(x):
        return np.sum(np.sin(np.exp(A @ x)))

    v = np.exp(A @ AT)
    weights = np.cos(v) * v - np.sin(v) * v**2
    hessian = ea.hessian(f, mode=mode)(AT)
    np.testing.assert_allclose(hessian, A.T @ np.diag(weights) @ A, rtol=1e-12, atol=1e-13)
    explained = ea.explain(ea.hessian(f, mode=mode), AT)
    products = [step for step in steps_of(explained, Contract) if step.shape == (6, 6)]
    assert len(products) == 1


@pytest.mark.whole_planner
def test_compression_of_the_factorisation():
    """The Hessian of ``‖T − U Vᵀ‖²`` in U is ``2 (VᵀV)[j,l] δ[i,k]``: k×k numbers instead of nk×nk."""
    n, m, k = 8, 6, 3
    u, v, t = ea.variable("U", (n, k)), ea.variable("V", (m, k)), ea.variable("T", (n, m))
    loss = np.sum((t - u @ v.T) ** 2)
    hessian = ea.diff(loss, u, u)
    assert matrix_notation(hessian.node) == "2 (VᵀV) ⊗ δ"
    assert "δ[i,k]" in index_notation([hessian.node])
    by_v = ea.diff(loss, v, v)
    assert matrix_notation(by_v.node) == "2 (UᵀU) ⊗ δ"
    values = {u: RNG.normal(size=(n, k)), v: RNG.normal(size=(m, k)), t: RNG.normal(size=(n, m))}
    dense = ea.evaluate(hessian, values)
    expected = 2 * np.einsum("ik,jl->ijkl", np.eye(n), values[v].T @ values[v])
    np.testing.assert_allclose(dense, expected, rtol=1e-13)


@pytest.mark.whole_planner
def test_neither_u_nor_t_is_an_input_of_the_compressed_hessian():
    rng = np.random.default_rng(4)
    U, V, T = rng.normal(size=(6, 2)), rng.normal(size=(5, 2)), rng.normal(size=(6, 5))

    def loss(U):
        return np.sum((T - np.einsum("ik,jk->ij", U, V)) ** 2)

    explained = ea.explain(ea.hessian(loss), U)
    assert "2 (VᵀV) ⊗ δ" in str(explained)
    assert [leaf.name for leaf in explained.plan.inputs] == ["V"]


@pytest.mark.whole_planner
def test_quadratic_form():
    """``xᵀ A x``: gradient ``A x + Aᵀ x``, Hessian ``A + Aᵀ``, for which x is not needed."""
    A = RNG.normal(size=(4, 4))
    x = RNG.normal(size=4)

    def f(x):
        return x @ A @ x

    explained = ea.explain(ea.hessian(f), x)
    (text,) = explained.expressions()
    assert "A[i,j] + A[j,i]" in text
    assert "A + Aᵀ" in text
    assert [leaf.name for leaf in explained.plan.inputs] == ["A"]
    np.testing.assert_allclose(ea.hessian(f)(x), A + A.T, rtol=1e-15)
    np.testing.assert_allclose(ea.grad(f)(x), (A + A.T) @ x, rtol=1e-13)
