"""What is computed: data for a size, a function written once over a namespace, and what is asked of it.

Owns :class:`Case`, :class:`Job` and :class:`Data`. Imports NumPy. Invariant: data come from a generator seeded with the
size, so every process has the same; a job by hand is plain NumPy, as an expert would write it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

Constants = SimpleNamespace
"""Captured arrays and numbers, as attributes."""

Function = Callable[..., Any]
"""``f(xp, constants, *variables)``, over the namespace of a system."""

ByHand = Callable[..., Any]
"""``by_hand(constants, *variables)``, with the direction last where the job takes one."""


@dataclass(frozen=True)
class Data:
    """The point, what the function captures, and a direction at the point, one array for each variable."""

    variables: tuple[np.ndarray, ...]
    constants: Constants
    directions: tuple[np.ndarray, ...]

    @property
    def nbytes(self) -> int:
        """The bytes of all arrays but the directions."""
        captured = [value for value in vars(self.constants).values() if isinstance(value, np.ndarray)]
        return sum([array.nbytes for array in (*self.variables, *captured)])


@dataclass(frozen=True)
class Job:
    """Something that is asked of a function.

    `kind` is one of :data:`KINDS`. `by_hand` is what it is compared with; `product(constants, result, *directions)`
    multiplies its result with the directions, where systems may return it in different structures. `spelled` has
    for the name of a system how the job is written for it, ``builder(system, f, constants) -> function of the
    variables``, where the usual way would not do; the empty string stands for all systems. `sizes` are those of the
    case unless given.
    """

    kind: str
    by_hand: ByHand
    argnums: tuple[int, ...] = (0,)
    forward: bool = False
    product: ByHand | None = None
    spelled: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    sizes: tuple[int, ...] | None = None


KINDS = {
    "function": "function",
    "gradient": "gradient",
    "value+gradient": "value and gradient",
    "hessian": "Hessian",
    "compressed": "Hessian, compressed",
    "jacobian": "Jacobian",
    "compressed-jacobian": "Jacobian, compressed",
    "third": "third derivative",
    "fourth": "fourth derivative",
    "blocks": "Hessian at each point",
    "mixed": "mixed partials",
    "hvp": "Hessian-vector product",
    "diagonal": "Hessian diagonal",
    "newton": "Newton step",
}
"""What may be asked, and how tables call it."""

ORDERS = {"third": 3, "fourth": 4}


@dataclass(frozen=True)
class Case:
    """A function with its data, at several sizes, and the jobs that are asked of it.

    `quick` are the sizes of a quick run, `tiny` that of tests; `parameter` says what the size is. `tolerance` is the
    largest difference of results, as a multiple of the largest entry. A quick run does all jobs of a `headline`, and
    the last one of other cases.
    """

    name: str
    title: str
    data: Callable[[int], Data]
    function: Function
    jobs: tuple[Job, ...]
    sizes: tuple[int, ...]
    quick: tuple[int, ...]
    tiny: int = 4
    parameter: str = "n"
    tolerance: float = 1e-9
    headline: bool = False

    @property
    def quick_kinds(self) -> tuple[str, ...]:
        """The jobs of a quick run."""
        return tuple([job.kind for job in self.jobs if self.headline or job is self.jobs[-1]])

    def job(self, kind: str) -> Job:
        """The job of this kind."""
        found = {job.kind: job for job in self.jobs}
        if kind not in found:
            raise KeyError(f"{self.name} has no job {kind!r}, but {', '.join(found)}")
        return found[kind]


def make_data(seed: int, variables: tuple[Any, ...], dtype: Any = np.float64, **constants: Any) -> Data:
    """Data of one dtype: arrays of floats are converted, whole numbers and flags stay."""
    rng = np.random.default_rng(1_000_003 + seed)

    def converted(value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            return np.array(value, dtype, order="C")
        return value

    point = tuple([converted(np.asarray(value)) for value in variables])
    directions = tuple([np.asarray(rng.normal(size=value.shape), value.dtype) for value in point])
    return Data(point, Constants(**{name: converted(value) for name, value in constants.items()}), directions)
