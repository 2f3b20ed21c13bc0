"""This library: compiled, or called as it is (``ours-uncompiled``).

Behind a colon a name has planner options that are switched off: ``ours:-sharing``, ``ours:-all``.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any

import numpy as np

import einsumad as ea
from benchmark.case import Case, Data, Job
from benchmark.stages import Stages
from benchmark.systems.base import System, closed, flat, single

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


def transformed(f: Callable[..., Any], job: Job) -> Callable[..., Any]:
    """What a user of this library would write."""
    if job.kind == "function":
        return f
    if job.kind == "derivative":
        return ea.derivative(f, order=job.order)
    if job.kind == "mixed":
        first, second = job.argnums
        return ea.jacobian(ea.grad(f, first), second)
    return _TRANSFORMS[job.kind](f, single(job.argnums))


class Ours(System):
    peer = False

    def __init__(self, name: str) -> None:
        base, _, off = name.partition(":-")
        self.compiled = base == "ours"
        self.name = base
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
        return np

    def build(self, case: Case, job: Job, data: Data) -> Callable[[], Any]:
        self.recorded.clear()
        written = self.spelled("ours", case, job, data)
        directions = data.directions if job.kind == "hvp" else ()
        f = transformed(closed(case, np, data.constants), job) if written is None else written
        if not self.compiled:
            return partial(f, *data.variables, *directions)
        return partial(ea.compile(f), *data.variables, *directions)

    def arrays(self, job: Job, data: Data, result: Any) -> list[np.ndarray]:
        if job.product is None:
            return super().arrays(job, data, result)
        directions = data.directions
        return super().arrays(job, data, result @ (directions[job.argnums[0]] if len(job.argnums) == 1 else directions))

    def nbytes(self, result: Any) -> int:
        return sum([part.nbytes for part in flat(result)])

    def stages(self) -> dict[str, float] | None:
        return self.recorded.seconds()

    def wait(self, result: Any) -> Any:
        if not self.compiled and hasattr(result, "structure"):
            result.nbytes  # noqa: B018 (arrays of a structure are computed when they are looked at)
        return result


def open_system(name: str) -> System:
    """The system, with what is behind the colon switched off."""
    return Ours(name)
