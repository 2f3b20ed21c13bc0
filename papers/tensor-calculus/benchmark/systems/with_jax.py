"""JAX on the CPU: everything under ``jit``, with 64 bits where the data have them; constants are arguments."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from benchmark.case import ORDERS, Case, Data, Job
from benchmark.systems.base import NotOfferedError, System, given, single

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")


class Jax(System):
    @property
    def version(self) -> str:
        return f"JAX {jax.__version__}"

    @property
    def xp(self) -> Any:
        return SimpleNamespace(**{**vars(jnp), "logsumexp": jax.scipy.special.logsumexp})

    def array(self, value: np.ndarray) -> Any:
        return jnp.asarray(value)

    def transformed(self, f: Callable[..., Any], job: Job) -> Callable[..., Any]:
        argnums = single(job.argnums)
        if job.kind == "function":
            return f
        if job.kind == "jacobian":
            return jax.jacfwd(f, argnums) if job.forward else jax.jacrev(f, argnums)
        if job.kind == "mixed":
            return jax.jacfwd(jax.grad(f, job.argnums[0]), job.argnums[1])
        if job.kind == "hvp":
            return self.hvp(f)
        if job.kind in ORDERS:
            f = jax.hessian(f)
            for _ in range(ORDERS[job.kind] - 2):
                f = jax.jacfwd(f)
            return f
        simple = {"gradient": jax.grad, "value+gradient": jax.value_and_grad, "hessian": jax.hessian}
        if job.kind not in simple:
            raise NotOfferedError(f"JAX has no {job.kind}")
        return simple[job.kind](f, argnums)

    def grad(self, f: Callable[..., Any]) -> Callable[..., Any]:
        return jax.grad(f)

    def hessian(self, f: Callable[..., Any]) -> Callable[..., Any]:
        return jax.hessian(f)

    def jacobian(self, f: Callable[..., Any], argnums: tuple[int, ...]) -> Callable[..., Any]:
        return jax.jacrev(f, argnums)

    def hvp(self, f: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, v: jax.jvp(jax.grad(f), (x,), (v,))[1]

    def vmap(self, f: Callable[..., Any]) -> Callable[..., Any]:
        return jax.vmap(f)

    def build(self, case: Case, job: Job, data: Data) -> Callable[[], Any]:
        captured = vars(data.constants)
        arrays = {name: value for name, value in captured.items() if isinstance(value, jax.Array)}
        numbers = {name: value for name, value in captured.items() if name not in arrays}

        def whole(arrays: dict[str, Any], given: tuple[Any, ...]) -> Any:
            return self.asked("jax", case, job, SimpleNamespace(**numbers, **arrays))(*given)

        compiled, arguments = jax.jit(whole), given(job, data)
        return lambda: compiled(arrays, arguments)

    def wait(self, result: Any) -> Any:
        return jax.block_until_ready(result)


def open_system(_: str) -> System:
    """The system."""
    return Jax()
