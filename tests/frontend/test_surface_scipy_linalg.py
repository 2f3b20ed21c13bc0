"""einsumad.scipy.linalg: value, shape and dtype as in SciPy; what is not supported is refused."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import einsumad as ea
from einsumad.errors import ShapeError, TracingError
from einsumad.frontend.coverage.scipy_linalg_reasons import REASONS
from einsumad.frontend.scipy_linalg import FUNCTIONS
from einsumad.scipy import linalg
from tests.frontend.surface import check, data, traced, value

SHAPES = [(3, 3), (1, 1), (2, 3, 3)]
MATRIX_FUNCTIONS = ("expm", "logm", "sqrtm", "cosm", "sinm", "tanm", "coshm", "sinhm", "tanhm")
DOUBLE_OF_SINGLE = ("logm",)


def matrices(shape: tuple[int, ...], dtype: str = "f8", seed: int = 0) -> np.ndarray:
    return (0.5 * data(shape, dtype, seed) + np.eye(shape[-1])).astype(dtype)


def agrees(f: Any, *args: Any, tolerance: float = 1e-12) -> None:
    """As :func:`check`, for results whose last digits depend on the algorithm."""
    expected = np.asarray(f(*args))
    found = f(*[traced(arg) for arg in args])
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(value(found), expected, rtol=tolerance, atol=tolerance * np.abs(expected).max(initial=1))


@pytest.mark.parametrize("name", MATRIX_FUNCTIONS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_matrix_functions(name: str, shape: tuple[int, ...]) -> None:
    f = getattr(linalg, name)
    agrees(f, matrices(shape))
    agrees(f, np.eye(shape[-1], dtype=int))
    if name not in DOUBLE_OF_SINGLE:
        agrees(f, matrices(shape, "f4"), tolerance=2e-6)


def test_single_precision_stays_where_scipy_has_double() -> None:
    matrix = matrices((3, 3), "f4")
    for f in (linalg.logm, lambda a: linalg.fractional_matrix_power(a, 0.3)):
        found = f(traced(matrix))
        assert found.dtype == np.float32
        np.testing.assert_allclose(value(found), f(matrix), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", MATRIX_FUNCTIONS)
def test_empty_matrices_and_batches(name: str) -> None:
    for shape in ((0, 0), (0, 2, 2), (2, 0, 0)):
        assert value(getattr(linalg, name)(traced(np.zeros(shape)))).shape == shape


def test_what_is_not_finite_gives_nan() -> None:
    batch = np.stack([np.eye(2), np.full((2, 2), np.nan), [[np.inf, 0.0], [0.0, 1.0]]])
    for name in MATRIX_FUNCTIONS:
        found = value(getattr(linalg, name)(traced(batch)))
        assert np.isfinite(found[0]).all()
        assert np.isnan(found[1:]).any(axis=(-2, -1)).all()


def test_frechet_derivative() -> None:
    a, e = matrices((3, 3)), data((3, 3), seed=1)
    check(linalg.expm_frechet, a, e)
    check(lambda a, e: linalg.expm_frechet(a, e, compute_expm=False, check_finite=False), a, e)
    with pytest.raises(ValueError, match="method"):
        linalg.expm_frechet(traced(a), e, method="other")


def test_the_sign() -> None:
    for matrix in (np.array([[1.0, 2.0], [0.3, -1.0]]), matrices((3, 3)) - 1.3 * np.eye(3)):
        agrees(linalg.signm, matrix)
    with pytest.raises(np.linalg.LinAlgError, match="imaginary axis"):
        value(linalg.signm(traced(np.array([[0.0, 1.0], [-1.0, 0.0]]))))


@pytest.mark.parametrize("power", [0.5, 0.3, -1.7, 2, 3.0, 0, -1, -3, np.float64(0.25)])
def test_fractional_powers(power: Any) -> None:
    agrees(lambda a: linalg.fractional_matrix_power(a, power), matrices((3, 3)))
    agrees(lambda a: linalg.fractional_matrix_power(a, power), np.eye(2, dtype=int) * 2)


def test_the_exponent_of_a_power_is_differentiated_too() -> None:
    a = matrices((3, 3))
    found = ea.jacobian(lambda t: linalg.fractional_matrix_power(a, t))(0.3)
    expected = scipy.linalg.logm(a) @ scipy.linalg.fractional_matrix_power(a, 0.3)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("matrix", [np.diag([-1.0, 2.0]), -np.eye(2), np.array([[1.0, 2.0], [2.0, 1.0]])], ids=str)
def test_complex_values_raise(matrix: np.ndarray) -> None:
    for name in ("logm", "sqrtm"):
        f = getattr(linalg, name)
        with pytest.raises(np.linalg.LinAlgError, match=f"{name} .* complex"):
            value(f(traced(matrix)))
        with pytest.raises(np.linalg.LinAlgError, match="complex"):
            ea.grad(lambda a, f=f: np.sum(f(a)))(matrix)


def test_singular_matrices() -> None:
    """A root exists where zero has no Jordan block; a derivative of it, or a logarithm, does not."""
    singular = np.diag([4.0, 0.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SciPy says that the matrix is singular
        np.testing.assert_array_equal(value(linalg.sqrtm(traced(singular))), np.diag([2.0, 0.0]))
        for f, matrix in ((linalg.logm, singular), (linalg.sqrtm, np.eye(2, k=1))):
            with pytest.raises(np.linalg.LinAlgError):
                value(f(traced(matrix)))
        with pytest.raises(np.linalg.LinAlgError, match="singular"):
            ea.grad(lambda a: np.trace(linalg.sqrtm(a)))(singular)


SYSTEMS = [
    ((3, 3), (3,)),
    ((3, 3), (3, 2)),
    ((2, 3, 3), (3,)),
    ((2, 3, 3), (2, 3, 2)),
    ((1, 1), (1,)),
    ((3, 3), (3, 0)),
]


@pytest.mark.parametrize("shapes", SYSTEMS, ids=str)
def test_triangular_systems(shapes: Any) -> None:
    a, b = matrices(shapes[0]), data(shapes[1])
    for options in ({}, {"lower": True, "trans": "T"}, {"trans": 1, "unit_diagonal": True}, {"lower": True}):
        check(lambda a, b, options=options: linalg.solve_triangular(a, b, **options), a, b)
    check(linalg.solve_triangular, a.astype("f4"), b.astype("f4"))
    for lower in (False, True):
        check(lambda a, b, lower=lower: linalg.cho_solve((a, lower), b), a, b)


def test_the_triangle_that_is_not_read() -> None:
    """Infinite and NaN there, and its derivative is zero, to every order."""
    a, b = matrices((3, 3)), data((3,))
    strange = np.where(np.tri(3, k=-1, dtype=bool), np.nan, a)
    found = ea.grad(lambda a: np.sum(linalg.solve_triangular(a, b, check_finite=False) ** 2))(strange)
    expected = ea.grad(lambda a: np.sum(np.linalg.solve(np.triu(a), b) ** 2))(a)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    hessian = ea.hessian(lambda a: np.sum(linalg.solve_triangular(a, b, lower=True, unit_diagonal=True) ** 2))(a)
    unread = ~np.tri(3, k=-1, dtype=bool)
    assert hessian.any()
    assert not hessian[unread].any()
    assert not hessian[:, :, unread].any()


def test_singular_triangles_raise() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        value(linalg.solve_triangular(traced(np.diag([1.0, 0.0])), np.ones(2)))


def test_sylvester_and_lyapunov_equations() -> None:
    a, b = matrices((3, 3)), matrices((2, 2), seed=1)
    agrees(linalg.solve_sylvester, a, b, data((3, 2)))
    agrees(linalg.solve_sylvester, a.astype("f4"), b.astype("f4"), data((3, 2), "f4"), tolerance=2e-6)
    agrees(linalg.solve_continuous_lyapunov, a, data((3, 3)))
    agrees(linalg.solve_lyapunov, a, data((3, 3)))
    for method in (None, "direct", "bilinear"):
        agrees(lambda a, q, method=method: linalg.solve_discrete_lyapunov(a, q, method), 0.4 * a, data((3, 3)))
    assert value(linalg.solve_sylvester(traced(np.zeros((0, 0))), b, np.zeros((0, 2)))).shape == (0, 2)
    stack = value(linalg.solve_sylvester(traced(np.stack([a, 2 * a])), b, data((3, 2))))
    np.testing.assert_allclose(stack[1], scipy.linalg.solve_sylvester(2 * a, b, data((3, 2))), rtol=1e-12)
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        value(linalg.solve_sylvester(traced(np.eye(2)), -np.eye(2), np.eye(2)))


def test_structured_systems() -> None:
    c, r, b = data((3,)), data((3,), seed=1), data((3, 2))
    c[0] += 3
    agrees(linalg.solve_toeplitz, c, b)
    agrees(lambda c, r, b: linalg.solve_toeplitz((c, r), b), c, r, b[:, 0])
    agrees(linalg.solve_circulant, c, b)
    agrees(lambda c, r, x: linalg.matmul_toeplitz((c, r), x), c, r, b)
    bands = data((3, 4))
    bands[1] += 3
    agrees(lambda ab, b: linalg.solve_banded((1, 1), ab, b), bands, data((4,)))
    agrees(lambda ab, b: linalg.solve_banded((0, 2), ab, b), bands[::-1] + 1, data((4, 2)))
    for lower in (False, True):
        agrees(
            lambda ab, b, low=lower: linalg.solveh_banded(ab, b, lower=low),
            bands[[1, 0][:: 1 if lower else -1]],
            data((4,)),
        )
        agrees(lambda c, b, low=lower: linalg.cho_solve_banded((c, low), b), bands[:2], data((4,)))
    with pytest.raises(TracingError, match="singular='lstsq'"):
        linalg.solve_circulant(traced(c), b, singular="lstsq")
    with pytest.raises(ShapeError, match="diagonals"):
        linalg.solve_banded((1, 2), traced(bands), data((4,)))


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8"])
def test_structured_matrices(dtype: str) -> None:
    c, r = data((3,), dtype), data((4,), dtype, seed=1)
    for f in (linalg.toeplitz, linalg.circulant, linalg.hankel, linalg.companion, linalg.fiedler):
        check(f, c)
    for size in (2, 3, 4, 7):
        check(linalg.fiedler_companion, data((size,), dtype))
    check(linalg.toeplitz, c, r)
    check(linalg.hankel, c, r)
    check(linalg.toeplitz, c[:1], r)
    check(linalg.leslie, r, c)
    for mode in ("full", "same", "valid"):
        for n in (1, 2, 3, 5):
            check(lambda a, n=n, mode=mode: linalg.convolution_matrix(a, n, mode), c)
    check(linalg.block_diag, data((2, 3), dtype), c, data((1, 1)))
    check(linalg.khatri_rao, data((2, 3), dtype), data((4, 3)))


def test_shapes_that_do_not_fit() -> None:
    for call in (
        lambda: linalg.expm(traced(data((2, 3)))),
        lambda: linalg.expm_frechet(traced(np.eye(2)), np.eye(3)),
        lambda: linalg.toeplitz(traced(np.eye(2))),
        lambda: linalg.companion(traced(np.ones(1))),
        lambda: linalg.leslie(traced(np.ones(3)), np.ones(3)),
        lambda: linalg.khatri_rao(traced(np.eye(2)), np.eye(3)),
        lambda: linalg.block_diag(traced(np.ones((1, 2, 2)))),
        lambda: linalg.solve_sylvester(traced(np.eye(2)), np.eye(3), np.eye(2)),
        lambda: linalg.solve_discrete_lyapunov(traced(np.eye(2)), np.eye(3)),
        lambda: linalg.solve_triangular(traced(np.eye(2)), np.ones(3)),
        lambda: linalg.solve_triangular(traced(np.eye(2)), 1.0),
    ):
        with pytest.raises(ShapeError):
            call()
    with pytest.raises(TracingError, match="float16"):
        linalg.expm(traced(np.eye(2, dtype="f2")))


def test_counterparts_of_numpy() -> None:
    a, b = matrices((3, 3)), data((3, 2))
    check(linalg.det, a)
    agrees(linalg.det, a.astype("f4"), tolerance=1e-6)
    check(linalg.norm, a)
    check(lambda a: linalg.norm(a, 1, axis=0), a)
    for kind in (None, "gen", "sym", "her", "pos", "diagonal", "tridiagonal", "upper triangular", "lower triangular"):
        for lower in (False, True):
            agrees(lambda a, b, k=kind, low=lower: linalg.solve(a, b, assume_a=k, lower=low), symmetric(a, kind), b)
    agrees(lambda a, b: linalg.solve(a, b, transposed=True), a, b[:, 0])
    agrees(lambda a, b: linalg.solve(a, b, transposed=True, assume_a="lower triangular"), np.tril(a), b)
    for kind in (None, "sym", "upper triangular"):
        agrees(lambda a, k=kind: linalg.inv(a, assume_a=k), symmetric(a, kind))
    with pytest.raises(TracingError, match="assume_a"):
        linalg.solve(traced(a), b, assume_a="toeplitz")


def symmetric(a: np.ndarray, kind: str | None) -> np.ndarray:
    """A matrix that is what is assumed where SciPy does not look, and one that is not where it does not."""
    return a @ a.T if kind == "pos" else a


def test_plain_arrays_get_scipys_own_results() -> None:
    a = matrices((3, 3))
    assert type(linalg.expm(a)) is np.ndarray
    assert np.iscomplexobj(linalg.logm(-a))
    assert linalg.LinAlgError is np.linalg.LinAlgError
    np.testing.assert_array_equal(linalg.schur(a)[0], scipy.linalg.schur(a)[0])
    assert "expm" in dir(linalg)
    with pytest.raises(AttributeError):
        linalg.no_such_function  # noqa: B018


def test_what_is_not_supported_is_refused_with_a_reason() -> None:
    with pytest.raises(TracingError, match=r"scipy\.linalg\.schur .* complex"):
        linalg.schur(traced(np.eye(2)))
    with pytest.raises(TracingError, match="disp"):
        linalg.logm(traced(np.eye(2)), disp=False)
    with pytest.raises(TracingError, match=r"einsumad\.scipy\.linalg"):
        scipy.linalg.expm(traced(np.eye(2)))


def test_every_function_is_supported_or_has_a_reason() -> None:
    public = {
        name
        for name in scipy.linalg.__all__
        if callable(getattr(scipy.linalg, name)) and not inspect.isclass(getattr(scipy.linalg, name))
    }
    assert not public - set(FUNCTIONS) - set(REASONS)
    assert not set(FUNCTIONS) & set(REASONS)
    assert {verdict.status for verdict in REASONS.values()} == {"constant", "refused"}
