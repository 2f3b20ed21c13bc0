"""Equal maps tie indices, diagonals are read early, shared products give selections away: when, and with what value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad.execution.reference import evaluate
from einsumad.functions import apply
from einsumad.graph import (
    BOOL,
    Add,
    Einsum,
    Leaf,
    Node,
    Selection,
    Unit,
    add,
    affine,
    count_users,
    einsum,
    leaf,
    ones,
    selection,
    topological,
)
from einsumad.rewriting import Context, normalise
from einsumad.rewriting.flatten import RULES_FOR_PRODUCTS
from einsumad.rewriting.reading import read_diagonal
from einsumad.rewriting.same import tie_mapped

I, J, K, M = 0, 1, 2, 3  # noqa: E741 (indices are called so)


expose_structure = next(rule.apply for rule in RULES_FOR_PRODUCTS if rule.name == "expose-structure")


def variable(name: str, *shape: int, dtype: Any = float) -> Leaf:
    return leaf(shape, dtype, ("variable", name), name)


a, A, B, W = variable("a", 3), variable("A", 3, 3), variable("B", 3, 3), variable("W", 4, 2)
index, other = variable("index", 4, dtype=int), variable("other", 4, dtype=int)
PICK, PICK_OTHER = selection(index, 3, float), selection(other, 3, float)
SHIFT = affine(3, (4,), (1,), -1, float)
GRID = affine(5, (2, 3), (2, 1), 0, float)  # meets the third place twice
ROWS = affine(6, (2, 3), (3, 1), 0, float)
TURNED = affine(9, (3, 1, 2), (-1, 0, 5), 3, float)

VALUES = {
    a: np.array([2.0, 3.0, 5.0]),
    A: np.arange(1.0, 10.0).reshape(3, 3),
    B: np.arange(2.0, 11.0).reshape(3, 3) ** 2,
    W: np.arange(1.0, 9.0).reshape(4, 2),
    index: np.array([2, 0, 2, 1]),
    other: np.array([1, 0, 2, 2]),
}


def context(*roots: Node) -> Context:
    return Context(Counter(count_users(roots)))


def check_equal(before: Node, after: Node | None) -> None:
    assert after is not None
    assert (after.shape, after.dtype) == (before.shape, before.dtype)
    first, second = evaluate([before, after], VALUES)
    np.testing.assert_array_equal(second, first)


def kinds(node: Node) -> Counter[str]:
    return Counter([type(operand).__name__ for operand in node.operands])


TIED = {
    "selections of one place": einsum([PICK, PICK], [(M, I), (M, J)], (I, J)),
    "maps of one place": einsum([SHIFT, SHIFT], [(I, M), (J, M)], (I, J, M)),
    "maps to one place, partly outside": einsum([a, SHIFT, SHIFT], [(I,), (I, J), (I, K)], (J, K)),
    "maps of several indices": einsum([GRID, GRID], [(I, K, M), (J, K, M)], (I, J)),
}
TIED_TOGETHER = {
    "rows and columns of one place": einsum([ROWS, ROWS], [(M, I, J), (M, K, 4)], (I, J, K, 4)),
    "one of two indices": einsum([ROWS, ROWS], [(M, I, J), (M, I, K)], (I, J, K)),
    "in any order of strides": einsum([TURNED, TURNED], [(M, I, 5, J), (M, K, 6, 4)], (I, J, K, 4)),
}
NOT_TIED = {
    "selections by different arrays": einsum([PICK, PICK_OTHER], [(M, I), (M, J)], (I, J)),
    "selections of different places": einsum([PICK, PICK], [(K, I), (M, I)], (K, M)),
    "maps of several indices to one place": einsum([GRID, GRID], [(I, J, 5), (I, K, M)], (J, K)),
    "maps that meet a place twice": einsum([GRID, GRID], [(M, I, J), (M, K, 4)], (I, J, K, 4)),
    "truth values": einsum([selection(index, 3, BOOL)] * 2, [(M, I), (M, J)], (I, J, M)),
}


@pytest.mark.parametrize("before", TIED.values(), ids=TIED)
def test_equal_maps_tie_what_they_give(before: Einsum) -> None:
    after = tie_mapped(before, context(before))
    check_equal(before, after)
    assert isinstance(after, Einsum)
    before_maps, after_maps = kinds(before), kinds(after)
    assert after_maps["Unit"] == 1
    assert after_maps.total() - after_maps["Unit"] == before_maps.total() - 1
    check_equal(before, normalise([before])[0])


@pytest.mark.parametrize("before", TIED_TOGETHER.values(), ids=TIED_TOGETHER)
def test_a_map_that_meets_each_place_once_ties_all_that_it_reads(before: Einsum) -> None:
    check_equal(before, tie_mapped(before, context(before)))
    (found,) = normalise([before])
    check_equal(before, found)
    assert kinds(found)["Affine"] == 0  # inside its bounds: the deltas say all


@pytest.mark.parametrize("before", NOT_TIED.values(), ids=NOT_TIED)
def test_other_maps_do_not(before: Einsum) -> None:
    assert tie_mapped(before, context(before)) is None
    check_equal(before, normalise([before])[0])


def test_a_map_of_one_entry_does_not_tie_what_it_reads() -> None:
    """With stride 0, all indices are mapped to one place."""
    point = affine(3, (1,), (1,), 2, float)
    before = einsum([a, point, point], [(I,), (I, J), (I, K)], (J, K))
    check_equal(before, normalise([before])[0])


@pytest.mark.parametrize(
    "inner", [apply("exp", A), add([A, B]), apply("arctan2", A, B)], ids=["function", "sum", "of two"]
)
def test_a_diagonal_is_read_before_functions_and_sums(inner: Node) -> None:
    before = einsum([inner, a], [(I, I), (I,)], (I,))
    after = read_diagonal(before, context(before))
    check_equal(before, after)
    assert all(node.shape != (3, 3) or isinstance(node, Leaf) for node in topological([after]))
    assert read_diagonal(before, context(before, einsum([inner], [(I, J)], (J, I)))) is None


def test_a_sum_with_a_term_spread_along_rows_is_summed_along_its_diagonal() -> None:
    before = einsum([add([A, einsum([a, ones((3,), float)], [(I,), (J,)], (I, J))])], [(I, I)], ())
    check_equal(before, normalise([before])[0])


def shared(inner: Node, labels: tuple[int, ...], rank: int) -> list[Node]:
    """Two products of the same inner one."""
    axes = tuple(range(rank))
    return [einsum([inner, factor], [labels, (labels[-1], 9)], (*axes[:-1], 9)) for factor in (A, B)]


def test_a_shared_product_gives_selections_away_that_have_no_sum() -> None:
    inner = einsum([W, W, PICK], [(M, I), (M, J), (M, K)], (M, I, J, K))
    first, second = shared(inner, (0, 1, 2, 3), 4)
    after = expose_structure(first, context(first, second))
    check_equal(first, after)
    assert isinstance(after, Einsum)
    assert kinds(after)["Selection"] == 1
    core = next(node for node in after.operands if isinstance(node, Einsum))
    assert core.shape == (4, 2, 2)
    assert not any(isinstance(node, Selection) for node in topological([core]))


def test_it_keeps_selections_that_are_summed_over() -> None:
    inner = einsum([W, W, PICK], [(M, I), (M, J), (M, K)], (I, J, K))
    first, second = shared(inner, (0, 1, 2), 3)
    assert expose_structure(first, context(first, second)) is None


def written_between(x: Any) -> Any:
    places = np.array([0, 1, 1])
    first = x[places]
    places[:] = 2
    return np.sum(first * x[places])


GATHERED: dict[str, Callable[[Any], Any]] = {
    "equal arrays": lambda x: np.sum(np.sin(x[np.array([0, 2, 2])]) * x[[0, 2, 2]]),
    "the same places from the end": lambda x: np.sum(x[np.array([0, 2, 2])] ** 2 * x[np.array([-3, -1, -1])]),
    "equal numbers in another shape": lambda x: np.sum(x[np.array([[0, 1, 2]])] ** 2 * x[np.array([[0], [1], [2]])]),
    "an array that is written between": written_between,
}


@pytest.mark.parametrize("f", GATHERED.values(), ids=GATHERED)
def test_hessians_through_equal_and_unequal_indices(f: Callable[[Any], Any]) -> None:
    x, step = np.array([0.3, -0.7, 1.1]), 1e-5
    slopes = [ea.grad(f)(x + step * e) - ea.grad(f)(x - step * e) for e in np.eye(3)]
    for mode in ("auto", "forward", "reverse", "cross-country"):
        np.testing.assert_allclose(ea.hessian(f, mode=mode)(x), np.array(slopes) / (2 * step), rtol=1e-8, atol=1e-8)


@pytest.mark.whole_planner
def test_the_hessian_of_rows_that_are_read_by_equal_indices_has_one_delta() -> None:
    found = ea.explain(ea.hessian(lambda E: np.sum(np.sin(E[[0, 2, 2]]) * E[[0, 2, 2]])), np.ones((3, 2)))
    (root,) = found.outputs
    terms = root.operands if isinstance(root, Add) else (root,)
    for term in terms:
        assert sum([isinstance(o, Selection) for o in term.operands]) == 1
        assert sum([isinstance(o, Unit) for o in term.operands]) == 2


@pytest.mark.whole_planner
def test_the_hessian_of_an_array_read_by_its_flat_indices_is_diagonal() -> None:
    """Both axes of the array are tied, so that one number an entry is computed."""
    places = np.array([[0, 3], [2, 3]])
    found = ea.explain(ea.hessian(lambda E: np.sum(np.take_along_axis(E, places, axis=0) ** 3)), np.ones((4, 2)))
    (root,) = found.outputs
    assert sum([isinstance(operand, Unit) for operand in root.operands]) == 2


@pytest.mark.whole_planner
def test_deltas_are_pulled_out_of_sums_whose_other_common_factors_stay() -> None:
    """``T δ[j,l] [m = 1 + o] + T δ[j,l] δ[m,o]``: pulling T out would leave a sum of maps."""

    def f(W: Any) -> Any:
        total = np.cumsum(W, axis=0)
        return np.sum(np.sin(total)) + np.sum(total[1:-1] ** 2)

    W = np.linspace(0.1, 1.0, 36).reshape(12, 3)
    found = ea.explain(ea.hessian(f, mode="auto"), W)
    dense = np.prod([12, 3, 12, 3])
    assert sum([np.prod(step.shape, dtype=int) >= dense for step in found.plan.steps]) <= 1
    np.testing.assert_allclose(ea.hessian(f)(W), ea.hessian(f, mode="forward")(W), rtol=1e-12, atol=1e-12)
