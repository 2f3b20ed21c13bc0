"""How a check is to be made: one frozen record, made from the keyword arguments of the public functions.

Owns the record and its validation. Imports the manifolds and the comparison. Invariant: a record holds only legal
values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any

from einsumad.testing.comparison import KINK_POLICIES, KinkPolicy
from einsumad.testing.manifolds import Which, manifold
from einsumad.testing.oracles.along import ORACLES

TAYLOR = "taylor"
LIBRARIES = ("einsumad", "jax", "torch", "autograd")
AGAINST = ("auto", *ORACLES, TAYLOR, *LIBRARIES)


@dataclass(frozen=True, slots=True)
class Settings:
    """What the checks compare with, where, and how closely.

    - `against`: "auto" (the most exact oracle that may be believed), one oracle ("complex step", "whole-number
      differences", "differences", "taylor"), a library that can run the function ("einsumad", "jax", "torch",
      "autograd"), or a function that gives the right derivative
    - `kink`: at kinks "skip" entries, or ask for a value between the "one-sided" derivatives, or for that of the
      "convention" (this library's: see docs/conventions.md)
    - `manifold`: the set the arguments belong to, such as "symmetric", or a tuple with a set or None for each array of
      the differentiated arguments; derivatives are compared along tangents only
    - `entries`: up to so many entries of the point each is compared; of a larger one a sample, and `directions` random
      directions through all entries
    - `seed`: of everything random
    - `relative`: a relative error that is forgiven, on top of the automatic tolerance
    - `single`: compare even where only differences in single precision are to be had
    - `minimal`: look for a small case when something is wrong
    """

    against: str | Callable[..., Any] = "auto"
    kink: KinkPolicy = "skip"
    manifold: Which = None
    entries: int = 64
    directions: int = 4
    seed: int = 0
    relative: float = 0.0
    single: bool = False
    minimal: bool = True

    def __post_init__(self) -> None:
        if not callable(self.against):
            _one_of("against", self.against, AGAINST)
        _one_of("kink", self.kink, KINK_POLICIES)
        for each in self.manifold if isinstance(self.manifold, tuple) else (self.manifold,):
            if each is not None:
                manifold(each)
        for name, least in (("entries", 0), ("directions", 1), ("seed", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")
        if not 0 <= self.relative < 1:
            raise ValueError(f"relative must be at least 0 and less than 1, got {self.relative!r}")


def settings_of(options: dict[str, Any]) -> Settings:
    """The settings from keyword arguments; an unknown one is refused with near names."""
    known = [field.name for field in fields(Settings)]
    for name in options:
        if name not in known:
            near = get_close_matches(name, known, n=2)
            hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}"
            raise TypeError(f"a check has no option {name!r}: {hint}")
    return Settings(**options)


def _one_of(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")
