"""numpy.linalg: value, shape and dtype as in NumPy."""

import math
from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad.errors import LinearAlgebraError, ShapeError, TracingError
from tests.frontend.surface import check, data, traced


def matrices(shape: tuple[int, ...], dtype: str = "f8", seed: int = 0) -> np.ndarray:
    return (data(shape, dtype, seed) + 2 * np.eye(shape[-1])).astype(dtype)


@pytest.mark.parametrize("f", [np.linalg.inv, np.linalg.det, np.linalg.slogdet], ids=lambda f: f.__name__)
@pytest.mark.parametrize("shape", [(3, 3), (1, 1), (2, 3, 3), (0, 2, 2), (0, 0)], ids=str)
def test_functions_of_square_matrices(f: Any, shape: tuple[int, ...]) -> None:
    check(f, matrices(shape))
    check(f, matrices(shape, "f4"))
    check(f, np.eye(3, dtype=int) * 2)


SOLVE = [
    ((3, 3), (3,)),
    ((3, 3), (3, 2)),
    ((4, 3, 3), (3,)),  # B11
    ((3, 3, 3), (3, 3)),
    ((4, 3, 3), (3, 2)),
    ((3, 3), (4, 3, 2)),
    ((4, 1, 3, 3), (5, 3, 2)),
    ((1, 1), (1,)),
    ((3, 3), (3, 0)),
]


@pytest.mark.parametrize("shapes", SOLVE, ids=str)
def test_solve(shapes: Any) -> None:
    check(np.linalg.solve, matrices(shapes[0]), data(shapes[1]))
    check(np.linalg.solve, matrices(shapes[0], "f4"), data(shapes[1], "f4"))
    check(np.linalg.solve, matrices(shapes[0], "f4"), data(shapes[1]))


def test_a_right_side_is_a_vector_only_with_one_axis() -> None:  # B11
    with pytest.raises(ValueError, match="vector only if"):
        np.linalg.solve(traced(matrices((4, 3, 3))), data((4, 3)))
    with pytest.raises(ShapeError):
        np.linalg.solve(traced(matrices((3, 3))), 2.0)


LOGARITHMS = {"slogdet": lambda a: np.linalg.slogdet(a)[1], "log det": lambda a: np.log(np.linalg.det(a))}
BATCH = np.stack([matrices((2, 2)), np.array([[1.0, 2.0], [2.0, 4.0]]), matrices((2, 2), seed=1)])


@pytest.mark.whole_planner
@pytest.mark.parametrize("name", LOGARITHMS)
def test_logarithms_of_determinants_at_singular_matrices(name: str) -> None:
    """The value is -inf there and the derivative NaN, which nothing else sees, and where it is not taken nobody."""
    f, singular = LOGARITHMS[name], [False, True, False]
    value, tangent = ea.jvp(f, (BATCH,), (np.ones_like(BATCH),))
    assert np.isneginf(value).tolist() == np.isnan(tangent).tolist() == singular
    for order in (1, 2):
        for mode in ("forward", "reverse", "cross-country"):
            taken = ea.derivative(lambda a: np.sum(np.where(np.linalg.det(a) != 0, f(a), 7.0)), order=order, mode=mode)(
                BATCH
            )
            alone = [ea.derivative(f, order=order)(a) for a in BATCH]
            for k in range(3):
                found = taken[(k, *(slice(None), slice(None), k) * (order - 1))]
                np.testing.assert_allclose(found, np.zeros_like(alone[k]) if singular[k] else alone[k], rtol=1e-13)
                assert np.isnan(alone[k]).any() == singular[k]


@pytest.mark.parametrize(
    ("f", "matrix", "text"),
    [
        (np.linalg.inv, BATCH, r"inv of shape \(3, 2, 2\): Singular matrix; .* exist for invertible matrices"),
        (lambda a: np.linalg.solve(a, np.ones(2)), BATCH[1], "solve of shape .* Singular matrix"),
        (np.linalg.cholesky, -np.eye(2), "chol of shape .*not positive definite; .* symmetric positive definite"),
    ],
)
def test_matrices_that_functions_do_not_exist_for(f: Any, matrix: np.ndarray, text: str) -> None:
    for call in (ea.compile(f), ea.jacobian(f), lambda a: ea.jvp(f, (a,), (a,))):
        with pytest.raises(LinearAlgebraError, match=text) as caught:
            call(matrix)
        assert isinstance(caught.value, np.linalg.LinAlgError)


def test_solutions_with_a_singular_matrix_have_nan_for_a_derivative() -> None:
    f, right = (lambda b: np.sum(np.linalg.solve(BATCH, b))), np.ones((3, 2, 1))
    assert np.isnan(ea.grad(f)(right)).all((1, 2)).tolist() == [False, True, False]
    with pytest.raises(LinearAlgebraError):
        ea.value_and_grad(f)(right)


def test_matrices_that_are_not_square_and_dtypes_without_linear_algebra() -> None:
    for f in (np.linalg.inv, np.linalg.det, np.linalg.slogdet):
        with pytest.raises(ShapeError, match="square"):
            f(traced(data((2, 3))))
        with pytest.raises(TracingError, match="float16"):
            f(traced(matrices((2, 2), "f2")))


NORMS = [
    {},
    {"axis": 0},
    {"axis": -1, "keepdims": True},
    {"axis": (0, 1)},
    {"ord": "fro"},
    {"ord": "fro", "axis": (1, 0), "keepdims": True},
    {"ord": 2, "axis": 1},
    {"ord": 1, "axis": 0},
    {"ord": math.inf, "axis": 1, "keepdims": True},
    {"ord": -math.inf, "axis": 1},
]


@pytest.mark.parametrize("options", NORMS, ids=str)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8"])
def test_norms(options: dict[str, Any], dtype: str) -> None:
    check(lambda a: np.linalg.norm(a, **options), data((2, 3), dtype))


def test_norms_of_other_ranks() -> None:
    check(np.linalg.norm, data((3,)))
    check(np.linalg.norm, data((2, 3, 4)))
    check(np.linalg.norm, data(()))
    check(np.linalg.norm, np.zeros(3))
    for order in (1, 2, math.inf):
        check(lambda a, order=order: np.linalg.norm(a, order), data((3,)))
    check(lambda a: np.linalg.norm(a, axis=(0, 2)), data((2, 3, 4)))
