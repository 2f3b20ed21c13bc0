"""Autograd: its transforms, of functions over ``autograd.numpy``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from typing import Any

import autograd
import autograd.numpy as anp

from benchmark.case import Case, Data, Job
from benchmark.systems.base import NotOfferedError, System, closed, single


def transformed(f: Callable[..., Any], job: Job) -> Callable[..., Any]:
    argnums = single(job.argnums)
    if job.kind == "function":
        return f
    if job.kind == "gradient":
        return autograd.grad(f, argnums)
    if job.kind == "value+gradient":
        return autograd.value_and_grad(f, argnums)
    if job.kind == "hessian":
        return autograd.hessian(f, argnums)
    if job.kind == "jacobian":
        return autograd.jacobian(f, argnums)
    if job.kind == "derivative":
        f = autograd.grad(f)
        for _ in range(job.order - 1):
            f = autograd.jacobian(f)
        return f
    if job.kind == "mixed":
        return autograd.jacobian(autograd.grad(f, job.argnums[0]), job.argnums[1])
    if job.kind == "hvp":
        return autograd.hessian_vector_product(f)
    raise NotOfferedError(f"Autograd has no {job.kind}")


class Autograd(System):
    @property
    def version(self) -> str:
        return f"Autograd {version('autograd')}"

    @property
    def xp(self) -> Any:
        return anp

    def build(self, case: Case, job: Job, data: Data) -> Callable[[], Any]:
        written = self.spelled("autograd", case, job, data)
        if written is not None:
            return written
        directions = data.directions if job.kind == "hvp" else ()
        return partial(transformed(closed(case, anp, data.constants), job), *data.variables, *directions)


def open_system(_: str) -> System:
    """The system."""
    return Autograd()
