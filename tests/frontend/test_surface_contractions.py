"""Products that sum over shared indices: value, shape and dtype as in NumPy, for all ranks."""

from itertools import product
from typing import Any

import numpy as np
import pytest

import einsumad.numpy as enp
from einsumad.errors import IndexNotationError, ShapeError, TracingError
from tests.frontend.surface import check, data, traced, value

MATMUL = [
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 2)),
    ((3,), (3, 3)),
    ((3, 3), (3,)),
    ((2, 3), (3, 4)),
    ((5, 2, 3), (3,)),
    ((3,), (5, 3, 2)),
    ((5, 2, 3), (3, 4)),
    ((5, 2, 3), (5, 3, 4)),
    ((5, 1, 2, 3), (4, 3, 1)),
    ((1, 2, 3), (5, 3, 4)),
    ((3, 0), (0, 2)),
    ((0, 3), (3, 2)),
    ((1, 1), (1, 1)),
]
DOT = [
    ((), ()),
    ((), (3,)),
    ((2, 3), ()),
    ((2, 3), (3,)),
    ((2, 4, 3), (5, 3, 2)),
    ((3,), (2, 3, 4)),
    ((3,), (3,)),
]


@pytest.mark.parametrize("shapes", MATMUL, ids=str)
def test_matmul(shapes: Any) -> None:
    a, b = data(shapes[0]), data(shapes[1], seed=1)
    check(np.matmul, a, b)
    check(lambda x, y: x @ y, a, b)


@pytest.mark.parametrize("shapes", DOT, ids=str)
def test_dot_and_inner(shapes: Any) -> None:
    a, b = data(shapes[0]), data(shapes[1], seed=1)
    check(np.dot, a, b)
    if b.ndim < 2:
        check(np.inner, a, b)
    check(lambda x: x.dot(b), a)
    check(lambda x: np.dot(2.0, x), a.astype("f4"))


def test_inner_of_tensors() -> None:
    check(np.inner, data((2, 4, 3)), data((5, 3)))


@pytest.mark.parametrize("dtypes", list(product(["f8", "f4", "i8", "i1", "?"], repeat=2)), ids=str)
def test_dtypes_of_products(dtypes: tuple[str, str]) -> None:
    a, b = data((2, 3), dtypes[0]), data((3, 2), dtypes[1], 1)
    for f in (np.matmul, np.dot, lambda x, y: np.tensordot(x, y, 1), lambda x, y: np.einsum("ij,jk", x, y)):
        check(f, a, b)


def test_outer_vdot_multiply_outer() -> None:
    check(np.outer, data((2,)), data((3,)))
    check(np.outer, data(()), data((3,)))
    check(np.outer, data(()), data(()))
    check(lambda a: np.outer(a, 2), data((3,), "f4"))
    check(np.vdot, data((2, 3)), data((2, 3)))
    check(np.vdot, data((2, 3)), data((3, 2)))
    check(np.outer, data((2, 3)), data((2, 2)))
    check(np.multiply.outer, data((2, 3)), data((3,), "f4"))
    check(np.outer, data((2, 3)), data((3,)))
    check(np.vdot, data((2, 3)), data((3, 2)))
    with pytest.raises(ShapeError, match="equally many"):
        np.vdot(traced(data((2, 3))), data((3, 1)))


@pytest.mark.parametrize("axes", [0, 1, 2, (0, 1), ([0], [1]), ([1, 0], [0, 1]), (-1, 0), ([], [])], ids=str)
def test_tensordot(axes: Any) -> None:
    check(lambda a, b: np.tensordot(a, b, axes), data((3, 3)), data((3, 3), seed=1))


def test_tensordot_of_tensors() -> None:
    check(lambda a, b: np.tensordot(a, b, ([2, 0], [0, 2])), data((2, 4, 3)), data((3, 5, 2)))
    check(np.tensordot, data((5, 2, 3)), data((2, 3)))


def test_the_sign_of_tensordot_over_nested_entries() -> None:  # E35
    x = traced(np.array(3.0))
    result = np.tensordot([1, 0], enp.array([[0, -x], [x, 0]]), (0, 1))
    np.testing.assert_array_equal(value(result), [0.0, 3.0])


EINSUM = [
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("ij,jk", (2, 3), (3, 4)),
    ("ii->i", (3, 3)),
    ("ii", (3, 3)),
    ("ii->", (3, 3)),
    ("ba", (2, 3)),
    ("ij->", (2, 3)),
    ("i,i", (2,), (1,)),
    ("ij,ij->ij", (2, 1), (1, 3)),
    ("i,i->i", (1,), (1,)),
    ("...i,i->...", (2, 4, 3), (3,)),
    ("i...k,k...j->i...j", (2, 1, 3), (3, 2)),
    ("...ij,...j->...i", (2, 5), (11, 3, 2, 7, 5)),
    ("ij...,ij...->...", (3, 3, 1, 1), (3, 3, 8, 10)),
    ("ijji,kji,jj->kj", (2, 3, 3, 2), (4, 3, 2), (3, 3)),
    ("tiijj->ij", (2, 3, 3, 4, 4)),
    (",i->i", (), (3,)),
    ("i,j->ij", (3,), (0,)),
]


@pytest.mark.parametrize("case", EINSUM, ids=lambda case: case[0])
def test_einsum(case: Any) -> None:
    arrays = [data(shape, seed=k) for k, shape in enumerate(case[1:])]
    check(lambda *args: np.einsum(case[0], *args), *arrays)
    check(lambda *args: np.einsum(case[0], *args, optimize=True), *arrays)


def test_einsum_with_index_lists() -> None:
    a, b = data((2, 3)), data((3, 4), seed=1)
    check(lambda x, y: np.einsum(x, [0, 1], y, [1, 2], [2, 0]), a, b)
    check(lambda x, y: np.einsum(x, [0, 1], y, [1, 2]), a, b)
    check(lambda x, y: np.einsum(x, [..., 1], y, [1, 2], [..., 2]), a, b)
    assert value(np.einsum(traced(a), ["rows", "columns"], ["columns"])).shape == (3,)


def test_einsum_keywords() -> None:
    check(lambda x: np.einsum("i->", x, dtype="f8"), data((3,), "f4"))
    with pytest.raises(TracingError, match="out"):
        np.einsum("i->", traced(data((3,))), out=np.zeros(()))
    with pytest.raises(TracingError, match="casting"):
        np.einsum("i->", traced(data((3,))), casting="unsafe")


def test_einsum_drops_the_ellipsis() -> None:  # E17: NumPy itself refuses without a path search
    np.testing.assert_array_equal(value(np.einsum("i...->i", traced(np.ones((3, 3, 3))))), [9, 9, 9])


def test_a_boolean_einsum_asks_whether_any_is_true() -> None:  # E31
    check(lambda a, b: np.einsum("...ij,...jk->...ik", a, b), np.ones((2, 1, 1), bool), np.ones((2, 1, 1), bool))
    check(lambda a, b: a @ b, data((3, 3), "?"), data((3, 3), "?", 1))


def test_errors_of_einsum() -> None:
    with pytest.raises(ShapeError, match="index 'i'"):  # E11
        np.einsum("ij,i->", traced(data((5, 2))), data((2,)))
    for text in ("ij->jij", "ij->q"):  # E21
        with pytest.raises(IndexNotationError):
            np.einsum(text, traced(data((2, 3))))


def test_sizes_that_do_not_fit() -> None:
    a, b = traced(data((2, 3))), data((2, 4))
    for f in (np.matmul, np.dot, np.inner, lambda x, y: np.tensordot(x, y, 1)):
        with pytest.raises(ShapeError, match=r"\(2, 3\) and \(2, 4\)"):
            f(a, b)
    with pytest.raises(ShapeError):
        np.tensordot(a, b, 3)
    with pytest.raises(ShapeError):
        np.tensordot(a, b, ([0], [0, 1]))
    with pytest.raises(ShapeError, match="scalar"):
        np.matmul(a, 2.0)


def test_trace() -> None:
    for shape in [(3, 3), (2, 3), (3, 2, 4), (0, 3)]:
        for offset in (0, 1, -1, 4):
            check(lambda a, k=offset: np.trace(a, k), data(shape))
    check(lambda a: a.trace(0, 1, 2), data((2, 3, 4)))
    check(np.trace, data((3, 3), "i1"))
    check(np.trace, data((3, 3), "?"))
