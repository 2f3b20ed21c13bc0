"""Every operation on the derivatives of the cases is that of the dense arrays."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import einsumad as ea
from einsumad.compressed import BlockTensor, CompressedTensor
from einsumad.errors import LinearAlgebraError
from tests.compressed.agreement import (
    check_algebra,
    check_close,
    check_conversions,
    check_parts,
    check_products,
    check_square,
    random,
)
from tests.compressed.cases import CASES, x, y

SINGLE = [case for case in CASES if isinstance(case.argnums, int) and case.name != "all layers, tanh, nested"]
SEVERAL = [case for case in CASES if case not in SINGLE]
LARGE = np.linspace(-1, 1, 300)

STRUCTURES = {
    "factorisation, one factor": "2 A[j,l] δ[i,k]",
    "masked": "2 Σ_m [A[i,m]] B[j,m] B[l,m] δ[i,k] + 0.2 δ[i,k] δ[j,l]",
    "ridge": "2 A[j,l] δ[i,k] + 0.2 δ[i,k] δ[j,l]",
    "two traces": "A[k,i] B[j,l] + A[i,k] B[l,j]",
    "logistic, few samples": "Σ_k A[k] B[k,i] B[k,j] + δ[i,j]",
    "exponentials": "A[i] δ[i,j]",
    "gather, jacobian": "2 A[j] [j = B[i]]",
    "convolution, jacobian": "Σ_k A[k] [j = i - k + 2]",
    "windows": "Σ_klm A[k] B[l] B[m] [i = k + l] [j = k + m]",
    "outer, jacobian": "A[j] δ[i,k] + A[i] δ[j,k]",
    "untaken branch": "[A[i]] B[i] δ[i,j]",
    "update of rank one": "2 A[i] A[j] + B[i] δ[i,j]",
    "independent": "0",
    "scalar": "12",
}


def named(cases):
    return pytest.mark.parametrize("case", cases, ids=[case.name for case in cases])


@named(SINGLE)
def test_one_variable(case):
    H = case.derivative(compressed=True)
    assert isinstance(H, CompressedTensor)
    dense = H.dense()
    check_close(dense, case.derivative())
    check_close(dense, case.derivative(mode="forward"))
    assert np.isfinite(dense).all()
    check_products(H, dense)
    check_algebra(H, dense)
    check_parts(H, dense)
    check_conversions(H, dense)
    if dense.shape[: H.rows] == dense.shape[H.rows :]:
        check_square(H, dense)
    assert case.derivative(compressed=True).structure == H.structure
    assert H.same_structure(case.derivative(compressed=True))


def arrays_of(tree):
    """The leaves of nested tuples, lists and dicts, in order."""
    if isinstance(tree, dict):
        tree = [tree[key] for key in sorted(tree)]
    return [leaf for part in tree for leaf in arrays_of(part)] if isinstance(tree, (list, tuple)) else [tree]


def whole(dense, shapes):
    """A tree of trees of blocks as one matrix."""
    sizes = [int(np.prod(shape)) for shape in shapes]
    blocks = iter(arrays_of(dense))
    return np.block([[np.asarray(next(blocks)).reshape(rows, columns) for columns in sizes] for rows in sizes])


@named(SEVERAL)
def test_several_variables(case):
    H = case.derivative(compressed=True)
    assert isinstance(H, BlockTensor)
    shapes = H.layout.shapes
    matrix = np.asarray(H)
    size = np.abs(matrix).max(initial=1)
    factor = 100 if {*H.layout.dtypes} == {H.dtype} else 1e10
    check_close(whole(H.dense(), shapes).astype(H.dtype), matrix, 0, factor)
    check_close(whole(case.derivative(mode="forward"), shapes).astype(H.dtype), matrix, 0, factor)
    assert case.derivative(compressed=True).structure == H.structure
    for extra in ((), (2,)):
        parts = [
            random((*shape, *extra), dtype, seed)
            for seed, (shape, dtype) in enumerate(zip(shapes, H.layout.dtypes, strict=True))
        ]
        v = H.layout.unflatten(parts)
        flat = np.concatenate(
            [part.reshape(int(np.prod(shape)), *extra) for part, shape in zip(parts, shapes, strict=True)]
        )
        scale = size * max(1, len(matrix)) * 10
        for found, expected in (
            (H @ v, matrix @ flat),
            ((2 * H - H.T / 2) @ v, 2 * (matrix @ flat) - matrix.T @ flat / 2),
        ):
            got = np.concatenate([np.asarray(part, H.dtype).reshape(-1, *extra) for part in arrays_of(found)])
            check_close(got, expected, scale, factor)
        check_close(H.quadratic(v), np.einsum("i...,ij,j...->...", flat, matrix, flat), scale * len(matrix), factor)
    diagonal = np.concatenate([np.ravel(part) for part in arrays_of(H.diagonal())])
    check_close(diagonal.astype(H.dtype), np.diagonal(matrix), 1, factor)
    check_close(H.trace(), np.trace(matrix), size * len(matrix), factor)
    check_close(np.asarray(H @ H), matrix @ matrix, size**2 * len(matrix), factor)
    if matrix.size:
        check_close(H.to_sparse().toarray(), matrix, 0, factor)


@pytest.mark.whole_planner
@named([case for case in CASES if case.name in STRUCTURES])
def test_structures_are_these(case):
    first, *_ = case.derivative(compressed=True).structure.splitlines()
    assert first.split(" = ", 1)[1] == STRUCTURES[case.name]


@pytest.mark.parametrize(
    ("f", "most"),
    [
        (lambda x: np.sum(np.exp(x)), 1),
        (lambda x: np.sum((x[1:] - x[:-1]) ** 4) + np.sum(np.exp(x)), 2),
        (lambda x: np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2), 3),
        (lambda x: np.sum(x**4) + np.sum(np.sin(x)) ** 2, 2),
        (lambda x: np.sum((x - np.mean(x)) ** 2), 1),
        (lambda x: np.sum(np.exp(x[1:] + x[:-1])), 2),
    ],
)
def test_structure_takes_few_bytes(f, most):
    H = ea.hessian(f, compressed=True)(LARGE)
    assert H.nbytes <= most * LARGE.nbytes
    check_close(H @ LARGE, ea.hessian(f)(LARGE) @ LARGE, float(np.abs(H.dense()).sum(axis=1).max()))


def test_a_number_is_an_array_too():
    H = ea.hessian(lambda x: x**3, compressed=True)(2.0)
    assert np.asarray(H) == 12
    assert np.asarray(H).shape == ()
    assert H.inverse().structure.splitlines()[0] == "H = 0.0833333"


def test_sums_of_masks_are_counts():
    """The product of two masks over a summed index is a number, not a mask."""
    f = next(case for case in CASES if case.name == "mask squared")
    H = f.derivative(compressed=True)
    check_close((H @ H).dense(), H.dense() @ H.dense())
    outer = ea.hessian(lambda x: np.sum(np.maximum(x, 0)) ** 2, compressed=True)(np.array([1.0, -1.0, 2.0]))
    assert (outer @ outer).dense().max() == 8
    assert outer.T @ np.ones(3) @ np.ones(3) == 8


def test_nothing_that_was_given_or_returned_is_shared():
    weights, point = np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.0, 1.0])
    H = ea.hessian(lambda x, w: np.sum(w * x**3) + np.sum(w * x) ** 2, compressed=True)(point, weights)
    J = ea.jacobian(lambda x, w: w * x, compressed=True)(point, weights)
    before = H.dense()
    assert weights.flags.writeable
    weights[:] = point[:] = 7
    for found in (H.dense(), np.asarray(H), H.diagonal(), H.to_sparse().data, J.dense(), H.T.dense(), H[0].dense()):
        found[...] = -1
    np.testing.assert_array_equal(H.dense(), before)
    np.testing.assert_array_equal(J.dense(), np.diag([1.0, 2.0, 3.0]))
    right = np.ones(3)
    one = ea.jacobian(lambda x: x, compressed=True)(point)
    for found in (one @ right, right @ one, one.solve(right), one.sqrt_matvec(right)):
        found[...] = -1
    np.testing.assert_array_equal(right, 1)


def test_blocks_are_those_of_the_values_that_were_given():
    params = {"a": np.ones(2), "b": [np.ones(2)]}
    H = ea.hessian(lambda p: np.sum(p["a"] ** 3 * p["b"][0] ** 2), compressed=True)(params)
    params["a"][:] = 9
    params["b"][0] = None
    np.testing.assert_array_equal(np.diagonal(np.asarray(H)), [6, 6, 2, 2])


def test_pickles_are_refused_and_copies_are_the_tensor():
    H = ea.hessian(lambda x: np.sum(x**3), compressed=True)(x)
    both = ea.hessian(lambda x, y: np.sum(x * y), argnums=(0, 1), compressed=True)(x, y)
    for held in (H, both):
        with pytest.raises(TypeError, match=r"cannot be pickled.*pickle dense\(\)"):
            pickle.dumps(held)
        assert copy.copy(held) is held
        assert copy.deepcopy([held])[0] is held


BAD = [
    (lambda H: H @ np.ones(2), "first axes"),
    (lambda H: np.ones(2) @ H, "last axes"),
    (lambda H: H.solve(np.ones(2)), "first axes"),
    (lambda H: H @ (1j * x), "real numbers"),
    (lambda H: H.solve(["a", "b", "c"]), "real numbers"),
    (lambda H: H.quadratic([None] * 3), "real numbers"),
    (lambda H: H.as_linear_operator() @ (1j * x), "real numbers"),
    (lambda H: H.solve(x, damping="0.1"), "damping must be"),
    (lambda H: H.solve(x, damping=None), "damping must be"),
    (lambda H: H.solve(x, damping=np.inf), "damping must be"),
    (lambda H: H.solve(x, method="lu"), "method must be"),
    (lambda H: H.solve(x, method="cg", tolerance=0), "tolerance must be"),
    (lambda H: H.solve(x, method="cg", tolerance=np.nan), "tolerance must be"),
    (lambda H: H.with_rows("a"), "rows must be"),
    (lambda H: H.with_rows(3), "rows must be"),
    (lambda H: H.same_structure(3), "needs a CompressedTensor"),
    (lambda H: H[[0, 1]], "whole numbers and slices"),
    (lambda H: H[True], "whole numbers and slices"),
    (lambda H: H[1.0], "neither a whole number"),
    (lambda H: H[0, 0, 0], "too many indices"),
    (lambda H: H[3], "out of bounds"),
    (lambda H: H + H[0], "cannot be added"),
    (lambda H: H[0].solve(x), "square matrix"),
    (lambda H: H * x, "ufuncs"),
    (lambda H: H * "a", "sequence"),
]


@pytest.mark.parametrize(("wrong", "text"), BAD)
def test_wrong_input_is_named(wrong, text):
    H = ea.hessian(lambda x: np.sum(x**3) + np.sum(x) ** 2, compressed=True)(x)
    with pytest.raises((TypeError, ValueError, IndexError), match=text):
        wrong(H)


def test_nan_is_refused_by_systems_and_kept_by_products():
    H = ea.hessian(lambda x: np.sum(x**3), compressed=True)(np.array([1.0, np.nan]))
    np.testing.assert_array_equal(H @ np.ones(2), [6, np.nan])
    for refused in (lambda: H.solve(np.ones(2)), H.logdet, H.inverse, H.inertia):
        with pytest.raises(LinearAlgebraError, match="not finite"):
            refused()
    assert not H.is_positive_definite()


@pytest.mark.parametrize("function", [lambda x: np.sum(x**2), lambda x: np.sum(x[:2] ** 2), np.sum])
def test_a_structure_without_arrays_is_compiled(function):
    transform = ea.hessian(function, compressed=True)
    fast, x = ea.compile(transform), np.arange(3.0)
    for _ in range(2):
        assert fast(x).nbytes == 0
        assert np.array_equal(fast(x).dense(), ea.hessian(function)(x))
    with pytest.raises(ea.TracingError, match="returned nothing"):
        ea.compile(lambda _: {})(x)
