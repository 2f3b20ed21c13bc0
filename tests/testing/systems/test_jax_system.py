"""JAX as a system: real double precision, and the user's settings as they were."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from einsumad.testing.systems import JAX

jax = pytest.importorskip("jax")
jnp = jax.numpy


@pytest.fixture(params=[False, True], ids=["x64 off", "x64 on"])
def wide(request: pytest.FixtureRequest) -> Iterator[bool]:
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", request.param)
    yield request.param
    jax.config.update("jax_enable_x64", before)


def use_everything(x: np.ndarray) -> list[np.ndarray]:
    def loss(v: Any) -> Any:
        return jnp.sum(jnp.sin(v) ** 3)

    derivatives = []
    for order in (1, 2, 3):
        nested = JAX.derivative(loss, [x], order, "auto")
        for _ in range(order):
            (nested,) = nested
        derivatives.append(nested)
    one = x.dtype.type(1)
    return [JAX.evaluate(loss, [x]), *JAX.jvp(loss, [x], [x]), *JAX.vjp(loss, [x], one)[1], *derivatives]


def test_double_precision_is_real_and_the_setting_stays(wide: bool) -> None:
    x = np.array([0.3, 1.1])
    results = use_everything(x)
    assert all(result.dtype == np.float64 for result in results)
    np.testing.assert_allclose(results[4], 3 * np.sin(x) ** 2 * np.cos(x), rtol=1e-14)
    assert jax.config.jax_enable_x64 is wide
    assert jnp.zeros(1).dtype == (np.float64 if wide else np.float32)
    assert jax.config.jax_default_matmul_precision is None


def test_the_setting_stays_after_errors(wide: bool) -> None:
    with pytest.raises(ZeroDivisionError):
        JAX.derivative(lambda v: v / 0 if False else 1 / 0, [np.ones(2)], 1, "auto")
    assert jax.config.jax_enable_x64 is wide


def test_single_precision_keeps_arrays_that_a_function_makes_single() -> None:
    def f(v: Any) -> Any:
        return v * jnp.linspace(0.0, 1.0, 2)

    x = np.ones(2, np.float32)
    assert not jax.config.jax_enable_x64
    assert JAX.evaluate(f, [x]).dtype == np.float32
    assert JAX.derivative(f, [x], 1, "auto")[0].dtype == np.float32
    assert JAX.evaluate(f, [x.astype(np.float64)]).dtype == np.float64


def test_compiled_functions_are_compiled_again_for_double_precision() -> None:
    compiled = jax.jit(lambda v: jnp.exp(v) * jnp.linspace(0.0, 1.0, 2))
    single = compiled(np.ones(2))
    x = np.array([0.1, 0.7])
    assert single.dtype == np.float32
    (jacobian,) = JAX.derivative(compiled, [x], 1, "reverse")
    np.testing.assert_allclose(np.diag(jacobian), np.exp(x) * [0.0, 1.0], rtol=1e-15)
    assert compiled(np.ones(2)).dtype == np.float32


def test_control_flow_on_values() -> None:
    def piecewise(v: Any) -> Any:
        return v**3 if float(v.sum()) > 0 else -v

    x = np.array([1.0, 2.0])
    ((hessian,),) = JAX.derivative(jnp.vectorize(lambda v: v**3), [x], 2, "auto")
    (jacobian,) = JAX.derivative(lambda v: v**3 if (v > 0).all() else -v, [x], 1, "reverse")
    np.testing.assert_allclose(jacobian, np.diag(3 * x**2))
    np.testing.assert_allclose(hessian[1, 1], [0.0, 12.0])
    with pytest.raises(jax.errors.ConcretizationTypeError) as caught:
        JAX.derivative(piecewise, [x], 1, "forward")
    assert any("jax.numpy" in note for note in caught.value.__notes__)


def test_rules_of_users_are_the_ones_used() -> None:
    @jax.custom_vjp
    def wrong_square(v: Any) -> Any:
        return v * v

    wrong_square.defvjp(lambda v: (v * v, v), lambda v, u: (3 * v * u,))
    x = np.array([1.0, 2.0])
    np.testing.assert_allclose(JAX.derivative(wrong_square, [x], 1, "reverse")[0], np.diag(3 * x))
    np.testing.assert_allclose(JAX.vjp(wrong_square, [x], x)[1][0], 3 * x * x)


def test_narrow_floats_come_back_in_single_precision() -> None:
    value = JAX.evaluate(lambda v: v.astype(jnp.bfloat16), [np.array([1.5, 0.25])])
    assert value.dtype == np.float32
    assert value.tolist() == [1.5, 0.25]
