"""Hessians of the paper's problems, compiled, beside hand-written NumPy: medians of one process, in turn.

Run it with ``python papers/tensor-calculus/hessian_times.py``. It prints milliseconds a call, the ratio, and the
largest difference between the two results. Set OPENBLAS_NUM_THREADS=1 for figures that other processes disturb less.
"""

from collections.abc import Callable
from statistics import median
from time import perf_counter

import numpy as np

import einsumad as ea

ROUNDS = 15
SECONDS_A_ROUND = 0.02


def logistic(n: int) -> tuple[Callable, np.ndarray, Callable]:
    """``Σ log(exp(-y ⊙ (X w)) + 1)`` with X of shape (2n, n)."""
    rng = np.random.default_rng(n)
    X, w = rng.normal(size=(2 * n, n)), rng.normal(size=n) / np.sqrt(n)
    y = np.sign(rng.normal(size=2 * n))

    def loss(w: np.ndarray) -> np.ndarray:
        return np.sum(np.log(np.exp(-y * (X @ w)) + 1))

    def by_hand(w: np.ndarray) -> np.ndarray:
        s = 1 / (1 + np.exp(y * (X @ w)))
        return (X.T * (s * (1 - s))) @ X

    return loss, w, by_hand


def factorisation(n: int) -> tuple[Callable, np.ndarray, Callable]:
    """``‖O ⊙ (T - U Vᵀ)‖²`` with U of shape (n, 5)."""
    rng = np.random.default_rng(n)
    T, V, U = rng.normal(size=(n, n)), rng.normal(size=(n, 5)), rng.normal(size=(n, 5))
    O = (rng.random((n, n)) < 0.3).astype(float)  # noqa: E741 (the name in the paper)

    def loss(U: np.ndarray) -> np.ndarray:
        return np.sum((O * (T - U @ V.T)) ** 2)

    def by_hand(_: np.ndarray) -> np.ndarray:
        H = np.zeros((n, 5, n, 5))
        rows = np.arange(n)
        H[rows, :, rows, :] = 2 * np.matmul(V.T * (O * O)[:, None, :], V)
        return H

    return loss, U, by_hand


def calls_a_round(f: Callable, x: np.ndarray) -> int:
    start = perf_counter()
    f(x)
    return max(1, int(SECONDS_A_ROUND / max(perf_counter() - start, 1e-7)))


def time_of(f: Callable, x: np.ndarray, calls: int) -> float:
    start = perf_counter()
    for _ in range(calls):
        f(x)
    return (perf_counter() - start) / calls


def compare(name: str, n: int, problem: tuple[Callable, np.ndarray, Callable]) -> None:
    loss, x, by_hand = problem
    start = perf_counter()
    ours = ea.compile(ea.hessian(loss))
    difference = np.max(np.abs(ours(x) - by_hand(x)))
    first = perf_counter() - start
    calls = [calls_a_round(ours, x), calls_a_round(by_hand, x)]
    times = [(time_of(ours, x, calls[0]), time_of(by_hand, x, calls[1])) for _ in range(ROUNDS)]
    a, b = median([t for t, _ in times]), median([t for _, t in times])
    print(
        f"{name:<14} n = {n:<5} ours {1e3 * a:9.4f} ms   by hand {1e3 * b:9.4f} ms   ratio {a / b:5.2f}   "
        f"difference {difference:.1e}   first call {1e3 * first:.0f} ms"
    )


if __name__ == "__main__":
    for size in (10, 100, 1000):
        compare("logistic", size, logistic(size))
    for size in (50, 200):
        compare("factorisation", size, factorisation(size))
