"""Products and sums of exponentials: xᵀAx, logsumexp, softmax regression, a Newton step, B·g(h(Ax))."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmark.case import Case, Data, Job, make_data


def quadratic_data(dtype: Any) -> Callable[[int], Data]:
    """A of shape (n, n), not symmetric."""

    def data(n: int) -> Data:
        rng = np.random.default_rng(n)
        return make_data(n, (rng.normal(size=n),), dtype, A=rng.normal(size=(n, n)))

    return data


def quadratic(_: Any, c: Any, x: Any) -> Any:
    """``xᵀ A x``."""
    return x @ c.A @ x


def quadratic_gradient(c: Any, x: np.ndarray) -> np.ndarray:
    gradient = c.A @ x
    gradient += x @ c.A
    return gradient


def logsumexp_data(dtype: Any) -> Callable[[int], Data]:
    """A vector of n numbers."""

    def data(n: int) -> Data:
        return make_data(n, (np.random.default_rng(n).normal(size=n),), dtype)

    return data


def logsumexp(xp: Any, _: Any, x: Any) -> Any:
    """``log Σ exp(x)``, as it is written down."""
    return xp.log(xp.sum(xp.exp(x)))


def logsumexp_gradient(_: Any, x: np.ndarray) -> np.ndarray:
    p = np.exp(x)
    p /= np.sum(p)
    return p


def logsumexp_hessian(c: Any, x: np.ndarray) -> np.ndarray:
    p = logsumexp_gradient(c, x)
    result = np.multiply.outer(p, -p)
    result.ravel()[:: len(x) + 1] += p
    return result


def softmax_data(n: int) -> Data:
    """10 n samples with n features, in 10 classes; a ridge."""
    rng = np.random.default_rng(n)
    return make_data(
        n,
        (0.1 * rng.normal(size=(n, 10)),),
        X=rng.normal(size=(10 * n, n)),
        Y=np.eye(10)[rng.integers(0, 10, 10 * n)],
        ridge=0.1,
    )


def softmax_regression(xp: Any, c: Any, W: Any) -> Any:
    """``Σ_n log Σ_k exp(X W)[n,k] − Σ Y ⊙ (X W) + ridge ‖W‖²``."""
    Z = c.X @ W
    return xp.sum(xp.log(xp.sum(xp.exp(Z), axis=1))) - xp.sum(c.Y * Z) + c.ridge * xp.sum(W**2)


def softmax_value(c: Any, W: np.ndarray) -> Any:
    Z = c.X @ W
    loss = np.sum(np.log(np.sum(np.exp(Z), axis=1))) - Z.ravel() @ c.Y.ravel()
    return loss + c.ridge * (W.ravel() @ W.ravel())


def _probabilities(c: Any, W: np.ndarray) -> np.ndarray:
    p = c.X @ W
    np.exp(p, out=p)
    p /= np.sum(p, axis=1, keepdims=True)
    return p


def softmax_gradient(c: Any, W: np.ndarray) -> np.ndarray:
    p = _probabilities(c, W)
    p -= c.Y
    gradient = c.X.T @ p
    gradient += 2 * c.ridge * W
    return gradient


def softmax_hessian(c: Any, W: np.ndarray) -> np.ndarray:
    """A block for each class, without what the classes share: ``Σ_n (x ⊗ p)(x ⊗ p)ᵀ``."""
    p, (d, k) = _probabilities(c, W), W.shape
    both = (c.X[:, :, None] * p[:, None, :]).reshape(len(p), d * k)
    result = both.T @ both
    np.negative(result, out=result)
    result.ravel()[:: d * k + 1] += 2 * c.ridge
    result = result.reshape(d, k, d, k)
    for label in range(k):
        result[:, label, :, label] += (c.X.T * p[:, label]) @ c.X
    return result


def poisson_data(n: int) -> Data:
    """20 n counts, n features, a ridge."""
    rng = np.random.default_rng(n)
    X, w = rng.normal(size=(20 * n, n)) / np.sqrt(n), rng.normal(size=n)
    return make_data(n, (0.5 * w,), X=X, y=rng.poisson(np.exp(X @ w)).astype(float), ridge=0.1)


def poisson(xp: Any, c: Any, w: Any) -> Any:
    """``Σ exp(X w) − y ⊙ (X w) + ridge/2 ‖w‖²``."""
    z = c.X @ w
    return xp.sum(xp.exp(z) - c.y * z) + 0.5 * c.ridge * xp.sum(w**2)


def poisson_step(c: Any, w: np.ndarray) -> np.ndarray:
    rate = np.exp(c.X @ w)
    gradient = c.X.T @ (rate - c.y)
    gradient += c.ridge * w
    hessian = (c.X.T * rate) @ c.X
    hessian.ravel()[:: len(w) + 1] += c.ridge
    return w - np.linalg.solve(hessian, gradient)


def newton_step(system: Any, f: Callable[..., Any], _: Any) -> Callable[..., Any]:
    """A step of Newton's method, the same text for all systems."""
    gradient, hessian = system.grad(f), system.hessian(f)

    def step(w: Any) -> Any:
        return w - system.xp.linalg.solve(hessian(w), gradient(w))

    return step


def layers_data(inputs: int, outputs: int) -> Callable[[int], Data]:
    """A of shape (n, n inputs / 4), B of shape (n outputs / 4, n)."""

    def data(n: int) -> Data:
        rng = np.random.default_rng(n)
        i, o = n * inputs // 4, n * outputs // 4
        return make_data(
            n, (rng.normal(size=i) / np.sqrt(i),), A=rng.normal(size=(n, i)), B=rng.normal(size=(o, n)) / np.sqrt(n)
        )

    return data


def layers(xp: Any, c: Any, x: Any) -> Any:
    """``B sin(tanh(A x))``."""
    return c.B @ xp.sin(xp.tanh(c.A @ x))


def layers_jacobian(c: Any, x: np.ndarray) -> np.ndarray:
    """Both diagonals first, then into the smaller of the two matrices."""
    t = np.tanh(c.A @ x)
    slope = np.cos(t) * (1 - t * t)
    return (c.B * slope) @ c.A if c.B.size < c.A.size else c.B @ (slope[:, None] * c.A)


def _quadratic_case(dtype: Any, bits: int) -> Case:
    return Case(
        f"quadratic-{bits}",
        f"xᵀAx, float{bits}",
        quadratic_data(dtype),
        quadratic,
        (
            Job("function", lambda c, x: x @ (c.A @ x)),
            Job("gradient", quadratic_gradient),
            Job("hessian", lambda c, _: c.A + c.A.T),
        ),
        sizes=(128, 512, 2048),
        quick=(128,),
        tolerance=1e-9 if bits == 64 else 1e-4,
    )


def _logsumexp_case(dtype: Any, bits: int) -> Case:
    return Case(
        f"logsumexp-{bits}",
        f"logsumexp, float{bits}",
        logsumexp_data(dtype),
        logsumexp,
        (
            Job("function", lambda _, x: np.log(np.sum(np.exp(x)))),
            Job("gradient", logsumexp_gradient),
            Job("hessian", logsumexp_hessian),
        ),
        sizes=(128, 512, 2048),
        quick=(128,),
        tolerance=1e-9 if bits == 64 else 1e-4,
    )


def _layers_case(name: str, inputs: int, outputs: int) -> Case:
    return Case(
        f"layers-{name}",
        f"Jacobian of B sin(tanh(A x)), {name}: {inputs}n/4 inputs, {outputs}n/4 outputs",
        layers_data(inputs, outputs),
        layers,
        (Job("jacobian", layers_jacobian, forward=outputs > inputs),),
        sizes=(40, 120, 400),
        quick=(40,),
    )


CASES = (
    *[_quadratic_case(dtype, bits) for dtype, bits in ((np.float32, 32), (np.float64, 64))],
    *[_logsumexp_case(dtype, bits) for dtype, bits in ((np.float32, 32), (np.float64, 64))],
    Case(
        "softmax",
        "softmax regression with a ridge, 10 n samples, n features, 10 classes",
        softmax_data,
        softmax_regression,
        (Job("function", softmax_value), Job("gradient", softmax_gradient), Job("hessian", softmax_hessian)),
        sizes=(10, 20, 50),
        quick=(10,),
    ),
    Case(
        "newton-glm",
        "a Newton step of Poisson regression, 20 n samples, n features",
        poisson_data,
        poisson,
        (Job("newton", poisson_step, spelled={"": newton_step}),),
        sizes=(10, 50, 200),
        quick=(50,),
    ),
    _layers_case("tall", 1, 16),
    _layers_case("wide", 16, 1),
)
