"""Common factors, shared summation indices, and what is computed once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from einsumad.execution.reference import evaluate
from einsumad.functions import apply, call
from einsumad.graph import (
    Add,
    Einsum,
    Leaf,
    Node,
    Unit,
    add,
    affine,
    einsum,
    leaf,
    leaves,
    multiply,
    ones,
    scale,
    topological,
    unit,
)
from einsumad.rewriting import normalise
from tests.rewriting.examples import values_for


def variable(name: str, *shape: int) -> Leaf:
    return leaf(shape, float, ("variable", name), name)


def normal(node: Node) -> Node:
    return normalise([node])[0]


def products_with(node: Node, *operands: Node) -> list[Einsum]:
    """The products of the graph that hold all of these operands, as often as they are named."""
    found = [inner for inner in topological([node]) if isinstance(inner, Einsum)]
    return [inner for inner in found if all(inner.operands.count(o) >= operands.count(o) for o in operands)]


X, Y = variable("X", 40, 10), variable("Y", 40, 10)
a, b, c, s = variable("a", 40), variable("b", 40), variable("c", 40), variable("s")


def check_value(before: Node, after: Node) -> None:
    values = {node: value % 7 for node, value in values_for(leaves([before])).items()}
    first, second = evaluate([before, after], values)
    np.testing.assert_allclose(second, first, rtol=1e-11)


def test_products_over_a_shared_index_become_one() -> None:
    """``Σ_k X[k,i] X[k,j] a[k] + Σ_k X[k,i] X[k,j] b[k] = Σ_k X[k,i] X[k,j] (a[k] + b[k])``."""
    root = add([einsum([X, X, v], [(2, 0), (2, 1), (2,)], (0, 1), n) for v, n in ((a, 1), (b, -2), (c, 1))])
    found = normal(root)
    assert isinstance(found, Einsum)
    assert len(products_with(found, X, X)) == 1
    assert sum(isinstance(node, Add) for node in topological([found])) == 1
    check_value(root, found)


def test_terms_that_name_their_indices_differently_are_factored() -> None:
    root = add(
        [
            einsum([X, a, Y], [(5, 0), (5,), (5, 1)], (0, 1)),
            einsum([Y, b, X], [(9, 1), (9,), (9, 0)], (0, 1)),
        ]
    )
    found = normal(root)
    assert len(products_with(found, X, Y)) == 1
    check_value(root, found)


def test_a_factor_is_pulled_out_of_a_batched_sum() -> None:
    """A factor without the summed index of the rest comes out, the rest stays small."""
    J = variable("J", 40, 6, 6)
    root = add(
        [
            einsum([X, J, v], [(0, 1), (0, 2, 3), (0, 2)], (0, 1, 3))
            for v in (variable("u", 40, 6), variable("v", 40, 6))
        ]
    )
    found = normal(root)
    assert isinstance(found, Einsum)
    assert X in found.operands
    check_value(root, found)


def test_the_delta_stays_outside() -> None:
    """``2 M ⊗ δ + s δ ⊗ δ = (2 M + s δ) ⊗ δ``: the delta that both terms have is not multiplied out."""
    V = variable("V", 8, 3)
    rows, columns = unit(5, 2, float), unit(3, 2, float)
    root = add(
        [
            einsum([V, V, rows], [(4, 1), (4, 3), (0, 2)], (0, 1, 2, 3), 2),
            einsum([rows, columns, s], [(0, 2), (1, 3), ()], (0, 1, 2, 3)),
        ]
    )
    found = normal(root)
    assert isinstance(found, Einsum)
    (delta,) = [k for k, operand in enumerate(found.operands) if isinstance(operand, Unit)]
    assert found.inputs[delta] == (0, 2)
    assert all(len(node.shape) <= 2 for node in topological([found]) if node is not found)
    check_value(root, found)


def test_the_logistic_hessian_is_one_product() -> None:
    """``X' diag(p (1 - p) ...) X`` with the weights added first."""
    p = apply("sigmoid", einsum([X, variable("w", 10)], [(0, 1), (1,)], (0,)))
    weights = [p, scale(-1, multiply(p, p)), multiply(a, p)]
    root = add([einsum([X, X, w], [(2, 0), (2, 1), (2,)], (0, 1)) for w in weights])
    found = normal(root)
    assert isinstance(found, Einsum)
    assert found.operands.count(X) == 2
    assert len(products_with(found, X, X)) == 1


def test_different_products_are_left_alone() -> None:
    root = add([einsum([X, a], [(1, 0), (1,)], (0,)), einsum([Y, b], [(1, 0), (1,)], (0,))])
    assert normal(root) is root


def test_factoring_does_not_make_more_work() -> None:
    """``u v' + u w'`` is one outer product; ``a b c' + a c b'`` shares only a vector, which stays where it is cheap."""
    u, v, w = variable("u", 50), variable("v", 30), variable("w", 30)
    root = add([einsum([u, v], [(0,), (1,)], (0, 1)), einsum([u, w], [(0,), (1,)], (0, 1))])
    found = normal(root)
    assert isinstance(found, Einsum)
    assert u in found.operands


# --- sharing ----------------------------------------------------------------------------------------------------------


def test_a_shared_product_is_computed_once() -> None:
    shared = einsum([X, X], [(2, 0), (2, 1)], (0, 1))
    roots = [einsum([shared, variable(name, 10)], [(0, 1), (1,)], (0,)) for name in ("u", "v", "w")]
    found = normalise(roots)
    assert len({inner for root in found for inner in products_with(root, X, X)}) == 1
    assert len(topological(found)) == len(topological(roots))


def test_a_product_with_one_user_is_opened() -> None:
    inner = einsum([X, X], [(2, 0), (2, 1)], (0, 1))
    found = normal(einsum([inner, variable("u", 10)], [(0, 1), (1,)], (0,)))
    assert isinstance(found, Einsum)
    assert len(found.operands) == 3


def test_a_shared_core_keeps_its_deltas_outside() -> None:
    """``(C δ) A`` and ``(C δ) B``: the delta renames in both, C stays one node."""
    core = multiply(a, b)
    spread = einsum([core, unit(40, 2, float)], [(0,), (0, 1)], (0, 1))
    found = normalise([einsum([spread, M], [(0, 1), (1, 2)], (0, 2)) for M in (X, Y)])
    nodes = topological(found)
    assert not any(isinstance(node, Unit) for node in nodes)
    assert sum(node.operands == core.operands for node in nodes) == 1


def test_equal_functions_of_equal_operands_are_one_node() -> None:
    z = einsum([X, variable("w", 10)], [(0, 1), (1,)], (0,))
    again = einsum([variable("w", 10), X], [(7,), (3, 7)], (3,))
    found = normal(add([apply("exp", z), multiply(apply("exp", again), a)]))
    assert sum(getattr(node, "function", "") == "exp" for node in topological([found])) == 1


def test_a_shared_inverse_is_not_replaced_by_many_solves() -> None:
    A = variable("A", 4, 4)
    inverse = call("inverse", A)
    vectors = [variable(name, 4) for name in "pq"]
    alone = normal(einsum([inverse, vectors[0]], [(0, 1), (1,)], (0,)))
    assert any(getattr(node, "function", "") == "solve" for node in topological([alone]))
    together = normalise([einsum([inverse, v], [(0, 1), (1,)], (0,)) for v in vectors])
    assert not any(getattr(node, "function", "") == "solve" for node in topological(together))


@st.composite
def sums(draw: st.DrawFn) -> Node:
    """Sums of products that have operands and summed indices in common, over sizes that make factoring worthwhile."""
    pool = [
        variable("X", 4, 3),
        variable("Y", 4, 3),
        variable("a", 4),
        variable("b", 4),
        variable("p", 3),
        variable("s"),
    ]
    sizes = {0: 3, 1: 3, 2: 4, 3: 4, 4: 3}
    terms: list[Node] = []
    for _ in range(draw(st.integers(2, 4))):
        operands: list[Node] = [variable("p", 3), variable("p", 3)]
        inputs: list[tuple[int, ...]] = [(0,), (1,)]
        for _ in range(draw(st.integers(1, 4))):
            operand = draw(st.sampled_from(pool))
            operands.append(operand)
            fitting = [[label for label, size in sizes.items() if size == axis] for axis in operand.shape]
            inputs.append(tuple([draw(st.sampled_from(labels)) for labels in fitting]))
        if draw(st.booleans()):
            operands.append(unit(3, 2, float))
            inputs.append((0, 1))
        terms.append(einsum(operands, inputs, (0, 1), draw(st.sampled_from([1, 2, -1]))))
    return add(terms)


def test_sums_of_maps_are_not_pulled_out_where_they_would_be_opened_again() -> None:
    first = einsum([affine(4, [1], [0], 0, float), ones([4], float)], [(1, 2), (0,)], (0, 1))  # [l = 0] for each j
    mask = apply("greater", variable("p", 3, 4), variable("q", 3, 4))
    terms = [
        einsum([mask, first, unit(3, 2, float)], [(0, 1), (1, 3), (0, 2)], (0, 1, 2, 3), -1, float),
        einsum([mask, unit(4, 2, float), unit(3, 2, float)], [(0, 1), (1, 3), (0, 2)], (0, 1, 2, 3), 1, float),
    ]
    check_value(add(terms), normal(add(terms)))


@pytest.mark.fuzz
@settings(max_examples=max(250, settings().max_examples))
@given(sums(), st.integers(0, 255))
def test_factored_sums_keep_their_value_exactly(root: Node, seed: int) -> None:
    found = normal(root)
    assert normal(found) is found
    generator = np.random.default_rng(seed)
    values = {node: generator.integers(-3, 4, node.shape) for node in leaves([root])}
    before, after = evaluate([root, found], values, exact=True)
    assert np.array_equal(before, after)
