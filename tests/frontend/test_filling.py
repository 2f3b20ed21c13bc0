"""Arrays that are made first and filled afterwards: the values of NumPy, and derivatives in every mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

import einsumad as ea
import einsumad.numpy as enp
from einsumad.errors import TracingError
from einsumad.frontend.tensor import Tensor
from einsumad.graph import topological
from tests.frontend.slopes import MODES, along, check_slopes
from tests.frontend.surface import data

X = data((4,), seed=5)


def in_a_loop(x: Any) -> Any:
    out = enp.zeros(len(x))
    for k in range(len(x)):
        out[k] = np.sin(x[k]) * x[k - 1]
    return out


def recurrence(x: Any) -> Any:
    u = enp.empty(7, dtype=x.dtype)
    u[0], u[1] = x[0], x[1]
    for k in range(2, 7):
        u[k] = u[k - 1] * x[2] - np.sin(u[k - 2])
    return u


def rows(x: Any) -> Any:
    states = enp.empty((5, 4))
    states[0] = x
    for k in range(4):
        states[k + 1] = states[k] + 0.1 * np.cos(states[k, ::-1]) * x
    return states


def matrix(x: Any) -> Any:
    K = enp.ones((4, 4), dtype=x.dtype)
    for i in range(4):
        for j in range(i):
            K[i, j] = K[j, i] = np.exp(-((x[i] - x[j]) ** 2))
    return K


def accumulated(x: Any) -> Any:
    out = enp.full(3, 0.5)
    for k in range(8):
        out[k % 3] += x[k % 4] ** 2 * out[(k + 1) % 3]
    return out


def overlapping(x: Any) -> Any:
    out = enp.full((3, 4), np.arange(4.0))
    out[0] = x
    out[:2, 1:3] = x[:2] ** 2  # a part of the row above, and more
    out[:, 3] *= x[0] * out[0, 1]
    out[1] = np.sum(out[0]) * x
    out[[2, 0], [0, 3]] = x[1], out[1, 1] ** 2
    view = out[2]
    view[1] = view[0] * x[3]
    view[...] += out[0] * x
    return out


def written_over(x: Any) -> Any:
    out = enp.zeros(3)
    out[:] = np.inf * x[0]
    out[1] = np.nan * x[1]
    out[:2] = x[:2] ** 2
    out[2] = out[0] * x[2]
    return out


def by_functions(x: Any) -> Any:
    out = enp.zeros((4, 4))
    np.fill_diagonal(out, x)
    out[0].fill(x[1] ** 2)
    np.put(out, [5, 6], x[:2] ** 3)
    out[out > 0.5] = x[2]
    return out


FILLS: dict[str, Callable[[Any], Any]] = {
    f.__name__: f for f in (in_a_loop, recurrence, rows, matrix, accumulated, overlapping, written_over, by_functions)
}


@pytest.mark.parametrize("name", FILLS)
def test_values_and_derivatives(name: str) -> None:
    f = FILLS[name]
    plain = f(X)
    assert type(plain) is np.ndarray
    value, _ = ea.jvp(f, (X,), (X,))
    np.testing.assert_allclose(value, plain, rtol=1e-13)
    check_slopes(f, X)
    move = np.array([0.3, -0.5, 0.2, 0.4])
    total = lambda x: np.sum(f(x) ** 2)  # noqa: E731
    expected = along(ea.hessian(total), X, move)
    scale = np.max(np.abs(expected))
    for mode in MODES if name == "accumulated" else MODES[len(name) % 3 :][:1]:
        third = ea.derivative(total, order=3, mode=mode)(X) @ move
        np.testing.assert_allclose(third, expected, atol=1e-8 * scale)


@pytest.mark.parametrize("name", FILLS)
def test_compiled_nested_and_in_single_precision(name: str) -> None:
    f = FILLS[name]
    for expected in (f, ea.jacobian(f), ea.hessian(lambda y: np.sum(f(y) ** 2))):
        compiled = ea.compile(expected)
        for x in (X, X[::-1].copy()):
            np.testing.assert_allclose(compiled(x), expected(x), rtol=1e-11, atol=1e-12)
    nested = ea.grad(lambda x: np.sum(ea.grad(lambda y: np.sum(f(y * x[0]) ** 2))(x) ** 2))
    slope = along(lambda x: np.sum(ea.grad(lambda y: np.sum(f(y * x[0]) ** 2))(x) ** 2), X, np.ones(4))
    np.testing.assert_allclose(np.sum(nested(X)), slope, rtol=1e-7)
    single = ea.jacobian(f)(X.astype("f4"))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, ea.jacobian(f)(X), rtol=1e-4, atol=1e-5)


def test_the_arrays_are_those_of_numpy() -> None:
    plain: list[Any] = []
    made: list[Any] = []

    def f(x: Any) -> Any:
        k = np.argmax(x)
        for collected, space in ((plain, np), (made, enp)):
            collected[:] = [
                space.zeros(3),
                space.ones((2, 3), np.float32),
                space.empty((0, 2)),
                space.zeros((), int),
                space.ones([2, 1], bool, order="F"),
                space.full(3, 0.0),
                space.full((2,), 7),
                space.full((2, 3), [1.0, np.nan, np.inf], "f4"),
                space.zeros(shape=(k, 2), dtype=x.dtype),
                space.full(fill_value=2.7, shape=np.int64(2), dtype=int),
            ]
        assert [type(space.zeros(2, complex)) for space in (np, enp)] == [np.ndarray] * 2
        assert enp.zeros(2, "U3").dtype == np.zeros(2, "U3").dtype
        return np.sum(x)

    for transform in (ea.grad, lambda f: lambda x: ea.jvp(f, (x,), (x,))):
        transform(f)(X)
        for ours, own in zip(made, plain, strict=True):
            assert isinstance(ours, Tensor)
            assert (ours.shape, ours.dtype) == (own.shape, own.dtype)
            if own.size and own.shape != (2, 0):
                np.testing.assert_array_equal(ours.numpy(), own)
    for make in (enp.zeros, enp.ones, enp.empty, lambda shape: enp.full(shape, 1.5)):
        assert type(make((2, 3))) is np.ndarray
        with pytest.raises(ValueError, match="negative"):
            ea.grad(lambda x, make=make: np.sum(make(-1) * x[0]))(X)
        with pytest.raises(TracingError, match="device"):
            ea.grad(lambda x: np.sum(enp.zeros(2, device="cpu") * x[0]))(X)


def test_where_nothing_is_traced_by_a_transform_the_array_is_like_a_traced_one() -> None:
    w = ea.tensor(X, requires_grad=True)
    x = ea.variable("x", 4)
    for given in (w, x):
        for make in (np.zeros, np.empty, np.ones, enp.zeros, enp.empty, enp.ones):
            out = make(2, like=given)
            out[0] = given[0] ** 2
            out[1] = 1.0
            if given is w:
                np.sum(out).backward()
            else:
                np.testing.assert_allclose(ea.evaluate(ea.diff(np.sum(out), x), {x: X}), [2 * X[0], 0, 0, 0])
    np.testing.assert_allclose(w.grad, [12 * X[0], 0, 0, 0])
    assert type(enp.zeros(2, like=np.ones(2))) is np.ndarray


def test_functions_that_are_not_traced_have_plain_arrays() -> None:
    def doubled(x: np.ndarray) -> np.ndarray:
        out = enp.zeros(len(x))
        for k in range(len(x)):
            out[k] = float(x[k]) * 2
        return out

    f = ea.custom_function(doubled, push=lambda _, tangents: 2 * tangents[0], shape=lambda x: x.shape)
    for transform in (lambda g: g, ea.compile):
        J = transform(ea.jacobian(lambda x: f(x) * np.sum(f(np.ones(2)))))(X)
        np.testing.assert_allclose(J, 8 * np.eye(4))


@pytest.mark.parametrize("write", [lambda out, x: out.__setitem__(0, x[0]), lambda out, x: out.__iadd__(x)])
def test_plain_arrays_name_those_that_can_be_written_into(write: Callable[[Any, Any], Any]) -> None:
    with pytest.raises(TracingError, match=r"einsumad\.numpy\.zeros, ones, empty or full"):
        ea.grad(lambda x: (write(np.zeros(4), x), np.sum(x))[1])(X)


def test_a_loop_of_writes_is_one_sum_and_reads_what_was_written() -> None:
    def nodes_of(n: int) -> int:
        x = ea.variable("x", 3)
        u = enp.empty(n, like=x)
        u[0] = x[0]
        for k in range(1, n):
            u[k] = np.sin(u[k - 1]) * x[1]
        return len(list(topological([u[n - 1].node])))

    assert nodes_of(40) - nodes_of(20) == 40  # a sine and a product each, nothing of the array
    out = enp.zeros(3, like=ea.variable("x", 3))
    for k in (0, 1, 0, 2, 1, 0):
        out[k] = np.cos(out[k])
    assert str(out).count("cos") <= 12


def test_numbers_at_places_of_a_fill() -> None:
    with pytest.raises(ValueError, match="fill takes a number"):
        ea.grad(lambda x: (x.copy().fill(x), np.sum(x))[1])(X)
    with pytest.raises(TracingError, match="derivative would be lost"):
        ea.grad(lambda x: (enp.zeros(2, int).fill(x[0]), np.sum(x))[1])(X)

    def f(x: Any) -> Any:
        y = x.copy()
        y[:2].fill(x[3] ** 2)
        whole = enp.zeros(2, int)
        whole[0] = np.floor(3 * x[0])
        whole.fill(np.ceil(x[0]))
        inserted = np.insert(x, [1, 2], [x[0] ** 2, 5.0])
        return np.sum(np.append(y, [x[0], 2.0])) + np.sum(inserted) * np.sum(whole)

    expected = np.array([1, 0, 1, 4 * X[3] + 1]) + 2 * np.array([1 + 2 * X[0], 1, 1, 1])
    np.testing.assert_allclose(ea.grad(f)(X), expected)


def random_writes(seed: int, x: Any, space: Any) -> Any:
    """A few writes at random indices through random views of one array, and all of its views."""
    rng = np.random.default_rng(seed)
    out = space.full((3, 4), rng.choice([0.0, 1.5]))
    views = [out, out[1], out.T, out[:, 1:3], out[::-1]]
    for _ in range(rng.integers(2, 9)):
        view = views[rng.integers(len(views))]
        sizes = view.shape[: rng.integers(1, view.ndim + 1)]
        runs = [slice(int(rng.integers(size)), None, int(rng.integers(1, 3))) for size in sizes]
        index: Any = tuple(
            [int(rng.integers(s)) if rng.random() < 0.5 else run for s, run in zip(sizes, runs, strict=True)]
        )
        index = rng.integers(0, sizes[0], 2) if rng.random() < 0.2 else index
        new = x[int(rng.integers(3))]
        view[index] = view[index] * 0.5 + new**2 if rng.random() < 0.7 else new
    return np.concatenate([view.ravel() for view in views])


def test_random_writes_through_views() -> None:
    for seed in range(settings().max_examples // 2):
        value, tangent = ea.jvp(lambda x, seed=seed: random_writes(seed, x, enp), (X,), (np.ones(4),))
        np.testing.assert_allclose(value, random_writes(seed, X, np), rtol=1e-12)
        expected = along(lambda x, seed=seed: random_writes(seed, x, np), X, np.ones(4))
        np.testing.assert_allclose(tangent, expected, atol=1e-9)
