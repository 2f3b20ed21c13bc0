"""This library: compiled, with loops of Numba (``ours-numba``), or called as it is (``ours-uncompiled``).

Behind a colon a name has planner options that are switched off: ``ours:-sharing``, ``ours:-all``.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

import einsumad as ea
from benchmark.case import ORDERS, Case, Data, Job
from benchmark.stages import Stages
from benchmark.systems.base import NotOfferedError, System, flat, given, single
from einsumad.frontend.cache import clear as forget
from einsumad.planning import Plan
from einsumad.scipy.special import logsumexp

OPTIONS = ("cross_country", "compression", "factoring", "sharing", "symmetry")

_TRANSFORMS: dict[str, Callable[..., Any]] = {
    "gradient": ea.grad,
    "value+gradient": ea.value_and_grad,
    "hessian": ea.hessian,
    "compressed": partial(ea.hessian, compressed=True),
    "jacobian": ea.jacobian,
    "compressed-jacobian": partial(ea.jacobian, compressed=True),
    "hvp": ea.hvp,
    "diagonal": ea.hessian_diagonal,
}


class Ours(System):
    traced_memory = True

    def __init__(self, name: str) -> None:
        base, _, off = name.partition(":-")
        self.compiled = base != "ours-uncompiled"
        self.numba = base == "ours-numba"
        self.recorded = Stages()
        self.open = ExitStack()
        if off:
            options = {option: off not in (option, "all") for option in OPTIONS}
            self.open.enter_context(ea.planner_options(**options))

    @property
    def version(self) -> str:
        return f"einsumad {ea.__version__}"

    @property
    def xp(self) -> Any:
        return SimpleNamespace(**{**vars(np), "logsumexp": logsumexp})

    def transformed(self, f: Callable[..., Any], job: Job) -> Callable[..., Any]:
        if job.kind == "function":
            return f
        if job.kind in ORDERS:
            return ea.derivative(f, order=ORDERS[job.kind])
        if job.kind == "mixed":
            first, second = job.argnums
            return ea.jacobian(ea.grad(f, first), second)
        return _TRANSFORMS[job.kind](f, single(job.argnums))

    def grad(self, f: Callable[..., Any]) -> Callable[..., Any]:
        return ea.grad(f)

    def hessian(self, f: Callable[..., Any]) -> Callable[..., Any]:
        return ea.hessian(f)

    def build(self, case: Case, job: Job, data: Data) -> Callable[[], Any]:
        if not self.compiled and "ours" in job.spelled:
            raise NotOfferedError(f"{job.kind} of {case.name} is written for a graph, not for arrays")
        self.recorded.clear()
        forget()
        asked = self.asked("ours", case, job, data.constants)
        return partial(ea.compile(asked, numba=self.numba) if self.compiled else asked, *given(job, data))

    def plan(self, case: Case, job: Job, data: Data) -> dict[str, Any]:
        found = ea.explain(self.asked("ours", case, job, data.constants), *given(job, data)).plan
        plans = [found] if isinstance(found, Plan) else [*[sweep.part for sweep in found.sweeps], found.after]
        return {"flops": found.flops, "steps": sum([len(plan.steps) for plan in plans])}

    def arrays(self, job: Job, plain: Data, result: Any) -> list[np.ndarray]:
        if job.product is None:
            return super().arrays(job, plain, result)
        directions = plain.directions
        if isinstance(result, tuple):
            rows = [[block @ v for block, v in zip(row, directions, strict=True)] for row in result]
            return [np.asarray(sum(row[1:], row[0])) for row in rows]
        return [np.asarray(result @ (directions[job.argnums[0]] if len(job.argnums) == 1 else directions))]

    def nbytes(self, result: Any) -> int:
        return sum([part.nbytes for part in flat(result)])

    def stages(self) -> dict[str, float] | None:
        return self.recorded.seconds()

    def wait(self, result: Any) -> Any:
        if not self.compiled:
            for part in flat(result):
                part.nbytes  # noqa: B018 (arrays of a structure are computed when they are looked at)
        return result


def open_system(name: str) -> System:
    """The system, with what is behind the colon switched off."""
    return Ours(name)
