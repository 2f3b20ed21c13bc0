"""The records of the mutation self-test: a function, a claimed derivative, and a sampler of points.

Owns the fields of a case and the closed lists of kinds and causes; imports NumPy only. Invariant: a record with a kind
or a cause outside these lists can't be made.

What a claim is called with, by kind (`args` are the sampled arguments, all of them):

- ``gradient``: ``claim(*args)``, the shape of the argument; a tuple for a tuple of `argnums`;
- ``jacobian``: ``claim(*args)``, axes of the output, then axes of the argument;
- ``hessian``: ``claim(*args)``, the axes of the argument twice;
- ``hvp``: ``claim(*args, v)`` with `v` of the shape of the argument;
- ``jvp``: ``claim(args, tangents)`` with a tuple of one tangent for every differentiated argument, gives a tangent;
- ``vjp``: ``claim(args, cotangent)``, gives a cotangent; a tuple for a tuple of `argnums`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Sampler = Callable[[np.random.Generator], tuple[Any, ...]]

KINDS = ("gradient", "jacobian", "hessian", "hvp", "jvp", "vjp")

CAUSES = (
    "factor 2",
    "factor 1/2",
    "sign",
    "constant factor",
    "factor n (sum for mean)",
    "factor 1/n (mean for sum)",
    "degrees",
    "logarithm base",
    "transposed",
    "transposed operand",  # a matrix (or permutation) inside the formula, so not visible in the shape of the result
    "reversed",
    "shifted",
    "wrong axis",
    "swapped arguments",
    "missing sum over a broadcast axis",
    "overwritten duplicate",
    "off the diagonal",  # a derivative that belongs on a diagonal is spread over the rest
    "off-diagonal doubled",
    "only one triangle",
    "not symmetrised",
    "missing conjugate",
    "zero",
    "missing term",
    "missing inner derivative",
    "missing operand slot",
    "ones cotangent only",
    "wrong branch",
    "wrong exponent",
    "evaluated elsewhere",
    "stale value",
    "wrong shape",
    "wrong dtype",
    "single precision",
    "not a number",
)


@dataclass(frozen=True, slots=True)
class Case:
    """A function of the sampled arguments and a claim about its derivative; `source` is a public report."""

    name: str
    kind: str
    function: Callable[..., Any]
    claim: Callable[..., Any]
    sample: Sampler
    argnums: int | tuple[int, ...] = field(default=0, kw_only=True)
    options: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    source: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"case {self.name!r}: unknown kind {self.kind!r}, choose from {', '.join(KINDS)}")

    @property
    def places(self) -> tuple[int, ...]:
        """The positions of the differentiated arguments."""
        return self.argnums if isinstance(self.argnums, tuple) else (self.argnums,)


@dataclass(frozen=True, slots=True)
class Wrong(Case):
    """A claim that is wrong at practically every sampled point, and the cause a good report would name."""

    cause: str = field(kw_only=True)

    def __post_init__(self) -> None:
        Case.__post_init__(self)
        if self.cause not in CAUSES:
            raise ValueError(f"case {self.name!r}: unknown cause {self.cause!r}, choose from {', '.join(CAUSES)}")


@dataclass(frozen=True, slots=True)
class Right(Case):
    """A claim that is right at every sampled point; `hard` says what makes it hard to see that."""

    hard: str = field(default="", kw_only=True)


@dataclass(frozen=True, slots=True)
class Target:
    """What several cases have in common: a function, a sampler, and the kind of derivative that is claimed."""

    kind: str
    function: Callable[..., Any]
    sample: Sampler
    argnums: int | tuple[int, ...] = 0
    options: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    source: str = field(default="", kw_only=True)

    def wrong(self, name: str, claim: Callable[..., Any], cause: str, *, source: str = "") -> Wrong:
        """A wrong claim about this function."""
        common = {"argnums": self.argnums, "options": self.options, "source": source or self.source}
        return Wrong(name, self.kind, self.function, claim, self.sample, cause=cause, **common)

    def right(self, name: str, claim: Callable[..., Any], hard: str = "") -> Right:
        """A right claim about this function."""
        common = {"argnums": self.argnums, "options": self.options, "source": self.source}
        return Right(name, self.kind, self.function, claim, self.sample, hard=hard, **common)
