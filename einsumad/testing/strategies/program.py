"""A straight-line program of array functions.

Owns the records of a drawn program and its text. Imports NumPy, the interpreter and the operations. Invariant: what a
program computes and what its text says come from the same templates; text is for readers and is never executed here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from einsumad.testing.strategies.drawing import ShownAsText
from einsumad.testing.strategies.interpreter import computation
from einsumad.testing.strategies.operations import KINKS


@dataclass(frozen=True, slots=True)
class Statement:
    """An assignment: a template in which ``{0}``, ``{1}`` stand for the operands, which are names assigned before."""

    target: str
    template: str
    operands: tuple[str, ...]
    family: str

    @property
    def expression(self) -> str:
        """The right-hand side as Python source."""
        return self.template.format(*self.operands)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Program(ShownAsText):
    """A function of arrays, statement by statement, and a point at which it is defined with all it is made of.

    Intermediate results are used as often as statements name them, so the expression graph shares nodes.

    >>> square = Statement("t0", "{0} * {0}", ("x",), "arithmetic")
    >>> total = Statement("t1", "np.sum({0})", ("t0",), "reductions")
    >>> f = Program(("x",), (square, total), "t1", (np.array([1.0, 2.0]),))
    >>> f(*f.point)
    np.float64(5.0)
    >>> f
    def f(x):
        t0 = x * x
        return np.sum(t0)
    <BLANKLINE>
    x = np.array([1.0, 2.0])
    """

    arguments: tuple[str, ...]
    statements: tuple[Statement, ...]
    result: str
    point: tuple[Any, ...]

    @property
    def families(self) -> frozenset[str]:
        """The families of operations that occur."""
        return frozenset([statement.family for statement in self.statements])

    @property
    def source(self) -> str:
        """The program as the Python source of a function ``f``."""
        lines = [f"    {statement.target} = {statement.expression}" for statement in self.statements]
        if self.statements and self.statements[-1].target == self.result:
            lines[-1] = f"    return {self.statements[-1].expression}"
        else:
            lines.append(f"    return {self.result}")
        return "\n".join([f"def f({', '.join(self.arguments)}):", *lines])

    def run(self, arrays: Sequence[Any], xp: Any = np) -> Any:
        """Compute the program by the functions of a namespace; NumPy's dispatch on the arrays."""
        return self._values(arrays, xp)[self.result]

    def distance_to_kinks(self, *arrays: Any) -> float:
        """How far the operands of the kinked statements are from their kinks: the least difference, infinite if none.

        >>> size = Statement("t0", "np.abs({0})", ("x",), "kinked")
        >>> Program(("x",), (size,), "t0", (np.array([1.0, -0.25]),)).distance_to_kinks(np.array([1.0, -0.25]))
        0.25
        """
        kinked = [
            statement
            for statement in self.statements
            if statement.template in KINKS and len(set(statement.operands)) == len(statement.operands)
        ]
        values = self._values([np.asarray(array) for array in arrays], np) if kinked else {}
        distances = [KINKS[statement.template](*[values[name] for name in statement.operands]) for statement in kinked]
        return min([inf, *[float(np.min(np.abs(distance), initial=inf)) for distance in distances]])

    def _values(self, arrays: Sequence[Any], xp: Any) -> dict[str, Any]:
        """The values of all names."""
        if len(arrays) != len(self.arguments):
            raise TypeError(f"the program takes {', '.join(self.arguments)}: {len(arrays)} arrays were given")
        values = dict(zip(self.arguments, arrays, strict=True))
        for statement in self.statements:
            operands = [values[name] for name in statement.operands]
            values[statement.target] = computation(statement.template, len(operands))(xp, operands)
        return values

    def __call__(self, *arrays: Any) -> Any:
        """Compute the program by NumPy, or by what the arrays dispatch to."""
        return self.run(arrays)

    def __str__(self) -> str:
        return self.source

    def __repr__(self) -> str:
        point = [f"{name} = {_array_source(array)}" for name, array in zip(self.arguments, self.point, strict=True)]
        return "\n".join([self.source, "", *point])


def _array_source(array: Any) -> str:
    values = np.asarray(array)
    dtype = "" if values.dtype == np.float64 else f", dtype=np.{values.dtype.name}"
    return f"np.array({values.tolist()}{dtype})"
