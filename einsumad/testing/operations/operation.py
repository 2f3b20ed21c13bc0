"""An operation: a function with everything its tests have to know of it, as one frozen record.

Owns the records and which checks they get. Imports systems, the names of the properties and the rules for the fields.
Invariant: every name in a record is known, and every skip has a reason and names a check that would run.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from einsumad.testing.checks.call import Argnums
from einsumad.testing.comparison import KinkPolicy
from einsumad.testing.manifolds import Which
from einsumad.testing.operations.validation import BY_HAND, validate, validate_skips
from einsumad.testing.properties import PROPERTIES
from einsumad.testing.properties.registry import ANY_FUNCTION, BATCHED, SCALAR
from einsumad.testing.systems import EINSUMAD, System, system

Interval = tuple[float, float]

_QUIET = ("dataclasses", "copy", *[f"einsumad.testing.operations.{own}" for own in ("operation", "registry")])


@dataclass(frozen=True, slots=True)
class Convention:
    """A derivative that is known exactly: `expected` at `args`, of the first order unless said otherwise.

    `expected` has the axes of the value, then those of the argument; for several positions it is a tuple, and for
    order 2 a tuple of tuples. NaN and infinities are expected as they are. `tolerance` is an absolute error that is
    allowed on top of rounding.
    """

    name: str
    args: tuple[Any, ...]
    expected: Any
    order: int = 1
    tolerance: float = 0.0


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Operation:
    """A function to be tested, and what its battery of tests has to know.

    - `value`: the function of a few arrays, with one array or number as its value
    - `sample`: a Hypothesis strategy of tuples of arguments, or a function of a ``numpy.random.Generator`` that gives
      one; an array or a number alone is a single argument
    - `gradient`, `jacobian`, `hessian`, `hvp`, `jvp`, `vjp`: derivatives written by hand, with the signatures that
      ``check_user_gradient``, ``check_jacobian``, ... of :mod:`einsumad.testing` take them with
    - `using`: a system whose derivatives of the value are checked up to `order`; "einsumad" if no derivative is given
    - `argnums`: the differentiated positions; the first for derivatives by hand, all floating ones for a system
    - `domain`: one interval (low, high) an argument, or None for no bound: samples lie inside, and outside the value
      has to be NaN or to raise
    - `manifold`, `kink`: as for the checks
    - `dtypes`: the first is that of the samples, in each other one the derivatives are checked too
    - `batched`: arguments and value have a leading batch axis of one length
    - `conventions`: derivatives known exactly
    - `skips`: names of checks that are left out, each with a reason
    - `options`: further settings of the checks, such as ``{"entries": 100, "modes": ("reverse",)}``

    >>> import numpy as np
    >>> square = Operation("square", np.square, lambda rng: (rng.standard_normal(3),))
    >>> square.checks[:4]
    ('preflight', 'order 1', 'order 2', 'value')
    """

    name: str
    value: Callable[..., Any]
    sample: Any
    gradient: Callable[..., Any] | None = field(default=None, kw_only=True)
    jacobian: Callable[..., Any] | None = field(default=None, kw_only=True)
    hessian: Callable[..., Any] | None = field(default=None, kw_only=True)
    hvp: Callable[..., Any] | None = field(default=None, kw_only=True)
    jvp: Callable[..., Any] | None = field(default=None, kw_only=True)
    vjp: Callable[..., Any] | None = field(default=None, kw_only=True)
    using: str | System | None = field(default=None, kw_only=True)
    order: int = field(default=2, kw_only=True)
    argnums: Argnums | None = field(default=None, kw_only=True)
    domain: tuple[Interval | None, ...] | None = field(default=None, kw_only=True)
    manifold: Which = field(default=None, kw_only=True)
    kink: KinkPolicy = field(default="skip", kw_only=True)
    dtypes: tuple[str, ...] = field(default=("float64", "float32"), kw_only=True)
    batched: bool = field(default=False, kw_only=True)
    conventions: tuple[Convention, ...] = field(default=(), kw_only=True)
    skips: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    options: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    place: str = field(init=False, default="")

    def __post_init__(self) -> None:
        object.__setattr__(self, "place", caller())
        if self.using is None and not self.by_hand:
            object.__setattr__(self, "using", EINSUMAD)
        elif self.using is not None:
            object.__setattr__(self, "using", system(self.using))
        validate(self)
        for name in ("skips", "options"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        validate_skips(self)

    def __repr__(self) -> str:
        return f"Operation({self.name!r})"

    @property
    def by_hand(self) -> dict[str, Callable[..., Any]]:
        """The derivatives written by hand, by their names."""
        return {name: getattr(self, name) for name in BY_HAND if getattr(self, name) is not None}

    @property
    def checks(self) -> tuple[str, ...]:
        """The names of the checks that its battery has, the skipped ones too."""
        orders = [f"order {order}" for order in range(1, self.order + 1)] if self.using is not None else []
        laws = dict.fromkeys([*(self.laws_by_hand if self.by_hand else ()), *self.laws_of_system])
        single = [np.dtype(dtype).name for dtype in self.dtypes[1:]]
        declared = [name for name in ("domain", "conventions") if getattr(self, name)]
        return ("preflight", *self.by_hand, *orders, *laws, *single, *declared)

    @property
    def laws_of_system(self) -> tuple[str, ...]:
        """The properties of the system that are checked."""
        if self.using is None:
            return ()
        library = system(self.using)
        known = {ANY_FUNCTION: library.any_function, BATCHED: self.batched, SCALAR: True}
        return tuple(
            [
                each.name
                for each in PROPERTIES
                if each.order <= self.order and all(known.get(need, need in library.extras) for need in each.needs)
            ]
        )

    @property
    def laws_by_hand(self) -> tuple[str, ...]:
        """The properties that say something about the derivatives written by hand."""
        given = set(self.by_hand)
        first, second = given & {"gradient", "jacobian"}, given & {"hessian", "hvp"}
        any_first = bool(first or given & {"jvp", "vjp"})
        wanted = {
            "shapes and dtypes": any_first,
            "adjoint identity": {"jvp", "vjp"} <= given,
            "symmetry": bool(second) and self.order >= 2,
            "jvp is J v": bool(first) and "jvp" in given,
            "vjp is u J": bool(first) and "vjp" in given,
            "hvp is H v": {"hessian", "hvp"} <= given and self.order >= 2,
            "linearity in the tangent": "jvp" in given,
            "linearity in the cotangent": "vjp" in given,
            "batching": self.batched and any_first,
            "purity": any_first,
            "determinism": any_first,
            "freshness": any_first,
        }
        return tuple([name for name, applies in wanted.items() if applies])


def caller() -> str:
    """The file and line that a record is being made in, with nothing of the machinery that makes records."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__") in _QUIET:
        frame = frame.f_back
    return "an unknown place" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"
