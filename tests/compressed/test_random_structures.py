"""Sums of products of vectors, matrices, deltas, index maps, selections and masks: every operation is the dense one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from einsumad.compressed import CompressedTensor, Structured, terms_of
from einsumad.execution import compile_plan
from einsumad.execution.reference import evaluate
from einsumad.graph import BOOL, Leaf, Node, add, affine, einsum, leaf, selection, unit
from einsumad.planning import make_plan
from tests.compressed.agreement import (
    check_algebra,
    check_close,
    check_conversions,
    check_parts,
    check_products,
    check_square,
    check_strategies,
)

Draw = Callable[[st.SearchStrategy[Any]], Any]


def few(count: int) -> settings:
    """So many examples in the normal profile; all when fuzzing."""
    usual = settings().max_examples
    return settings(max_examples=count if usual <= 100 else usual)


@dataclass(frozen=True)
class Sum:
    """A sum of products with the values of its leaves; so many axes are rows."""

    node: Node
    rows: int
    values: dict[Leaf, np.ndarray]

    @property
    def dense(self) -> np.ndarray:
        return np.asarray(evaluate([self.node], self.values)[0]).astype(self.node.dtype)

    @property
    def compressed(self) -> CompressedTensor:
        found = terms_of(self.node, self.rows)
        plan = compile_plan(make_plan(found.cores, tuple(self.values)))
        return CompressedTensor(Structured(found.form(), tuple(plan(*self.values.values()))))


class Terms:
    """Draws terms over given axes. Equal sizes are the rule, and leaves come again."""

    def __init__(self, draw: Draw, shape: tuple[int, ...], dtype: Any) -> None:
        self.draw, self.shape, self.dtype = draw, shape, np.dtype(dtype)
        self.values: dict[Leaf, np.ndarray] = {}
        self.generator = np.random.default_rng(draw(st.integers(0, 255)))

    def number(self, low: int, high: int) -> int:
        return int(self.draw(st.integers(low, high)))

    def term(self) -> Node:
        """Axes tied at random, two labels that are summed, up to four factors."""
        sizes = dict(enumerate(self.shape))
        axes: list[int] = []
        for axis, size in sizes.items():
            alike = [label for label in axes if sizes[label] == size]
            axes.append(([axis, *alike])[self.number(0, len(alike))])
        for _ in range(self.number(0, 2)):
            sizes[len(sizes)] = (2, 3, 1)[self.number(0, 2)]
        operands: list[Node] = []
        inputs: list[tuple[int, ...]] = []
        labels = [*dict.fromkeys(axes), *range(len(axes), len(sizes))]
        for _ in range(self.number(0, 4)):
            held = [labels[self.number(0, len(labels) - 1)] for _ in range(self.number(0, min(2, len(labels))))]
            node = getattr(self, ("stored", "stored", "band", "selected", "mask")[self.number(0, 4)])(
                [sizes[label] for label in held]
            )
            if node is not None:
                operands.append(node)
                inputs.append(tuple(held))
        output = range(len(sizes), len(sizes) + len(axes))
        for place, label in zip(output, axes, strict=True):
            operands.append(unit(sizes[label], 2, self.dtype))
            inputs.append((place, label))
        return einsum(operands, inputs, output, (1, 2, -1, 0.5)[self.number(0, 3)], self.dtype)

    def leaf(self, shape: list[int], dtype: np.dtype, most: int) -> Leaf:
        """One of two for each shape."""
        key = ("variable", f"{dtype.kind}{self.number(0, 1)}", most)
        found = leaf(shape, dtype, key)
        if dtype.kind == "f":
            made = self.generator.uniform(-1.5, 1.5, shape)
        else:
            made = self.generator.integers(0, most, shape)
        self.values.setdefault(found, np.asarray(made).astype(dtype))
        return found

    def stored(self, shape: list[int]) -> Node:
        return self.leaf(shape, self.dtype, 0)

    def band(self, shape: list[int]) -> Node | None:
        if len(shape) < 2:
            return None
        steps = [(1, -1, 2, 0)[self.number(0, 3)] for _ in shape[1:]]
        return affine(shape[0], shape[1:], steps, self.number(-1, 2), self.dtype)

    def selected(self, shape: list[int]) -> Node | None:
        if not shape or 0 in shape:
            return None
        return selection(self.leaf(shape[:-1], np.dtype(np.int64), shape[-1]), shape[-1], self.dtype)

    def mask(self, shape: list[int]) -> Node:
        return self.leaf(shape, BOOL, 2)


@st.composite
def sums(draw: Draw, dtype: Any = float) -> Sum:
    """One to three terms, half of the time over rows and columns of one shape."""
    rows = tuple(draw(st.lists(st.sampled_from((2, 3, 1)), max_size=2)))
    square = draw(st.booleans())
    columns = rows if square else tuple(draw(st.lists(st.sampled_from((2, 3, 1, 0)), max_size=2)))
    terms = Terms(draw, (*rows, *columns), dtype)
    count = draw(st.integers(1, 3))
    node = add([terms.term() for _ in range(count)], dtype) if count > 1 else terms.term()
    return Sum(node, len(rows), dict(terms.values))


@pytest.mark.fuzz
@few(25)
@given(sums())
def test_every_operation_is_the_dense_one(example: Sum) -> None:
    H = example.compressed
    dense = H.dense()
    check_close(dense, example.dense, 10)
    check_products(H, dense)
    check_algebra(H, dense)
    check_parts(H, dense)
    check_conversions(H, dense)
    if dense.shape[: H.rows] == dense.shape[H.rows :]:
        check_square(H, dense)
        check_strategies(H, dense)
    assert H.structure == example.compressed.structure


def test_a_number_that_is_a_sum_stays_in_front():
    """``Σ_pm [p = 2 m + 1] M[i,k] δ[j,l]``: no axis meets the map, which leaves its bounds for the last m."""
    matrix = leaf((3, 3), float, ("variable", "m"))
    band = affine(3, (2,), (2,), 1, float)
    values = {matrix: np.array([[2.0, 1, 0], [0, 3, 1], [1, 0, 4]])}
    node = einsum([band, matrix, unit(3, 2, float)], [(0, 1), (2, 3), (4, 5)], (2, 4, 3, 5), 2, float)
    one = Sum(node, 2, values)
    assert one.compressed.structure.startswith("H[i,j,k,l] = 2 Σ_mn A[i,k] [m = 2 n + 1] δ[j,l]")
    check_strategies(one.compressed, one.dense)
    transposed = einsum([node], [(0, 1, 2, 3)], (1, 0, 3, 2), 1, float)
    two = Sum(add([node, transposed], float), 2, values)
    assert "PairStrategy" in check_strategies(two.compressed, two.dense)
