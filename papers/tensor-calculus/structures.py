"""Derivatives in their structure, at sizes whose dense Hessian would not fit: structure, memory, seconds.

Run it with ``python papers/tensor-calculus/structures.py``, with names of cases for some of them. For each it prints
the structure; the bytes that are stored, the peak of memory while the Hessian is made (arguments and stored arrays
included) and that of a solution, each also as a multiple of stored and argument bytes; and the medians of the times for
the Hessian, for a product, and for a solution with a fresh factorisation.
"""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

import einsumad as ea
from einsumad.scipy.special import logsumexp

ROUNDS = 5


@dataclass(frozen=True)
class Case:
    """A function, the arguments to differentiate, the data that it captures, and what is added to the diagonal.

    No system is solved where only the dense matrix would do and is too large.
    """

    function: Callable[..., Any]
    arguments: tuple[np.ndarray, ...]
    captured: tuple[np.ndarray, ...] = ()
    damping: float = 0.0
    solved: bool = True


def factorisation(masked: bool = False, ridge: float = 0.0, n: int = 1000, k: int = 10) -> Case:
    rng = np.random.default_rng(0)
    V, T, U = rng.normal(size=(n, k)), rng.normal(size=(n, n)), rng.normal(size=(n, k))
    mask = rng.random((n, n)) < 0.3

    def loss(U):
        error = T - U @ V.T
        return np.sum((np.where(mask, error, 0) if masked else error) ** 2) + ridge * np.sum(U**2)

    return Case(loss, (U,), (V, T, mask) if masked else (V, T))


def softmax(samples: int, features: int, classes: int) -> Case:
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(samples, features)), np.eye(classes)[rng.integers(0, classes, samples)]

    def loss(W):
        Z = X @ W
        return np.sum(logsumexp(Z, axis=1)) - np.sum(Y * Z) + 0.1 * np.sum(W**2)

    return Case(loss, (np.zeros((features, classes)),), (X, Y))


def network(layers: int, activation: Callable[..., Any], every: bool = False, n: int = 30) -> Case:
    rng = np.random.default_rng(2)
    X, Y = rng.normal(size=(n, n)), np.eye(n)[rng.integers(0, n, n)]
    weights = tuple([rng.normal(size=(n, n)) / np.sqrt(n) for _ in range(layers)])

    def loss(*given):
        hidden = X
        for W in (*given, *weights[len(given) :]):
            hidden = activation(hidden @ W)
        return np.sum(logsumexp(hidden, axis=1)) - np.sum(Y * hidden)

    return Case(loss, weights if every else weights[:1], (X, Y, *weights), damping=100.0, solved=n <= 30)


def relu(x):
    return np.maximum(x, 0)


def gaussian_process(n: int = 300) -> Case:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(n, 2)), rng.poisson(1.0, n).astype(float)
    K = np.exp(-np.sum((X[:, None] - X[None]) ** 2, axis=-1)) + 0.1 * np.eye(n)
    return Case(lambda f: 0.5 * f @ np.linalg.solve(K, f) + np.sum(np.exp(f) - y * f), (np.zeros(n),), (K, y))


def two_products(n: int = 300, m: int = 200) -> Case:
    rng = np.random.default_rng(4)
    A, B = rng.normal(size=(n, n)), rng.normal(size=(m, m))
    return Case(lambda X: np.trace(X.T @ A @ X @ B), (rng.normal(size=(n, m)),), (A, B))


def exponentials(n: int = 10**6) -> Case:
    return Case(lambda x: np.sum(np.exp(x)), (np.linspace(-1, 1, n),))


def chain(n: int = 10**6) -> Case:
    return Case(lambda x: np.sum((x[1:] - x[:-1]) ** 4) + np.sum(x**2), (np.sin(np.arange(n)),))


def rosenbrock(n: int = 10**6) -> Case:
    def f(x):
        return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    return Case(f, (1 + 0.01 * np.sin(np.arange(n)),))


def plane(n: int = 200) -> Case:
    def f(u):
        return np.sum((u[1:] - u[:-1]) ** 2) + np.sum((u[:, 1:] - u[:, :-1]) ** 2) + np.sum(u**4)

    return Case(f, (np.sin(np.arange(n * n)).reshape(n, n),))


def bundle(cameras: int = 50, points: int = 5000, seen: int = 4) -> Case:
    rng = np.random.default_rng(5)
    point = np.repeat(np.arange(points), seen)
    camera = np.concatenate([rng.choice(cameras, seen, replace=False) for _ in range(points)])
    observed = rng.normal(size=(len(point), 2))

    def rotated(w, p):
        squared = np.sum(w * w, axis=1, keepdims=True)
        angle = np.sqrt(squared)
        return (
            p * np.cos(angle)
            + np.cross(w, p) * (np.sin(angle) / angle)
            + w * (np.sum(w * p, axis=1, keepdims=True) * (1 - np.cos(angle)) / squared)
        )

    def loss(views, places):
        view = views[camera]
        p = rotated(view[:, :3], places[point]) + view[:, 3:6]
        return np.sum((view[:, 6:7] * p[:, :2] / p[:, 2:] - observed) ** 2)

    turns, shifts = 0.1 * rng.normal(size=(cameras, 3)), rng.normal(size=(cameras, 3)) + np.array([0.0, 0.0, 6.0])
    views = np.concatenate([turns, shifts, np.ones((cameras, 1))], axis=1)
    return Case(loss, (views, rng.normal(size=(points, 3))), (point, camera, observed), damping=10.0)


def mixed(samples: int = 50000, groups: int = 2000, slopes: bool = False) -> Case:
    rng = np.random.default_rng(6)
    X, group, y = rng.normal(size=(samples, 5)), rng.integers(0, groups, samples), rng.poisson(1.0, samples)

    def loss(b, u, *s):
        z = X @ b + u[group]
        for slope in s:
            z = z + slope[group] * X[:, 0]
        return np.sum(np.exp(z) - y * z) + np.sum(u**2) + sum(np.sum(slope**2) for slope in s)

    more = (np.zeros(groups),) if slopes else ()
    return Case(loss, (np.zeros(5), np.zeros(groups), *more), (X, group, y))


CASES: dict[str, Callable[[], Case]] = {
    "factorisation": factorisation,
    "factorisation-ridge": lambda: factorisation(ridge=0.1),
    "factorisation-mask": lambda: factorisation(masked=True, ridge=0.1),
    "softmax-few": lambda: softmax(20, 500, 10),
    "softmax-many": lambda: softmax(5000, 50, 10),
    "relu-first": lambda: network(10, relu),
    "tanh-first": lambda: network(4, np.tanh),
    "tanh-all": lambda: network(3, np.tanh, every=True),
    "relu-first-100": lambda: network(10, relu, n=100),
    "tanh-first-100": lambda: network(4, np.tanh, n=100),
    "tanh-all-100": lambda: network(3, np.tanh, every=True, n=100),
    "gaussian-process": gaussian_process,
    "two-kronecker": two_products,
    "exponentials": exponentials,
    "chain": chain,
    "rosenbrock": rosenbrock,
    "plane": plane,
    "bundle": bundle,
    "mixed": mixed,
    "mixed-slopes": lambda: mixed(slopes=True),
}


def milliseconds(f: Callable[[], Any]) -> float:
    times = []
    for _ in range(ROUNDS):
        start = perf_counter()
        f()
        times.append(perf_counter() - start)
    return 1000 * median(times)


def peak_of(f: Callable[[], Any]) -> tuple[int, Any]:
    tracemalloc.start()
    result = f()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak, result


def show(name: str) -> None:
    case = CASES[name]()
    several = len(case.arguments) > 1
    transform = ea.hessian(case.function, tuple(range(len(case.arguments))) if several else 0, compressed=True)
    right = case.arguments if several else case.arguments[0]

    def made() -> Any:
        H = transform(*case.arguments)
        return H, H.nbytes  # the arrays of blocks are made when they are asked for

    start = perf_counter()
    made()
    first = 1000 * (perf_counter() - start)
    peak, (H, stored) = peak_of(made)
    given = sum([array.nbytes for array in (*case.arguments, *case.captured)])
    again = milliseconds(made)
    product = milliseconds(lambda: H @ right)
    text = H.structure
    print(f"== {name}\n{text if len(text) < 2500 else text[:2500] + ' ...'}")
    print(
        f"stored {stored / 1e6:.3g} MB, given {given / 1e6:.3g} MB, "
        f"peak {peak / 1e6:.3g} MB ({peak / (stored + given):.2f} x)"
    )
    print(f"first {first:.0f} ms, Hessian {again:.3g} ms, product {product:.3g} ms")
    if case.solved:

        def solved() -> Any:
            return made()[0].solve(right, damping=case.damping)

        solved()
        peak, _ = peak_of(solved)
        print(
            f"solved by {H.factorise(damping=case.damping).method} in {milliseconds(solved) - again:.3g} ms, "
            f"peak {peak / 1e6:.3g} MB ({peak / (stored + given):.2f} x)"
        )
    print()


if __name__ == "__main__":
    for chosen in sys.argv[1:] or CASES:
        show(chosen)
