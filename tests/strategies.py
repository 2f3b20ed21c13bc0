"""Hypothesis strategies: random expression graphs with shared nodes, and values for their leaves.

Every node is drawn over nodes that were made before, so sharing is the rule. Functions are applied to operands that are
brought into their domain; numbers in front are dyadic, so that exact evaluation meets no rounding. A drawn number 0
stands for the simplest choice everywhere: examples shrink to one leaf.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from einsumad.functions import NoDerivative, apply, call, elementwise_function, elementwise_names
from einsumad.graph import (
    BOOL,
    Einsum,
    Elementwise,
    Labels,
    Leaf,
    Node,
    Number,
    add,
    affine,
    cast,
    constant,
    einsum,
    leaf,
    leaves,
    multiply,
    ones,
    scale,
    selection,
    total,
    transpose,
    unit,
)
from einsumad.graph.display import index_notation
from tests.functions.special_params import SPECIAL_PARAMS

Array = np.ndarray[Any, Any]
Draw = Callable[[st.SearchStrategy[Any]], Any]

SIZES = ((2,), (2,), (2, 3), (2, 1), (3, 1), (2, 0))
COEFFICIENTS = (1, 1, 2, -1, 0.5, -3)
POSITIVE = (1, 1, 2, 0.5)
FACTORS = ("ones", "unit", "affine", "selection", "mask")
COMPARISONS = ("greater", "less_equal", "equal", "not_equal")
PARAMS: dict[str, tuple[tuple[int | float, ...], ...]] = {
    "power": tuple([(p,) for p in (3, 2, 5, -1, 0.5, -1.5, 1, 0)]),
    "power_log": ((1,),),
    "round_decimals": ((1,),),
    **{name: tuple(params) for name, params in SPECIAL_PARAMS.items()},
}
EVERYWHERE = ("sin", "cos", "tanh", "sigmoid", "softplus", "arctan", "erf", "square", "abs", "relu")
KINKED = ("abs", "relu", "maximum", "minimum", "maximum_constant", "minimum_constant")
JUMPING = (
    "floor_divide",
    "remainder",
    "fmod",
    "copysign",
    "heaviside",
    "fmax",
    "fmin",
    "fmax_constant",
    "fmin_constant",
    "maximum_of_counted",
    "minimum_of_counted",
    "ldexp",
)
STEPS = ("sign", "floor", "ceil", "round", "round_decimals", "trunc", "gammasgn")
GENERAL = ("inverse", "solve", "determinant", "logabsdet", "product", "logsumexp")


def _is_smooth(name: str) -> bool:
    row = elementwise_function(name)
    node = apply(name, *[ones((), float)] * row.arity, params=PARAMS.get(name, [()])[0])
    if node.dtype == BOOL or name in (*KINKED, *STEPS, *JUMPING):
        return False
    assert isinstance(node, Elementwise)
    return not any(isinstance(partial, NoDerivative) for partial in row.partials(node))


SMOOTH = tuple([name for name in elementwise_names() if _is_smooth(name)])
_MOST_RANK = 3
_MOST_ENTRIES = 27
_MOST_INDEX_SPACE = 1 << 17


@dataclass(frozen=True)
class Program:
    """A root, the leaves to differentiate with respect to, and values for all leaves."""

    root: Node
    sources: tuple[Leaf, ...]
    values: dict[Leaf, Array]

    def __repr__(self) -> str:
        held = "; ".join(f"{node.name} = {value.tolist()}" for node, value in self.values.items())
        return f"Program of\n{index_notation([self.root])}\nat {held}"

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        printer.text(repr(self))


def index_space(node: Einsum) -> int:
    """The number of entries over all labels of a product."""
    sizes = dict(enumerate(node.shape))
    for operand, labels in zip(node.operands, node.inputs, strict=True):
        sizes.update(zip(labels, operand.shape, strict=True))
    return prod(sizes.values())


def affordable(nodes: Sequence[Node]) -> None:
    """Leave out examples with products whose index space the reference interpreter would write out for too long."""
    assume(all(index_space(node) <= _MOST_INDEX_SPACE for node in nodes if isinstance(node, Einsum)))


def away_from_jumps(found: Mapping[Node, Array]) -> None:
    """Leave out examples in which rounding decides a comparison or a rounding function."""
    for node in found:
        if not isinstance(node, Elementwise):
            continue
        first = found[node.operands[0]]
        if node.function in STEPS:
            other = np.round(2 * first) / 2
        elif node.dtype == BOOL and len(set(node.operands)) == 2 and first.dtype != BOOL:
            other = found[node.operands[1]]
        else:
            continue
        assume(not np.any(np.abs(first - other) < 1e-6 * (1 + np.abs(first))))


def largest(values: Iterable[Array]) -> float:
    """The largest finite number among the values, at least 1: what rounding errors are measured by."""
    floats = [value for value in values if value.dtype.kind == "f" and value.size]
    return max([1.0, *[float(np.max(np.abs(value), where=np.isfinite(value), initial=0)) for value in floats]])


@lru_cache(maxsize=256)
def _between(low: int, high: int) -> st.SearchStrategy[int]:
    """Integers from one number to another: made once, because making a strategy costs more than drawing from it."""
    return st.integers(low, high)


class Workshop:
    """Draws nodes one after the other over a growing pool."""

    def __init__(
        self, draw: Draw, dtype: Any, most_rank: int, coefficients: Sequence[Number], factors: Sequence[str]
    ) -> None:
        self.draw = draw
        self.dtype = np.dtype(dtype)
        self.sizes: tuple[int, ...] = self.one(SIZES)
        self.most_rank = most_rank
        self.coefficients = coefficients
        self.factors = factors
        self.pool: list[Node] = []
        self.index: dict[Leaf, int] = {}

    def number(self, low: int, high: int) -> int:
        """A number from `low` to `high`."""
        return low if low == high else self.draw(_between(low, high))

    def one(self, choices: Sequence[Any]) -> Any:
        """One of the choices, the first is the simplest."""
        return choices[self.number(0, len(choices) - 1)]

    def some(self, choices: Sequence[Any], count: int) -> list[Any]:
        """So many of the choices in any order."""
        left = list(choices)
        return [left.pop(self.number(0, len(left) - 1)) for _ in range(min(count, len(left)))]

    def pick(self, accept: Callable[[Node], bool] = lambda _: True) -> Node | None:
        """A node of the pool, the latest first."""
        found = [node for node in reversed(self.pool) if accept(node)]
        return self.one(found) if found else None

    def leaf(self, name: str) -> None:
        shape = [self._size() for _ in range(self.number(0, 2))]
        self.pool.append(leaf(shape, self.dtype, ("variable", name), name))

    # --- products -----------------------------------------------------------------------------------------------------

    def product(self) -> Node:
        """One to three operands under any labels, structural factors, a mask, any of the labels summed."""
        operands: list[Node] = []
        inputs: list[Labels] = []
        sizes: dict[int, int] = {}
        for _ in range(self.number(1, 3)):
            operand = self.pick(lambda node: len(node.shape) <= _MOST_RANK)
            assert operand is not None
            self._place(operand, operands, inputs, sizes)
        for kind in [self.one(self.factors) for _ in range(self.number(0, 2))]:
            structural = getattr(self, f"_{kind}")()
            if structural is not None:
                self._place(structural, operands, inputs, sizes)
        free = self.some(sorted(sizes), self.number(0, self.most_rank))
        while prod([sizes[label] for label in free]) > _MOST_ENTRIES:
            free = free[1:]
        return einsum(operands, inputs, free, self.one(self.coefficients), self.dtype)

    def _place(self, operand: Node, operands: list[Node], inputs: list[Labels], sizes: dict[int, int]) -> None:
        labels: list[int] = []
        for size in operand.shape:
            fitting = [label for label, known in sizes.items() if known == size]
            label = self.one([*fitting, len(sizes)])
            sizes[label] = size
            labels.append(label)
        operands.append(operand)
        inputs.append(tuple(labels))

    def _size(self) -> int:
        return self.one(self.sizes)

    def _ones(self) -> Node:
        return ones([self._size() for _ in range(self.number(0, 2))], self.dtype)

    def _unit(self) -> Node:
        return unit(self._size(), self.number(2, 3), self.dtype)

    def _affine(self) -> Node:
        strides = [self.one((1, -1, 2, 0)) for _ in range(self.number(1, 2))]
        return affine(self._size(), [self._size() for _ in strides], strides, self.number(-1, 2), self.dtype)

    def _selection(self) -> Node:
        name = f"index{len(self.index)}"
        node = leaf((self._size(),), np.int64, ("variable", name), name)
        self.index[node] = self._size()
        assume(self.index[node] > 0 or node.shape == (0,))
        return selection(node, self.index[node], self.dtype)

    def _mask(self) -> Node | None:
        first = self.pick()
        assert first is not None
        second = self.pick(lambda node: node.shape == first.shape)
        assert second is not None
        return apply(self.one(COMPARISONS), first, second)

    # --- sums, choices ------------------------------------------------------------------------------------------------

    def sum(self) -> Node:
        """Two or three terms with numbers in front, some of them transposed."""
        first = self.pick()
        assert first is not None
        terms = [first]
        for _ in range(self.number(1, 2)):
            term = self.pick(lambda node: sorted(node.shape) == sorted(first.shape))
            assert term is not None
            order = self.some(range(len(term.shape)), len(term.shape))
            if tuple([term.shape[axis] for axis in order]) != first.shape:
                order = sorted(range(len(order)), key=lambda axis: term.shape[axis])
                back = sorted(range(len(order)), key=lambda axis: first.shape[axis])
                order = [order[back.index(axis)] for axis in range(len(order))]
            moved = transpose(term, order) if list(order) != sorted(order) else term
            terms.append(scale(self.one(self.coefficients), moved))
        return add(terms)

    def choice(self) -> Node:
        """``c a + (not c) b``."""
        mask = self._mask()
        assert mask is not None
        chosen = [self.pick(lambda node: node.shape == mask.shape) for _ in range(2)]
        assert chosen[0] is not None
        assert chosen[1] is not None
        return add([multiply(mask, chosen[0]), multiply(apply("logical_not", mask), chosen[1])])

    # --- functions ----------------------------------------------------------------------------------------------------

    def into(self, operand: Node, low: float, high: float) -> Node:
        """The operand brought into an interval."""
        level = constant(low, operand.shape, self.dtype)
        return total(level, scale(high - low, apply("sigmoid", operand)))

    def rational(self) -> Node:
        operand = self.pick()
        assert operand is not None
        if self.number(0, 1):
            return apply("power", operand, params=(self.number(0, 3),))
        return apply("square", operand)

    def everywhere(self) -> Node:
        """A function of all numbers, applied as it is."""
        operand = self.pick()
        assert operand is not None
        return apply(self.one(EVERYWHERE), operand)

    def function(self, names: Sequence[str]) -> Node:
        """Any row of the catalogue within its domain."""
        name = self.one(names)
        first = self.pick()
        assert first is not None
        operands = [first]
        while len(operands) < elementwise_function(name).arity:
            if name.endswith("_constant"):
                operands.append(constant(0.25, first.shape, self.dtype))
            else:
                another = self.pick(lambda node: node.shape == first.shape)
                assert another is not None
                operands.append(another)
        if name not in KINKED and name not in STEPS:
            domain = elementwise_function(name).domain
            operands = [self.into(o, *interval) for o, interval in zip(operands, domain, strict=True)]
        return apply(name, *operands, params=self.one(PARAMS[name]) if name in PARAMS else ())

    def smooth(self) -> Node:
        return self.function(SMOOTH)

    def kinked(self) -> Node:
        return self.function((*KINKED, *STEPS))

    def stable(self) -> Node:
        """The expressions that overflow as they stand."""
        z = self.pick()
        assert z is not None
        axes = range(len(z.shape))
        e = apply("exp", z)
        one = ones(z.shape, self.dtype)
        last = einsum([e], [axes], axes[:-1], 1)
        spread = einsum([apply("reciprocal", last), one], [axes[:-1], axes], axes, 1)
        return self.one(
            [
                apply("log", total(one, e)),
                apply("log1p", e),
                multiply(e, apply("reciprocal", total(one, e))),
                apply("log", last),
                multiply(e, spread),
                apply("log", multiply(e, spread)),
                total(one, scale(-1, apply("sigmoid", z))),
            ]
        )

    def general(self) -> Node:
        """A function of whole tensors; matrices are made invertible, entries different."""
        name = self.one((*GENERAL, "max_reduce"))
        operand = self.pick(lambda node: len(node.shape) >= 1 and 0 not in node.shape)
        if operand is None:
            return self.sum()
        if name in ("product", "logsumexp", "max_reduce"):
            return call(name, operand)
        rank = len(operand.shape)
        if rank > 2:
            operand = einsum([operand], [range(rank)], range(rank - 2, rank), 1)
            rank = 2
        bounded = apply("tanh", operand)
        axes, column = range(rank), rank
        outer = einsum([bounded, bounded], [axes, [*axes[:-1], column]], [*axes, column], 0.5)
        size = operand.shape[-1]
        batch = ones(operand.shape[:-1], self.dtype)
        spread = einsum([unit(size, 2, self.dtype), batch], [(rank - 1, column), axes[:-1]], [*axes, column], 2)
        matrix = total(outer, spread)
        if name != "solve":
            return call(name, matrix)
        right = einsum([operand, ones((1,), self.dtype)], [axes, (column,)], [*axes, column], 1)
        return call("solve", matrix, right)


POLYNOMIAL = ("product", "sum", "choice", "rational")
ANY = ("product", "sum", "choice", "everywhere", "smooth", "kinked", "stable", "general")
DIFFERENTIABLE = ("product", "sum", "everywhere", "smooth", "stable", "general")


@st.composite
def programs(
    draw: Draw,
    kinds: Sequence[str] = ANY,
    dtype: Any = float,
    *,
    most_rank: int = 2,
    most_steps: int = 6,
    coefficients: Sequence[Number] = COEFFICIENTS,
    factors: Sequence[str] = FACTORS,
) -> Program:
    """A graph of a few steps over one to three leaves."""
    workshop = Workshop(draw, dtype, most_rank, coefficients, factors)
    for name in "xyz"[: workshop.number(1, 3)]:
        workshop.leaf(name)
    for _ in range(workshop.number(0, most_steps)):
        workshop.pool.append(getattr(workshop, workshop.one(kinds))())
    root = workshop.pool[-1]
    if workshop.number(0, 1) and len(workshop.pool) > 1:
        other = workshop.pick(lambda node: node.shape == root.shape)
        root = root if other is None else add([root, scale(workshop.one(workshop.coefficients), other)])
    root = cast(root, workshop.dtype)
    held = dict.fromkeys([*[node for node in workshop.pool if isinstance(node, Leaf)], *leaves([root])])
    generator = np.random.default_rng(workshop.number(0, 255))
    values = {node: _value(node, generator, kinds == POLYNOMIAL, workshop.index.get(node, 0)) for node in held}
    return Program(root, tuple([node for node in held if node.dtype.kind == "f"]), values)


def _value(node: Leaf, generator: np.random.Generator, whole: bool, most: int) -> Array:
    if node.dtype.kind == "i":
        return generator.integers(0, max(1, most), node.shape)
    if whole:
        return generator.integers(-2, 3, node.shape).astype(node.dtype)
    return np.asarray(generator.uniform(-1.5, 1.5, node.shape), node.dtype)
