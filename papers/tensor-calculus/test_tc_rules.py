"""Pushforwards, pullbacks, the sum over a cut, and the Fréchet derivative."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import einsumad as ea

SIZES = dict(zip("abcdxyz", (2, 3, 1, 2, 2, 1, 3), strict=True))
labels = st.lists(st.sampled_from("abcd"), unique=True, max_size=3).map("".join)
outer = st.lists(st.sampled_from("xyz"), unique=True, max_size=2).map("".join)


def shape(indices):
    return tuple(SIZES[i] for i in indices)


def tensor(draw, indices):
    seed = draw(st.integers(0, 2**32 - 1))
    return np.random.default_rng(seed).integers(-3, 4, shape(indices)).astype(float)


def times(a, s1, b, s2, s3):
    """``a *(s1, s2, s3) b`` by NumPy; an index of s3 that neither factor has is one that was summed alone."""
    missing = "".join(i for i in s3 if i not in s1 + s2)
    return np.einsum(f"{s1},{s2},{missing}->{s3}", a, b, np.ones(shape(missing)))


@given(st.data())
def test_pushforward_of_a_product(data):
    """``Ċ = B *(s2, s1 s4, s3 s4) Ȧ + A *(s1, s2 s4, s3 s4) Ḃ``, s4 the index set of the variable."""
    s1, s2, s4 = data.draw(labels), data.draw(labels), data.draw(outer)
    s3 = "".join(i for i in dict.fromkeys(s1 + s2) if data.draw(st.booleans()))
    a_dot, b_dot, x = tensor(data.draw, s1 + s4), tensor(data.draw, s2 + s4), tensor(data.draw, s4)

    def f(x):
        a = np.einsum(f"{s1}{s4},{s4}->{s1}", a_dot, x)
        b = np.einsum(f"{s2}{s4},{s4}->{s2}", b_dot, x)
        return np.einsum(f"{s1},{s2}->{s3}", a, b)

    a = np.einsum(f"{s1}{s4},{s4}->{s1}", a_dot, x)
    b = np.einsum(f"{s2}{s4},{s4}->{s2}", b_dot, x)
    expected = times(b, s2, a_dot, s1 + s4, s3 + s4) + times(a, s1, b_dot, s2 + s4, s3 + s4)
    np.testing.assert_array_equal(ea.jacobian(f, mode="forward")(x), expected)


@given(st.data())
def test_pullback_of_a_product(data):
    """To Ā comes ``C̄ *(s4 s3, s2, s4 s1) B``, to B̄ ``C̄ *(s4 s3, s1, s4 s2) A``, s4 the output's index set."""
    s1, s2, s4 = data.draw(labels), data.draw(labels), data.draw(outer)
    s3 = "".join(i for i in dict.fromkeys(s1 + s2) if data.draw(st.booleans()))
    c_bar, a, b = tensor(data.draw, s4 + s3), tensor(data.draw, s1), tensor(data.draw, s2)

    def f(a, b):
        return np.einsum(f"{s4}{s3},{s3}->{s4}", c_bar, np.einsum(f"{s1},{s2}->{s3}", a, b))

    to_a, to_b = ea.jacobian(f, (0, 1), mode="reverse")(a, b)
    np.testing.assert_array_equal(to_a, times(c_bar, s4 + s3, b, s2, s4 + s1))
    np.testing.assert_array_equal(to_b, times(c_bar, s4 + s3, a, s1, s4 + s2))


@given(st.data())
def test_an_entrywise_function(data):
    """Forward ``f'(A) *(s1, s1 s4, s1 s4) Ȧ``, reverse ``C̄ *(s4 s1, s1, s4 s1) f'(A)``."""
    s1, s4 = data.draw(labels), data.draw(outer)
    a_dot, c_bar, x = tensor(data.draw, s1 + s4), tensor(data.draw, s4 + s1), 0.3 * tensor(data.draw, s4)

    def inner(x):
        return np.einsum(f"{s1}{s4},{s4}->{s1}", a_dot, x)

    slope = np.cos(inner(x))
    pushed = ea.jacobian(lambda x: np.sin(inner(x)), mode="forward")(x)
    np.testing.assert_allclose(pushed, times(slope, s1, a_dot, s1 + s4, s1 + s4), rtol=1e-13, atol=1e-13)
    pulled = ea.jacobian(lambda a: np.einsum(f"{s4}{s1},{s1}->{s4}", c_bar, np.sin(a)), mode="reverse")(inner(x))
    np.testing.assert_allclose(pulled, times(c_bar, s4 + s1, slope, s1, s4 + s1), rtol=1e-13, atol=1e-13)


def test_a_general_function():
    """Forward ``f'(A) *(s2 s1, s1 s3, s2 s3) Ȧ``; for the inverse ``f'(A)[i,j,k,l] = -A⁻¹[i,k] A⁻¹[l,j]``."""
    rng = np.random.default_rng(1)
    a, a_dot = rng.normal(size=(3, 3)) + 3 * np.eye(3), rng.normal(size=(3, 3, 2))
    inverse = np.linalg.inv(a)
    derivative = -np.einsum("ik,lj->ijkl", inverse, inverse)
    for mode in ("forward", "reverse", "cross-country"):
        found = ea.jacobian(np.linalg.inv, mode=mode)(a)
        np.testing.assert_allclose(found, derivative, rtol=1e-13, atol=1e-14)
    pushed = ea.jacobian(lambda x: np.linalg.inv(a + np.einsum("klx,x->kl", a_dot, x)), mode="forward")(np.zeros(2))
    np.testing.assert_allclose(pushed, np.einsum("ijkl,klx->ijx", derivative, a_dot), rtol=1e-13, atol=1e-14)


RNG = np.random.default_rng(2)
P, Q, R = RNG.normal(size=(3, 2)), RNG.normal(size=(3, 2)), RNG.normal(size=(4, 3))
AT = np.array([0.4, -0.7])


def first(x):
    return np.exp(P @ x), np.sin(Q @ x)


def y_of(v1, v2):
    return R @ (v1 * v2 + v1)


CUTS = {
    "the input": ([lambda x: x], lambda x: y_of(*first(x))),
    "two functions": ([lambda x: first(x)[0], lambda x: first(x)[1]], y_of),
    "before the functions": (
        [lambda x: P @ x, lambda x: Q @ x],
        lambda p, q: y_of(np.exp(p), np.sin(q)),
    ),
    "one on either path": (
        [lambda x: first(x)[0], lambda x: Q @ x],
        lambda v1, q: y_of(v1, np.sin(q)),
    ),
    "product and summand": (
        [lambda x: first(x)[0] * first(x)[1], lambda x: first(x)[0]],
        lambda w, v1: R @ (w + v1),
    ),
    "the output": ([lambda x: y_of(*first(x))], lambda y: y),
}


@pytest.mark.parametrize("cut", CUTS)
def test_every_cut_gives_the_derivative(cut):
    """``∂y/∂x = Σ_{v ∈ S} v̄ *(s1 sv, sv s2, s1 s2) v̇`` for every cut S of the graph."""
    vertices, rest = CUTS[cut]
    values = tuple(v(AT) for v in vertices)
    v_bar = ea.jacobian(rest, tuple(range(len(values))), mode="reverse")(*values)
    v_dot = [ea.jacobian(v, mode="forward")(AT) for v in vertices]
    total = sum(np.einsum("yv,vx->yx", left, right) for left, right in zip(v_bar, v_dot, strict=True))
    v1, v2 = first(AT)
    by_hand = R @ ((v2 + 1)[:, None] * v1[:, None] * P + (v1 * np.cos(Q @ AT))[:, None] * Q)
    np.testing.assert_allclose(total, by_hand, rtol=1e-13, atol=1e-14)
    for mode in ("forward", "reverse", "cross-country", "auto"):
        found = ea.jacobian(lambda x: y_of(*first(x)), mode=mode)(AT)
        np.testing.assert_allclose(found, by_hand, rtol=1e-13, atol=1e-14)


def test_frechet_derivative():
    """``‖f(x + h) − f(x) − D∘h‖ / ‖h‖ → 0``, and linearly in ‖h‖ as f is smooth."""
    x = RNG.normal(size=(2, 3))
    h = RNG.normal(size=(2, 3))
    h /= np.linalg.norm(h)

    def f(x):
        return np.exp(np.einsum("ij,kj->ik", x, np.sin(x)))

    d = ea.jacobian(f)(x)
    assert d.shape == (2, 2, 2, 3)
    rests = []
    for step in 2.0 ** -np.arange(4, 12):
        rest = f(x + step * h) - f(x) - np.einsum("ikjl,jl->ik", d, step * h)
        rests.append(np.linalg.norm(rest) / step)
    ratios = np.array(rests[:-1]) / np.array(rests[1:])
    np.testing.assert_allclose(ratios[-3:], 2, rtol=0.02)
    assert rests[-1] < 1e-2 * np.linalg.norm(d)
