"""Random programs of functions from the whole surface: each takes its arguments from what the one before gave."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.surface.all_specs import SPECS, Spec
from tests.surface.checks import arguments, parts
from tests.surface.drawing import Drawer, Operand


@dataclass(frozen=True)
class Step:
    """A drawn call, and which entries of what came before its operands are made of."""

    spec: Spec
    f: Callable[..., Any]
    operands: tuple[Operand, ...]
    places: np.ndarray
    scale: float

    def __call__(self, entries: Any) -> Any:
        """All floating entries of the result, or what it was given where there are none."""
        numbers = 0.9 * np.tanh(self.scale * entries[self.places])
        found = [np.ravel(part) for part in parts(self.f(*arguments(self.operands, numbers))) if part.dtype.kind == "f"]
        found = [part for part in found if part.size]
        return np.concatenate(found) if found else entries


@dataclass(frozen=True)
class Program:
    """Steps one after the other."""

    steps: tuple[Step, ...]

    def __str__(self) -> str:
        return " | ".join([step.spec.name for step in self.steps])

    @property
    def accuracy(self) -> float:
        """That of the least accurate of its functions, which those behind it can make worse."""
        return 10 * max([step.spec.accuracy for step in self.steps])

    def __call__(self, entries: Any) -> Any:
        for step in self.steps:
            entries = step(entries)
        return entries


def program(rng: np.random.Generator, entries: np.ndarray, length: int, specs: Sequence[Spec] = ()) -> Program:
    """A program of so many steps for a vector like this one."""
    pool = specs or tuple([spec for spec in SPECS.values() if set("fd") & set(spec.dtypes) and spec.order is not None])
    steps: list[Step] = []
    with np.errstate(all="ignore"):
        while len(steps) < length:
            spec = pool[rng.integers(len(pool))]
            f, operands = spec.make(Drawer(rng, empty=False, largest=3))
            count = sum(operand.size for operand in operands)
            scale = 1 / max(1.0, float(np.max(np.abs(entries), initial=0)))
            step = Step(spec, f, operands, rng.integers(0, entries.size, count), scale)
            following = step(entries)
            if np.isfinite(following).all() and following.size <= 200:
                steps.append(step)
                entries = following
    return Program(tuple(steps))
