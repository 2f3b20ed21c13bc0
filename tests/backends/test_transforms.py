"""The transforms on the arrays of other libraries: values, library, dtype, device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special

import einsumad as ea
from einsumad.errors import LinearAlgebraError, ShapeError, TracingError
from tests.backends.libraries import Backend, backends
from tests.backends.running import check_equal

GENERATOR = np.random.default_rng(5)
X = GENERATOR.normal(size=(6, 4))
Y = GENERATOR.normal(size=6)
W = GENERATOR.normal(size=4)
V = GENERATOR.normal(size=4)


def loss(X: Any, y: Any) -> Any:
    """Plain NumPy, with traced values before arrays: not every library leaves an operator to what stands behind it."""
    return lambda w: np.sum(np.log1p(np.exp(np.matmul(X, w) * y)))


def same(library: Backend, found: Any, expected: Any) -> None:
    """One array, or a tree of arrays, of the library with the values of NumPy's."""
    if isinstance(expected, (tuple, list)):
        for one, other in zip(found, expected, strict=True):
            same(library, one, other)
    elif isinstance(expected, dict):
        assert list(found) == list(expected)
        same(library, list(found.values()), list(expected.values()))
    else:
        assert isinstance(found, library.kind)
        check_equal(library.back(found), expected)


TRANSFORMS: dict[str, Any] = {
    "grad": lambda f, p: ea.grad(f)(p["a"]),
    "value_and_grad": lambda f, p: ea.value_and_grad(f)(p["a"]),
    "value_grad_and_hessian": lambda f, p: ea.value_grad_and_hessian(f)(p["a"]),
    "jacobian": lambda f, p: ea.jacobian(lambda w: np.exp(w) * f(w))(p["a"]),
    "hessian": lambda f, p: ea.hessian(f)(p["a"]),
    "third": lambda f, p: ea.derivative(f, order=3)(p["a"]),
    "value": lambda f, p: ea.derivative(f, order=0)(p["a"]),
    "hvp": lambda f, p: ea.hvp(f)(p["a"], p["b"]),
    "jvp": lambda f, p: ea.jvp(f, (p["a"],), (p["b"],)),
    "vjp": lambda f, p: ea.vjp(lambda w: w**3 * f(w), p["a"])[1](p["b"]),
    "hessian_diagonal": lambda f, p: ea.hessian_diagonal(f)(p["a"]),
    "laplacian": lambda f, p: ea.laplacian(f)(p["a"]),
    "gauss_newton": lambda f, p: ea.gauss_newton(lambda w: np.sin(w) * f(w))(p["a"]),
    "of no input": lambda f, p: ea.hessian(lambda w: w @ w + 0 * f(w))(p["a"]),
    "nested": lambda f, p: ea.grad(lambda w: np.sum(ea.grad(f)(w) ** 2))(p["a"]),
    "tree": lambda f, p: ea.grad(lambda p: f(p["a"]) * np.sum(p["b"]))(p),
    "two arguments": lambda f, p: ea.hessian(lambda a, b: f(a) * np.sum(b**2), (0, 1))(p["a"], p["b"]),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(library: Backend, name: str, dtype: Any) -> None:
    x, y, w, v = (array.astype(dtype) for array in (X, Y, W, V))
    expected = TRANSFORMS[name](loss(x, y), {"a": w, "b": v})
    found = TRANSFORMS[name](loss(library.make(x), library.make(y)), {"a": library.make(w), "b": library.make(v)})
    same(library, found, expected)


@pytest.mark.parametrize("name", ["grad", "value_and_grad", "hessian", "hvp", "tree", "of no input"])
def test_compiled(library: Backend, name: str) -> None:
    def of_arrays(f: Any) -> Any:
        return ea.compile(lambda w, v: TRANSFORMS[name](f, {"a": w, "b": v}))

    expected = of_arrays(loss(X, Y))(W, V)
    compiled = of_arrays(loss(library.make(X), library.make(Y)))
    for _ in range(2):
        same(library, compiled(library.make(W), library.make(V)), expected)
    shorter = ea.compile(ea.grad(lambda w: np.sum(w**3)))
    for size in (2, 3, 2):
        same(library, shorter(library.make(np.ones(size))), np.full(size, 3.0))
    check_equal(shorter(np.ones(2)), np.full(2, 3.0))
    same(library, shorter(library.make(np.ones(2, np.float32))), np.full(2, 3.0, np.float32))


def handed_over(make: Any) -> list[Any]:
    """Functions that give arrays to NumPy's functions, alone, in lists and as indices."""

    def joined(w: Any) -> Any:
        whole = np.concatenate([w, make(V), w * make(V)])
        return np.sum(np.where(whole > 0, whole**3, 0)) + np.dot(w, make(V)) + np.einsum("i,i", w, w)

    def taken(w: Any) -> Any:
        return np.sum(np.take(w, make(np.array([0, 2, 2]))) ** 3) + np.sum(w[[1, 3]] ** 2) + np.sum(w[:2])

    def solved(w: Any) -> Any:
        return np.sum(np.linalg.solve(make(X.T @ X), w) ** 2) + np.sum(np.maximum(w, make(V)) ** 2)

    return [joined, taken, solved]


@pytest.mark.parametrize("which", range(3))
def test_arrays_handed_to_numpy(library: Backend, which: int) -> None:
    same(
        library,
        ea.hessian(handed_over(library.make)[which])(library.make(W)),
        ea.hessian(handed_over(np.array)[which])(W),
    )


def test_operators_with_the_array_first(library: Backend) -> None:
    """Libraries that leave operators to what stands behind, as Python intends."""
    if library.name.startswith("strict"):
        pytest.skip("array-api-strict refuses operands that it does not know: np.matmul(X, w) in the place of X @ w")
    x = library.make(X)
    found = ea.hessian(lambda w: np.sum((x @ w) ** 3) + np.sum(x * w) + np.sum((x - w) / 2))(library.make(W))
    same(library, found, ea.hessian(lambda w: np.sum((X @ w) ** 3))(W))


def test_control_flow_on_values(library: Backend) -> None:
    def f(w: Any) -> Any:
        return np.sum(w**2) if np.sum(w) > 0 else np.sum(w**3)

    for sign in (1, -1):
        w = sign * np.abs(W)
        same(library, ea.grad(f)(library.make(w)), ea.grad(f)(w))
    assert float(ea.tensor(library.make(W))[1].numpy()) == W[1]


def test_eager(library: Backend) -> None:
    w = ea.tensor(library.make(W), requires_grad=True)
    for _ in range(2):
        np.sum(w**3).backward()
    same(library, w.grad, 6 * W**2)


def test_symbols(library: Backend) -> None:
    x, y = ea.variable("x", 4), ea.variable("y", 4)
    expression = ea.diff(np.sum(x**2 * np.sin(y)), x)
    same(library, ea.evaluate(expression, {x: library.make(W), y: library.make(V)}), 2 * W * np.sin(V))
    check_equal(ea.evaluate(expression, {x: W, y: V}), 2 * W * np.sin(V))


def test_results_share_no_memory_with_arguments(library: Backend) -> None:
    """Neither with an argument that is handed through, nor with one another, nor with what was captured."""
    w, captured = library.make(W), library.make(V)
    compiled = ea.compile(lambda w: (w, w, w[::2], captured, np.outer(w, w), np.outer(w, w).T))
    found = compiled(w)
    expected = [W, W, W[::2], V, np.outer(W, W), np.outer(W, W).T]
    for k, result in enumerate(found):
        if not library.name.startswith("jax"):
            result[...] = 7.0
        check_equal(library.back(w), W)
        for other in range(k + 1, len(found)):
            check_equal(library.back(found[other]), expected[other])
    same(library, compiled(w)[3], V)


def test_later_writes_do_not_matter(library: Backend) -> None:
    if library.name.startswith("jax"):
        pytest.skip("arrays of JAX cannot be written")
    x = library.make(V)
    w = library.make(W)

    def f(w: Any) -> Any:
        value = np.sum(w * x)
        x[...] = 0.0
        return value + np.sum(w * x)

    same(library, ea.grad(f)(w), V)


def test_one_array_met_twice_is_one_leaf(library: Backend) -> None:
    x = library.make(X)
    explained = ea.explain(ea.hessian(lambda w: np.sum(np.matmul(x, w) ** 2)), library.make(W))
    assert len(explained.plan.inputs) == 1


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_numpy_constants(library: Backend) -> None:
    """Beside arrays on the host they are taken; on a device numbers are refused, indices are taken."""
    f = ea.grad(loss(X, Y))
    compiled = ea.compile(f)
    if library.elsewhere:
        for function in (f, compiled):
            with pytest.raises(TracingError, match=r"a NumPy array of float64 .* no numbers are moved to a device"):
                function(library.make(W))
    else:
        for function in (f, compiled, compiled):
            same(library, function(library.make(W)), f(W))
    chosen = ea.grad(lambda w: np.sum(w[np.array([0, 2])] ** 2) * np.float64(3.0))
    same(library, chosen(library.make(W)), chosen(W))


def test_values_are_not_read_from_a_device(library: Backend) -> None:
    f = ea.grad(lambda w: np.sum(w[np.nonzero(w > 0)[0]] ** 2))
    if library.elsewhere:
        with pytest.raises(TracingError, match="nothing is moved from a device"):
            f(library.make(W))
    else:
        same(library, f(library.make(W)), f(W))


def test_an_array_of_another_library_is_refused(library: Backend) -> None:
    others = [each for each in backends() if each.in_front and each.name != library.name]
    for other in others:
        for act in (
            ea.grad(loss(other.make(X), other.make(Y))),
            ea.compile(ea.grad(loss(other.make(X), other.make(Y)))),
        ):
            with pytest.raises(TracingError, match=r"arrays of .* and of .*: bring them to one library and one device"):
                act(library.make(W))


def test_structure_is_refused(library: Backend) -> None:
    for f in (ea.hessian(loss(X, Y), compressed=True), ea.compile(ea.hessian(lambda w: w @ w, compressed=True))):
        with pytest.raises(TracingError, match=r"are not kept in their structure \(compressed=True\)"):
            f(library.make(W))
    x = ea.variable("x", 4)
    with pytest.raises(TracingError, match="are not kept in their structure"):
        ea.evaluate(np.outer(x, x), {x: library.make(W)}, compressed=True)


def test_functions_that_a_library_lacks_are_refused_by_name(library: Backend) -> None:
    with pytest.raises(TracingError, match=r"struve is not supported on arrays of .*docs/backends.md"):
        ea.grad(lambda w: np.sum(special.struve(1, w)))(library.make(W))
    with pytest.raises(TracingError, match=r"expm is not supported on arrays of"):
        ea.grad(lambda w: np.sum(ea.scipy.linalg.expm(np.outer(w, w))))(library.make(W))


def test_functions_with_rules_of_your_own_are_refused(library: Backend) -> None:
    """The functions; their rules are traced, and run."""
    cube = ea.custom_function(lambda x: x**3, push=lambda primals, tangents: 3 * primals[0] ** 2 * tangents[0])
    refused = "a function with a rule of your own is not supported on arrays of|nothing is moved from a device"
    with pytest.raises(TracingError, match=refused):
        ea.value_and_grad(lambda w: np.sum(cube(w)))(library.make(W))
    if not library.elsewhere:
        same(library, ea.grad(lambda w: np.sum(cube(w)))(library.make(W)), 3 * W**2)
    with pytest.raises(TracingError, match="are not checked"):
        ea.declare(library.make(np.eye(2)), symmetric=True, check=True)


def test_integers_have_no_derivative(library: Backend) -> None:
    with pytest.raises(ea.errors.DifferentiationError, match="has dtype int64, which cannot be differentiated"):
        ea.grad(np.sum)(library.make(np.arange(3)))


def test_shapes_and_indices_are_checked(library: Backend) -> None:
    with pytest.raises(ShapeError):
        ea.grad(lambda w: np.sum(np.matmul(library.make(X), w)))(library.make(np.ones(3)))
    index = library.make(np.array([0, 9]))
    f = ea.grad(lambda w: np.sum(np.take(w, index) ** 2))
    if library.elsewhere:
        assert np.isnan(library.back(f(library.make(W)))).any()
    else:
        with pytest.raises(IndexError, match="index 9 is out of bounds for an axis of size 4"):
            f(library.make(W))


def test_singular_matrices(library: Backend) -> None:
    """An error that says what it takes, or what JAX has for it: infinities or NaN."""
    f = ea.grad(lambda a: np.sum(np.linalg.inv(a)))
    if library.name.startswith(("jax", "cupy")):
        assert not np.isfinite(library.back(f(library.make(np.zeros((2, 2)))))).any()
    else:
        with pytest.raises(LinearAlgebraError, match=r"inv of shape \(2, 2\)"):
            f(library.make(np.zeros((2, 2))))
