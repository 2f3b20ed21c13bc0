"""What is constant but for jumps becomes whole numbers: indices that depend on values, as interpolation needs them."""

from __future__ import annotations

import enum
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import einsumad as ea
import einsumad.numpy as enp
from einsumad.errors import TracingError
from einsumad.frontend.carrying import carries_derivative
from tests.frontend.slopes import along, check_slopes
from tests.frontend.surface import check, data

X = np.array([0.3, 1.7, 2.2, 0.9])
TABLE = np.arange(7.0) ** 3
OFFSETS = np.array([0.0, 1.0, 2.0, 3.0])

CONSTANT: dict[str, Callable[[Any], Any]] = {
    "floor": np.floor,
    "ceil": np.ceil,
    "rint": np.rint,
    "round": lambda x: np.round(x, 1) * 10,
    "trunc": np.trunc,
    "fix": np.fix,
    "sign": np.sign,
    "floor_divide": lambda x: x // 0.4,
    "divmod": lambda x: np.divmod(x, 0.4)[0],
    "modf": lambda x: np.modf(x)[1],
    "heaviside": lambda x: np.heaviside(x - 1, 0.5),
    "where": lambda x: np.where(x > 1, 2.0, OFFSETS),
    "a comparison": lambda x: (x > 1) * 2.5,
    "a product": lambda x: -2 * np.floor(x) * OFFSETS + 0.5,
    "a sum": lambda x: np.sum(np.floor(x)) + np.cumsum(np.ceil(x)),
    "a layout": lambda x: np.floor(np.reshape(x, (2, 2))).T[::-1, None],
    "joined": lambda x: np.concatenate([np.floor(x), OFFSETS, np.ceil(x)]),
    "a clip": lambda x: np.clip(np.floor(x), 0, 1),
    "a maximum": lambda x: np.maximum(np.floor(x), np.ceil(x) - 1.5),
    "a remainder": lambda x: np.remainder(np.floor(x), 2),
    "a function": lambda x: np.sqrt(np.abs(np.floor(x))) + np.sort(np.ceil(x)),
    "an inner gradient": ea.grad(lambda v: np.sum(v * np.floor(v))),
}


@pytest.mark.parametrize("name", CONSTANT)
def test_values_are_those_of_astype(name: str) -> None:
    f = CONSTANT[name]
    for dtype in (int, np.int8, "uint16"):
        check(lambda x, dtype=dtype: f(x).astype(dtype), np.abs(X))
    for transform in (ea.compile, lambda f: lambda x: ea.jvp(f, (x,), (x,))[0]):
        result = transform(lambda x: f(x).astype(np.int32) * x[0])(X)
        np.testing.assert_array_equal(result, f(X).astype(np.int32) * X[0])
    total = lambda x: np.sum(np.astype(f(x), int) * np.sum(x**2))  # noqa: E731
    expected = 2 * X * np.sum(f(X).astype(int))
    for gradient in (ea.grad(total), ea.compile(ea.grad(total)), ea.jacobian(total, mode="forward")):
        np.testing.assert_allclose(gradient(X), expected)


CARRYING: dict[str, Callable[[Any], Any]] = {
    "itself": lambda x: x,
    "a sum with it": lambda x: np.floor(x) + 0.1 * x,
    "the rest": lambda x: x - np.floor(x),
    "the remainder": lambda x: x % 1,
    "a choice": lambda x: np.where(x > 1, np.floor(x), x),
    "a clip": lambda x: np.clip(x, 0, 1),
    "an entry of many": lambda x: np.concatenate([np.floor(x), x[:1]]),
    "the straight-through estimator": ea.custom_function(np.round, push=lambda _, tangents: tangents[0]),
    "an inner gradient": lambda x: ea.grad(lambda v: np.sum(v**2 * np.floor(x)))(x),
}


@pytest.mark.parametrize("name", CARRYING)
def test_what_has_a_derivative_is_refused(name: str) -> None:
    for transform in (ea.grad, ea.compile):
        with pytest.raises(TracingError, match=r"derivative would be lost.*np\.floor\(x\)\.astype\(int\)"):
            transform(lambda x: np.sum(CARRYING[name](x).astype(int)))(X)


def test_symbols_and_tensors_may_be_differentiated_in() -> None:
    for x in (ea.variable("x", 4), ea.tensor(X), ea.tensor(X, requires_grad=True)):
        with pytest.raises(TracingError, match="derivative would be lost"):
            x.astype(int)
        assert np.floor(x).astype(int).dtype == int
    x = ea.variable("x", 4)
    table = ea.tensor(TABLE)
    slope = ea.diff(np.sum(table[np.floor(x).astype(int)] * x**2), x)
    np.testing.assert_allclose(ea.evaluate(slope, {x: X}), TABLE[X.astype(int)] * 2 * X)
    w = ea.tensor(X, requires_grad=True)
    np.sum(TABLE[np.floor(w).astype(int)] * w).backward()
    np.testing.assert_allclose(w.grad, TABLE[X.astype(int)])


def test_numbers_of_python_where_the_value_is_known() -> None:
    converted = []

    def f(x: Any) -> Any:
        down = np.floor(x[1]) / 0.75  # 4/3
        kinds = (int, round, math.floor, math.ceil, math.trunc)
        converted.append([convert(down) for convert in kinds])
        converted.append([convert(-down) for convert in kinds])
        k = operator.index(np.floor(x[2]).astype(int))
        here = np.asarray(np.floor(x), int)
        return TABLE[int(np.floor(x[2]))] * x[0] + sum(x[: round(np.ceil(x[0]))]) + TABLE[k] + np.sum(TABLE[here])

    np.testing.assert_allclose(ea.grad(f)(X), [9, 0, 0, 0])
    assert converted == [[1, 1, 1, 2, 1], [-1, -1, -2, -1, -1]]
    with pytest.raises(TracingError, match=r"ea\.compile"):
        ea.compile(f)(X)
    with pytest.raises(TracingError, match=r"int\(np\.floor\(x\)\)"):
        ea.grad(lambda x: TABLE[int(x[0])] * x[0])(X)
    with pytest.raises(TracingError, match=r"np\.floor\(x\)\.astype\(int\)"):
        ea.grad(lambda x: [1, 2, 3][np.floor(x[0])] * x[0])(X)  # floats are no indices in NumPy either


def linear(table: Any, x: Any) -> Any:
    place = np.floor(x).astype(int)
    rest = x - place
    return enp.take(table, place) * (1 - rest) + enp.take(table, place + 1) * rest


def bilinear(image: Any, points: Any) -> Any:
    """The image between its pixels; points outside are taken to its edge."""
    low = np.clip(np.floor(points), 0, np.array(image.shape) - 2).astype(int)
    u, v = np.moveaxis(points - low, -1, 0)
    i, j = low[..., 0], low[..., 1]
    rows = image.shape[1]
    flat = image.reshape(-1)

    def at(p: Any, q: Any) -> Any:
        return enp.take(flat, p * rows + q)

    return (at(i, j) * (1 - v) + at(i, j + 1) * v) * (1 - u) + (at(i + 1, j) * (1 - v) + at(i + 1, j + 1) * v) * u


IMAGE = data((4, 5), seed=3)
POINTS = np.array([[0.3, 1.6], [2.4, 3.7], [1.2, 0.1]])


def test_linear_look_up() -> None:
    check_slopes(lambda x: linear(TABLE, x), X)
    check_slopes(lambda table: linear(table, X), TABLE)
    single = X.astype("f4")
    assert ea.grad(lambda x: np.sum(linear(TABLE.astype("f4"), x)))(single).dtype == np.float32
    for table in (TABLE, ea.tensor(TABLE)):  # an index of a plain array needs its value
        f = lambda x, table=table: np.sum(table[np.floor(x).astype(int)] * x**3)  # noqa: E731
        np.testing.assert_allclose(ea.derivative(f, order=3)(X)[1, 1, 1], 6.0)


def test_bilinear_interpolation() -> None:
    check_slopes(lambda points: bilinear(IMAGE, points), POINTS)
    check_slopes(lambda image: bilinear(image, POINTS), IMAGE)

    def warped(image: Any, shift: Any) -> Any:
        return np.sum(bilinear(image, POINTS + np.sin(shift)) ** 2)

    shift = np.array([0.2, 0.15])
    gradient = ea.grad(warped, argnums=1)
    hessian = ea.hessian(warped, argnums=(0, 1))(IMAGE, shift)
    for k, unit in enumerate(np.eye(2)):
        expected = along(lambda s: gradient(IMAGE, s), shift, unit)
        np.testing.assert_allclose(hessian[1][1][:, k], expected, atol=1e-8)
        mixed = along(lambda s: ea.grad(warped)(IMAGE, s), shift, unit)
        np.testing.assert_allclose(hessian[0][1][..., k], mixed, atol=1e-8)
    fast = ea.compile(ea.hessian(warped, argnums=1))
    for s in (shift, -shift, 3 * shift):  # other pixels, one plan
        np.testing.assert_allclose(fast(IMAGE, s), ea.hessian(warped, argnums=1)(IMAGE, s), rtol=1e-12)


def test_long_chains_are_asked_without_recursion_and_once() -> None:
    def f(x: Any) -> Any:
        total = np.floor(x[0])
        for _ in range(3000):
            total = total + np.floor(x[1])
            assert not carries_derivative(total.node)
        return total.astype(int) * x[0]

    np.testing.assert_allclose(ea.jvp(f, (X,), (np.ones(4),)), (3000 * X[0], 3000))


AT_BOUNDS: dict[str, Callable[[Any], Any]] = {
    "subtracted from a wider array": lambda u: np.array([3, 4, 5, 6]) - u,
    "a multiple in a wider dtype": lambda u: u.astype(np.int64) * 2 + u.astype(np.int64) * -1,
    "a multiple in its own": lambda u: (u * 2).astype(np.int64) + np.int16(1),
    "halves of a multiple": lambda u: (u + u) * 0.5,
    "a mean of multiples": lambda u: np.mean(u + u) + u,
    "a sum in a wider dtype": lambda u: np.sum(u) + np.dot(u.astype(np.int32), np.array([1, -2, 3, -4])),
    "a square": lambda u: np.square(u) + np.array([1, 2, 3, 4], np.int16),
}


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16])
@pytest.mark.parametrize("name", AT_BOUNDS)
def test_whole_numbers_wrap_around_where_those_of_numpy_do(name: str, dtype: Any) -> None:
    bounds = np.iinfo(dtype)
    x = np.array([bounds.min, bounds.max, bounds.max // 2 + 1, 1.0])

    def whole(x: Any) -> Any:
        return AT_BOUNDS[name](np.rint(x).astype(dtype))

    with np.errstate(all="ignore"):
        expected = whole(x)
    for _ in range(3):
        np.testing.assert_array_equal(ea.grad(lambda x: np.sum(x * whole(x)))(x), expected)


def test_numbers_of_classes_of_their_own() -> None:
    class Number(float):
        pass

    class Whole(enum.IntEnum):
        TWO = 2

    for number, same in ((Number(1.5), 1.5), (Whole.TWO, 2)):
        for _ in range(3):
            found = ea.grad(lambda x, n=number: np.sum(n * x**n + np.maximum(x, n) - n))(X)
            np.testing.assert_array_equal(found, ea.grad(lambda x, n=same: np.sum(n * x**n + np.maximum(x, n) - n))(X))


SMALL = {
    "powers of two": lambda a: a * 2 * 2 * 2 * 2 * 2 * 2 * 2 * 2 * 3 + a,
    "as many ones": lambda a: np.dot(np.ones_like(a), np.ones_like(a)) + a[0],
    "of a pair": lambda a: np.einsum("i,j->i", a, np.ones_like(a)),
    "summed": lambda a: np.sum(np.ones_like(a) * a[0], dtype=a.dtype),
    "a constant": lambda a: np.dot(np.ones_like(a), np.ones_like(a)),
    "weighted": lambda a: np.dot(np.minimum(a, 3), 100 * np.ones_like(a)),
}


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "i8"])
@pytest.mark.parametrize("f", SMALL.values(), ids=SMALL)
def test_numbers_that_do_not_fit_are_counted_on_from_the_lowest(f, dtype):
    a = (np.arange(70_000) % 5 + 1).astype(dtype)
    expected = f(a)
    for found in (ea.compile(f)(a), f(ea.tensor(a)).numpy()):
        assert np.asarray(found).dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
    w = np.ones(3)
    gradient = lambda w, a: ea.grad(lambda w: np.sum(w) * np.sum(f(a)[..., None].astype(float)))(w)  # noqa: E731
    np.testing.assert_array_equal(ea.compile(gradient)(w, a), gradient(w, a))
