"""PyTorch on the CPU: gradients by ``backward``-style autograd, derivatives of higher order by ``torch.func``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from benchmark.case import Case, Data, Job
from benchmark.systems.base import NotOfferedError, System, closed, single


def _maximum(a: Any, b: Any) -> Any:
    return torch.clamp(a, min=b) if isinstance(b, (int, float)) else torch.maximum(a, b)


def _namespace() -> SimpleNamespace:
    """What functions are written over, in NumPy's spelling."""
    names = ("exp", "log", "sum", "tanh", "sqrt", "sin", "cos", "where", "einsum", "stack", "trace", "log1p")
    found = {name: getattr(torch, name) for name in names}
    return SimpleNamespace(
        **found, maximum=_maximum, min=torch.amin, concatenate=torch.cat, linalg=torch.linalg, torch=torch
    )


def _gradient(f: Callable[..., Any], argnums: tuple[int, ...], value: bool, *variables: Any) -> Any:
    """By the tape, which is quicker than ``torch.func``."""
    given = list(variables)
    for k in argnums:
        given[k] = given[k].detach().requires_grad_()
    result = f(*given)
    gradient = torch.autograd.grad(result, [given[k] for k in argnums])
    gradient = gradient[0] if len(argnums) == 1 else gradient
    return (result.detach(), gradient) if value else gradient


def transformed(f: Callable[..., Any], job: Job) -> Callable[..., Any]:
    argnums = single(job.argnums)
    if job.kind == "function":
        return f
    if job.kind in ("gradient", "value+gradient"):
        return partial(_gradient, f, job.argnums, job.kind == "value+gradient")
    if job.kind == "hessian":
        return torch.func.hessian(f, argnums)
    if job.kind == "jacobian":
        return torch.func.jacfwd(f, argnums) if job.forward else torch.func.jacrev(f, argnums)
    if job.kind == "derivative":
        f = torch.func.grad(f)
        for _ in range(job.order - 1):
            f = torch.func.jacfwd(f)
        return f
    if job.kind == "mixed":
        return torch.func.jacfwd(torch.func.grad(f, job.argnums[0]), job.argnums[1])
    if job.kind == "hvp":
        return lambda x, v: torch.func.jvp(torch.func.grad(f), (x,), (v,))[1]
    raise NotOfferedError(f"PyTorch has no {job.kind}")


class Torch(System):
    own_memory = True

    @property
    def version(self) -> str:
        return f"PyTorch {torch.__version__}"

    @property
    def xp(self) -> Any:
        return self._xp

    def __init__(self) -> None:
        self._xp = _namespace()

    def array(self, value: np.ndarray) -> Any:
        return torch.from_numpy(np.array(value))

    def numpy(self, result: Any) -> np.ndarray:
        return result.detach().numpy()

    def build(self, case: Case, job: Job, data: Data) -> Callable[[], Any]:
        written = self.spelled("torch", case, job, data)
        if written is not None:
            return written
        directions = data.directions if job.kind == "hvp" else ()
        return partial(transformed(closed(case, self._xp, data.constants), job), *data.variables, *directions)


def open_system(_: str) -> System:
    """The system."""
    return Torch()
