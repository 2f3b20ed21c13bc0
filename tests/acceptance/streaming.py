"""A logistic loss over samples in a file, under a limit: ``python -m tests.acceptance.streaming FOLDER ROWS LIMIT``.

Prints by how many bytes the memory of this process grew that is not that of files, and how far value, gradient and
Hessian are from those of a loop over blocks written by hand, relative to their largest entries.
"""

import sys
import threading
from pathlib import Path

import numpy as np

import einsumad as ea

COLUMNS = 10
BLOCK = 50_000


def written(folder, rows):
    """The samples and their signs, in files, mapped for reading."""
    rng = np.random.default_rng(0)
    X = np.memmap(folder / "X", np.float64, "w+", shape=(rows, COLUMNS))
    y = np.memmap(folder / "y", np.float64, "w+", shape=(rows,))
    for start in range(0, rows, BLOCK):
        X[start : start + BLOCK] = rng.normal(size=X[start : start + BLOCK].shape)
        y[start : start + BLOCK] = np.sign(rng.normal(size=y[start : start + BLOCK].shape))
    X.flush()
    y.flush()
    return np.memmap(folder / "X", np.float64, "r", shape=X.shape), np.memmap(
        folder / "y", np.float64, "r", shape=y.shape
    )


def loss(w, X, y):
    return np.sum(np.log1p(np.exp(-(y * (X @ w))))) + 0.5 * w @ w


def by_hand(w, X, y):
    value, gradient, hessian = 0.5 * w @ w, w.copy(), np.eye(len(w))
    for start in range(0, len(X), BLOCK):
        rows, signs = X[start : start + BLOCK], y[start : start + BLOCK]
        z = signs * (rows @ w)
        s = 1 / (1 + np.exp(z))
        value += np.sum(np.logaddexp(0, -z))
        gradient -= rows.T @ (signs * s)
        hessian += rows.T @ ((s * (1 - s))[:, None] * rows)
    return value, gradient, hessian


def bytes_of_its_own():
    """The memory of this process that is not that of files."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line.split()[1] for line in lines if line.startswith("RssAnon")))


class Watch:
    """The most memory that this process had, looked at every half millisecond."""

    def __enter__(self):
        self.before = self.most = bytes_of_its_own()
        self.done = threading.Event()
        self.thread = threading.Thread(target=self._look)
        self.thread.start()
        return self

    def _look(self):
        while not self.done.wait(0.0005):
            self.most = max(self.most, bytes_of_its_own())

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()

    @property
    def growth(self):
        return self.most - self.before


if __name__ == "__main__":
    X, y = written(Path(sys.argv[1]), int(sys.argv[2]))
    w = np.linspace(-0.5, 0.5, COLUMNS)
    ea.value_grad_and_hessian(loss)(w, np.ones((300, COLUMNS)), np.ones(300))  # BLAS and SciPy are loaded
    with Watch() as watch:
        found = ea.value_grad_and_hessian(loss, memory_limit=int(sys.argv[3]))(w, X, y)
    errors = [np.abs(a - b).max() / np.abs(b).max() for a, b in zip(found, by_hand(w, X, y), strict=True)]
    print(watch.growth, *errors)
