"""Traps that other systems fall into: exact values of first and second derivatives, in every mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from einsumad.calculus import Mode, derivative
from einsumad.execution.reference import evaluate
from einsumad.functions import apply, call
from einsumad.graph import (
    Leaf,
    Node,
    Zero,
    add,
    affine,
    cast,
    constant_like,
    einsum,
    leaf,
    multiply,
    ones,
    scale,
    selection,
    total,
    unit,
    zero,
)
from tests.calculus.oracle import MODES, along, jacobians, normal, tower
from tests.jets import directional


def variable(name: str, *shape: int, dtype: Any = float) -> Leaf:
    return leaf(shape, dtype, ("variable", name), name)


x, y, s = variable("x", 3), variable("y", 3), variable("s")
A, row, empty = variable("A", 3, 3), variable("r", 1, 3), variable("e", 2, 0)
index = variable("i", 4, dtype=np.int64)
mask = apply("greater", x, y)

TRAPS: dict[str, Node] = {
    "an index summed in one operand only": einsum([x, y], [(0,), (1,)], (1,)),
    "an index summed in one operand only, twice": einsum([A, A], [(0, 1), (2, 3)], (3,)),
    "a sum of everything": einsum([A], [(0, 1)], ()),
    "a repeated label": einsum([A], [(0, 0)], (0,)),
    "a trace": einsum([A, A], [(0, 0), (1, 1)], ()),
    "a repeated label beside another operand": einsum([A, x], [(0, 0), (0,)], (0,)),
    "one node in two slots": einsum([A, A], [(0, 1), (1, 2)], (0, 2)),
    "one node in two slots, transposed": einsum([A, A], [(0, 1), (2, 1)], (0, 2)),
    "one node in three slots": multiply(x, x, x),
    "one node as two terms": add([x, x]),
    "a size-1 axis that is spread": einsum([row, A, ones((3,), float)], [(3, 0), (1, 0), (2,)], (1, 2, 0), 1),
    "a size-1 axis that is a diagonal": einsum([variable("q", 1, 1)], [(0, 0)], (0,)),
    "an empty axis": einsum([empty, empty], [(0, 1), (0, 1)], (0,)),
    "an empty output": einsum([empty, variable("t", 2)], [(0, 1), (0,)], (1,)),
    "a literal beside": einsum([x, constant_like(3, x)], [(0,), (0,)], (0,), 0.5),
    "a literal added": total(multiply(x, x), constant_like(3, x)),
    "a diagonal embedded": einsum([x, unit(3, 2, float)], [(0,), (0, 1)], (0, 1)),
    "a hyperdiagonal": einsum([x, unit(3, 3, float)], [(0,), (0, 1, 2)], (2, 0, 1)),
    "a slice": einsum([x, affine(3, (2,), (-1,), 2, float)], [(0,), (0, 1)], (1,)),
    "a window": einsum([x, affine(3, (2, 2), (1, 1), 0, float)], [(0,), (0, 1, 2)], (1, 2)),
    "a gather that repeats": einsum([multiply(x, x), selection(index, 3, float)], [(1,), (0, 1)], (0,)),
    "a scatter": einsum([selection(index, 3, float), multiply(x, x)], [(0, 1), (1,)], (0, 1)),
    "a choice": add([multiply(mask, x, x), multiply(apply("logical_not", mask), y, x)]),
    "a mask alone": einsum([mask], [(0,)], (0,), 2, float),
    "a scalar times itself": multiply(s, s, s),
    "the variable itself": x,
    "a power": apply("power", x, params=(3,)),
    "powers of structure": multiply(apply("power", x, params=(0,)), apply("power", x, params=(1,)), x),
}


@pytest.mark.parametrize("simplify", [True, False], ids=["rewritten", "raw"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", TRAPS)
def test_first_and_second_derivatives_are_exact(name: str, mode: Mode, simplify: bool) -> None:
    root = TRAPS[name]
    generator = np.random.default_rng(3)
    sources = [node for node in (x, y, s, A, row, empty, *_others(root)) if node.dtype.kind == "f"]
    values = {node: generator.integers(-3, 4, node.shape) for node in sources}
    values[index] = np.array([0, 2, 2, 1])
    directions = {node: generator.integers(-3, 4, node.shape).astype(object) for node in sources}
    expected = directional(root, values, directions, 2)
    levels = tower(root, sources, mode, 2, simplify=simplify)
    for order, level in enumerate(levels):
        found = along(level, values, directions, exact=True)
        assert np.array_equal(np.asarray(found, object), expected[order])


def _others(root: Node) -> list[Leaf]:
    known = {x, y, s, A, row, empty, index}
    return [node for node in root.operands if isinstance(node, Leaf) and node not in known]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_disconnected_input_gives_a_structural_zero(mode: Mode, dtype: Any) -> None:
    u, v = variable("u", 2, dtype=dtype), variable("v", 3, 1, dtype=dtype)
    for root in (apply("exp", u), constant_like(2, u), apply("round", v)):
        found = derivative(root, [v], mode)[0]
        assert isinstance(normal(found), Zero)
        assert (found.shape, found.dtype) == (root.shape + v.shape, dtype)


@pytest.mark.parametrize("mode", MODES)
def test_integers_and_truth_values_pass_nothing_on(mode: Mode) -> None:
    picked = einsum([y, selection(index, 3, float)], [(1,), (0, 1)], (0,))
    truth = einsum([mask, y], [(0,), (0,)], (0,))
    assert isinstance(normal(derivative(truth, [x], mode)[0]), Zero)
    assert not isinstance(derivative(picked, [y], mode)[0], Zero)


@pytest.mark.parametrize("mode", MODES)
def test_piecewise_constant_functions_have_derivative_zero(mode: Mode) -> None:
    for name in ("sign", "floor", "ceil", "round", "trunc"):
        assert isinstance(normal(derivative(apply(name, x), [x], mode)[0]), Zero)


@pytest.mark.parametrize("mode", MODES)
def test_casts_are_differentiated(mode: Mode) -> None:
    narrow = variable("n", 2, dtype=np.float32)
    wide = cast(narrow, np.float64)
    root = multiply(wide, wide)
    found = derivative(root, [narrow], mode)[0]
    (value,) = evaluate([normal(found)], {narrow: np.array([1.5, -2.0])})
    np.testing.assert_array_equal(value, np.diag([3.0, -4.0]))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda v: apply("relu", v), [1, 0, 0]),
        (lambda v: apply("abs", v), [1, 0, -1]),
        (lambda v: apply("maximum", v, zero((3,), float)), [1, 0.5, 0]),
        (lambda v: apply("maximum_constant", v, zero((3,), float)), [1, 0, 0]),
        (lambda v: apply("norm_root", multiply(v, v)), [1, 0, -1]),
        (lambda v: apply("power", v, params=(2,)), [4, 0, -6]),
        (lambda v: apply("power", v, params=(1,)), [1, 1, 1]),
        (lambda v: apply("power", v, params=(0,)), [0, 0, 0]),
    ],
)
def test_conventions_at_kinks(build: Callable[[Node], Node], expected: list[float], mode: Mode) -> None:
    found = jacobians(build(x), [x], mode)[0]
    np.testing.assert_array_equal(evaluate([found], {x: np.array([2.0, 0.0, -3.0])})[0], np.diag(expected))


@pytest.mark.parametrize("mode", MODES)
def test_ties_share_a_maximum_equally(mode: Mode) -> None:
    found = jacobians(call("max_reduce", x), [x], mode)[0]
    np.testing.assert_allclose(evaluate([found], {x: np.array([2.0, 1.0, 2.0])})[0], [0.5, 0, 0.5])


@pytest.mark.parametrize("mode", MODES)
def test_the_branch_not_taken_never_contributes(mode: Mode) -> None:
    """``where(x > 0, x log x, 0 x)`` at 0 and below: value, first and second derivative."""
    positive = apply("greater", x, zero((3,), float))
    root = add([multiply(positive, x, apply("log", x)), multiply(apply("logical_not", positive), scale(2, x))])
    value = {x: np.array([1.0, 0.0, -1.0])}
    _, first, second = tower(root, [x], mode, 2)
    np.testing.assert_allclose(evaluate(list(first.values()), value)[0], np.diag([1.0, 2, 2]))
    found = evaluate(list(second.values()), value)[0]
    expected = np.zeros((3, 3, 3))
    expected[0, 0, 0] = 1
    np.testing.assert_allclose(found, expected)
