"""Entrywise steps on one shape, and the sum behind them, as one loop nest that Numba compiles.

Owns which steps form a loop, and its text. Imports operands, source text and the taking over of memory. Invariant: a
loop does the same arithmetic on each entry as the NumPy calls it stands for, in the dtype of the plan; a sum is over
few entries, or goes row by row as NumPy's does. What has no such loop is left to NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from math import prod

from einsumad.execution.lowering.operands import Registers
from einsumad.execution.lowering.tiled import Run, labels_of, taken_by
from einsumad.execution.source import dtype_text, register_name, shape_text, typed_number
from einsumad.graph import BOOL, Labels, Number, Shape
from einsumad.planning.kernels import Apply, Choose, Contract, Group, Layout, Sum
from einsumad.planning.steps import Constant, Step

_LEAST_ENTRIES = 2**12
"""Entries from which a loop takes less time than its call, which costs as much as a few of NumPy's."""
_LEAST_STEPS = 3
"""Steps from which a loop wins: NumPy does two in about the same time."""
_FEW = 128
"""Entries that are added up one after the other along the last axes: as many as NumPy adds up before it pairs sums."""

_FUNCTIONS: dict[str, Callable[..., str]] = {
    "abs": lambda x: f"abs({x})",
    "equal": lambda x, y: f"({x} == {y})",
    "greater": lambda x, y: f"({x} > {y})",
    "greater_equal": lambda x, y: f"({x} >= {y})",
    "less": lambda x, y: f"({x} < {y})",
    "less_equal": lambda x, y: f"({x} <= {y})",
    "logical_not": lambda x: f"(not {x})",
    "not_equal": lambda x, y: f"({x} != {y})",
    "sqrt": lambda x: f"np.sqrt({x})",
    "square": lambda x: f"({x} * {x})",
}
"""Functions that are the same in Numba as in NumPy for every number, and that NumPy does no faster."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LoweredLoop:
    """The text of the loop, the statements that call it, and the registers that exist behind it."""

    function: str
    lines: list[str]
    made: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Piece:
    """Steps in a row, which form a loop or do not."""

    steps: Run
    is_loop: bool


def pieces_of(steps: Sequence[Step], last: dict[int, int]) -> list[Piece]:
    """The steps, those that form a loop together. `last` has the last reader of a register."""
    found: list[list[Step]] = []
    closed = True
    for step in steps:
        run = [] if closed else found[-1]
        if _is_entrywise(step) and (not run or _joins(step, run)):
            found[-1:] = [*found[-1:], [step]] if closed else [[*run, step]]
            closed = False
        elif run and _ends(step, run[-1], last):
            run.append(step)
            closed = True
        elif _is_entrywise(step):
            found.append([step])
            closed = False
        else:
            found.append([step])
            closed = True
    return _joined([Piece(tuple(run), _is_worth_it(run)) for run in found])


def _joined(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces, with those together that are no loops."""
    found: list[Piece] = []
    for piece in pieces:
        if found and not (piece.is_loop or found[-1].is_loop):
            found[-1] = Piece((*found[-1].steps, *piece.steps), is_loop=False)
        else:
            found.append(piece)
    return found


def _is_worth_it(run: Sequence[Step]) -> bool:
    return len(run) >= _LEAST_STEPS and prod(run[0].shape) >= _LEAST_ENTRIES and _is_entrywise(run[0])


def _is_entrywise(step: Step) -> bool:
    """Whether a loop has this step: arithmetic and choices of floats, comparisons."""
    if step.stored != step.shape or not step.shape or (step.dtype.kind != "f" and step.dtype != BOOL):
        return False
    match step.kernel:
        case Apply(function=function):
            return function in _FUNCTIONS
        case Choose():
            return step.dtype.kind == "f"
        case Group() | Sum():
            return step.dtype.kind == "f" and step.dtype.itemsize in (4, 8)
    return False


def _joins(step: Step, run: Sequence[Step]) -> bool:
    """Whether the step has the shape of the run and reads what it makes at the same places."""
    if step.shape != run[0].shape:
        return False
    made = {before.register for before in run}
    places = tuple(range(len(step.shape)))
    if not isinstance(step.kernel, Group | Choose):
        return True
    pairs = zip(step.operands, step.kernel.inputs, strict=True)
    return all(labels == places for operand, labels in pairs if operand in made)


def _ends(step: Step, before: Step, last: dict[int, int]) -> bool:
    """Whether the step adds up the last value of a run, or its product with itself, which nothing else reads."""
    if last[before.register] != step.register or before.dtype != step.dtype or step.stored != step.shape:
        return False
    match step.kernel:
        case Layout(labels=labels):
            pass
        case Contract(left=labels, right=right) if labels == right:
            pass
        case _:
            return False
    if any(operand != before.register for operand in step.operands) or len(set(labels)) < len(labels):
        return False
    rank = len(step.shape)
    kept = tuple([label for label in labels if label < rank])
    if kept != tuple(range(rank)) or rank == len(labels):
        return False
    summed = [axis for axis, label in enumerate(labels) if label >= rank]
    if summed[-1] < len(labels) - 1:
        return True
    behind = summed == list(range(rank, len(labels)))
    return behind and prod(before.shape[rank:]) <= _FEW


def lower_loop(run: Run, needed: Container[int], registers: Registers) -> LoweredLoop | None:
    """The loop of a run of which the registers `needed` are read afterwards; None where it would read across memory."""
    inner = run if _is_entrywise(run[-1]) else run[:-1]
    end = run[-1] if len(inner) < len(run) else None
    places = tuple(range(len(inner[0].shape)))
    for step in inner:
        registers.orders[step.register] = places
    body = _Body(inner, registers)
    if body.crosses:
        for step in inner:
            del registers.orders[step.register]
        return None
    stored = tuple([step.register for step in inner if step.register in needed])
    lines = []
    for register in stored:
        taken = taken_by(inner, register, registers)
        step = next(step for step in inner if step.register == register)
        memory = f"np.empty({shape_text(step.shape)}, {dtype_text(step.dtype)})"
        lines.append(f"{register_name(register)} = {memory if taken is None else register_name(taken)}")
    made = stored if end is None else (*stored, end.register)
    if end is not None:
        registers.orders[end.register] = tuple(range(len(end.shape)))
        lines.append(f"{register_name(end.register)} = {_zeros(end)}")
    name = f"loop{run[-1].register}"
    results = [register_name(register) for register in made if end is None or register != end.register or end.shape]
    call = f"{name}({', '.join([*results, *body.texts])})"
    lines.append(call if end is None or end.shape else f"{register_name(end.register)} = {call}")
    parameters = [*[f"r{text[1:]}" for text in results], *body.parameters]
    text = [f"@loop\ndef {name}({', '.join(parameters)}):", *_nest(inner, stored, end, body.lines), ""]
    return LoweredLoop("\n".join(text), lines, made)


def _zeros(end: Step) -> str:
    """Memory for sums: as in NumPy they begin with a zero that keeps the sign of zeros."""
    return f"np.full({shape_text(end.shape)}, -0.0, {dtype_text(end.dtype)})" if end.shape else "None"


def _nest(inner: Run, stored: Sequence[int], end: Step | None, lines: Sequence[str]) -> list[str]:
    """The loops over all axes, with the statements for an entry inside of them."""
    shape = inner[0].shape
    found: list[str] = []
    behind = end is not None and _sums_behind(end, shape)
    start = len(end.shape) if end is not None and behind else len(shape)
    for axis, size in enumerate(shape):
        if end is not None and axis == start:
            found.append(f"{_indent(axis)}total = {typed_number(-0.0, end.dtype)}")
        found.append(f"{_indent(axis)}for i{axis} in range({size}):")
    deep = _indent(len(shape))
    found += [f"{deep}{line}" for line in lines]
    everywhere = _places(range(len(shape)))
    found += [f"{deep}r{register}[{everywhere}] = v{register}" for register in stored]
    if end is not None:
        found += _added_up(end, inner[-1].register, behind, deep)
    return found


def _added_up(end: Step, register: int, behind: bool, deep: str) -> list[str]:
    """The statements that add up the last value."""
    factor: Number = 1
    value = f"v{register}"
    if isinstance(end.kernel, Contract):
        labels, value = end.kernel.left, f"v{register} * v{register}"
    else:
        assert isinstance(end.kernel, Layout)
        labels, factor = end.kernel.labels, end.kernel.coefficient
    times = "" if factor == 1 else f" * {typed_number(factor, end.dtype)}"
    if behind:
        after = _indent(len(end.shape))
        where = _places(range(len(end.shape)))
        result = f"r{end.register}[{where}] = total{times}" if end.shape else f"return total{times}"
        return [f"{deep}total += {value}", f"{after}{result}"]
    where = _places([axis for axis, label in enumerate(labels) if label < len(end.shape)])
    lines = [f"{deep}r{end.register}[{where}] += {value}"]
    return lines if factor == 1 else [*lines, f"{_indent(0)}r{end.register} *= {typed_number(factor, end.dtype)}"]


def _sums_behind(end: Step, shape: Shape) -> bool:
    labels = end.kernel.left if isinstance(end.kernel, Contract) else end.kernel.labels  # type: ignore[union-attr] # a layout
    return labels[len(shape) - 1] >= len(end.shape)


def _indent(depth: int) -> str:
    return "    " * (depth + 1)


def _places(axes: Sequence[int]) -> str:
    return ", ".join([f"i{axis}" for axis in axes])


class _Body:
    """The statements for one entry, over the entries of what the run reads."""

    def __init__(self, run: Run, registers: Registers) -> None:
        self.registers = registers
        self.inside = {step.register for step in run}
        self.texts: list[str] = []
        self.parameters: list[str] = []
        self.crosses = False
        self.lines = [f"v{step.register} = {self._value(step)}" for step in run]

    def _value(self, step: Step) -> str:
        """The entry of a step."""
        pairs = zip(step.operands, labels_of(step, self.registers), strict=True)
        terms = [self._entry(operand, labels, step) for operand, labels in pairs]
        match step.kernel:
            case Apply(function=function):
                return _FUNCTIONS[function](*terms)
            case Choose(coefficients=coefficients):
                chosen = [_scaled(c, term, step) for c, term in zip(coefficients, terms[1:], strict=True)]
                return f"{chosen[0]} if {terms[0]} else {chosen[1]}"
            case Sum(coefficients=coefficients):
                ordered = sorted(zip(coefficients, terms, strict=True), key=lambda term: term[0] < 0)
                return " + ".join([_scaled(c, term, step) for c, term in ordered]).replace("+ -", "- ")
            case Group():
                return _product(step, step.kernel, terms)
        raise AssertionError(step.kernel)

    def _entry(self, operand: int | Constant, labels: Labels, step: Step) -> str:
        """The entry of an operand, or the number."""
        if isinstance(operand, Constant):
            return f"({typed_number(operand.value, operand.dtype)})"
        if operand in self.inside:
            return f"v{operand}"
        name, shape = register_name(operand), self.registers.stored[operand]
        if name not in self.texts:
            self.texts.append(name)
            self.parameters.append(name)
        held = labels[len(labels) - len(shape) :]
        order = self.registers.orders[operand]
        whole = prod(shape) == prod(step.shape)
        self.crosses = self.crosses or (whole and (held != tuple(sorted(held)) or list(order) != sorted(order)))
        self.crosses = self.crosses or self.registers.dtypes[operand].kind not in "fb"
        if not shape:
            return name
        places = [f"i{label}" if size != 1 else "0" for label, size in zip(held, shape, strict=True)]
        return f"{name}[{', '.join(places)}]"


def _scaled(coefficient: float, term: str, step: Step) -> str:
    if abs(coefficient) == 1:
        return term if coefficient > 0 else f"-{term}"
    sign = "-" if coefficient < 0 else ""
    return f"{sign}{typed_number(abs(coefficient), step.dtype)} * {term}"


def _product(step: Step, kernel: Group, terms: Sequence[str]) -> str:
    """Factors and divisors in the order of the kernel, masks last."""
    text = ""
    for k, term in enumerate(terms):
        if k in kernel.masks:
            continue
        if k in kernel.divisors:
            text = f"{text or typed_number(1, step.dtype)} / {term}"
        else:
            text = f"{text} * {term}" if text else term
    if not kernel.masks:
        return text
    held = " and ".join([terms[k] for k in kernel.masks])
    return f"{text or typed_number(1, step.dtype)} if {held} else {typed_number(0, step.dtype)}"
