"""What 0/1 tensors give: where no terms are said to meet, at most one of them is not zero for each entry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from einsumad.execution.reference import evaluate
from einsumad.graph import Node, affine, leaf, selection, unit
from einsumad.graph.constructors import adds_terms

Term = tuple[Node, tuple[int, ...]]
SIZES = (2, 3, 4, 6)  # of the labels 0, 1, 2, 3
INDEX = leaf((3,), np.int64, ("variable", "k"), "k")


@st.composite
def maps(draw: st.DrawFn) -> Term:
    """An affine tensor, a selection or a delta with labels of fitting sizes."""
    kind = draw(st.sampled_from(["affine", "selection", "unit"]))
    if kind == "unit":
        label = draw(st.integers(0, 3))
        return unit(SIZES[label], 2, float), (label, label)
    if kind == "selection":
        return selection(INDEX, 4, float), (1, 2)
    places = draw(st.lists(st.integers(0, 3), min_size=1, max_size=2, unique=True))
    at = draw(st.integers(0, 3).filter(lambda label: label not in places))
    strides = draw(st.lists(st.integers(-4, 4), min_size=len(places), max_size=len(places)))
    node = affine(SIZES[at], [SIZES[label] for label in places], strides, draw(st.integers(-2, 4)), float)
    return node, (at, *places)


def terms(operands: Sequence[Term], output: Sequence[int], index: Sequence[int]) -> int:
    """The most terms of a product of 0/1 tensors that are not zero for one entry."""
    arrays = [evaluate([node], {INDEX: np.asarray(index)})[0] for node, _ in operands]
    labels = sorted({*output, *[label for _, held in operands for label in held]})
    counts: Counter[tuple[int, ...]] = Counter()
    for place in product(*[range(SIZES[label]) for label in labels]):
        at = dict(zip(labels, place, strict=True))
        if all(array[tuple([at[label] for label in held])] for array, (_, held) in zip(arrays, operands, strict=True)):
            counts[tuple([at[label] for label in output])] += 1
    return max(counts.values(), default=0)


@pytest.mark.fuzz
@settings(max_examples=max(300, settings().max_examples))
@given(
    st.lists(maps(), min_size=1, max_size=3),
    st.sets(st.integers(0, 3)),
    st.lists(st.integers(0, 3), min_size=3, max_size=3),
)
def test_where_no_terms_are_said_to_meet_none_do(operands: list[Term], kept: set[int], index: list[int]) -> None:
    output = sorted(kept & {label for _, labels in operands for label in labels})
    if not adds_terms([node for node, _ in operands], [labels for _, labels in operands], output):
        assert terms(operands, output, index) <= 1


@pytest.mark.parametrize(
    ("operand", "labels", "output", "adds"),
    [
        (affine(6, (2, 3), (3, 1), 0, float), (3, 0, 1), (3,), False),  # 3 p + q numbers the pairs
        (affine(6, (2, 3), (2, 1), 0, float), (3, 0, 1), (3,), True),  # 2 p + q meets 2 in two ways
        (affine(6, (2, 3), (2, 1), 0, float), (3, 0, 1), (0, 1), False),
        (affine(6, (2, 3), (2, 1), 0, float), (3, 0, 1), (3, 0), False),
        (affine(4, (3,), (1,), 1, float), (2, 1), (), True),
        (selection(INDEX, 4, float), (1, 2), (1,), False),
        (selection(INDEX, 4, float), (1, 2), (2,), True),
        (unit(3, 2, float), (1, 0), (0,), False),
        (leaf((3, 1), bool, ("variable", "m"), "m"), (0, 1), (0,), False),
        (leaf((3, 2), bool, ("variable", "n"), "n"), (0, 1), (0,), True),
    ],
)
def test_known_cases(operand: Node, labels: tuple[int, ...], output: tuple[int, ...], *, adds: bool) -> None:
    assert adds_terms([operand], [labels], output) is adds
