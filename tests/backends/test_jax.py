"""JAX beyond its arrays: programs that JAX compiles, batches and differentiates, and arrays that it traces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad.planning import slices

jax = pytest.importorskip("jax")
jnp = jax.numpy
jax.config.update("jax_enable_x64", True)

GENERATOR = np.random.default_rng(5)
X = GENERATOR.normal(size=(6, 4))
W = GENERATOR.normal(size=4)


def f(w: Any) -> Any:
    return np.sum(np.log1p(np.exp(jnp.asarray(X) @ w))) + np.sum(w[np.array([0, 2])] ** 3) + np.prod(w)


def by_jax(w: Any) -> Any:
    return jnp.sum(jnp.log1p(jnp.exp(X @ w))) + jnp.sum(w[jnp.array([0, 2])] ** 3) + jnp.prod(w)


EXPECTED = np.asarray(jax.hessian(by_jax)(W))


@pytest.mark.parametrize("make", [ea.compile, lambda g: g], ids=["compiled", "traced"])
def test_jit_vmap_and_jacfwd(make: Any) -> None:
    hessian, w = make(ea.hessian(f)), jnp.asarray(W)
    for _ in range(2):
        np.testing.assert_allclose(jax.jit(hessian)(w), EXPECTED, rtol=1e-12)
    np.testing.assert_allclose(hessian(w), EXPECTED, rtol=1e-12)
    batch = jnp.stack([w, 2 * w])
    for function in (jax.vmap(hessian), jax.jit(jax.vmap(hessian))):
        np.testing.assert_allclose(function(batch)[0], EXPECTED, rtol=1e-12)
        assert function(batch).shape == (2, 4, 4)
    np.testing.assert_allclose(jax.jacfwd(make(ea.grad(f)))(w), EXPECTED, rtol=1e-12)
    np.testing.assert_allclose(jax.jacrev(make(ea.grad(f)))(w), EXPECTED, rtol=1e-12)


def test_selected_infinities_under_jit_and_vmap() -> None:
    """Whether a product is taken term by term is decided where the values are."""
    chosen = np.array([[True, True, False], [False, True, False]])

    def g(x: Any) -> Any:
        return np.sum(np.where(chosen[:, :, None], (1 / x)[:, None, :], 0), axis=0)

    infinite, finite = jnp.asarray([[2.0, 4.0], [0.0, 5.0]]), jnp.asarray([[2.0, 4.0], [1.0, 5.0]])
    expected = [[0.5, 0.25], [np.inf, 0.45], [0, 0]]
    for function in (ea.compile(g), jax.jit(ea.compile(g))):
        np.testing.assert_allclose(function(infinite), expected, rtol=1e-12)
    both = jax.jit(jax.vmap(ea.compile(g)))(jnp.stack([infinite, finite]))
    np.testing.assert_allclose(both, [expected, [[0.5, 0.25], [1.5, 0.45], [0, 0]]], rtol=1e-12)


def test_a_program_compiled_while_jax_traces_is_none_afterwards() -> None:
    """What a program holds is made of no traced array, also if its first call was within jit."""
    gradient = ea.compile(ea.grad(f))
    first = jax.jit(gradient)(jnp.asarray(W))
    np.testing.assert_allclose(gradient(jnp.asarray(W)), first, rtol=1e-12)


def test_a_captured_traced_array_is_not_kept() -> None:
    held: list[Any] = []
    gradient = ea.compile(ea.grad(lambda w: np.sum(np.exp(held[0] @ w))))

    def outer(x: Any) -> Any:
        held[:] = [x]
        return gradient(jnp.asarray(W))

    for scale in (1.0, 2.0):
        expected = ea.grad(lambda w, s=scale: np.sum(np.exp(s * X @ w)))(W)
        np.testing.assert_allclose(jax.jit(outer)(scale * jnp.asarray(X)), expected, rtol=1e-12)


def test_values_of_traced_arrays_are_not_known() -> None:
    def branches(w: Any) -> Any:
        return np.sum(w**2) if np.sum(w) > 0 else np.sum(w)

    with pytest.raises(jax.errors.TracerBoolConversionError):
        jax.jit(ea.grad(branches))(jnp.asarray(W))


def test_indices_out_of_bounds_are_nan_where_jax_traces() -> None:
    g = ea.grad(lambda w, index: np.sum(np.take(w, index) ** 2))
    found = jax.jit(g)(jnp.asarray(W), jnp.array([0, 9]))
    assert np.isnan(found).any()
    np.testing.assert_allclose(jax.jit(g)(jnp.asarray(W), jnp.array([0, 3])), [2 * W[0], 0, 0, 2 * W[3]])


def test_a_contraction_by_slices_is_one_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "_SMALLEST_SLICE", 1)
    arrays = [jnp.asarray(GENERATOR.normal(size=shape)) for shape in ((4, 7), (7, 3), (7, 5))]
    contraction = ea.compile(lambda *xs: np.einsum("on,nk,nm->okm", *xs))
    np.testing.assert_allclose(contraction(*arrays), np.einsum("on,nk,nm->okm", *map(np.asarray, arrays)), rtol=1e-12)
    assert str(jax.make_jaxpr(contraction)(*arrays)).count("scan[") == 1


def test_without_double_precision() -> None:
    """Everything is single precision then, as with JAX's own functions."""
    with jax.enable_x64(False):
        w = jnp.asarray(W, jnp.float32)
        found = ea.hessian(lambda w: np.sum(np.log1p(np.exp(X @ w))))(w)
        compiled = ea.compile(ea.hessian(lambda w: np.sum(w[np.array([0, 2])] ** 3 * np.float64(2))))
        assert found.dtype == compiled(w).dtype == jnp.float32
    np.testing.assert_allclose(found, ea.hessian(lambda w: np.sum(np.log1p(np.exp(X @ w))))(W), rtol=1e-4)


def test_half_precision_of_its_own_is_refused() -> None:
    with pytest.raises(ea.errors.TracingError, match="bfloat16 cannot be traced"):
        ea.grad(np.sum)(jnp.ones(3, jnp.bfloat16))
