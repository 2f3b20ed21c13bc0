"""PyTorch on the CPU: gradients by the tape, all other derivatives by ``torch.func``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from benchmark.case import ORDERS, Case, Data, Job
from benchmark.systems.base import NotOfferedError, System, given, single


def _maximum(a: Any, b: Any) -> Any:
    return torch.clamp(a, min=b) if isinstance(b, (int, float)) else torch.maximum(a, b)


def _namespace() -> SimpleNamespace:
    """What functions are written over, in NumPy's spelling."""
    names = ("exp", "log", "sum", "tanh", "sqrt", "sin", "cos", "where", "einsum", "trace")
    return SimpleNamespace(
        **{name: getattr(torch, name) for name in names},
        maximum=_maximum,
        min=torch.amin,
        concatenate=lambda parts, axis=0: torch.cat(parts, axis),
        stack=lambda parts, axis=0: torch.stack(parts, axis),
        cross=torch.linalg.cross,
        logsumexp=torch.logsumexp,
        linalg=torch.linalg,
    )


def _by_tape(f: Callable[..., Any], argnums: tuple[int, ...], value: bool, *variables: Any) -> Any:
    """The gradient by the tape, which is quicker than ``torch.func``."""
    arguments = list(variables)
    for k in argnums:
        arguments[k] = arguments[k].detach().requires_grad_()
    result = f(*arguments)
    gradient = torch.autograd.grad(result, [arguments[k] for k in argnums])
    gradient = gradient[0] if len(argnums) == 1 else gradient
    return (result.detach(), gradient) if value else gradient


class Torch(System):
    def __init__(self) -> None:
        self._xp = _namespace()

    @property
    def version(self) -> str:
        return f"PyTorch {torch.__version__}"

    @property
    def xp(self) -> Any:
        return self._xp

    def array(self, value: np.ndarray) -> Any:
        return torch.from_numpy(np.array(value))

    def numpy(self, result: Any) -> np.ndarray:
        return result.detach().numpy()

    def transformed(self, f: Callable[..., Any], job: Job) -> Callable[..., Any]:
        argnums = single(job.argnums)
        if job.kind == "function":
            return f
        if job.kind in ("gradient", "value+gradient"):
            return partial(_by_tape, f, job.argnums, job.kind == "value+gradient")
        if job.kind == "hessian":
            return torch.func.hessian(f, argnums)
        if job.kind == "jacobian":
            return torch.func.jacfwd(f, argnums) if job.forward else torch.func.jacrev(f, argnums)
        if job.kind in ORDERS:
            f = torch.func.hessian(f)
            for _ in range(ORDERS[job.kind] - 2):
                f = torch.func.jacfwd(f)
            return f
        if job.kind == "mixed":
            return torch.func.jacfwd(torch.func.grad(f, job.argnums[0]), job.argnums[1])
        if job.kind == "hvp":
            return self.hvp(f)
        raise NotOfferedError(f"PyTorch has no {job.kind}")

    def grad(self, f: Callable[..., Any]) -> Callable[..., Any]:
        return torch.func.grad(f)

    def hessian(self, f: Callable[..., Any]) -> Callable[..., Any]:
        return torch.func.hessian(f)

    def jacobian(self, f: Callable[..., Any], argnums: tuple[int, ...]) -> Callable[..., Any]:
        return torch.func.jacrev(f, argnums)

    def hvp(self, f: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, v: torch.func.jvp(torch.func.grad(f), (x,), (v,))[1]

    def vmap(self, f: Callable[..., Any]) -> Callable[..., Any]:
        return torch.func.vmap(f)

    def build(self, case: Case, job: Job, data: Data) -> Callable[[], Any]:
        return partial(self.asked("torch", case, job, data.constants), *given(job, data))


def open_system(_: str) -> System:
    """The system."""
    return Torch()
