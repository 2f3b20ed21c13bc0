"""Small problems with known answers."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

TREE = {"W": np.array([[0.6, -0.4], [0.2, 0.3]]), "b": 0.5}
"""Where the search in a tree starts."""

TARGET = np.array([[1.0, 2.0], [-1.0, 0.5]])


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def convex(params):
    """Least where W is the target and b is 3; its leaves meet in the last term."""
    W, b = params["W"], params["b"]
    distance = np.sum((W - TARGET) ** 2)
    return distance + 0.1 * distance**2 + (b - 3) ** 2 + 0.25 * (np.sum(W) + b - 5.5) ** 2


def residuals(params, t):
    """A tree of residuals that are all zero where W is the target and b is 3."""
    W, b = params["W"], params["b"]
    return {"lines": (W - TARGET) @ t, "rest": [np.exp(b) - np.exp(3.0), (b - 3) * W]}


@contextmanager
def warnings_raise() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield
