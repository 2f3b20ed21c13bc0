"""Which of its means the planner uses: switches to see what each of them gives.

Owns the switches and what is in force. Imports rewriting and the machine. Invariant: results do not depend on
them, up to what rounding loses; derivations and plans do, so what is in force is part of every key under which one is
kept. It belongs to the thread, or to the task, that entered it.
"""

from __future__ import annotations

from contextvars import ContextVar
from itertools import count
from typing import Self, TypeAlias

from einsumad.planning.machine import machine_number
from einsumad.records import record, replace
from einsumad.rewriting import Progress


@record(eq=True, repr=True)
class PlannerOptions:
    """What the planner uses; made by :func:`planner_options`, and in force within ``with``."""

    cross_country: bool = True
    compression: bool = True
    factoring: bool = True
    sharing: bool = True
    symmetry: bool = True

    def __enter__(self) -> Self:
        """Put these options in force."""
        _entered.set((*_entered.get(), (self, _numbers.setdefault(self, next(_fresh)))))
        return self

    def __exit__(self, *_: object) -> None:
        """Put those in force that were before."""
        _entered.set(_entered.get()[:-1])


PlanningKey: TypeAlias = tuple[int, int]
"""Numbers of this process for the options and the machine."""

_DEFAULT = PlannerOptions()
_numbers = {_DEFAULT: 0}
_fresh = count(1)  # a number is drawn once, whichever threads enter options at a time
_entered: ContextVar[tuple[tuple[PlannerOptions, int], ...]] = ContextVar("planner options", default=((_DEFAULT, 0),))


def planner_options(
    *,
    cross_country: bool | None = None,
    compression: bool | None = None,
    factoring: bool | None = None,
    sharing: bool | None = None,
    symmetry: bool | None = None,
) -> PlannerOptions:
    """The options of the planner that are in force, with those changed that are given; ``with`` puts them in force.

    They say what is left out when something is derived or planned, to see what it gives. Results are the same up to
    rounding, if numbers are not extreme: where terms overflow or cancel, it may be just what is left out that keeps
    digits. A derivation or plan that was made under other options is not used.

    `cross_country`: vertices are eliminated in the order of Markowitz's rule, beside forward and reverse mode.
    `compression`: unit tensors are never multiplied out in products of Jacobians. Without it they are stored as arrays
    and multiplied like any other factor, but for results in their structure, and where a part such as a logarithm may
    be infinite though the arguments are not: a stored zero would make NaN of it.
    `factoring`: common factors are pulled out of sums, so that only the rest is summed.
    `sharing`: equal parts of different products are computed once.
    `symmetry`: of a product that is symmetric one half is computed.

    Raises :class:`TypeError` for other names and for what is no bool.

    >>> import numpy as np, einsumad as ea
    >>> with ea.planner_options(factoring=False):
    ...     H = ea.hessian(lambda x: np.sum(x**3))(np.ones(2))
    >>> ea.planner_options()
    PlannerOptions(cross_country=True, compression=True, factoring=True, sharing=True, symmetry=True)
    """
    given = {
        "cross_country": cross_country,
        "compression": compression,
        "factoring": factoring,
        "sharing": sharing,
        "symmetry": symmetry,
    }
    changed = {name: value for name, value in given.items() if value is not None}
    for name, value in changed.items():
        if not isinstance(value, bool):
            raise TypeError(f"planner_options: {name} must be True or False, got {value!r}")
    return replace(in_force(), **changed)


def in_force() -> PlannerOptions:
    """The options in force."""
    return _entered.get()[-1][0]


def planning_key() -> PlanningKey:
    """What plans and derivations depend on beside their graph: the options and the machine in force."""
    return _entered.get()[-1][1], machine_number()


def option_names() -> tuple[str, ...]:
    """The names of the options."""
    return PlannerOptions.__match_args__


def progress_of_functions() -> Progress:
    """What normalising knows and leaves out for a function, its gradient, and products with vectors."""
    return Progress(left_out=_without_factoring())


def progress_of_jacobians() -> Progress:
    """What normalising knows and leaves out for Jacobians of tensors, and for all that is planned."""
    left_out = _without_factoring()
    return Progress(left_out=left_out if in_force().compression else left_out | {"resolve-units", "expose-structure"})


def _without_factoring() -> frozenset[str]:
    return frozenset() if in_force().factoring else frozenset(["factor"])
