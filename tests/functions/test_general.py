"""Every general row: local Jacobians to order two or three against differences and exact formulas."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from math import prod
from typing import Any

import numpy as np
import pytest

from einsumad.errors import ShapeError, TracingError
from einsumad.functions import call, general_function, general_names
from einsumad.functions.general import kernels
from einsumad.graph import General, Node, Unit, multiply, topological
from tests.functions.evaluation import evaluate, full, variable
from tests.functions.factorisation_cases import FACTORISATIONS
from tests.functions.general_cases import CASES, Array, Case, normal

ALL_CASES = [*CASES, *FACTORISATIONS]


def symbols_of(case: Case, dtype: Any = np.float64) -> list[Any]:
    return [variable(f"x{k}", operand.shape, dtype) for k, operand in enumerate(case.operands)]


def differences(function: Callable[[Array], Array], point: Array, step: float) -> Array:
    """Central differences of fourth order: axes of the value, then those of the point."""
    value = function(point)
    result = np.zeros(value.shape + point.shape)
    for place in np.ndindex(point.shape):
        ahead = []
        for multiple in (1, 2):
            move = np.zeros(point.shape)
            move[place] = multiple * step
            ahead.append((function(point + move) - function(point - move)) / (2 * multiple * step))
        result[(..., *place)] = (4 * ahead[0] - ahead[1]) / 3
    return result


@pytest.mark.parametrize("case", [case for case in ALL_CASES if case.order], ids=str)
def test_derivatives(case: Case) -> None:
    """The derivative of each order is the difference of the one before, in every operand."""
    symbols = symbols_of(case)
    values = dict(zip(symbols, case.operands, strict=True))
    expressions = [case.build(symbols)]
    for _ in range(case.order):
        following = []
        for expression in expressions:
            for symbol, point in zip(symbols, case.operands, strict=True):
                derivative = full(expression, symbol)

                def along(moved: Array, symbol: Any = symbol, expression: Node = expression) -> Array:
                    return evaluate(expression, {**values, symbol: case.allowed(moved)})

                expected = differences(along, point, 0.5 if case.exact else 1e-3)
                found = evaluate(derivative, values)
                scale = np.max(np.abs(expected), initial=1.0)
                np.testing.assert_allclose(found, expected, atol=(1e-12 if case.exact else 1e-8) * scale)
                following.append(derivative)
        expressions = following


@pytest.mark.parametrize(
    "case", [case for case in ALL_CASES if case.order and not general_function(case.name).gives_index], ids=str
)
def test_single_precision_stays(case: Case) -> None:
    symbols = symbols_of(case, np.float32)
    values = dict(zip(symbols, case.operands, strict=True))
    node = case.build(symbols)
    for symbol in symbols:
        derivative = full(node, symbol)
        indices = {n for n in topological([derivative]) if isinstance(n, General) and gives_index(n)}
        assert {n.dtype for n in topological([derivative]) if n not in indices} <= {
            np.dtype(np.float32),
            np.dtype(bool),
        }
        assert evaluate(derivative, values).dtype == np.float32


def gives_index(node: General) -> bool:
    return general_function(node.function).gives_index


def test_every_row_has_a_case() -> None:
    assert {case.name for case in ALL_CASES} == set(general_names())


def test_jacobians_are_products_of_matrices() -> None:
    """The inverse's Jacobian has no factor of order above two, its batch axes are joined by a unit."""
    a = variable("a", (5, 3, 3))
    inverse = call("inverse", a)
    (term,) = general_function("inverse").jacobian(inverse, 0)
    assert sorted(type(factor).__name__ for factor in term.operands) == ["General", "General", "Unit"]
    right = variable("b", (5, 3, 2))
    solved = call("solve", a, right)
    for position, units in ((0, 1), (1, 2)):
        (term,) = general_function("solve").jacobian(solved, position)
        assert sum(isinstance(factor, Unit) for factor in term.operands) == units
        assert all(len(factor.shape) <= 3 for factor in term.operands)


def test_hessian_of_the_determinant_at_the_identity() -> None:
    found = kernels.determinant_minors(np.eye(3), 2)
    delta = np.eye(3)
    expected = np.einsum("ji,lk->ijkl", delta, delta) - np.einsum("jk,li->ijkl", delta, delta)
    np.testing.assert_allclose(found, expected, atol=1e-14)


@pytest.mark.parametrize("size", range(6))
@pytest.mark.parametrize("order", [1, 2, 3])
def test_minors_are_signed_subdeterminants(size: int, order: int) -> None:
    """Rows and columns struck out, the sign from their places; 0 where one is struck out twice."""
    matrix = np.random.default_rng(size).integers(-3, 4, size=(size, size)).astype(float)
    if size > 2:
        matrix[-1] = matrix[0] - matrix[1]
    found = kernels.determinant_minors(matrix, order)
    assert found.shape == (size,) * (2 * order)
    for place in np.ndindex(found.shape):
        rows, columns = place[::2], place[1::2]
        expected = 0.0
        if len(set(rows)) == len(set(columns)) == order:
            kept = [[k for k in range(size) if k not in struck] for struck in (rows, columns)]
            sign = (-1) ** (sum(rows) + sum(columns)) * parity(rows) * parity(columns)
            expected = sign * np.linalg.det(matrix[np.ix_(*kept)]) if size > order else sign
        assert abs(found[place] - expected) < 1e-11


def parity(places: tuple[int, ...]) -> int:
    return (-1) ** sum(a > b for k, a in enumerate(places) for b in places[k + 1 :])


def test_minors_of_nearly_singular_matrices() -> None:
    """Entry by entry right where the determinant is far below the rounding of its factors."""
    matrix = np.array([[1.0, 1.0], [1.0, 1.0 + 1e-15]])
    np.testing.assert_allclose(kernels.determinant_minors(matrix, 1), [[matrix[1, 1], -1.0], [-1.0, 1.0]], rtol=1e-14)


def test_minors_of_a_batch_with_nan() -> None:
    batch = np.stack([np.eye(2), np.full((2, 2), np.nan), [[np.inf, 0.0], [0.0, 1.0]]])
    found = kernels.determinant_minors(batch, 1)
    np.testing.assert_allclose(found[0], np.eye(2), atol=1e-15)
    assert np.isnan(found[1:]).all()
    assert kernels.determinant_minors(batch[:0], 2).shape == (0, 2, 2, 2, 2)


@pytest.mark.parametrize("size", range(5))
@pytest.mark.parametrize("order", [1, 2, 3])
def test_product_of_others_by_definition(size: int, order: int) -> None:
    vector = np.random.default_rng(size).integers(-2, 3, size=size).astype(float)
    found = kernels.product_of_others(vector, order)
    assert found.shape == (size,) * order
    for place in np.ndindex(found.shape):
        distinct = len(set(place)) == order
        assert found[place] == (prod(vector[k] for k in range(size) if k not in place) if distinct else 0)


def test_product_of_others_beside_infinity_and_nan() -> None:
    """What is left out does not contribute, not even as 0 * inf."""
    np.testing.assert_array_equal(kernels.product_of_others(np.array([np.inf, 2.0, 3.0]), 1), [6, np.inf, np.inf])
    found = kernels.product_of_others(np.array([np.nan, 2.0, 3.0]), 2)
    np.testing.assert_array_equal(found, [[0, 3, 2], [3, 0, np.nan], [2, np.nan, 0]])


def test_second_derivative_of_a_product_is_symmetric() -> None:
    tensor = kernels.product_of_others(normal(2, 4), 3)
    for order in permutations((1, 2, 3)):
        np.testing.assert_array_equal(tensor, np.transpose(tensor, (0, *order)))


@pytest.mark.parametrize(("name", "sign"), [("max_reduce", 1), ("min_reduce", -1)])
def test_ties_share_equally(name: str, sign: int) -> None:
    x = variable("x", (3, 4))
    point = sign * np.array([[1.0, 2.0, 2.0, 2.0], [5.0, 5.0, 5.0, 5.0], [0.0, np.inf, 1.0, np.inf]])
    weights = evaluate(full(call(name, x), x), {x: point})
    expected = np.zeros((3, 3, 4))
    expected[0, 0] = [0, 1 / 3, 1 / 3, 1 / 3]
    expected[1, 1] = 1 / 4
    expected[2, 2] = [0, 0.5, 0, 0.5]
    np.testing.assert_allclose(weights, expected, rtol=1e-15)


@pytest.mark.parametrize("name", ["max_reduce", "min_reduce"])
def test_nan_is_not_lost_by_an_extremum(name: str) -> None:
    x = variable("x", (3,))
    point = {x: [1.0, np.nan, 2.0]}
    assert np.isnan(evaluate(call(name, x), point))
    squared = call(name, multiply(x, x))
    assert np.isnan(evaluate(full(squared, x), point)).any()


def test_logsumexp_at_the_ends_of_the_line() -> None:
    rows = np.array([[-np.inf, -np.inf], [-np.inf, 3.0], [np.inf, 0.0], [1000.0, 1000.0], [-1000.0, 0.0]])
    with np.errstate(divide="raise", over="raise", invalid="raise"):
        value = kernels.logsumexp(rows)
        several = kernels.logsumexp(np.array([[np.inf, 1000.0, np.inf], [np.inf, -np.inf, 1e5], [1e308, -np.inf, 0.0]]))
    np.testing.assert_allclose(value, [-np.inf, 3, np.inf, 1000 + np.log(2), 0], rtol=1e-15)
    np.testing.assert_array_equal(several, [np.inf, np.inf, 1e308])
    assert np.isnan(kernels.logsumexp(np.array([np.nan, np.inf])))
    turned = np.arange(24.0).reshape(4, 2, 3).T
    np.testing.assert_allclose(kernels.logsumexp(turned), np.log(np.exp(turned).sum(-1)), rtol=1e-14)
    assert kernels.logsumexp(np.zeros((2, 0))).tolist() == [-np.inf, -np.inf]
    assert kernels.logsumexp(np.array([0.0, -50.0])) == np.log1p(np.exp(-50.0))


def test_softmax_at_the_ends_of_the_line() -> None:
    """Entries of -inf get 0; where the value itself is infinite there is no derivative."""
    x = variable("x", (4, 2))
    rows = np.array([[-np.inf, 3.0], [1000.0, -1000.0], [-np.inf, -np.inf], [np.inf, 0.0]])
    found = np.einsum("bbi->bi", evaluate(full(call("logsumexp", x), x), {x: rows}))
    np.testing.assert_array_equal(found[:2], [[0, 1], [1, 0]])
    assert np.isnan(found[2]).all()
    assert np.isnan(found[3]).any()


def test_logarithms_of_determinants() -> None:
    flipped = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert np.isnan(kernels.log_determinant(flipped))
    assert kernels.log_determinant(np.zeros((2, 2))) == -np.inf
    assert kernels.log_absolute_determinant(flipped) == 0
    assert kernels.sign_determinant(flipped) == -1
    large = np.diag(np.full(400, 10.0))
    np.testing.assert_allclose(kernels.log_determinant(large), 400 * np.log(10), rtol=1e-14)


def test_shapes_are_checked() -> None:
    with pytest.raises(ShapeError, match=r"square matrices .* got shape \(2, 3\)"):
        call("inverse", variable("a", (2, 3)))
    with pytest.raises(ShapeError, match="square"):
        call("determinant", variable("a", (3,)))
    with pytest.raises(ShapeError, match="columns stand last"):
        call("solve", variable("a", (4, 3, 3)), variable("b", (3, 2)))
    with pytest.raises(ShapeError, match="over no entry"):
        call("max_reduce", variable("x", (2, 0)))
    with pytest.raises(ShapeError, match="has no axis"):
        call("product", variable("x"))
    with pytest.raises(ShapeError, match="order 1, 2"):
        call("determinant_minors", variable("a", (2, 2)), params=(0,))
    with pytest.raises(ShapeError, match=r"1, 2, \.\.\. entries"):
        call("product_of_others", variable("a", (2,)), params=(0,))
    with pytest.raises(TracingError, match="complex"):
        call("inverse", variable("a", (2, 2), complex))
    with pytest.raises(TracingError, match="linear algebra does not exist"):
        call("inverse", variable("a", (2, 2), np.longdouble))


@pytest.mark.parametrize(
    ("name", "dtype", "expected"),
    [
        ("determinant", np.int64, np.float64),
        ("inverse", np.float16, np.float32),
        ("product", np.int8, np.int64),
        ("max_reduce", np.int8, np.int8),
        ("logsumexp", np.int32, np.float64),
        ("product", np.float32, np.float32),
    ],
)
def test_dtypes(name: str, dtype: Any, expected: Any) -> None:
    matrix = variable("a", (2, 2), dtype)
    node = call(name, matrix)
    assert node.dtype == node.operands[0].dtype == expected
    assert evaluate(node, {matrix: [[2, 1], [1, 1]]}).dtype == expected
