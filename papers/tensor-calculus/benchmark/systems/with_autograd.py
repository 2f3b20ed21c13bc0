"""Autograd: its transforms, of functions over ``autograd.numpy``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any

import autograd
import autograd.numpy as anp
from autograd.scipy.special import logsumexp

from benchmark.case import ORDERS, Case, Data, Job
from benchmark.systems.base import NotOfferedError, System, given, single

_TRANSFORMS: dict[str, Callable[..., Any]] = {
    "gradient": autograd.grad,
    "value+gradient": autograd.value_and_grad,
    "hessian": autograd.hessian,
    "jacobian": autograd.jacobian,
    "hvp": autograd.hessian_vector_product,
}


class Autograd(System):
    @property
    def version(self) -> str:
        return f"Autograd {version('autograd')}"

    @property
    def xp(self) -> Any:
        return SimpleNamespace(**{**vars(anp), "logsumexp": logsumexp})

    def transformed(self, f: Callable[..., Any], job: Job) -> Callable[..., Any]:
        if job.kind == "function":
            return f
        if job.kind in ORDERS:
            f = autograd.hessian(f)
            for _ in range(ORDERS[job.kind] - 2):
                f = autograd.jacobian(f)
            return f
        if job.kind == "mixed":
            return autograd.jacobian(autograd.grad(f, job.argnums[0]), job.argnums[1])
        if job.kind not in _TRANSFORMS:
            raise NotOfferedError(f"Autograd has no {job.kind}")
        return _TRANSFORMS[job.kind](f, single(job.argnums))

    def grad(self, f: Callable[..., Any]) -> Callable[..., Any]:
        return autograd.grad(f)

    def hessian(self, f: Callable[..., Any]) -> Callable[..., Any]:
        return autograd.hessian(f)

    def hvp(self, f: Callable[..., Any]) -> Callable[..., Any]:
        return autograd.hessian_vector_product(f)

    def build(self, case: Case, job: Job, data: Data) -> Callable[[], Any]:
        return partial(self.asked("autograd", case, job, data.constants), *given(job, data))


def open_system(_: str) -> System:
    """The system."""
    return Autograd()
