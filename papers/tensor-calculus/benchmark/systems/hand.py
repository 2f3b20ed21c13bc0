"""The hand-written NumPy versions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmark.case import Case, Data, Job
from benchmark.systems.base import NotOfferedError, System, flat, given


class Hand(System):
    traced_memory = True

    @property
    def version(self) -> str:
        return f"NumPy {np.__version__}"

    @property
    def xp(self) -> Any:
        return np

    def build(self, case: Case, job: Job, data: Data) -> Callable[[], Any]:  # noqa: ARG002 (others need the case)
        return by_hand(job, data)

    def transformed(self, f: Callable[..., Any], job: Job) -> Callable[..., Any]:
        raise NotOfferedError(f"derivatives of {f}: {job.kind}")

    def arrays(self, job: Job, plain: Data, result: Any) -> list[np.ndarray]:
        return compared(job, plain, result)


def by_hand(job: Job, data: Data) -> Callable[[], Any]:
    """The hand-written version at the point of the data."""
    return partial(job.by_hand, data.constants, *given(job, data))


def compared(job: Job, data: Data, result: Any) -> list[np.ndarray]:
    """What of a hand-written result is compared: its product with the directions where it has a structure."""
    if job.product is not None:
        result = job.product(data.constants, result, *data.directions)
    return [np.asarray(array) for array in flat(result)]


def open_system(_: str) -> System:
    """The system."""
    return Hand()
