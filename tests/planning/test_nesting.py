"""Affine maps of many indices: products with them keep their value, and convolutions in a row cost what they should."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import einsumad as ea
from einsumad.execution.reference import evaluate
from einsumad.execution.reference import evaluate as by_definition
from einsumad.graph import Node, affine, einsum, leaf

MANY = settings(max_examples=max(150, settings().max_examples))


@st.composite
def products(draw: st.DrawFn) -> tuple[Node, dict[Node, np.ndarray]]:
    """One or two affine maps over shared indices, and factors that have some of these and others."""
    sizes = {label: draw(st.integers(1, 4)) for label in range(8)}
    operands, inputs, values = [], [], {}
    for _ in range(draw(st.integers(1, 2))):
        places = draw(st.lists(st.integers(0, 5), min_size=2, max_size=5, unique=True))
        strides = draw(
            st.lists(st.sampled_from([1, -1, 2, -3, 1, -1]), min_size=len(places) - 1, max_size=len(places) - 1)
        )
        shape = [sizes[label] for label in places]
        operands.append(affine(shape[0], shape[1:], strides, draw(st.integers(-1, 5)), float))
        inputs.append(tuple(places))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    for k in range(draw(st.integers(1, 5))):
        labels = tuple(draw(st.lists(st.integers(0, 7), min_size=1, max_size=2, unique=True)))
        node = leaf(tuple([sizes[label] for label in labels]), float, ("variable", f"x{k}"), f"x{k}")
        values[node] = rng.integers(-3, 4, node.shape).astype(float)
        operands.append(node)
        inputs.append(labels)
    present = sorted({label for labels in inputs for label in labels})
    output = draw(st.lists(st.sampled_from(present), max_size=2, unique=True))
    return einsum(operands, inputs, output), values


@pytest.mark.fuzz
@MANY
@given(products())
def test_values_are_kept(drawn: tuple[Node, dict[Node, np.ndarray]]) -> None:
    node, values = drawn
    (found,), (expected,) = evaluate([node], values), by_definition([node], values)
    np.testing.assert_array_equal(found, expected)


def test_kernels_of_convolutions_in_a_row_are_joined_first() -> None:
    """Two kernels are one of the length of both together, and its square one of twice that."""
    x, k, w = (np.random.default_rng(size).normal(size=size) for size in (500, 7, 9))

    def f(x: np.ndarray) -> np.ndarray:
        return np.sum(np.convolve(np.convolve(x, k), w) ** 2)

    plan = ea.explain(ea.grad(f), x).plan
    assert max(int(np.prod(step.shape)) for step in plan.steps) <= 500 * 2 * (7 + 9)
    moved = np.convolve(np.convolve(x, k), w)
    expected = 2 * np.correlate(moved, np.convolve(k, w), "valid")
    np.testing.assert_allclose(ea.grad(f)(x), expected, rtol=1e-12, atol=1e-12)


def test_many_convolutions_in_a_row() -> None:
    """Ten kernels: their pairs would be 3^10 numbers for each of the 200."""
    x = np.random.default_rng(0).normal(size=200)
    kernels = np.random.default_rng(1).normal(size=(10, 3))

    def f(x: np.ndarray) -> np.ndarray:
        for kernel in kernels:
            x = np.convolve(x, kernel, "same")
        return np.sum(np.sin(x))

    plan = ea.explain(ea.hvp(f), x, x).plan
    assert max(int(np.prod(step.shape)) for step in plan.steps) < 200 * 100
    step = 1e-6
    v = np.ones(200)
    difference = (ea.grad(f)(x + step * v) - ea.grad(f)(x - step * v)) / (2 * step)
    np.testing.assert_allclose(ea.hvp(f)(x, v), difference, rtol=1e-6, atol=1e-6)
