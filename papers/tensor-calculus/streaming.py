"""Value, gradient and Hessian of logistic regression over samples in a file that is not read into memory.

Run it with ``python papers/tensor-calculus/streaming.py``, and ``--rows 10000000`` for 800 MB of samples; they are made
in a temporary folder and deleted again. For value, gradient and Hessian, alone and together, it prints the time beside
that of a loop over blocks in NumPy, samples and bytes a second, the most memory that was allocated, and how far the
results are apart. It shows a bar for the first run of each where tqdm is installed. The results are the same bits in
all rounds, or it stops.
"""

from __future__ import annotations

import argparse
import importlib.util
import tempfile
import tracemalloc
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

import einsumad as ea

BLOCK = 100_000
ROUNDS = 5


def samples(folder: Path, rows: int, columns: int, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """Normal samples, and signs that depend on them, in files that are mapped for reading."""
    rng = np.random.default_rng(0)
    slope = rng.normal(size=columns)
    X = np.memmap(folder / "X", dtype, "w+", shape=(rows, columns))
    y = np.memmap(folder / "y", dtype, "w+", shape=(rows,))
    for start in range(0, rows, BLOCK):
        part = rng.normal(size=(min(BLOCK, rows - start), columns))
        X[start : start + BLOCK] = part
        y[start : start + BLOCK] = np.sign(part @ slope + rng.logistic(size=len(part)))
    X.flush()
    y.flush()
    return np.memmap(folder / "X", dtype, "r", shape=X.shape), np.memmap(folder / "y", dtype, "r", shape=y.shape)


def loss(w: Any, X: Any, y: Any) -> Any:
    """The logistic loss with a ridge. The traced product comes first: ``-y`` alone would be an array in memory."""
    return np.sum(np.log1p(np.exp(-(y * (X @ w))))) + 0.5 * w @ w


def value_by_hand(w: np.ndarray, X: np.ndarray, y: np.ndarray) -> Any:
    total = 0.5 * w @ w
    for k in range(0, len(X), BLOCK):
        total += np.sum(np.logaddexp(0, -y[k : k + BLOCK] * (X[k : k + BLOCK] @ w)))
    return total


def gradient_by_hand(w: np.ndarray, X: np.ndarray, y: np.ndarray) -> Any:
    total = w.copy()
    for k in range(0, len(X), BLOCK):
        rows, signs = X[k : k + BLOCK], y[k : k + BLOCK]
        total -= rows.T @ (signs / (1 + np.exp(signs * (rows @ w))))
    return total


def hessian_by_hand(w: np.ndarray, X: np.ndarray, y: np.ndarray) -> Any:
    total = np.eye(len(w), dtype=w.dtype)
    for k in range(0, len(X), BLOCK):
        rows, signs = X[k : k + BLOCK], y[k : k + BLOCK]
        s = 1 / (1 + np.exp(signs * (rows @ w)))
        total += rows.T @ ((s * (1 - s))[:, None] * rows)
    return total


def all_by_hand(w: np.ndarray, X: np.ndarray, y: np.ndarray) -> Any:
    value, gradient, hessian = 0.5 * w @ w, w.copy(), np.eye(len(w), dtype=w.dtype)
    for k in range(0, len(X), BLOCK):
        rows, signs = X[k : k + BLOCK], y[k : k + BLOCK]
        z = signs * (rows @ w)
        s = 1 / (1 + np.exp(z))
        value += np.sum(np.logaddexp(0, -z))
        gradient -= rows.T @ (signs * s)
        hessian += rows.T @ ((s * (1 - s))[:, None] * rows)
    return value, gradient, hessian


CASES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "value": (lambda limit: ea.compile(loss, memory_limit=limit), value_by_hand),
    "gradient": (lambda limit: ea.grad(loss, memory_limit=limit), gradient_by_hand),
    "Hessian": (lambda limit: ea.hessian(loss, memory_limit=limit), hessian_by_hand),
    "all three": (lambda limit: ea.value_grad_and_hessian(loss, memory_limit=limit), all_by_hand),
}


def seconds(call: Callable[[], Any]) -> float:
    start = perf_counter()
    call()
    return perf_counter() - start


def peak_of(call: Callable[[], Any]) -> int:
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def parts_of(found: Any) -> list[np.ndarray]:
    return [np.asarray(part) for part in found] if isinstance(found, tuple) else [np.asarray(found)]


def show(name: str, w: np.ndarray, X: np.ndarray, y: np.ndarray, limit: int) -> None:
    make, hand = CASES[name]
    ours = make(limit)
    print(f"== {name}", flush=True)
    with ea.progress() if importlib.util.find_spec("tqdm") else nullcontext():
        first = parts_of(ours(w, X, y))
    times: list[tuple[float, float]] = []
    for _ in range(ROUNDS):
        times.append((seconds(lambda: ours(w, X, y)), seconds(lambda: hand(w, X, y))))
        again = parts_of(ours(w, X, y))
        if any(one.tobytes() != other.tobytes() for one, other in zip(first, again, strict=True)):
            raise SystemExit("two runs gave different bits")
    own, other = (median(column) for column in zip(*times, strict=True))
    errors = [float(np.abs(a - b).max() / np.abs(b).max()) for a, b in zip(first, parts_of(hand(w, X, y)), strict=True)]
    split = ea.explain(ours, w, X, y).plan
    print(getattr(split, "note", "in one part"))
    print(
        f"{own:.3g} s, by hand {other:.3g} s ({own / other:.2f} x); {len(X) / own / 1e6:.3g} million samples and "
        f"{(X.nbytes + y.nbytes) / own / 1e9:.3g} GB a second"
    )
    print(
        f"allocated at most {peak_of(lambda: ours(w, X, y)) / 1e6:.3g} MB, by hand "
        f"{peak_of(lambda: hand(w, X, y)) / 1e6:.3g} MB; apart by at most {max(errors):.2g}\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--dtype", choices=["float64", "float32"], default="float64")
    parser.add_argument("--limit", type=int, default=64 * 10**6, help="bytes that a plan may take")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        X, y = samples(Path(folder), given.rows, given.columns, np.dtype(given.dtype))
        print(f"{given.rows:,} samples of {given.columns}, {given.dtype}, {(X.nbytes + y.nbytes) / 1e6:,.0f} MB\n")
        w = np.linspace(-0.5, 0.5, given.columns).astype(given.dtype)
        for name in CASES:
            show(name, w, X, y, given.limit)
        del X, y


if __name__ == "__main__":
    main()
