"""The catalogue: one row for each function, in two registries, and the two ways to use a row.

Owns the row types, the registries and :func:`apply` and :func:`call`. Imports the graph and the dtype rules.
Invariant: a name is in a registry once, and a row holds everything the library knows of a function: value,
derivative, dtype, cost, printing, test domain and the mathematics in words.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from importlib import import_module
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

import numpy as np

from einsumad.errors import DifferentiationError, ShapeError, TracingError
from einsumad.functions.dtypes import DtypeRule
from einsumad.graph import BOOL, OWN, Elementwise, General, Node, Params, Shape, cast, elementwise, general
from einsumad.records import record


@record
class NoDerivative:
    """In the place of a partial: there is no rule for this operand, and why. It may be constant, no more."""

    reason: str


Partials: TypeAlias = tuple[Node | NoDerivative | None, ...]
Source: TypeAlias = Callable[[tuple[str, ...], Params], str]
Interval: TypeAlias = tuple[float, float]


@record
class ElementwiseFunction:
    """A function applied entry by entry.

    `source` writes the value as a NumPy expression in ``np.`` and ``special.`` (`scipy.special`). Where
    `takes_out` holds that expression is one ufunc call, and :func:`source_of` can add ``out=``; `ufunc` is
    its dotted name when it has no arguments but the operands. `partials` gives one derivative for each
    operand, over the same index set: an expression in the catalogue of the node's dtype, a bare boolean node
    (a mask: one where true), None where it is identically zero, or :class:`NoDerivative`. `symbol` is the name
    to print; one that is no identifier stands before a single argument or between two (operands and parameters
    counted together).
    `domain` has an interval of well-behaved values for each operand.
    """

    name: str
    arity: int
    source: Source
    ufunc: str | None
    takes_out: bool
    partials: Callable[[Elementwise], Partials]
    dtype: DtypeRule
    cost: int
    symbol: str
    domain: tuple[Interval, ...]
    doc: str


@record
class GeneralFunction:
    """A function from tensors to one tensor; batch axes lead everywhere.

    `infer` gives shape and dtype of the value or raises :class:`ShapeError`. `jacobian` gives, for an operand
    position, terms of shape ``node.shape + operand.shape`` whose sum is the local Jacobian; none means zero.
    `kernel` maps arrays, then the parameters, to the value. `cost` is in flops. `domain` says in words which
    operands are well-behaved. Where it `gives_index` its operands keep their dtype, which is another one. Where it
    `is_operator` it takes directions behind its `arity` operands: see :mod:`einsumad.functions.general.operators`.

    `expansion` is the value as an expression of other rows, put in its place when a plan is made, after all
    differentiation; it is given the names of the functions that the graph has of the same first operand, so that what
    they share is computed once, and may decline with None.

    A row that `divides` by what may be small to rounding has as its last parameter the number of such divisions that
    are multiplied with each other where it stands. It is made with the number of its own, planning counts the others;
    the kernel gives NaN where so many would not leave enough digits.

    `item_rank` is how many of the last axes of the value belong to one item: those before are batch axes of every
    operand too, and a part of them is the value of that part of the operands. None where that is not promised.
    """

    name: str
    arity: int
    infer: Callable[[tuple[Node, ...], Params], tuple[Shape, np.dtype[Any]]]
    jacobian: Callable[[General, int], tuple[Node, ...]]
    kernel: Callable[..., np.ndarray[Any, Any]]
    cost: Callable[[tuple[Shape, ...], Params], int]
    symbol: str
    domain: str
    doc: str
    gives_index: bool = False
    is_operator: bool = False
    expansion: Callable[[General, AbstractSet[str]], Node | None] | None = None
    divides: bool = False
    item_rank: int | None = None


class _Named(Protocol):
    @property
    def name(self) -> str: ...


Row = TypeVar("Row", bound=_Named)


class Registry(Generic[Row]):
    """Rows by name. Refuses a second row of one name, remembers where a row was made, suggests near names."""

    __slots__ = ("_kind", "_origins", "_rows")

    def __init__(self, kind: str) -> None:
        """Make an empty registry of functions of one kind, which the error messages name."""
        self._kind = kind
        self._rows: dict[str, Row] = {}
        self._origins: dict[str, str] = {}

    def add(self, row: Row, origin: str) -> Row:
        """Enter the row, which was made at `origin`."""
        if row.name in self._rows:
            raise TracingError(
                f"the {self._kind} function {row.name!r} of {origin} is already registered by "
                f"{self._origins[row.name]}: choose another name"
            )
        self._rows[row.name] = row
        self._origins[row.name] = origin
        return row

    def get(self, name: str) -> Row:
        """Return the row of that name."""
        try:
            return self._rows[name]
        except KeyError:
            near = import_module("difflib").get_close_matches(name, self._rows, n=3)
            hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "register it before it is used"
            raise TracingError(f"there is no {self._kind} function {name!r}: {hint}") from None

    def names(self) -> tuple[str, ...]:
        """Return all names in alphabetical order."""
        return tuple(sorted(self._rows))

    def origins(self) -> Mapping[str, str]:
        """Return where each row was made, as ``file:line``."""
        return dict(self._origins)


_elementwise: Registry[ElementwiseFunction] = Registry("elementwise")
_general: Registry[GeneralFunction] = Registry("general")
_own: Registry[GeneralFunction] = Registry("user-defined")


def _caller() -> str:
    """The place outside this package's machinery that registers a row."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__") in _MACHINERY:
        frame = frame.f_back
    return "an unknown place" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


_MACHINERY = frozenset({__name__, "einsumad.functions.rows"})


def register_elementwise(row: ElementwiseFunction) -> ElementwiseFunction:
    """Enter a row for a function applied entry by entry."""
    return _elementwise.add(row, _caller())


def register_general(row: GeneralFunction) -> GeneralFunction:
    """Enter a row for a function of whole tensors."""
    return _general.add(row, _caller())


def register_own(row: GeneralFunction) -> GeneralFunction:
    """Enter a row for a function that a user defined: it can be looked up and stands in no list of the catalogue."""
    return _own.add(row, "a definition of the user")


def is_own(name: str) -> bool:
    """Whether the name is that of a function that a user defined."""
    return OWN in name


def elementwise_function(name: str) -> ElementwiseFunction:
    """Return the row of an elementwise function."""
    return _elementwise.get(name)


def general_function(name: str) -> GeneralFunction:
    """Return the row of a general function, of the catalogue or defined by a user."""
    return (_own if is_own(name) else _general).get(name)


def elementwise_names() -> tuple[str, ...]:
    """Return the names of all elementwise functions in alphabetical order."""
    return _elementwise.names()


def general_names() -> tuple[str, ...]:
    """Return the names of all general functions in alphabetical order."""
    return _general.names()


def origins() -> Mapping[str, str]:
    """Return where each row of either registry was made, as ``file:line``."""
    return {**_elementwise.origins(), **_general.origins()}


def partial_of(node: Elementwise, position: int) -> Node | None:
    """The partial derivative of the function of a node in one operand; what has no rule for it raises."""
    found = elementwise_function(node.function).partials(node)[position]
    if isinstance(found, NoDerivative):
        raise DifferentiationError(
            f"{node.function} has no derivative in its operand {position}: {found.reason}; make that operand a constant"
        )
    return found


def apply(name: str, *operands: Node, params: Params = ()) -> Node:
    """The elementwise function of operands of equal shape.

    Operands of another dtype than the value are cast to it first (comparisons see theirs as they are), so a
    row's value and partials only ever meet one dtype.
    """
    row = _elementwise.get(name)
    _check(row.name, row.arity, operands)
    dtype = row.dtype(tuple([operand.dtype for operand in operands]), params)
    if dtype != BOOL:
        operands = tuple([cast(operand, dtype) for operand in operands])
    return elementwise(name, operands, params, dtype)


def call(name: str, *operands: Node, params: Params = ()) -> Node:
    """The general function of tensors. Operands of another dtype than the value are cast to it first."""
    row = _general.get(name)
    _check(row.name, max(row.arity, len(operands)) if row.is_operator else row.arity, operands)
    shape, dtype = row.infer(operands, params)
    if not row.gives_index:
        operands = tuple([cast(operand, dtype) for operand in operands])
    return general(name, operands, params, shape, dtype)


def _check(name: str, arity: int, operands: tuple[Node, ...]) -> None:
    if len(operands) != arity:
        raise ShapeError(f"{name} takes {arity} operand{'s' if arity > 1 else ''}, got {len(operands)}")
    for operand in operands:
        if operand.dtype.kind == "c":
            raise TracingError(f"{name} got dtype {operand.dtype}: complex numbers are not supported yet")
        if operand.dtype.kind not in "biuf":
            raise TracingError(f"{name} got dtype {operand.dtype}: convert it to a floating dtype first")


def source_of(row: ElementwiseFunction, operands: tuple[str, ...], params: Params, out: str | None = None) -> str:
    """The NumPy expression of the value; with `out` it writes there, which needs ``row.takes_out``."""
    text = row.source(operands, params)
    if out is None:
        return text
    if not row.takes_out:
        raise TracingError(f"{row.name} is more than one ufunc call and cannot write to {out!r}: leave out= away")
    return f"{text[:-1]}, out={out})"
