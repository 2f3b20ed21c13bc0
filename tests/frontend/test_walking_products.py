"""Pushforwards and pullbacks at points: they go known ways too, and belong to the point of their call."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad.errors import DifferentiationError, ShapeError
from tests.frontend.walks import anew, counting, forget

A = np.array([[1.0, -2.0, 0.5], [0.3, 0.8, -1.1]])
X, V, W = np.array([0.3, -0.7, 1.2]), np.array([1.0, 0.5, -0.25]), np.array([0.7, -1.3])


@pytest.fixture(autouse=True)
def _no_ways() -> None:
    forget()


def layer(x: Any) -> Any:
    return np.tanh(A @ x) * x[0]


def jacobian(x: np.ndarray) -> np.ndarray:
    found = (1 - np.tanh(A @ x) ** 2)[:, None] * A * x[0]
    found[:, 0] += np.tanh(A @ x)
    return found


def test_products_are_those_of_the_point() -> None:
    for x in (X, 2 * X, X, -X, X, X):
        value, tangent = ea.jvp(layer, (x,), (V,))
        np.testing.assert_allclose(value, layer(x), rtol=1e-14)
        np.testing.assert_allclose(tangent, jacobian(x) @ V, rtol=1e-13)
        value, pullback = ea.vjp(layer, x)
        np.testing.assert_allclose(value, layer(x), rtol=1e-14)
        for cotangent in (W, -W, 2 * W):
            np.testing.assert_allclose(pullback(cotangent), jacobian(x).T @ cotangent, rtol=1e-13)


def test_products_come_to_a_known_end() -> None:
    for _ in range(3):
        ea.jvp(layer, (X,), (V,))
        ea.vjp(layer, X)[1](W)
    with counting() as ends:
        ea.jvp(layer, (X,), (V,))
        ea.vjp(layer, X)[1](W)
    assert len(ends) == 3


def test_pullbacks_are_kept_and_called_later() -> None:
    points = [X * k for k in range(1, 6)]
    pullbacks = [ea.vjp(layer, x)[1] for x in points]
    for x, pullback in reversed(list(zip(points, pullbacks, strict=True))):
        np.testing.assert_allclose(pullback(W), jacobian(x).T @ W, rtol=1e-13)


def test_a_point_that_is_written_to_after_the_call() -> None:
    expected = jacobian(X).T @ W
    factor = np.array([2.0, 3.0])
    for _ in range(4):
        x, factor[:] = X.copy(), (2.0, 3.0)
        _, pullback = ea.vjp(lambda x: layer(x) * factor, x)
        x[:], factor[:] = 7.0, 9.0
        np.testing.assert_allclose(pullback(W / [2.0, 3.0]), expected, rtol=1e-13)


def test_several_primals_and_trees() -> None:
    def f(p: Any, x: Any) -> Any:
        return {"sum": p["a"] * np.sum(x), "product": p["b"] * x}

    p = {"a": np.array(2.0), "b": np.array([1.0, -1.0, 3.0])}
    for _ in range(4):
        value, tangent = ea.jvp(f, (p, X), ({"a": np.array(1.0), "b": V}, V))
        np.testing.assert_allclose(value["product"], p["b"] * X)
        np.testing.assert_allclose(tangent["sum"], np.sum(X) + 2 * np.sum(V))
        np.testing.assert_allclose(tangent["product"], V * X + p["b"] * V)
        _, pullback = ea.vjp(f, p, X)
        of_p, of_x = pullback({"sum": np.array(0.5), "product": V})
        np.testing.assert_allclose(of_p["a"], 0.5 * np.sum(X))
        np.testing.assert_allclose(of_p["b"], V * X)
        np.testing.assert_allclose(of_x, 0.5 * 2 + V * p["b"])


def test_numbers_as_primals_and_cotangents() -> None:
    for x in (0.5, np.float64(0.25), np.array(2.0), 0.5):
        value, pullback = ea.vjp(lambda x: x * x * x, x)
        assert value == pytest.approx(float(x) ** 3)
        for cotangent in (1.0, 2.0, np.float64(3.0), np.array(0.5)):
            assert pullback(cotangent) == pytest.approx(3 * float(x) ** 2 * float(cotangent))


def test_dtypes_of_tangents_and_cotangents() -> None:
    single = X.astype(np.float32)
    for _ in range(4):
        for x in (X, single):
            for v in (V, V.astype(np.float32), np.array([1, 2, 3])):
                known = anew(ea.jvp, layer, (x,), (v,))[1]
                found = ea.jvp(layer, (x,), (v,))[1]
                assert found.dtype == known.dtype
                np.testing.assert_array_equal(found, known)
            for w in (W, W.astype(np.float32)):
                known = anew(lambda w, x=x: ea.vjp(layer, x)[1](w), w)
                found = ea.vjp(layer, x)[1](w)
                assert found.dtype == known.dtype
                np.testing.assert_array_equal(found, known)


def test_errors_are_the_same_at_every_call() -> None:
    for _ in range(4):
        ea.jvp(layer, (X,), (V,))
        _, pullback = ea.vjp(layer, X)
        pullback(W)
        with pytest.raises(ShapeError, match=r"tangent 0 has shape \(2,\), expected \(3,\)"):
            ea.jvp(layer, (X,), (W,))
        with pytest.raises(ShapeError, match=r"cotangent 0 has shape \(3,\), expected \(2,\)"):
            pullback(V)
        with pytest.raises(TypeError, match="the tangent has the structure"):
            ea.jvp(layer, (X,), (V, V))
        with pytest.raises(TypeError, match="jvp needs at least one primal"):
            ea.jvp(layer, (), ())
        with pytest.raises(TypeError, match="vjp needs at least one primal"):
            ea.vjp(layer)
        with pytest.raises(DifferentiationError, match="vjp: an output has dtype bool"):
            ea.vjp(lambda x: x > 0, X)


def test_products_within_traces() -> None:
    def pushed(x: Any) -> Any:
        return np.sum(ea.jvp(layer, (x,), (V,))[1] ** 2)

    def pulled(x: Any) -> Any:
        return np.sum(ea.vjp(layer, x)[1](W) ** 2)

    _, outside = ea.vjp(layer, X)
    for _ in range(4):
        for f, direct in ((pushed, lambda x: jacobian(x) @ V), (pulled, lambda x: jacobian(x).T @ W)):
            step = 1e-6 * np.eye(3)
            expected = [(np.sum(direct(X + h) ** 2) - np.sum(direct(X - h) ** 2)) / 2e-6 for h in step]
            np.testing.assert_allclose(ea.grad(f)(X), expected, rtol=1e-7)
        through = ea.grad(lambda w: np.sum(outside(w * 2) ** 2))(W)
        np.testing.assert_allclose(through, 8 * jacobian(X) @ (jacobian(X).T @ W), rtol=1e-12)
        constant = ea.grad(lambda x: np.sum(x * outside(W)))(X)
        np.testing.assert_allclose(constant, jacobian(X).T @ W, rtol=1e-12)


def test_pullbacks_in_threads() -> None:
    points = [X * k for k in range(1, 40)]

    def product(x: np.ndarray) -> np.ndarray:
        _, pullback = ea.vjp(layer, x)
        return pullback(W) + 0 * ea.jvp(layer, (x,), (V,))[1][0]

    with ThreadPoolExecutor(4) as threads:
        for x, found in zip(points, threads.map(product, points), strict=True):
            np.testing.assert_allclose(found, jacobian(x).T @ W, rtol=1e-12)
    _, pullback = ea.vjp(layer, X)
    with ThreadPoolExecutor(4) as threads:
        for k, found in enumerate(threads.map(lambda k: pullback(k * W), range(40))):
            np.testing.assert_allclose(found, k * jacobian(X).T @ W, rtol=1e-12, atol=1e-14)


def test_an_output_that_is_written_to_after_the_call() -> None:
    kept: list[Any] = []

    def f(x: Any) -> Any:
        kept[:] = [np.sin(x)]
        return kept[0]

    for _ in range(4):
        _, pullback = ea.vjp(f, X)
        kept[0][...] = 0.0
        np.testing.assert_allclose(pullback(V), np.cos(X) * V, rtol=1e-14)
