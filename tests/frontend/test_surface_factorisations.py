"""numpy.linalg: factorisations, norms and the rest: values as in NumPy."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad.errors import DifferentiationError, ShapeError, TracingError
from einsumad.frontend import registry
from einsumad.frontend.coverage.linalg_reasons import REASONS
from tests.frontend.surface import check, data, traced

LINALG: Any = np.linalg


def general(shape: tuple[int, ...], dtype: str = "f8", seed: int = 0) -> np.ndarray:
    return (data(shape, "f8", seed) + np.eye(*shape[-2:]) * np.arange(1, shape[-1] + 1)).astype(dtype)


def definite(shape: tuple[int, ...], dtype: str = "f8") -> np.ndarray:
    root = data(shape, "f8", 5)
    return (root @ np.swapaxes(root, -1, -2) + np.eye(shape[-1]) * np.arange(1, shape[-1] + 1)).astype(dtype)


SYMMETRIC: dict[str, Callable[..., Any]] = {
    "cholesky": LINALG.cholesky,
    "cholesky upper": lambda a: LINALG.cholesky(a, upper=True),
    "eigvalsh": LINALG.eigvalsh,
    "eigvalsh U": lambda a: LINALG.eigvalsh(a, "U"),
    "eigh": LINALG.eigh,
    "eigh u": lambda a: LINALG.eigh(a, UPLO="u"),
    "svd hermitian": lambda a: LINALG.svd(a - 2 * np.eye(a.shape[-1], dtype=a.dtype), hermitian=True),
    "svdvals hermitian": lambda a: LINALG.svd(a, compute_uv=False, hermitian=True),
    "pinv hermitian": lambda a: LINALG.pinv(a, hermitian=True),
}


@pytest.mark.parametrize("shape", [(3, 3), (1, 1), (2, 3, 3), (0, 2, 2), (0, 0)], ids=str)
@pytest.mark.parametrize("name", SYMMETRIC)
def test_functions_of_symmetric_matrices(name: str, shape: tuple[int, ...]) -> None:
    if name == "pinv hermitian" and shape == (0, 2, 2):
        pytest.skip("NumPy has no largest of no matrices")
    check(SYMMETRIC[name], definite(shape))
    check(SYMMETRIC[name], definite(shape, "f4"))


@pytest.mark.parametrize("name", ["cholesky", "cholesky upper", "eigh", "eigh u", "eigvalsh", "pinv hermitian"])
def test_one_triangle_is_read(name: str) -> None:
    matrix = definite((3, 3))
    mess = matrix + np.tril(np.full((3, 3), np.nan), -1) if name in ("cholesky upper", "eigh u") else None
    check(SYMMETRIC[name], matrix + np.triu(np.full((3, 3), np.nan), 1) if mess is None else mess)


GENERAL: dict[str, Callable[..., Any]] = {
    "svd": LINALG.svd,
    "svd thin": lambda a: LINALG.svd(a, full_matrices=False),
    "svd values": lambda a: LINALG.svd(a, compute_uv=False),
    "svdvals": LINALG.svdvals,
    "qr": LINALG.qr,
    "qr r": lambda a: LINALG.qr(a, mode="r"),
    "pinv": LINALG.pinv,
    "pinv rtol": lambda a: LINALG.pinv(a, rtol=1e-3),
    "pinv rtol None": lambda a: LINALG.pinv(a, rtol=None),
    "matrix_rank": LINALG.matrix_rank,
    "matrix_rank tol": lambda a: LINALG.matrix_rank(a, tol=0.9),
    "matrix_rank rtol": lambda a: LINALG.matrix_rank(a, rtol=0.2),
    "matrix_transpose": LINALG.matrix_transpose,
    "trace": lambda a: LINALG.trace(a, offset=1),
    "diagonal": lambda a: LINALG.diagonal(a, offset=-1),
    "matmul": lambda a: LINALG.matmul(LINALG.matrix_transpose(a), a),
    "vecdot": lambda a: LINALG.vecdot(a, a[..., :1, :]),
    "vecdot axis": lambda a: LINALG.vecdot(a, a, axis=0),
    "tensordot": lambda a: LINALG.tensordot(a, a, axes=((-1,), (-1,))),
}
SHAPES = [(3, 3), (4, 2), (2, 4), (1, 1), (3, 1), (2, 3, 2), (2, 2, 3), (0, 3), (3, 0), (0, 2, 2)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", GENERAL)
def test_functions_of_matrices(name: str, shape: tuple[int, ...]) -> None:
    function = GENERAL[name]
    try:
        with np.errstate(all="ignore"):
            function(general(shape))
    except ValueError:
        pytest.skip("NumPy refuses it too")
    check(function, general(shape))
    check(function, general(shape, "f4"))


def test_integers_become_floats() -> None:
    whole = np.array([[4, 1], [1, 3]])
    for function in (*SYMMETRIC.values(), LINALG.svd, LINALG.qr, LINALG.pinv, LINALG.svdvals, LINALG.cond):
        check(function, whole)
    for order in (None, "nuc", 2, -2, 1, "fro", math.inf):
        check(lambda a, order=order: LINALG.norm(a, order), whole)
    for order in (3, 0, -1, 1):
        check(lambda a, order=order: LINALG.norm(a, order, axis=0), whole)


VECTOR_ORDERS = [None, 0, 1, 2, 3, 1.5, 4, 0.5, -1, -2, -0.5, math.inf, -math.inf]
MATRIX_ORDERS = [None, "fro", "f", "nuc", 1, -1, 2, -2, math.inf, -math.inf]


@pytest.mark.parametrize("order", VECTOR_ORDERS, ids=str)
def test_vector_norms(order: Any) -> None:
    for point in (data((3, 4)) - 0.5, np.array([[0.0, 1.0], [0.0, -3.0]]), np.zeros((2, 2))):
        check(lambda a: LINALG.norm(a, order, axis=-1), point)
        check(lambda a: LINALG.norm(a, order, axis=0, keepdims=True), point.astype("f4"))
    if order is not None:
        check(lambda a: LINALG.vector_norm(a, ord=order), data((2, 3)))
        check(lambda a: LINALG.vector_norm(a, ord=order, axis=(2, 0), keepdims=True), data((2, 3, 4)))
    check(lambda a: LINALG.norm(a, order), data((5,)))
    if order != -math.inf:
        check(lambda a: LINALG.norm(a, order), data((0,)))


@pytest.mark.parametrize("order", MATRIX_ORDERS, ids=str)
def test_matrix_norms(order: Any) -> None:
    for shape in ((3, 2), (2, 3), (3, 3)):
        check(lambda a: LINALG.norm(a, order, axis=(0, 1)), general(shape) - 0.5)
        check(lambda a: LINALG.norm(a, order, axis=(1, 0), keepdims=True), general(shape, "f4"))
    check(lambda a: LINALG.norm(a, order, axis=(2, 0)), data((2, 4, 3)))
    if order is not None:
        check(lambda a: LINALG.norm(a, order), general((3, 2)))
    check(lambda a: LINALG.matrix_norm(a, ord=order, keepdims=True), data((2, 4, 3)))
    if order not in (-1, -2, -math.inf):
        check(lambda a: LINALG.matrix_norm(a, ord=order), data((0, 3)))


@pytest.mark.parametrize("order", [None, 2, -2, 1, -1, math.inf, -math.inf, "fro", "nuc"], ids=str)
def test_condition_numbers(order: Any) -> None:
    check(lambda a: LINALG.cond(a, order), general((3, 3)))
    check(lambda a: LINALG.cond(a, order), general((2, 3, 3), "f4"))
    if order not in (2, -2, None, "nuc"):
        check(lambda a: LINALG.cond(a, order), np.stack([np.eye(2), np.full((2, 2), np.nan), 2 * np.eye(2)]))
        check(lambda a: LINALG.cond(a, order), np.array([[1.0, 2.0], [2.0, 4.0]]))
    if order != "nuc":
        check(lambda a: LINALG.cond(a, order), np.zeros((2, 2)))
    with pytest.raises(np.linalg.LinAlgError, match="empty"):
        LINALG.cond(traced(np.zeros((0, 0))), order)
    empty = np.zeros((0, 3, 3))
    found = ea.compile(lambda a: LINALG.cond(a, order))(empty)
    assert found.shape == LINALG.cond(empty, order).shape
    assert ea.jacobian(lambda a: LINALG.cond(a, order))(empty).shape == (0, 0, 3, 3)


def test_products_and_powers() -> None:
    a, b, c = general((3, 3)), data((3, 4)), data((4, 2))
    for exponent in (-3, -1, 0, 1, 2, 3, 5, 8):
        check(lambda m, n=exponent: LINALG.matrix_power(m, n), a)
        check(lambda m, n=exponent: LINALG.matrix_power(m, n), general((2, 2, 2), "f4"))
    check(lambda *m: LINALG.multi_dot(m), a, b, c)
    check(lambda *m: LINALG.multi_dot(m), data((3,)), b, c)
    check(lambda *m: LINALG.multi_dot(m), data((3,)), b, c, data((2,)))
    check(lambda *m: LINALG.multi_dot(m), b, c)
    check(LINALG.outer, data((3,)), data((2,)))
    check(LINALG.cross, data((2, 3)), data((3,), seed=1))
    check(lambda x, y: LINALG.cross(x, y, axis=0), data((3, 2)), data((3, 2), seed=1))
    check(LINALG.tensorinv, general((6, 6)).reshape(2, 3, 3, 2))
    check(lambda t: LINALG.tensorinv(t, ind=1), general((6, 6)).reshape(6, 3, 2))
    check(LINALG.tensorsolve, general((6, 6)).reshape(2, 3, 6), data((2, 3)))
    check(
        lambda t, y: LINALG.tensorsolve(t, y, (0,)), general((6, 6)).reshape(2, 3, 6).transpose(2, 0, 1), data((2, 3))
    )


LEAST_SQUARES = [((4, 2), (4,)), ((4, 2), (4, 3)), ((2, 4), (2,)), ((3, 3), (3, 2)), ((4, 2), (4, 0))]


@pytest.mark.parametrize("shapes", LEAST_SQUARES, ids=str)
def test_least_squares(shapes: Any) -> None:
    a, b = general(shapes[0]), data(shapes[1], seed=3)
    for matrix in (a, np.ones(shapes[0]) + np.arange(1.0, 1 + shapes[0][0])[:, None] * 0):
        found, expected = LINALG.lstsq(traced(matrix), traced(b)), LINALG.lstsq(matrix, b)
        for part, wanted in zip(found, expected, strict=True):
            array = part.numpy() if isinstance(part, ea.Tensor) else part
            np.testing.assert_allclose(array, wanted, rtol=1e-11, atol=1e-12)
            assert array.dtype == np.asarray(wanted).dtype
            assert np.shape(array) == np.shape(wanted)


def test_what_is_refused() -> None:
    with pytest.raises(TracingError, match=r"qr\(mode='complete'\).*no derivative"):
        LINALG.qr(traced(data((3, 2))), mode="complete")
    with pytest.raises(TracingError, match="LAPACK's own form"):
        LINALG.qr(traced(data((3, 3))), mode="raw")
    with pytest.raises(TracingError, match="number as the cut-off"):
        LINALG.pinv(traced(data((2, 3, 3))), rcond=np.array([0.1, 0.2]))
    with pytest.raises(TracingError, match="rank of the matrix"):
        ea.compile(lambda a: LINALG.lstsq(a, np.ones(3))[0])(data((3, 2)))
    with pytest.raises(TracingError, match="float16"):
        LINALG.cholesky(traced(data((2, 2), "f2")))
    with pytest.raises(TracingError, match="eigvals is not supported"):
        LINALG.eigvals(traced(data((2, 2))))
    with pytest.raises(ValueError, match="UPLO"):
        LINALG.eigh(traced(data((2, 2))), "X")
    with pytest.raises(ShapeError, match="square"):
        LINALG.eigvalsh(traced(data((2, 3))))
    with pytest.raises(ValueError, match="norm order"):
        LINALG.norm(traced(data((2, 3))), 3)
    with pytest.raises(ValueError, match="norm order"):
        LINALG.norm(traced(data((3,))), "nuc")
    with pytest.raises(np.linalg.LinAlgError):
        ea.grad(lambda a: LINALG.cholesky(a)[0, 0])(-np.eye(2))


def test_views_see_what_is_written() -> None:
    def f(x: Any) -> Any:
        turned = LINALG.matrix_transpose(x)
        x[0, 1] = 3 * x[1, 1]
        return np.sum(turned[1] ** 2)

    point = data((2, 2))
    np.testing.assert_allclose(ea.grad(f)(point), [[0, 0], [0, 20 * point[1, 1]]])


def test_every_function_has_a_handler_or_a_reason() -> None:
    public = {name for name in np.linalg.__all__ if not isinstance(getattr(np.linalg, name), type)}
    handled = {name for name in public if getattr(np.linalg, name) in registry._functions}
    assert handled.isdisjoint(REASONS)
    assert handled | set(REASONS) == public
    assert all(verdict.status == "refused" and verdict.reason for verdict in REASONS.values())


@pytest.mark.parametrize("f", [np.linalg.cholesky, np.linalg.eigvalsh, lambda a: np.linalg.eigh(a)[1]])
def test_no_derivative_at_a_matrix_that_is_not_symmetric(f: Any) -> None:
    """The value is NumPy's, of one triangle; the derivative on symmetric matrices would be another one than its."""
    half = np.tril(data((3, 3))) + 3 * np.eye(3)
    np.testing.assert_allclose(f(traced(half)).numpy(), f(half), rtol=1e-12, atol=1e-12)
    with pytest.raises(DifferentiationError, match="not symmetric"):
        ea.grad(lambda a: np.sum(f(a)))(half)
    whole = half + np.tril(half, -1).T
    assert np.isfinite(ea.grad(lambda a: np.sum(f(a)))(whole + 1e-12 * data((3, 3), seed=4))).all()
