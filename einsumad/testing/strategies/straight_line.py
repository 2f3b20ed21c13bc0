"""Random programs of array functions with shared intermediate results.

Owns the drawing of programs. Imports NumPy, Hypothesis and the operations. Invariant: a program uses only operations of
the families asked for (plus one sum or mean where a scalar is asked for), every statement is needed for the result (not
every argument is), the values stay below a bound for all arguments between -2 and 2, and programs shrink to one
statement.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from hypothesis import reject
from hypothesis import strategies as st

from einsumad.testing.strategies.arrays import array_of
from einsumad.testing.strategies.drawing import Array, Shape, ShownAsText, coded, coded_shape, codes, present
from einsumad.testing.strategies.namespaces import float_dtype, to_namespace
from einsumad.testing.strategies.operations import FAMILIES, SMOOTH, Operation
from einsumad.testing.strategies.program import Program, Statement
from einsumad.testing.strategies.tables import table

_NAMES = ("x", "y", "z", "u", "v", "w")
_REACH = 2.0
_MOST = 64.0
_MOST_ENTRIES = 27
_TRIES = 6
_TO_SCALAR = FAMILIES["reductions"][:2]  # the sum, the mean
_ANY_SHAPE = {"smooth", "arithmetic", "reductions", "kinked"}  # have operations that scalars can be given to
_JOINING = FAMILIES["arithmetic"][1::-1]  # the product, the sum


@dataclass(frozen=True, slots=True)
class _Operand:
    name: str
    shape: Shape
    bound: float


def programs(
    families: Collection[str] = tuple(FAMILIES),
    *,
    max_arguments: int = 3,
    max_statements: int = 6,
    max_dims: int = 2,
    max_side: int = 3,
    scalar: bool = False,
    margin: float = 0.0,
    dtype: Any = np.float64,
    xp: Any | None = None,
) -> st.SearchStrategy[Program]:
    """Straight-line programs: callables of one array or more, with readable source and a point to evaluate them at.

    ``families`` names what the programs are made of: "smooth" functions, "arithmetic" with broadcasting, "products"
    (matmul and einsum), "reductions", "kinked" functions (abs, maximum, where, max, ...) and "linear_algebra" (inverse,
    determinant, solution of well conditioned systems). Arguments have up to ``max_dims`` axes and entries between -2
    and 2; there every intermediate result is finite, at most 64 in magnitude, and inside the domain of its function.
    ``scalar`` makes the result a scalar. Kinked functions are continuous; with a ``margin`` above 0 their operands are
    at least so far from the kinks at ``program.point``, for comparisons with differences. ``dtype`` is float64 or
    float32, ``xp`` the namespace of ``program.point``. ``program.run(arrays, xp)`` computes by any namespace. Shrinks
    to one statement on one small argument.

    >>> from hypothesis import find
    >>> find(programs(), lambda program: "abs" in program.source)
    def f(x):
        return np.abs(x)
    <BLANKLINE>
    x = np.array(0.0)
    """
    unknown = sorted(set(families) - set(FAMILIES))
    if unknown or not families:
        raise ValueError(f"families={families!r}: give one or more of {', '.join(FAMILIES)}")
    if not 1 <= max_arguments <= len(_NAMES) or max_statements < 1 or max_dims < 0 or max_side < 1:
        raise ValueError(
            f"programs needs 1 <= max_arguments <= {len(_NAMES)}, max_statements >= 1, max_dims >= 0 and max_side >= 1"
        )
    if max_dims == 0 and not _ANY_SHAPE & set(families):
        raise ValueError(f"families={families!r} have no operation on scalars: give max_dims >= 1, or more families")
    found = float_dtype(dtype)
    if found == np.float16:
        raise TypeError("programs are float64 or float32: NumPy has no linear algebra for float16")
    chosen = tuple([operations for name, operations in FAMILIES.items() if name in families])
    names = tuple([name for name in FAMILIES if name in families])
    limits = (max_arguments, max_statements, max_dims, max_side)
    return _programs(_Settings(names, chosen, *limits, scalar=scalar, margin=margin, dtype=found), xp)


@dataclass(frozen=True, slots=True, repr=False)
class _Settings(ShownAsText):
    names: tuple[str, ...]
    families: tuple[tuple[Operation, ...], ...]
    max_arguments: int
    max_statements: int
    max_dims: int
    max_side: int
    scalar: bool
    margin: float
    dtype: np.dtype[Any]

    def __repr__(self) -> str:
        return f"<{', '.join(self.names)}>"


@st.composite
def _programs(draw: st.DrawFn, settings: _Settings, xp: Any | None) -> Program:
    joined, main, *head = codes(draw, 2 + settings.max_arguments * (1 + settings.max_dims))
    arguments = _arguments(head, main, settings)
    draft = _Draft(settings, [*arguments], [], set())
    lines = [codes(draw, 5) for _ in range(settings.max_statements)]
    for _, *line in [line for line in lines if present(line[0])] or lines[:1]:
        draft.append(line)
    if "arithmetic" in settings.names and present(joined):
        draft.join()
    if settings.scalar and draft.pool[-1].shape:
        draft.reduce()
    kept, result = _needed(draft.statements, draft.pool[-1].name)
    program = Program(tuple([argument.name for argument in arguments]), kept, result, ())
    point = _point(draw, program, settings, [argument.shape for argument in arguments])
    return replace(program, point=tuple([to_namespace(array, xp) for array in point]))


def _point(draw: st.DrawFn, program: Program, settings: _Settings, shapes: Sequence[Shape]) -> list[Array]:
    """Argument values away from the kinks, by a few tries if it takes them."""
    entries = table(settings.dtype, -_REACH, _REACH)
    for _ in range(_TRIES):
        point = [array_of(draw, entries, shape) for shape in shapes]
        if not settings.margin or program.distance_to_kinks(*point) >= settings.margin:
            return point
    return reject()


def _arguments(chosen: Sequence[int], main: int, settings: _Settings) -> list[_Operand]:
    """The arguments: most of their axes have one size, so that many fit together."""
    sizes = range(min(2, settings.max_side), settings.max_side + 1)
    sides = (*[coded(main, sizes)] * 4, *sizes, 1)
    width = 1 + settings.max_dims
    parts = [chosen[start : start + width] for start in range(0, len(chosen), width)]
    min_dims = 0 if _ANY_SHAPE & set(settings.names) else 1
    pool = []
    for name, (_, *axes) in zip(_NAMES, [part for part in parts if present(part[0])] or parts[:1], strict=False):
        pool.append(_Operand(name, coded_shape(axes, sides, min_dims), _REACH))
    return pool


@dataclass(slots=True)
class _Draft:
    """The values that a program has so far, its statements, and the names that a statement uses."""

    settings: _Settings
    pool: list[_Operand]
    statements: list[Statement]
    used: set[str]

    def append(self, chosen: Sequence[int]) -> None:
        """Add the first operation that fits, beginning with the operation and the operands that were chosen."""
        family, start, first, second = chosen
        place = coded(family, range(len(self.settings.families)))
        operations = self.settings.families[place]
        begin = coded(start, range(len(operations)))
        unused = [operand for operand in reversed(self.pool) if operand.name not in self.used]
        made = self.pool[len(self.pool) - len(self.statements) :]
        latest = [self.pool[-1], *unused, *reversed(self.pool), *made, *made]
        for operation in (*operations[begin:], *operations[:begin]):
            for operands in _choices(operation, latest, first, second):
                if self.add(self.settings.names[place], operation, operands):
                    return
        for operation in SMOOTH if "smooth" in self.settings.names else ():
            if self.add("smooth", operation, (self.pool[-1],)):
                return

    def add(self, family: str, operation: Operation, operands: tuple[_Operand, ...]) -> bool:
        """Add a statement if it fits and its value stays small."""
        value = operation.infer(*[(operand.shape, operand.bound) for operand in operands])
        if value is None or value[1] > _MOST or prod(value[0]) > _MOST_ENTRIES:
            return False
        names = tuple([operand.name for operand in operands])
        target = f"t{len(self.statements)}"
        text = operation.text([operand.shape for operand in operands], self.settings.dtype.name)
        self.statements.append(Statement(target, text, names, family))
        self.pool.append(_Operand(target, *value))
        self.used.update(names)
        return True

    def reduce(self) -> None:
        """Make a scalar of the result: the sum, or the mean where the sum might be large."""
        for operation in _TO_SCALAR:
            if self.add("reductions", operation, (self.pool[-1],)):
                return

    def join(self) -> None:
        """Multiply or add what no statement uses so far to the result, so that less of the program is dropped."""
        unused = [operand for operand in self.pool[:-1] if operand.name not in self.used]
        for position, operand in enumerate(unused):
            for operation in _JOINING[:: (-1) ** position]:
                if self.add("arithmetic", operation, (operand, self.pool[-1])):
                    break


def _choices(operation: Operation, latest: Sequence[_Operand], first: int, second: int) -> list[tuple[_Operand, ...]]:
    """The operands to try: the chosen ones, then the latest one of each shape."""
    others = list({operand.shape: operand for operand in reversed(latest)}.values())
    firsts = [coded(first, latest), *others]
    if operation.arity == 1:
        return [(operand,) for operand in firsts]
    seconds = [coded(second, latest), *others]
    return [(operand, other) for operand in firsts for other in seconds]


def _needed(statements: Sequence[Statement], result: str) -> tuple[tuple[Statement, ...], str]:
    """The statements that the result depends on, numbered anew."""
    needed, kept = {result}, []
    for statement in reversed(statements):
        if statement.target in needed:
            needed.update(statement.operands)
            kept.append(statement)
    names: dict[str, str] = {}
    renamed = []
    for statement in reversed(kept):
        operands = tuple([names.get(name, name) for name in statement.operands])
        names[statement.target] = f"t{len(names)}"
        renamed.append(Statement(names[statement.target], statement.template, operands, statement.family))
    return tuple(renamed), names.get(result, result)
