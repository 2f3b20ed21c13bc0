"""Gauss–Newton matrices beside ``Jᵀ L J`` of a Jacobian and a Hessian, case by case."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import einsumad as ea

MODES = ("auto", "forward", "reverse", "cross-country")
RNG = np.random.default_rng(0)
A, Y, Z = RNG.normal(size=(4, 3)), RNG.normal(size=4), RNG.normal(size=4)
X, V = RNG.normal(size=3), RNG.normal(size=4)
PLACES = np.array([0, 2, 0, 1])


def net(x: Any) -> Any:
    return np.tanh(A @ x)


def cross_entropy(r: Any) -> Any:
    return np.sum(np.log(np.sum(np.exp(r), 1)) - r[:, 0])


def of_tree(r: Any) -> Any:
    return np.sum(r["r"] ** 2) * r["s"][0] ** 2


class Case(NamedTuple):
    """A function, its arguments, all differentiated, and a loss; results are compared up to a tolerance."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    loss: Callable[..., Any] | None = None
    tolerance: float = 1e-11


CASES = {
    "squares": Case(net, (X,)),
    "matrix": Case(lambda W: np.tanh(A @ W), (RNG.normal(size=(3, 2)),), cross_entropy),
    "numbers": Case(lambda a: a**3, (0.7,), np.exp),
    "two outputs": Case(lambda x: (np.sin(x), A @ x), (X,)),
    "two arguments": Case(lambda a, b: net(a) * b, (X, V), lambda r: np.sum(r**4)),
    "one of two arguments": Case(lambda a, _: net(a), (X, V)),
    "trees": Case(lambda p: {"r": A @ p["w"], "s": [p["b"] ** 2]}, ({"w": X, "b": 0.4},), of_tree),
    "residual used twice": Case(lambda x: [np.sin(x)] * 2, (X,), lambda r: np.sum(r[0] ** 3 * r[1])),
    "arguments themselves": Case(lambda x: x, (X,), lambda r: np.sum(r**3)),
    "constant residual": Case(lambda x: (np.full(3, 2.0), x), (X,), lambda r: np.sum(r[0] * r[1] ** 3)),
    "linear loss": Case(net, (X,), np.sum),
    "captured array": Case(net, (X,), lambda r: np.sum(np.exp(r * Y))),
    "gathered": Case(lambda x: x[PLACES] ** 2 - Y, (X,), lambda r: np.sum(np.sin(r[PLACES]) * r[PLACES])),
    "sorted": Case(lambda x: np.sort(x) ** 2, (V,), lambda r: np.sum(np.sort(r)[:2] ** 3)),
    "no residuals": Case(lambda x: np.zeros((0, 3)) @ x, (X,), lambda r: np.sum(r**2)),
    "empty argument": Case(lambda x: np.concatenate([x, Y]), (np.ones(0),)),
    "single precision": Case(lambda x: np.tanh(np.float32(A) @ x), (np.float32(X),), lambda r: np.sum(r**4), 1e-4),
}


def leaves(tree: Any) -> list[np.ndarray]:
    if isinstance(tree, dict):
        return [leaf for key in sorted(tree) for leaf in leaves(tree[key])]
    if isinstance(tree, (tuple, list)):
        return [leaf for part in tree for leaf in leaves(part)]
    return [np.asarray(tree)]


def argnums(case: Case) -> int | tuple[int, ...]:
    return 0 if len(case.arguments) == 1 else tuple(range(len(case.arguments)))


def expected(case: Case) -> list[list[np.ndarray]]:
    """The blocks of ``Jᵀ L J`` as matrices."""
    value = case.function(*case.arguments)
    residuals, variables = leaves(value), leaves(case.arguments)
    jacobians = iter(leaves(ea.jacobian(case.function, argnums(case))(*case.arguments)))
    J = [[next(jacobians).reshape(r.size, v.size) for v in variables] for r in residuals]
    if case.loss is None:
        sizes = list(enumerate([r.size for r in residuals]))
        L = [[np.eye(p) if m == n else np.zeros((p, q)) for n, q in sizes] for m, p in sizes]
    else:
        second = iter(leaves(ea.hessian(case.loss)(value)))
        L = [[next(second).reshape(r.size, s.size) for s in residuals] for r in residuals]
    pairs = [(m, n) for m in range(len(residuals)) for n in range(len(residuals))]
    count = range(len(variables))
    return [[sum(J[m][i].T @ L[m][n] @ J[n][j] for m, n in pairs) for j in count] for i in count]


def check(found: Any, whole: list[list[np.ndarray]], case: Case) -> None:
    blocks = [block for row in whole for block in row]
    for block, want in zip(leaves(found), blocks, strict=True):
        np.testing.assert_allclose(block.reshape(want.shape), want, rtol=case.tolerance, atol=case.tolerance)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_it_is_the_product_of_first_derivatives_and_the_curvature_of_the_loss(case: Case) -> None:
    f, arguments, loss, tolerance = case
    which, whole = argnums(case), expected(case)
    for mode in MODES:
        found = ea.gauss_newton(f, which, loss=loss, mode=mode)(*arguments)
        check(found, whole, case)
        assert {leaf.dtype for leaf in leaves(found)} == {leaf.dtype for leaf in leaves(arguments)}
    check(ea.compile(ea.gauss_newton(f, which, loss=loss))(*arguments), whole, case)
    check(ea.gauss_newton(f, which, loss=loss, compressed=True)(*arguments).dense(), whole, case)
    diagonals = leaves(ea.gauss_newton_diagonal(f, which, loss=loss)(*arguments))
    for k, (diagonal, variable) in enumerate(zip(diagonals, leaves(arguments), strict=True)):
        assert diagonal.shape == variable.shape
        np.testing.assert_allclose(diagonal.ravel(), np.diagonal(whole[k][k]), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_loss_may_branch_on_the_values_of_the_residuals(sign: int) -> None:
    def loss(r: Any) -> Any:
        return np.sum(r**2) if r[0] > 0 else np.sum(r**4)

    check(ea.gauss_newton(net, loss=loss)(sign * X), expected(Case(net, (sign * X,), loss)), Case(net, (X,)))
    with pytest.raises(ea.errors.TracingError, match=r"ea\.compile"):
        ea.compile(ea.gauss_newton(net, loss=loss))(X)


def inner_gradient(r: Any) -> Any:
    """A gradient in another array, which depends on the residuals."""
    return np.sum(ea.grad(lambda z: np.sum(np.sin(z * r)))(Z) ** 2)


def inner_diagonal(r: Any) -> Any:
    return np.sum(ea.hessian_diagonal(lambda z: np.sum(z**4 * r))(Z) * r**2)


@pytest.mark.parametrize("loss", [inner_gradient, inner_diagonal])
def test_a_loss_may_have_derivatives_that_capture_the_residuals(loss: Callable[..., Any]) -> None:
    case = Case(net, (X,), loss)
    whole = expected(case)
    assert np.abs(whole[0][0]).max() > 1e-3
    check(ea.gauss_newton(net, loss=loss)(X), whole, case)
    check(ea.compile(ea.gauss_newton(net, loss=loss))(X), whole, case)


def test_it_is_differentiated_again() -> None:
    def trace(s: Any, x: Any) -> Any:
        return np.trace(ea.gauss_newton(lambda u: np.tanh(s * (A @ u)), loss=lambda r: s * np.sum(r**4))(x))

    def by_hand(s: Any, x: Any) -> Any:
        r, J = np.tanh(s * (A @ x)), ea.jacobian(lambda u: np.tanh(s * (A @ u)))(x)
        return np.sum(J**2 * (12 * s * r**2)[:, None])

    for transform in (ea.grad, ea.hessian):
        want = leaves(transform(by_hand, (0, 1))(0.7, X))
        for found in (transform(trace, (0, 1)), ea.compile(transform(trace, (0, 1)))):
            for part, other in zip(leaves(found(0.7, X)), want, strict=True):
                np.testing.assert_allclose(part, other, rtol=1e-10, atol=1e-10)


def test_captured_arrays_are_read_at_each_call() -> None:
    weights = np.ones(4)
    matrix = ea.gauss_newton(net, loss=lambda r: np.sum(weights * r**2))
    before = matrix(X)
    weights *= 3
    np.testing.assert_allclose(matrix(X), 3 * before, rtol=1e-14)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: ea.gauss_newton(3), TypeError, "gauss_newton needs a function, got int"),
        (lambda: ea.gauss_newton(net, loss=3), TypeError, "the loss of gauss_newton must be a function, got int"),
        (lambda: ea.gauss_newton(net, loss=lambda r: r)(X), TypeError, r"one scalar output, got shapes \[\(4,\)\]"),
        (lambda: ea.gauss_newton(net, loss=lambda r: np.sum(r) > 0)(X), TypeError, "dtype bool"),
        (lambda: ea.gauss_newton_diagonal(np.argsort)(X), TypeError, "dtype int64"),
        (lambda: ea.gauss_newton(net)(np.arange(3)), TypeError, "argument 'x' has dtype int64"),
        (lambda: ea.gauss_newton(net, memory_limit=10)(X), MemoryError, "over the limit of 10 bytes"),
    ],
)
def test_what_it_refuses(make: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()
