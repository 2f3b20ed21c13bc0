"""Constraint maps: projections are projections, moves stay, and both see batches, empty arrays and single entries."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from einsumad.errors import ShapeError
from einsumad.testing.manifolds import MANIFOLDS, Manifold, manifold

SHAPES = [(3, 3), (2, 3, 3), (1, 1), (0, 0), (0, 3, 3), (2, 1, 2, 2)]
RECTANGULAR = ("lower", "upper", "strictly lower", "strictly upper", "diagonal", "toeplitz", "stiefel")
NAMES = list(MANIFOLDS)
COMPLEX = ("hermitian", "spd", "sphere", "oblique", "stiefel", "orthogonal", "toeplitz", "circulant", "lower")


def generator(name):
    return np.random.default_rng(zlib.crc32(name.encode()))


def normal(rng, shape, dtype=np.float64):
    dtype = np.dtype(dtype)
    real = rng.standard_normal(shape)
    return (real + 1j * rng.standard_normal(shape) if dtype.kind == "c" else real).astype(dtype)


def member(name, rng, shape, dtype=np.float64):
    """A random point on the set."""
    v = normal(rng, shape, dtype)
    if name == "spd":
        return (v @ np.conj(np.swapaxes(v, -1, -2)) + np.eye(shape[-1])).astype(dtype)
    if name == "positive lower":
        return np.tril(v, -1) + np.eye(shape[-1], dtype=dtype) * np.exp(v)
    if name == "correlation":
        s = v @ np.swapaxes(v, -1, -2) + np.eye(shape[-1])
        d = np.sqrt(np.diagonal(s, axis1=-2, axis2=-1))
        return (s / d[..., :, None] / d[..., None, :]).astype(dtype)
    if name == "simplex":
        return np.exp(v) / np.sum(np.exp(v), axis=-1, keepdims=True)
    if name == "sphere":
        return v / (np.linalg.norm(v) or 1.0)
    if name == "oblique":
        return v / np.linalg.norm(v, axis=-1, keepdims=True)
    if name in ("stiefel", "orthogonal"):
        return np.linalg.qr(v)[0]
    return MANIFOLDS[name].project(v, v)


def inner(a, b):
    return float(np.sum(np.conj(a) * b).real)


def tolerance(dtype):
    return 100 * float(np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", NAMES)
def test_projection_and_move(name, shape, dtype):
    check(name, shape, dtype)


@pytest.mark.parametrize("shape", [(3, 2), (2, 4, 3), (3, 0), (2, 1)])
@pytest.mark.parametrize("name", RECTANGULAR)
def test_projection_and_move_of_rectangles(name, shape):
    check(name, shape, np.float64)


@pytest.mark.parametrize("shape", [(3, 3), (2, 2, 2)])
@pytest.mark.parametrize("name", COMPLEX)
def test_projection_and_move_of_complex_arrays(name, shape):
    check(name, shape, np.complex128)


def check(name, shape, dtype):
    rng, each = generator(name), MANIFOLDS[name]
    x = member(name, rng, shape, dtype)
    u, v = normal(rng, shape, dtype), normal(rng, shape, dtype)
    kept = x.copy(), v.copy()
    t = each.project(x, v)
    assert t.shape == shape
    assert t.dtype == x.dtype
    close = tolerance(dtype)
    assert each.distance(x) <= close or (x.size == 0 and name in ("sphere", "oblique", "simplex"))
    np.testing.assert_allclose(each.project(x, t), t, rtol=0, atol=close)
    assert abs(inner(u, t) - inner(each.project(x, u), v)) <= close * (1 + np.sum(np.abs(u) + np.abs(v)))
    assert_stays(each, x, t, dtype)
    np.testing.assert_array_equal(x, kept[0])
    np.testing.assert_array_equal(v, kept[1])


def assert_stays(each, x, t, dtype):
    """Moves stay on the set, and are x + t to first order: the rest falls like the square of the step."""
    if x.size == 0:
        assert each.move(x, t).shape == x.shape
        return
    t = t / (1 + np.max(np.abs(t)))
    steps = [2.0**-6, 2.0**-7]
    rest = []
    for step in steps:
        small = (step * t).astype(dtype)
        moved = each.move(x, small)
        assert moved.dtype == x.dtype
        assert each.distance(moved) <= tolerance(dtype)
        rest.append(float(np.max(np.abs(moved - x - small))))
    assert rest[0] <= 10 * steps[0] ** 2
    assert rest[1] <= rest[0] / 3.5 + tolerance(dtype)
    if each.flat:
        assert rest[0] <= tolerance(dtype)
        np.testing.assert_array_equal(each.project(x, t), each.project(moved, t))


@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_on_the_set_is_seen_to_be_off_it(name):
    x = np.array([[1.0, 2.0, -3.0], [5.0, -7.0, 1.0], [0.5, 4.0, 9.0]])
    assert MANIFOLDS[name].distance(x) > 0.05
    assert MANIFOLDS[name].distance(1e6 * x) > 0.05


@pytest.mark.parametrize("name", NAMES)
def test_the_dimension_is_right(name):
    """The trace of the projection is the dimension of the tangent space."""
    n, rng = 3, generator(name)
    x = member(name, rng, (n, n))
    units = np.eye(n * n).reshape(n * n, n, n)
    trace = sum(inner(unit, MANIFOLDS[name].project(x, unit)) for unit in units)
    dimensions = {
        "symmetric": 6, "skew": 3, "hermitian": 6, "lower": 6, "upper": 6, "strictly lower": 3, "strictly upper": 3,
        "diagonal": 3, "toeplitz": 5, "circulant": 3, "spd": 6, "positive lower": 6, "correlation": 3, "simplex": 6,
        "centred": 6, "sphere": 8, "oblique": 6, "stiefel": 3, "orthogonal": 3,
    }  # fmt: skip
    assert trace == pytest.approx(dimensions[name])


def test_open_sets_have_borders():
    assert MANIFOLDS["spd"].distance(-np.eye(2)) >= 1
    assert MANIFOLDS["positive lower"].distance(-np.eye(2)) >= 1
    assert MANIFOLDS["simplex"].distance(np.array([1.5, -0.5])) == pytest.approx(0.5)
    assert MANIFOLDS["correlation"].distance(np.array([[1.0, 2.0], [2.0, 1.0]])) >= 1


@pytest.mark.parametrize("name", NAMES)
def test_wrong_shapes_are_refused(name):
    each, scalar = MANIFOLDS[name], np.ones(())
    assert each.distance(scalar) == np.inf
    with pytest.raises(ShapeError, match=name):
        each.project(scalar, scalar)


@pytest.mark.parametrize(
    "name", [n for n in NAMES if n not in (*RECTANGULAR, "simplex", "centred", "sphere", "oblique")]
)
def test_rectangles_are_refused_where_squares_are_needed(name):
    each, wide = MANIFOLDS[name], np.ones((2, 3))
    assert each.distance(wide) == np.inf
    with pytest.raises(ShapeError, match="square"):
        each.project(wide, wide)


def test_more_columns_than_rows_are_never_orthonormal():
    with pytest.raises(ShapeError, match="no more columns than rows"):
        MANIFOLDS["stiefel"].project(np.ones((2, 3)), np.ones((2, 3)))


def test_names():
    own = Manifold("own", lambda _, v: v, lambda x, t: x + t, lambda _: 0.0, True)
    assert manifold(own) is own
    assert manifold("spd") is MANIFOLDS["spd"]
    with pytest.raises(ValueError, match="'symmetric'"):
        manifold("symetric")
    with pytest.raises(ValueError, match="there are symmetric, skew"):
        manifold("klein bottle")
