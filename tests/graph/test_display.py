"""Golden lines: expressions as people read them."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from einsumad.graph import (
    add,
    affine,
    broadcast,
    constant,
    einsum,
    elementwise,
    fresh_leaf,
    general,
    leaf,
    multiply,
    negate,
    ones,
    selection,
    total,
    transpose,
    unit,
    zero,
)
from einsumad.graph.display import index_notation, matrix_notation, node_repr, product_notation
from tests.effort import calls
from tests.graph.build import symbol

A, B, C = symbol("A", 4, 4), symbol("B", 4, 4), symbol("C", 4, 4)
S = symbol("S", 4, 4, facts=("symmetric",))
T = symbol("T", 2, 3, 4)
V, X, d, w = symbol("V", 7, 3), symbol("X", 5, 3), symbol("d", 5), symbol("w", 3)
x, y, z = symbol("x", 4), symbol("y", 4), symbol("z", 4)
k = symbol("k", 4, dtype=np.int64)


def call(name, *operands, params=(), dtype=float):
    return elementwise(name, operands, params, dtype)


def number(value, *shape):
    return broadcast(leaf((), float, ("number", value)), (), shape)


positive = call("greater", x, zero((4,), float), dtype=bool)
margin = einsum([X, w], [(0, 1), (1,)], (0,))
inverse = general("inverse", [A], (), (4, 4), float)

CASES = [
    # products
    (einsum([V, V, unit(9, 2, float)], [(9, 1), (9, 3), (0, 2)], (0, 1, 2, 3), 2),
     "2 V[m,j] V[m,l] δ[i,k]", "2 (VᵀV) ⊗ δ"),
    (einsum([X, X, d], [(0, 1), (0, 2), (0,)], (1, 2)), "X[k,i] X[k,j] d[k]", "Xᵀ diag(d) X"),
    (einsum([X, X], [(0, 1), (0, 2)], (1, 2)), "X[k,i] X[k,j]", "XᵀX"),
    (einsum([X, X], [(1, 0), (2, 0)], (1, 2)), "X[i,k] X[j,k]", "XXᵀ"),
    (einsum([A, B, C], [(0, 1), (1, 2), (2, 3)], (0, 3)), "A[i,k] B[k,l] C[l,j]", "ABC"),
    (einsum([A, x], [(0, 1), (1,)], (0,)), "A[i,j] x[j]", "Ax"),
    (einsum([A, x], [(0, 1), (0,)], (1,)), "A[j,i] x[j]", "Aᵀx"),
    (einsum([x, A, y], [(0,), (0, 1), (1,)], ()), "A[i,j] x[i] y[j]", "xᵀAy"),
    (einsum([x, A, x], [(0,), (0, 1), (1,)], (), -0.5), "-0.5 A[i,j] x[i] x[j]", "-0.5 xᵀAx"),
    (einsum([x, y], [(0,), (0,)], ()), "x[i] y[i]", "xᵀy"),
    (einsum([x, y, z], [(0,), (0,), (0,)], ()), "x[i] y[i] z[i]", "xᵀ (y ⊙ z)"),
    (einsum([x, y], [(0,), (1,)], (0, 1)), "x[i] y[j]", "x yᵀ"),
    (einsum([x, y], [(0,), (1,)], (1, 0)), "x[j] y[i]", "y xᵀ"),
    (multiply(x, y), "x[i] y[i]", "x ⊙ y"),
    (multiply(A, B), "A[i,j] B[i,j]", "A ⊙ B"),
    (multiply(A, transpose(B, (1, 0))), "A[i,j] B[j,i]", "A ⊙ Bᵀ"),
    (einsum([A, x], [(0, 1), (0,)], (0, 1)), "A[i,j] x[i]", "diag(x) A"),
    (einsum([A, x], [(0, 1), (1,)], (0, 1)), "A[i,j] x[j]", "A diag(x)"),
    (einsum([A, x, y], [(0, 1), (1,), (0,)], (0,)), "A[i,j] x[j] y[i]", "y ⊙ (Ax)"),
    (einsum([A, x, y], [(0, 1), (1,), (1,)], (0,)), "A[i,j] x[j] y[j]", "A (x ⊙ y)"),
    (einsum([x, unit(4, 2, float)], [(0,), (0, 1)], (0, 1)), "x[i] δ[i,j]", "diag(x)"),
    (einsum([A, B], [(0, 1), (1, 0)], ()), "A[i,j] B[j,i]", "tr(AB)"),
    (einsum([A, B, x], [(0, 1), (1, 0), (0,)], ()), "A[i,j] B[j,i] x[i]", "tr(A B diag(x))"),
    (einsum([A, B, C], [(0, 1), (1, 2), (2, 0)], ()), "A[i,j] B[j,k] C[k,i]", "tr(ABC)"),
    (einsum([A, B], [(0, 1), (0, 1)], ()), "A[i,j] B[i,j]", "⟨A, B⟩"),
    (einsum([A, A], [(0, 1), (0, 1)], ()), "A[i,j] A[i,j]", "‖A‖²"),
    (einsum([A], [(0, 0)], ()), "A[i,i]", "tr(A)"),
    (einsum([A], [(0, 0)], (0,)), "A[i,i]", "diag(A)"),
    (einsum([A], [(0, 1)], ()), "Σ_ij A[i,j]", "1ᵀA1"),
    (einsum([A], [(0, 1)], (1,)), "Σ_j A[j,i]", "Aᵀ1"),
    (einsum([x, y, A], [(0,), (0,), (1, 2)], (1, 2), 3), "3 A[i,j] x[k] y[k]", "3 (xᵀy) A"),
    (einsum([A, B], [(0, 1), (2, 3)], (0, 1, 2, 3)), "A[i,j] B[k,l]", "A ⊗ B"),
    (einsum([X, X, unit(4, 2, float)], [(0, 1), (0, 2), (3, 4)], (3, 1, 4, 2)),
     "X[m,j] X[m,l] δ[i,k]", "(XᵀX) ⊗ δ"),
    (einsum([A, B, C], [(0, 1), (0, 2), (0, 3)], (1, 2, 3)), "A[l,i] B[l,j] C[l,k]", None),
    (einsum([T, T], [(0, 1, 2), (0, 1, 3)], (2, 3)), "T[k,l,i] T[k,l,j]", None),
    (transpose(S, (1, 0)), "S[j,i]", "S"),
    (einsum([x, S, A, y], [(0,), (1, 0), (1, 2), (2,)], ()), "A[i,j] S[i,k] x[k] y[j]", "xᵀSAy"),
    # sums and numbers
    (add([A, transpose(A, (1, 0))]), "A[i,j] + A[j,i]", "A + Aᵀ"),
    (total(negate(x), y), "y[i] - x[i]", "y - x"),
    (total(negate(x), multiply(y, coefficient=-3)), "-3 y[i] - x[i]", "-3 y - x"),
    (multiply(total(x, y), z), "(x[i] + y[i]) z[i]", "(x + y) ⊙ z"),
    (einsum([x, total(A, B), y], [(0,), (0, 1), (1,)], (), -1),
     "-(A[i,j] + B[i,j]) x[i] y[j]", "-xᵀ (A + B) y"),
    (total(constant(1, (4,), float), x), "1 + x[i]", "1 + x"),
    (total(number(2.5, 4), x), "2.5 + x[i]", "2.5 + x"),
    (multiply(number(2.5, 4), x), "2.5 x[i]", "2.5 x"),
    (constant(3, (2, 2), float), "3 · 1[i,j]", "3"),
    (constant(3, (), float), "3", "3"),
    (broadcast(x, (1,), (3, 4)), "x[j] · 1[i]", "1 xᵀ"),
    (total(broadcast(x, (0,), (4, 4)), broadcast(y, (1,), (4, 4))), "x[i] + y[j]", "1 yᵀ + x 1ᵀ"),
    (total(broadcast(x, (0,), (4, 4)), broadcast(y, (0,), (4, 4))),
     "x[i] · 1[j] + y[i] · 1[j]", "x 1ᵀ + y 1ᵀ"),
    (total(einsum([A], [(0, 1)], (0,)), x), "(Σ_j A[i,j]) + x[i]", "A1 + x"),
    (add([einsum([A, B], [(0, 1), (2, 3)], (0, 1, 2, 3)), einsum([A, B], [(0, 2), (1, 3)], (0, 1, 2, 3))]),
     "A[i,j] B[k,l] + A[i,k] B[j,l]", None),
    # functions
    (call("exp", margin), "exp(X[i,j] w[j])", "exp(Xw)"),
    (call("reciprocal", total(constant(1, (5,), float), call("exp", margin))),
     "1/(1 + exp(X[i,j] w[j]))", "reciprocal(1 + exp(Xw))"),
    (call("power", x, params=(3,)), "x[i]^3", "power(x, 3)"),
    (call("power", negate(x), params=(-0.5,)), "(-x[i])^(-0.5)", "power(-x, -0.5)"),
    (call("power_xy", x, total(y, z)), "x[i]^(y[i] + z[i])", "power_xy(x, y + z)"),
    (call("square", call("square", x)), "(x[i]^2)^2", "square(square(x))"),
    (call("maximum", x, y), "maximum(x[i], y[i])", "maximum(x, y)"),
    (call("polygamma", x, params=(2,)), "polygamma(x[i]; 2)", "polygamma(x; 2)"),
    (inverse, "inv(A)[i,j]", "A⁻¹"),
    (einsum([inverse, inverse], [(0, 1), (2, 3)], (0, 3, 1, 2), -1),
     "-inv(A)[i,k] inv(A)[l,j]", "-A⁻¹ ⊗ A⁻¹ᵀ"),
    (einsum([x, inverse, y], [(0,), (0, 1), (1,)], ()), "inv(A)[i,j] x[i] y[j]", "xᵀA⁻¹y"),
    (general("solve", [A, B], (), (4, 4), float), "solve(A, B)[i,j]", "A⁻¹ B"),
    (general("determinant", [A], (), (), float), "det(A)", "det(A)"),
    (general("determinant_minors", [A], (2,), (4,) * 4, float), "determinant_minors(A; 2)[i,j,k,l]", None),
    (general("inverse", [total(A, B)], (), (4, 4), float),
     "t1[i,j] = A[i,j] + B[i,j]\ninv(t1)[i,j]", "(A + B)⁻¹"),
    # masks
    (multiply(positive, y), "y[i] [x[i] > 0]", "[x > 0] ⊙ y"),
    (multiply(call("logical_not", positive, dtype=bool), y), "y[i] [not x[i] > 0]", "[not x > 0] ⊙ y"),
    (multiply(call("logical_and", positive, symbol("m", 4, dtype=bool), dtype=bool), y),
     "y[i] [x[i] > 0 and m[i]]", "[x > 0 and m] ⊙ y"),
    (multiply(symbol("m", 4, dtype=bool), y), "y[i] [m[i]]", "[m] ⊙ y"),
    (einsum([positive], [(0,)], (), 1, float), "Σ_i [x[i] > 0]", "1ᵀ [x > 0]"),
    # structure
    (unit(4, 2, float), "δ[i,j]", "I"),
    (unit(4, 3, float), "δ[i,j,k]", None),
    (total(A, unit(4, 2, float)), "A[i,j] + δ[i,j]", "A + I"),
    (einsum([unit(4, 2, float)], [(0, 1)], (0, 1), 2), "2 δ[i,j]", "2 I"),
    (zero((4,), float), "0[i]", "0"),
    (ones((4,), float), "1[i]", "1"),
    (affine(5, [3], [2], 1, float), "[i = 1 + 2 j]", None),
    (affine(9, [3, 2], [1, -2], 0, float), "[i = j - 2 k]", None),
    (affine(9, [1], [1], 3, float), "[i = 3]", None),
    (einsum([d, affine(5, [3], [-2], 4, float)], [(0,), (0, 1)], (1,)), "d[j] [j = 4 - 2 i]", None),
    (selection(k, 5, float), "[j = k[i]]", None),
    (einsum([A, selection(k, 4, float)], [(0, 1), (2, 0)], (2, 1)), "A[k,j] [k = k[i]]", None),
]  # fmt: skip


@pytest.mark.parametrize(("node", "indices", "matrices"), CASES)
def test_notation(node, indices, matrices):
    assert index_notation([node]) == index_notation(node) == indices
    assert matrix_notation(node) == matrices


def test_shared_expressions_get_a_line():
    exponential = call("exp", margin)
    gradient = einsum(
        [X, exponential, call("reciprocal", total(constant(1, (5,), float), exponential))],
        [(0, 1), (0,), (0,)],
        (1,),
    )
    assert index_notation([gradient]).splitlines() == [
        "t1[i] = exp(X[i,j] w[j])",
        "(1/(1 + t1[j])) X[j,i] t1[j]",
    ]


def test_several_results():
    exponential = call("exp", margin)
    assert index_notation([margin, exponential, X, margin]).splitlines() == [
        "y1[i] = X[i,j] w[j]",
        "y2[i] = exp(y1[i])",
        "X[i,j]",
    ]
    assert index_notation([]) == ""


def test_names():
    first, second = fresh_leaf((3,), float), fresh_leaf((3,), float)
    named = [fresh_leaf((3,), float, "x"), fresh_leaf((3,), float, "x")]
    assert index_notation([call("maximum", second, first)]) == "maximum(x0[i], x1[i])"
    assert index_notation([call("maximum", *named)]) == "maximum(x[i], x_2[i])"
    assert index_notation([call("maximum", named[0], first)], {first: "U"}) == "maximum(x[i], U[i])"
    assert (
        index_notation([call("maximum", leaf((3,), float, ("variable", "t1"), "x0"), first)])
        == "maximum(x0[i], x0_2[i])"
    )
    assert matrix_notation(multiply(first, second), {first: "u", second: "v"}) == "u ⊙ v"
    shared = call("exp", call("sin", call("sin", symbol("t1", 3))))
    assert index_notation([multiply(shared, shared)]).startswith("t2[i] = exp(")


def test_a_description_is_one_short_line():
    assert node_repr(einsum([X, X], [(0, 1), (0, 2)], (1, 2))) == "<Einsum (3, 3) float64: X[k,i] X[k,j]>"
    node = x
    for _ in range(50):
        node = multiply(call("sin", node), node)
    assert node_repr(node) == "<Einsum (4,) float64: sin(…[i]) …[i]>"
    wide = add([call("power", x, params=(n,)) for n in range(3, 100)])
    assert len(node_repr(wide)) < 110
    assert "\n" not in node_repr(wide)


def test_products_in_the_notation_of_the_paper():
    assert product_notation(einsum([A, B], [(0, 1), (1, 2)], (0, 2)), {A: "A", B: "B"}) in {
        "A *(ij,jk,ik) B",
        "B *(ij,ki,kj) A",
    }
    assert product_notation(einsum([A], [(0, 0)], (), 2)) == "2 · *(ii->∅)(A)"
    assert product_notation(einsum([x, A, x], [(0,), (0, 1), (1,)], ())).startswith("*(")


def test_long_graphs_are_shortened_to_the_lines_next_to_the_result():
    node = x
    for _ in range(50_000):
        node = multiply(call("sin", node), node)
    for show in (partial(index_notation, [node]), partial(node_repr, node), partial(matrix_notation, node)):
        assert calls(show) < 10 * 100_001
    lines = index_notation([node]).splitlines()
    assert lines[0] == "… 99,601 of 100,001 nodes are not shown"
    assert len(lines) == 42
    assert lines[-1] == "sin(t199[i]) t199[i]"


def test_wide_sums_and_products_are_shortened():
    terms = [symbol(f"a{n:03}", 3) for n in range(100)]
    assert index_notation([add(terms)]).endswith(" + … (84 more terms)")
    assert index_notation([multiply(*terms)]).endswith(" … (84 more factors)")
    assert matrix_notation(add(terms)) is None


def test_more_letters_than_the_alphabet():
    many = leaf((1,) * 60, float, ("variable", "M"), "M")
    text = index_notation([many])
    assert len(set(text[2:-1].split(","))) == 60
