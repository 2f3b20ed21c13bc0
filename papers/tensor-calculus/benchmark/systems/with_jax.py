"""JAX: everything under ``jit``, with 64 bits where the data have them; constants are arguments."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from benchmark.case import Case, Data, Job
from benchmark.systems.base import NotOfferedError, System, single

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")


def transformed(f: Callable[..., Any], job: Job) -> Callable[..., Any]:
    argnums = single(job.argnums)
    if job.kind == "function":
        return f
    if job.kind == "gradient":
        return jax.grad(f, argnums)
    if job.kind == "value+gradient":
        return jax.value_and_grad(f, argnums)
    if job.kind == "hessian":
        return jax.hessian(f, argnums)
    if job.kind == "jacobian":
        return jax.jacfwd(f, argnums) if job.forward else jax.jacrev(f, argnums)
    if job.kind == "derivative":
        f = jax.grad(f)
        for _ in range(job.order - 1):
            f = jax.jacfwd(f)
        return f
    if job.kind == "mixed":
        return jax.jacfwd(jax.grad(f, job.argnums[0]), job.argnums[1])
    raise NotOfferedError(f"JAX has no {job.kind}")


def product(f: Callable[..., Any]) -> Callable[..., Any]:
    """The tangent of the gradient."""
    return lambda x, *rest: jax.jvp(lambda x: jax.grad(f)(x, *rest[:-1]), (x,), (rest[-1],))[1]


class Jax(System):
    own_memory = True

    @property
    def version(self) -> str:
        return f"JAX {jax.__version__}"

    @property
    def xp(self) -> Any:
        return jnp

    def array(self, value: np.ndarray) -> Any:
        return jnp.asarray(value)

    def build(self, case: Case, job: Job, data: Data) -> Callable[[], Any]:
        captured = vars(data.constants)
        arrays = {name: value for name, value in captured.items() if isinstance(value, jax.Array)}
        numbers = {name: value for name, value in captured.items() if name not in arrays}
        directions = data.directions if job.kind == "hvp" else ()

        def whole(arrays: dict[str, Any], variables: tuple[Any, ...], directions: tuple[Any, ...]) -> Any:
            constants = SimpleNamespace(**numbers, **arrays)
            inside = Data(variables, constants, directions)
            written = self.spelled("jax", case, job, inside)
            if written is not None:
                return written()

            def f(*given: Any) -> Any:
                return case.function(jnp, constants, *given)

            made = product(f) if job.kind == "hvp" else transformed(f, job)
            return made(*variables, *directions)

        compiled = jax.jit(whole)
        return lambda: compiled(arrays, data.variables, directions)

    def wait(self, result: Any) -> Any:
        return jax.block_until_ready(result)


def open_system(_: str) -> System:
    """The system."""
    return Jax()
