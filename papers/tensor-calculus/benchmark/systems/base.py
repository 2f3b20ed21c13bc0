"""How a system is asked: the interface that all of them have, and what most of them share.

Owns :class:`System`. Imports NumPy and cases. Invariant: what `build` returns takes no arguments and does nothing but
the job, on arrays of the system that were made before.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmark.case import Case, Constants, Data, Job


class NotOfferedError(Exception):
    """The system has no way to do this job."""


class System(ABC):
    """One system in its own process."""

    traced_memory = False  # whether to ask Python too for the peak of memory, which slows calls down

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

    def arrays(self, job: Job, plain: Data, result: Any) -> list[np.ndarray]:
        """What is compared: the arrays of the result, multiplied with the directions where the job says so."""
        found = [self.numpy(array) for array in flat(result)]
        if job.product is not None:
            found = flat(job.product(plain.constants, tuple(found), *plain.directions))
        return found

    def nbytes(self, result: Any) -> int:
        """The bytes of the result."""
        return sum([self.numpy(array).nbytes for array in flat(result)])

    def stages(self) -> dict[str, float] | None:
        """Seconds of the parts of the last first call, where they are known."""
        return None

    def plan(self, case: Case, job: Job, data: Data) -> dict[str, Any]:
        """Arithmetic and steps of the plan, for systems that tell."""
        raise NotOfferedError(f"the plan of {job.kind} of {case.name} at {len(data.variables)} arrays")

    def grad(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """The gradient of a function of one array, for jobs that cases write themselves."""
        raise NotOfferedError(f"gradients of {f}")

    def hessian(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """The Hessian, likewise."""
        raise NotOfferedError(f"Hessians of {f}")

    def jacobian(self, f: Callable[..., Any], argnums: tuple[int, ...]) -> Callable[..., Any]:
        """The Jacobian in several arguments, by reverse mode."""
        raise NotOfferedError(f"Jacobians of {f} in {argnums}")

    def hvp(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """A function of a point and a direction."""
        raise NotOfferedError(f"products with Hessians of {f}")

    def vmap(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """The function over the first axis of all its arguments."""
        raise NotOfferedError(f"a map of {f}")

    def asked(self, name: str, case: Case, job: Job, constants: Constants) -> Callable[..., Any]:
        """The job as a function of the variables, and of the directions where it takes them."""
        f = partial(case.function, self.xp, constants)
        builder = job.spelled.get(name, job.spelled.get(""))
        return self.transformed(f, job) if builder is None else builder(self, f, constants)

    @abstractmethod
    def transformed(self, f: Callable[..., Any], job: Job) -> Callable[..., Any]:
        """The job as a user of the system would write it."""


def flat(result: Any) -> list[Any]:
    """The arrays of nested tuples and lists, in order."""
    if isinstance(result, (tuple, list)):
        return [array for part in result for array in flat(part)]
    return [result]


def given(job: Job, data: Data) -> tuple[Any, ...]:
    """The arguments of a job: the variables, and the directions where it takes them."""
    return (*data.variables, *data.directions) if job.kind == "hvp" else data.variables


def single(argnums: Sequence[int]) -> Any:
    """One position as a number, several as a tuple, as transforms take them."""
    return argnums[0] if len(argnums) == 1 else tuple(argnums)
