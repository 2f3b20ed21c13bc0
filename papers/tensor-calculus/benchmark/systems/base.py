"""How a system is asked: the interface that all of them have, and what most of them share.

Owns :class:`System`. Imports NumPy and cases. Invariant: what `build` returns takes no arguments and does nothing but
the job, on arrays of the system that were made before.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmark.case import Case, Constants, Data, Job


class NotOfferedError(Exception):
    """The system has no way to do this job."""


class System(ABC):
    """One system in its own process."""

    peer = True
    own_memory = False  # whether arrays are allocated where Python does not see it

    @property
    @abstractmethod
    def version(self) -> str:
        """The version, for the head of the tables."""

    @property
    @abstractmethod
    def xp(self) -> Any:
        """The namespace that functions are written over."""

    def array(self, value: np.ndarray) -> Any:
        """An array of the system."""
        return value

    def numpy(self, result: Any) -> np.ndarray:
        """A NumPy array from one of the system's."""
        return np.asarray(result)

    def load(self, data: Data) -> Data:
        """The data with arrays of the system."""

        def converted(value: Any) -> Any:
            return self.array(value) if isinstance(value, np.ndarray) else value

        constants = {name: converted(value) for name, value in vars(data.constants).items()}
        return Data(
            tuple([converted(value) for value in data.variables]),
            Constants(**constants),
            tuple([converted(value) for value in data.directions]),
        )

    @abstractmethod
    def build(self, case: Case, job: Job, data: Data) -> Callable[[], Any]:
        """The job on data of this system, to be called again and again."""

    def wait(self, result: Any) -> Any:
        """The result, once it is computed."""
        return result

    def arrays(self, job: Job, data: Data, result: Any) -> list[np.ndarray]:  # noqa: ARG002 (systems with structure use them)
        """What is compared: the arrays of the result."""
        return [self.numpy(array) for array in flat(result)]

    def nbytes(self, result: Any) -> int:
        """The bytes of the result."""
        return sum([self.numpy(array).nbytes for array in flat(result)])

    def stages(self) -> dict[str, float] | None:
        """Seconds of the parts of the last first call, where they are known."""
        return None

    def spelled(self, name: str, case: Case, job: Job, data: Data) -> Callable[[], Any] | None:
        """The job as the case writes it for this system, or for all peers."""
        builder = job.spelled.get(name, job.spelled.get("") if self.peer else None)
        if builder is None:
            return None
        return builder(self.xp, case.function, data.constants, data.variables, data.directions)


def flat(result: Any) -> list[Any]:
    """The arrays of nested tuples and lists, in order."""
    if isinstance(result, (tuple, list)):
        return [array for part in result for array in flat(part)]
    return [result]


def closed(case: Case, xp: Any, constants: SimpleNamespace) -> Callable[..., Any]:
    """The function of the variables alone."""
    return partial(case.function, xp, constants)


def single(argnums: Sequence[int]) -> Any:
    """One position as a number, several as a tuple, as transforms take them."""
    return argnums[0] if len(argnums) == 1 else tuple(argnums)
