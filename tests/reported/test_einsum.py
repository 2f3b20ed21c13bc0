"""Rows E*: einsum and its relatives, values and gradients, on inputs that other tools got wrong."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

import einsumad as ea
import einsumad.numpy as enp
from tests.reported.oracle import (
    MODES,
    check,
    check_whole,
    close,
    every_jacobian,
    exactly,
    exactly_second,
    integers,
    normal,
)

PATHS = (False, True, "greedy", "optimal")


def product(subscripts):
    return lambda *operands: np.einsum(subscripts, *operands)


def test_e1_trace_vjp():
    a = integers(1, 2, 2)
    exactly(product("ii->"), [a], np.eye(2))
    exactly_second(product("ii->"), [a], np.zeros((2, 2, 2, 2)))
    exactly(np.trace, [a], np.eye(2))
    np.testing.assert_array_equal(ea.grad(product("ii->"))(a), np.eye(2))


def test_e1_trace_of_a_complex_matrix_is_refused_clearly():
    a = np.array([[1 + 2j, 0], [3, 4j]])
    for transform in (ea.grad, ea.jacobian, ea.hessian):
        with pytest.raises(ea.DifferentiationError, match="complex numbers are not supported yet"):
            transform(product("ii->"))(a)
    with pytest.raises(ea.TracingError, match="complex numbers are not supported yet"):
        ea.grad(lambda x: np.einsum("ij,ji->", a, x))(np.eye(2))


def test_e3_nested_repeated_pairs_plus_third_operand():
    f = product("ijji,kji,jj->kj")
    a, b, c = integers(2, 2, 3, 3, 2), integers(3, 4, 3, 2), integers(4, 3, 3)
    assert f(a, b, c).shape == (4, 3)
    check_whole(f, a, b, c, order=1)
    jacobian = ea.jacobian(f)(a, b, c)
    off = np.ones((2, 3, 3, 2), bool)
    for i, j in itertools.product(range(2), range(3)):
        off[i, j, j, i] = False
    assert not jacobian[:, :, off].any()
    assert not ea.jacobian(f, 2)(a, b, c)[..., ~np.eye(3, dtype=bool)].any()
    check_whole(f, integers(2, 2, 2, 2, 2), integers(3, 1, 2, 2), integers(4, 2, 2))


def test_e5_two_diagonals_with_a_contraction():
    x = integers(5, 2, 3, 3, 4, 4)
    found = ea.einsum("tiijj->ij", x)
    assert found.shape == (3, 4)
    moved = np.transpose(x, (1, 2, 3, 4, 0))
    np.testing.assert_array_equal(found, ea.einsum("iijjt->ij", moved))
    check_whole(product("tiijj->ij"), integers(5, 2, 2, 2, 2, 2))


def test_e7_sum_only():
    exactly(lambda a: np.sum(np.einsum("ij->", a)), [integers(6, 2, 3)], np.ones((2, 3)))
    x = integers(7, 3, 2, 3, 2)
    y = np.einsum("abcd->bd", x)
    expected = np.broadcast_to(2 * y[None, :, None, :], x.shape)

    def f(x):
        return np.sum(np.einsum("abcd->bd", x) ** 2)

    exactly(f, [x], expected)
    check_whole(f, integers(7, 2, 2, 1, 2))


def test_e9_named_index_broadcasts_from_size_1():
    x, y = np.array([2.0, 2.0]), np.array([2.0])
    assert ea.einsum("i,i", x, y) == 8
    exactly(product("i,i"), [x, y], np.array([2.0, 2.0]))
    exactly(product("i,i"), [x, y], np.array([4.0]), argnum=1)
    check_whole(product("i,i"), x, y)


@pytest.mark.parametrize("optimize", PATHS)
def test_e11_mismatched_named_index_raises(optimize):
    def f(x, y):
        return np.einsum("ij,i->", x, y, optimize=optimize)

    with pytest.raises(ea.ShapeError, match=r"index 'i' has size 5 .* size 2") as caught:
        ea.grad(f)(np.ones((5, 1)), np.ones(2))
    assert "^" in str(caught.value)
    assert isinstance(caught.value, ValueError)
    with pytest.raises(ea.ShapeError, match="index 'i'"):
        ea.einsum("ij,i->", np.ones((5, 1)), np.ones(2))


@pytest.mark.parametrize(
    ("subscripts", "shapes", "result"),
    [
        ("i...k,k...j->i...j", [(2, 1, 3), (3, 2)], (2, 1, 2)),
        ("...ij,...j->...i", [(2, 5), (11, 3, 2, 7, 5)], (11, 3, 2, 7, 2)),
    ],
)
def test_e13_ellipsis_of_unequal_rank(subscripts, shapes, result):
    operands = [integers(k, *shape) for k, shape in enumerate(shapes)]
    found = ea.einsum(subscripts, *operands)
    assert found.shape == result
    np.testing.assert_array_equal(found, np.einsum(subscripts, *operands))


@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [
        ("i...k,k...j->i...j", [(2, 1, 3), (3, 2)]),
        ("...ij,...j->...i", [(2, 3), (2, 1, 2, 2, 3)]),
    ],
)
def test_e13_gradients_of_ellipsis(subscripts, shapes):
    check_whole(product(subscripts), *[integers(k, *shape) for k, shape in enumerate(shapes)], order=1)


def test_e15_trailing_ellipsis_of_size_1():
    a, b = integers(8, 3, 3, 1, 1), integers(9, 3, 3, 8, 100)
    f = product("ij...,ij...->...")
    found = ea.einsum("ij...,ij...->...", a, b)
    assert found.shape == (8, 100)
    np.testing.assert_array_equal(found, np.einsum("ijkl,ijmn->mn", a, b))
    weights = integers(10, 8, 100)
    by_a, by_b = ea.grad(lambda a, b: np.sum(weights * f(a, b)), (0, 1))(a, b)
    np.testing.assert_array_equal(by_a, np.einsum("ijmn,mn->ij", b, weights)[:, :, None, None])
    np.testing.assert_array_equal(by_b, np.einsum("ijkl,mn->ijmn", a, weights))
    check_whole(f, integers(8, 2, 2, 1, 1), integers(9, 2, 2, 2, 1))


def test_e17_ellipsis_dropped_from_the_output():
    x = np.ones((3, 3, 3))
    np.testing.assert_array_equal(ea.einsum("i...->i", x), [9, 9, 9])
    for optimize in PATHS:
        found = ea.jacobian(lambda x, how=optimize: np.einsum("i...->i", x, optimize=how))(x)
        np.testing.assert_array_equal(found, np.broadcast_to(np.eye(3)[:, :, None, None], (3, 3, 3, 3)))
    check_whole(lambda x: np.einsum("i...->i", x, optimize=True), integers(11, 2, 2, 2))


def test_e19_every_path_has_the_same_value():
    x = np.arange(64.0).reshape(2, 4, 8)
    expected = np.einsum("obk,ijk->ioj", x, x)
    for optimize in PATHS:
        found = ea.compile(lambda x, how=optimize: np.einsum("obk,ijk->ioj", x, x, optimize=how))(x)
        np.testing.assert_array_equal(found, expected)
    assert ea.einsum("ijk,ilm,njm,nlk,abc->", *[np.ones((2, 4, 8))] * 5) == 262144


def test_e19_gradient_does_not_depend_on_the_path():
    operands = [integers(k, 2, 2, 2) for k in range(5)]
    expected = np.einsum("ilm,njm,nlk,abc->ijk", *operands[1:])
    for optimize in PATHS:

        def f(*operands, how=optimize):
            return np.einsum("ijk,ilm,njm,nlk,abc->", *operands, optimize=how)

        np.testing.assert_array_equal(ea.grad(f)(*operands), expected)


@pytest.mark.parametrize(("subscripts", "place"), [("ij->jij", "j"), ("i->j", "j"), ("i->ii", "i")])
@pytest.mark.parametrize("mode", MODES)
def test_e21_unknown_or_repeated_output_index(subscripts, place, mode):
    x = np.ones((2, 2) if subscripts.startswith("ij") else 2)
    with pytest.raises(ea.IndexNotationError, match=f"'{place}'") as caught:
        ea.jacobian(product(subscripts), mode=mode)(x)
    assert isinstance(caught.value, ValueError)
    assert "^" in str(caught.value)
    with pytest.raises(ea.IndexNotationError):
        ea.einsum(subscripts, x)


def test_e23_chain_of_einsum_exp_sum():
    a, b = 0.3 * normal(12, 2, 3), 0.3 * normal(13, 3, 2)

    def f(a, b):
        return np.sum(np.exp(a @ b))

    check(f, a, b)
    outer = np.exp(a @ b)
    close(ea.grad(f)(a, b), outer @ b.T, 1e-13, "gradient by hand")


def test_e23_complex_chain_is_refused_clearly():
    a = np.ones((2, 2), complex)
    with pytest.raises(ea.DifferentiationError, match="complex numbers are not supported yet"):
        ea.jvp(lambda a: np.sum(np.exp(a @ a)), (a,), (a,))
    with pytest.raises(ea.TracingError, match="complex numbers are not supported yet"):
        ea.jvp(lambda b: np.sum(np.exp(a @ b)), (np.ones((2, 2)),), (np.ones((2, 2)),))


def test_e25_outer_product():
    a, b = np.ones(3), np.full(4, 2.0)

    def f(a, b):
        return np.sum(np.einsum("i,j->ij", a, b))

    exactly(f, [a, b], np.full(4, 3.0), argnum=1)
    exactly(f, [a, b], np.full(3, 8.0), argnum=0)
    check_whole(product("i,j->ij"), integers(14, 2), integers(15, 3))
    with pytest.raises(ea.DifferentiationError, match=r"grad needs a function with one scalar output.*\(3, 4\)"):
        ea.grad(product("i,j->ij"))(a, b)


def test_e27_the_same_tensor_in_two_slots():
    x = integers(16, 3)

    def f(x):
        return np.einsum("i,i->", x, x)

    exactly(f, [x], 2 * x)
    exactly_second(f, [x], 2 * np.eye(3))
    check_whole(lambda x: np.einsum("ij,jk->ik", x, x), integers(17, 2, 2))
    check_whole(lambda x: np.einsum("ij,jk,ki->", x, x, x), integers(18, 2, 2))


@pytest.mark.parametrize("count", [3, 26, 33, 40, 52, 53, 63, 70, 120])
def test_e29_many_labels_and_operands(count):
    matrix = np.ones((2, 2))
    chain = [part for k in range(count) for part in (matrix, [k, k + 1])]
    np.testing.assert_array_equal(ea.einsum(*chain, [0, count]), np.full((2, 2), 2.0 ** (count - 1)))


@pytest.mark.parametrize("count", [3, 26, 33, 53, 64])
def test_e29_gradient_in_many_slots(count):
    matrix = np.ones((2, 2))

    def f(x):
        parts = [part for k in range(count) for part in (x, [k, k + 1])]
        return np.einsum(*parts, [])

    # each of the n slots adds the product of the row sums on both sides of it
    np.testing.assert_array_equal(ea.grad(f)(matrix), np.full((2, 2), count * 2.0 ** (count - 1)))


def test_e31_boolean_einsum():
    x = np.ones((2, 1, 1), bool)
    found = ea.einsum("...ij,...jk->...ik", x, x)
    assert found.dtype == bool
    np.testing.assert_array_equal(found, x)
    with pytest.raises(ea.DifferentiationError, match="bool"):
        ea.jacobian(product("...ij,...jk->...ik"))(x, x)
    with pytest.raises(ea.DifferentiationError, match="bool"):
        ea.grad(lambda a: np.einsum("i->", a > 0, dtype=bool))(np.ones(2))


@pytest.mark.parametrize("subscripts", ["ii->i", "ij->ji", "ij->ij", "ij"])
def test_e33_nothing_that_is_returned_aliases_an_input(subscripts):
    a = integers(19, 3, 3)
    kept = a.copy()
    f = product(subscripts)
    for compute in (
        lambda: ea.einsum(subscripts, a),
        lambda: ea.compile(f)(a),
        lambda: ea.jacobian(f)(a),
        lambda: ea.vjp(f, a)[0],
        lambda: ea.jvp(f, (a,), (a,))[1],
        lambda: ea.vjp(f, a)[1](f(a).copy()),
    ):
        first = compute()
        before = first.copy()
        assert first.flags.writeable
        assert not np.shares_memory(first, a)
        first[...] = -77
        np.testing.assert_array_equal(a, kept)
        np.testing.assert_array_equal(compute(), before)


def test_e35_signs_of_tensordot():
    x = np.float64(0.7)

    def f(x):
        return np.tensordot(np.array([1.0, 0.0]), enp.array([[0.0, -x], [x, 0.0]]), (0, 1))

    exactly(f, [x], np.array([0.0, 1.0]))
    exactly_second(f, [x], np.zeros(2))

    def g(a, b):
        return np.tensordot(a, b, ((0, -1), (2, 0)))

    check_whole(g, integers(20, 2, 3, 2), integers(21, 2, 2, 2), order=1)


@pytest.mark.parametrize("multiply", [np.matmul, np.dot, lambda a, b: a @ b])
@pytest.mark.parametrize(
    ("left", "right"), [((2, 3), (3,)), ((3, 3), (3,)), ((3,), (3, 2)), ((3,), (3, 3)), ((3,), (3,))]
)
def test_e37_matmul_with_a_vector(multiply, left, right):
    a, b = integers(22, *left), integers(23, *right)
    check_whole(multiply, a, b)


def test_e37_pullback_of_a_matrix_times_a_vector():
    for m in (2, 3):
        a, b, g = integers(24, m, 3), integers(25, 3), integers(26, m)
        by_a, by_b = ea.vjp(np.matmul, a, b)[1](g)
        np.testing.assert_array_equal(by_a, np.outer(g, b))
        np.testing.assert_array_equal(by_b, a.T @ g)


def test_e39_half_precision_accumulated_in_single():
    a, b = integers(27, 2, 3).astype(np.float16), integers(28, 3, 2).astype(np.float16)

    def f(a, b):
        return np.einsum("ij,jk->ik", a, b, dtype=np.float32)

    value, pullback = ea.vjp(f, a, b)
    assert value.dtype == np.float32
    cotangent = integers(29, 2, 2).astype(np.float32)
    by_a, by_b = pullback(cotangent)
    assert by_a.dtype == by_b.dtype == np.float16
    np.testing.assert_array_equal(by_a, (cotangent @ b.T).astype(np.float16))
    np.testing.assert_array_equal(by_b, (a.T @ cotangent).astype(np.float16))
    for found in every_jacobian(f, [a, b]).values():
        assert found.dtype == np.float16
    tangent = ea.jvp(f, (a, b), (a, b))[1]
    assert tangent.dtype == np.float32


def test_e29_there_is_no_warning_on_the_way():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        matrix = np.ones((2, 2))
        ea.einsum(*[part for k in range(60) for part in (matrix, [k, k + 1])], [0])


def test_e33_no_two_results_share_memory_with_each_other_or_what_was_captured():
    a, x = integers(30, 3), integers(31, 3)
    hessian = ea.hessian(lambda x, y: np.sum(a * x * y * y), (0, 1))(x, a)
    several = ea.compile(lambda x: (2 * x, 2 * x, x, np.expand_dims(x, 0), np.ones_like(x), np.broadcast_to(x, (2, 3))))
    groups = [
        (ea.grad(lambda x: np.sum(a * x))(x), a, x),
        (*[block for row in hessian for block in row], a, x),
        (*several(x), x),
        (*several(x), *several(x)),
    ]
    for group in groups:
        for first, second in itertools.combinations(group, 2):
            assert not np.shares_memory(first, second)
        for result in group:
            assert result.flags.writeable
