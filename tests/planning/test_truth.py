"""Masks of 0/1 tensors alone: the entries told when a plan is made are those that evaluation gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import einsumad as ea
from einsumad.execution.reference import evaluate
from einsumad.functions import apply
from einsumad.graph import BOOL, Node, affine, einsum, leaf, ones, unit, zero
from einsumad.planning.truth import Truths

COUNT = np.dtype(float)


def where_positive(operands: list[Node], inputs: list[tuple[int, ...]], output: tuple[int, ...]) -> Node:
    count = einsum(operands, inputs, output, 1, COUNT)
    return apply("greater", count, zero(count.shape, COUNT))


@st.composite
def masks(draw: st.DrawFn) -> Node:
    """Reads and writes along random maps, joined, spread and negated."""
    size = draw(st.integers(1, 4))
    steps = st.integers(-2, 2)
    first = affine(size, (draw(st.integers(1, 4)),), (draw(steps),), draw(steps), COUNT)
    mask = where_positive([first], [(0, 1)], (0,))
    for _ in range(draw(st.integers(0, 3))):
        kind = draw(st.sampled_from(["read", "write", "not", "or", "pair", "delta"]))
        n = mask.shape[0]
        if kind in ("read", "write"):
            m = draw(st.integers(1, 4))
            sizes = (n, m) if kind == "read" else (m, n)
            labels = (1, 0) if kind == "read" else (0, 1)
            chosen = affine(sizes[0], sizes[1:], (draw(steps),), draw(steps), COUNT)
            mask = where_positive([mask, chosen], [(1,), labels], (0,))
        elif kind == "not":
            mask = apply("logical_not", mask)
        elif kind == "or":
            other = where_positive([affine(n, (2,), (draw(steps),), draw(steps), COUNT)], [(0, 1)], (0,))
            mask = apply("logical_or", mask, other)
        elif kind == "pair":
            both = affine(n, (2, 3), (draw(steps), draw(steps)), draw(steps), COUNT)
            mask = where_positive([mask, both], [(2,), (2, 0, 1)], (draw(st.sampled_from([0, 1])),))
        else:
            mask = where_positive([mask, unit(n, 2, COUNT), ones((n,), COUNT)], [(1,), (0, 1), (1,)], (0,))
    return mask


@pytest.mark.fuzz
@settings(max_examples=max(200, settings().max_examples))
@given(masks())
def test_truth_is_what_evaluation_gives(mask: Node) -> None:
    truth = Truths().of(mask)
    (value,) = evaluate([mask], {})
    assert truth is not None
    np.testing.assert_array_equal(truth, value)
    assert Truths().everywhere(mask) == value.all()


def test_what_depends_on_values_is_not_told() -> None:
    given_mask = leaf((3,), BOOL, ("variable", "m"), "m")
    x = leaf((3,), float, ("variable", "x"), "x")
    step = affine(3, (2,), (1,), 0, COUNT)
    for mask in (
        given_mask,
        where_positive([given_mask, step], [(1,), (1, 0)], (0,)),
        apply("logical_not", given_mask),
    ):
        assert Truths().of(mask) is None
    assert Truths().of(apply("greater", x, zero((3,), float))) is None
    assert not Truths().everywhere(where_positive([affine(3000, (3000,), (1,), 1, COUNT)], [(0, 1)], (0,)))
    assert Truths().of(where_positive([ones((3000, 3000), COUNT)], [(0, 1)], (0,))) is None  # too many assignments


def test_what_covers_everything_needs_no_mask() -> None:
    """A step of a scheme that keeps its ends and moves the inside: nothing is left out, so nothing is masked."""

    def step(u: np.ndarray) -> np.ndarray:
        inside = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2]) + np.exp(-(u[1:-1] ** 2))
        return np.concatenate([u[:1], inside, u[-1:]])

    plan = ea.explain(ea.grad(lambda u: np.sum(step(step(u)) ** 2)), np.linspace(0, 1, 9)).plan
    assert "bool" not in str(plan)
