"""A call to be checked: the function, its arguments, which of them are differentiated, and how.

Owns what all checks do first: names, preflight, settings. Imports the subject and the preflight. Invariant: the
caller's arrays are copied before anything is called, and are never handed to a function under test.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from einsumad.errors import DifferentiationError
from einsumad.frontend.trees import flatten, unflatten
from einsumad.testing.checks.settings import Settings, settings_of
from einsumad.testing.point import Array, Point
from einsumad.testing.preflight import Trouble, preflight
from einsumad.testing.report import Finding, Report
from einsumad.testing.subject import Subject, bind

Argnums = int | tuple[int, ...]


@dataclass(frozen=True)
class Call:
    """A function with private copies of its arguments; `originals` are the caller's, for the preflight to look at."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    argnums: Argnums
    settings: Settings
    originals: tuple[Any, ...] = ()

    @cached_property
    def positions(self) -> tuple[int, ...]:
        """The positions of the differentiated arguments."""
        given = self.argnums if isinstance(self.argnums, tuple) else (self.argnums,)
        return tuple([k % len(self.args) for k in given])

    @cached_property
    def name(self) -> str:
        """The name of the function in texts."""
        name = getattr(self.function, "__name__", type(self.function).__name__)
        return "the function" if name == "<lambda>" else str(name)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of all positional arguments."""
        try:
            parameters = list(inspect.signature(self.function).parameters.values())
        except (TypeError, ValueError):
            parameters = []
        known = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        return tuple([known[k] if k < len(known) else f"x{k}" for k in range(len(self.args))])

    @cached_property
    def point(self) -> Point:
        """The differentiated arguments."""
        return self.subject.point

    @cached_property
    def subject(self) -> Subject:
        """The function of the differentiated arguments alone."""
        return self.subject_of(self.function, self.name)

    def subject_of(self, function: Callable[..., Any], name: str) -> Subject:
        """Another function of the same arguments as a function of the differentiated ones alone."""
        names = [self.names[k] for k in self.positions]
        chosen, point = bind(function, self.args, self.kwargs, self.positions, names)
        return Subject(chosen, point, name)

    @cached_property
    def troubles(self) -> tuple[Trouble, ...]:
        """What a look at the function and its arguments before any derivative brings up."""
        return preflight(self.function, self.originals or self.args, self.kwargs, self.positions, self.names)

    @property
    def notes(self) -> tuple[str, ...]:
        """The troubles that do not stop a check."""
        return tuple([trouble.message for trouble in self.troubles if not trouble.fatal])

    def refusal(self) -> Report | None:
        """The report of a call that cannot be checked, or None."""
        fatal = [trouble for trouble in self.troubles if trouble.fatal]
        if not fatal:
            return None
        for trouble in fatal:
            if trouble.kind in ("integers", "no number"):
                raise DifferentiationError(trouble.message)
        findings = [
            Finding("preflight", 0, trouble.kind, "two calls", "refused", detail=trouble.message) for trouble in fatal
        ]
        return Report(self.name, tuple(findings), self.notes)

    def report(self, findings: Sequence[Finding], case: str = "") -> Report:
        """The report with these findings."""
        return Report(self.name, tuple(findings), self.notes, case)

    def arguments_at(self, vector: Array, *, wide: bool = False) -> tuple[Any, ...]:
        """All positional arguments, the differentiated ones with the entries of a vector, the others copied."""
        full = [copied(argument) for argument in self.args]
        for k, value in zip(self.positions, self.point.arguments(vector, wide=wide), strict=True):
            full[k] = value
        return tuple(full)

    def with_arguments(self, args: Sequence[Any]) -> Call:
        """The same call of other arguments, without a search for a small case."""
        return replace(self, args=tuple(args), originals=(), settings=replace(self.settings, minimal=False))


def call_of(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None,
    argnums: Argnums,
    options: dict[str, Any],
) -> Call:
    """The call of a public check, its input validated."""
    settings = settings_of(options)
    if not callable(function):
        raise TypeError(f"a check needs a function first, got {type(function).__name__}")
    if not args:
        raise TypeError("a check needs the arguments of the function at which it is to be made")
    if argnums == ():
        raise ValueError("argnums names no argument: there is nothing to differentiate")
    for k in argnums if isinstance(argnums, tuple) else (argnums,):
        if isinstance(k, bool) or not isinstance(k, int):
            raise TypeError(f"argnums must be an int or a tuple of ints, got {argnums!r}")
        if not -len(args) <= k < len(args):
            raise TypeError(f"argnums names argument {k} but {len(args)} arguments were given")
    own = tuple([copied(argument) for argument in args])
    call = Call(function, own, dict(kwargs or {}), argnums, settings, tuple(args))
    if len(set(call.positions)) != len(call.positions):
        raise ValueError(f"argnums names an argument twice: {argnums}")
    return call


def copied(argument: Any) -> Any:
    """The argument with its arrays copied, in their memory order and dtype."""
    leaves, tree = flatten(argument)
    if not any(isinstance(leaf, np.ndarray) for leaf in leaves):
        return argument
    return unflatten(tree, [leaf.copy(order="K") if isinstance(leaf, np.ndarray) else leaf for leaf in leaves])
