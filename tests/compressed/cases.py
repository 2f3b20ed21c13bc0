"""Small functions whose derivatives have every kind of structure.

Sizes are equal on purpose wherever the functions allow it: structure comes from indices and never from sizes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import pi
from typing import Any

import numpy as np

import einsumad as ea

N = 3
RNG = np.random.default_rng(5)
MASK = RNG.random((N, N)) > 0.4
INDEX = np.array([0, 2, 0, 1, 2, 2])
"""Comes with repetitions."""
T, U, V, A, B = RNG.normal(size=(5, N, N))
S = A @ A.T + np.eye(N)
X, x, y = RNG.normal(size=(4, N)), RNG.normal(size=N), RNG.normal(size=N)
LABELS = np.eye(N)[RNG.integers(0, N, 4)]
FEW, MANY = RNG.normal(size=(2, 5)), RNG.normal(size=(9, N))
POINTS, CAMERAS = RNG.normal(size=(4, 2)), RNG.normal(size=(2, 3))


@dataclass(frozen=True)
class Case:
    """A function of arrays, and which derivative of it is meant: "hessian" or "jacobian"."""

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    argnums: int | tuple[int, ...] = 0
    kind: str = "hessian"

    def derivative(self, **options: Any) -> Any:
        """The derivative at the arguments."""
        return getattr(ea, self.kind)(self.function, argnums=self.argnums, **options)(*self.arguments)


def factorisation(U, V):
    return np.sum((T - U @ V.T) ** 2)


def masked(U, V):
    return np.sum(np.where(MASK, (T - U @ V.T) ** 2, 0.0)) + 0.1 * np.sum(U**2)


def ridge(U, V):
    return np.sum((T.astype(U.dtype) - U @ V.T) ** 2) + 0.1 * np.sum(U**2) + 0.2 * np.sum(V**2)


def entropy(scores):
    shifted = scores - np.max(scores, axis=1, keepdims=True)
    return -np.sum(LABELS * (shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))))


def relu_net(W1, W2):
    return entropy(np.maximum(X @ W1, 0) @ W2)


def tanh_net(params):
    hidden = np.tanh(X @ params["in"]["W"] + params["in"]["b"])
    return entropy(hidden @ params["out"][0] + params["out"][1])


def softmax_regression(W):
    return entropy(X @ W) + 0.1 * np.sum(W**2)


def logistic(w, data):
    return np.sum(np.log(1 + np.exp(-data @ w))) + 0.5 * np.sum(w**2)


def covariance(log_length, log_scale):
    squares = (x[:, None] - x) ** 2
    return np.exp(log_scale - squares * np.exp(-log_length)) + 0.3 * np.eye(N)


def gaussian_process(log_length, log_scale):
    K = covariance(log_length, log_scale)
    return 0.5 * y @ np.linalg.solve(K, y) + 0.5 * np.linalg.slogdet(K)[1] + 0.5 * N * np.log(2 * pi)


def latent_values(f):
    return np.sum(np.log(1 + np.exp(-y * f))) + 0.5 * f @ np.linalg.solve(S, f)


def traces(X):
    return np.trace(X.T @ A @ X @ B)


def symmetric_traces(X):
    return np.einsum("ij,ik,kl,jl->", X, S, X, S @ S) + np.sum(X**2)


def sylvester(X):
    return np.sum((A @ X) ** 2) + np.sum((X @ B) ** 2)


def chain(x):
    return np.sum((x[1:] - x[:-1]) ** 4) + np.sum(np.exp(x))


def second_differences(x):
    return np.sum(np.diff(x, n=2) ** 2) + np.sum(x**2)


def laplacian(u):
    rows, columns = u[1:] - u[:-1], u[:, 1:] - u[:, :-1]
    return np.sum(rows**2) + np.sum(columns**2) + np.sum(u**4)


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def bundle_adjustment(cameras, points):
    camera, point = cameras[[0, 1, 1, 0, 1, 0]], points[[0, 1, 2, 3, 0, 2]]
    moved = point * np.exp(camera[:, :1]) + camera[:, 1:]
    return np.sum((moved / (2 + moved[:, :1] ** 2)) ** 2) + 0.5 * np.sum(points**2) + 0.5 * np.sum(cameras**2)


def poisson(beta, effects, crossed):
    rate = MANY[:6] @ beta + effects[INDEX] + crossed[INDEX[::-1]]
    return np.sum(np.exp(rate) - rate) + 0.5 * np.sum(effects**2) + np.sum(crossed**2)


def random_slopes(beta, slopes):
    rate = MANY[:6] @ beta + np.sum(MANY[:6] * slopes[INDEX], axis=1)
    return np.sum(np.exp(0.3 * rate)) + 0.5 * np.sum((slopes @ A) ** 2) + 0.5 * np.sum(beta**2)


def windows(x):
    seen = np.lib.stride_tricks.sliding_window_view(x, 3)
    return np.sum(np.tanh(seen @ y) ** 2)


def untaken(x):
    kept = np.where(x > 0, x, 1.0)
    return np.sum(np.where(x > 0, np.log(kept) * kept**2, 0.0)) + np.sum(np.where(x > 0, 1 / x, 0.0))


LONG = np.linspace(-1, 1.2, 9)

CASES = (
    Case("factorisation, one factor", factorisation, (U, V)),
    Case("factorisation, the other factor", factorisation, (U, V), 1),
    Case("factorisation, both", factorisation, (U, V), (0, 1)),
    Case("masked", masked, (U, V)),
    Case("masked, both", masked, (U, V), (0, 1)),
    Case("ridge", ridge, (U, V)),
    Case("ridge, both", ridge, (U, V), (0, 1)),
    Case("first layer, relu", relu_net, (A, B)),
    Case("all layers, relu", relu_net, (A, B), (0, 1)),
    Case("all layers, tanh, nested", tanh_net, ({"in": {"W": A, "b": x}, "out": [B, y]},)),
    Case("softmax regression", softmax_regression, (U,)),
    Case("logistic, few samples", logistic, (np.linspace(-1, 1, 5), FEW)),
    Case("logistic, many samples", logistic, (x, MANY)),
    Case("hyperparameters", gaussian_process, (0.3, -0.2), (0, 1)),
    Case("latent values", latent_values, (x,)),
    Case("two traces", traces, (X[:N],)),
    Case("two traces, symmetric", symmetric_traces, (U,)),
    Case("sylvester", sylvester, (U,)),
    Case("exponentials", lambda x: np.sum(np.exp(x)), (x,)),
    Case("chain", chain, (LONG,)),
    Case("second differences", second_differences, (LONG,)),
    Case("laplacian", laplacian, (U,)),
    Case("rosenbrock", rosenbrock, (LONG,)),
    Case("bundle adjustment", bundle_adjustment, (CAMERAS, POINTS), (0, 1)),
    Case("random effects", poisson, (x, y, A[0]), (0, 1, 2)),
    Case("random slopes", random_slopes, (x, 0.3 * U), (0, 1)),
    Case("gather", lambda x: np.sum(np.exp(x[INDEX]) * x[INDEX[::-1]]), (x,)),
    Case("gather, jacobian", lambda x: x[INDEX] ** 2, (x,), kind="jacobian"),
    Case("windows", windows, (LONG,)),
    Case("convolution, jacobian", lambda x: np.convolve(x, y, "valid"), (LONG,), kind="jacobian"),
    Case("cumsum", lambda x: np.sum(np.cumsum(x) ** 3), (x,)),
    Case("cumsum, jacobian", np.cumsum, (x,), kind="jacobian"),
    Case("logdet", lambda X: np.linalg.slogdet(X @ X.T + S)[1], (U,)),
    Case("norm", np.linalg.norm, (x,)),
    Case("norms of rows", lambda X: np.sum(np.linalg.norm(X, axis=1)), (U,)),
    Case("outer, jacobian", lambda x: np.outer(x, x), (x,), kind="jacobian"),
    Case("matrix product, jacobian", lambda X: A @ X @ B, (U,), kind="jacobian"),
    Case("scalar", lambda x: x**3, (2.0,)),
    Case("scalars", lambda x, y: x**3 * np.exp(y), (2.0, 0.5), (0, 1)),
    Case("one entry", lambda X: np.sum(np.exp(X @ X)) + np.sum(X) ** 2, (np.full((1, 1), 0.5),)),
    Case("empty", lambda x, X: np.sum(x**3) + np.sum(X**2) ** 2, (np.zeros(0), np.zeros((2, 0))), (0, 1)),
    Case("empty beside others", lambda x, y: np.sum(x**3) * np.sum(y**2) + np.sum(y**4), (np.zeros(0), y), (0, 1)),
    Case("float32", ridge, (U.astype(np.float32), V.astype(np.float32))),
    Case("float32, chain", chain, (LONG.astype(np.float32),)),
    Case("mixed dtypes", lambda x, y: np.sum(x * y) ** 2 + np.sum(y**4), (x.astype(np.float32), y), (0, 1)),
    Case("untaken branch", untaken, (np.array([0.5, 0.0, 2.0, -1.0]),)),
    Case("independent", lambda x, _: np.sum(x**3), (x, y), 1),
    Case("independent blocks", lambda x, y: np.sum(x**4) + np.sum(y**2), (x, y), (0, 1)),
    Case("linear", lambda x: x @ y, (x,)),
    Case("update of rank one", lambda x: np.sum(x**4) + np.sum(np.sin(x)) ** 2, (LONG,)),
    Case("mask squared", lambda x: np.sin(np.min(x)) ** 2 + np.sum(np.where(x > 0, x**2, 0.0)), (x,)),
)
