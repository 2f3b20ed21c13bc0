"""The hand-written NumPy versions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmark.case import Case, Data, Job
from benchmark.systems.base import System


class Hand(System):
    peer = False

    @property
    def version(self) -> str:
        return f"NumPy {np.__version__}"

    @property
    def xp(self) -> Any:
        return np

    def build(self, case: Case, job: Job, data: Data) -> Callable[[], Any]:  # noqa: ARG002 (others need the case)
        return by_hand(job, data)

    def arrays(self, job: Job, data: Data, result: Any) -> list[np.ndarray]:
        return compared(job, data, result)


def by_hand(job: Job, data: Data) -> Callable[[], Any]:
    """The hand-written version at the point of the data."""
    directions = data.directions if job.kind == "hvp" else ()
    return partial(job.by_hand, data.constants, *data.variables, *directions)


def compared(job: Job, data: Data, result: Any) -> list[np.ndarray]:
    """What of a hand-written result is compared: its product with the directions where it has a structure."""
    if job.product is not None:
        result = job.product(result, *data.directions)
    return [np.asarray(array) for array in (result if isinstance(result, (tuple, list)) else (result,))]


def open_system(_: str) -> System:
    """The system."""
    return Hand()
