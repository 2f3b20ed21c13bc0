"""What grows: derivatives of the logistic loss up to the fourth, the layers of a network, a chain of numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmark.case import Case, Data, Job, make_data
from benchmark.cases import networks, paper


def _margins(c: Any, w: np.ndarray) -> np.ndarray:
    """``q (1 − q)`` at the margins, and the matrix of pairs of features."""
    return 1 / (1 + np.exp(c.y * (c.X @ w)))


def _pairs(c: Any) -> np.ndarray:
    return (c.X[:, :, None] * c.X[:, None, :]).reshape(len(c.X), -1)


def third_derivative(c: Any, w: np.ndarray) -> np.ndarray:
    """``Σ_k −y q (1 − q)(1 − 2 q) x x x`` as one matrix product."""
    q = _margins(c, w)
    n = len(w)
    return (_pairs(c).T @ (c.X * (-c.y * q * (1 - q) * (1 - 2 * q))[:, None])).reshape(n, n, n)


def fourth_derivative(c: Any, w: np.ndarray) -> np.ndarray:
    """``Σ_k u (1 − 6 u) x x x x`` with ``u = q (1 − q)`` as one matrix product."""
    q = _margins(c, w)
    u = q * (1 - q)
    n, pairs = len(w), _pairs(c)
    return (pairs.T @ (pairs * (u * (1 - 6 * u))[:, None])).reshape(n, n, n, n)


def deep_data(layers: int) -> Data:
    """A network of as many layers 10 × 10."""
    return networks.network_data(layers, np.sqrt(2))(10)


def chain_data(operations: int) -> Data:
    """One number, and how often it is mapped; each map is five operations."""
    return make_data(operations, (np.asarray(0.3),), maps=operations // 5)


def chain(xp: Any, c: Any, x: Any) -> Any:
    """``x → 0.5 sin(x) + 0.3 x + 0.1``, again and again."""
    for _ in range(c.maps):
        x = 0.5 * xp.sin(x) + 0.3 * x + 0.1
    return x


def chain_gradient(c: Any, x: np.ndarray) -> np.ndarray:
    value, slope, sin, cos = float(x), 1.0, math.sin, math.cos
    for _ in range(c.maps):
        slope *= 0.5 * cos(value) + 0.3
        value = 0.5 * sin(value) + 0.3 * value + 0.1
    return np.asarray(slope)


CASES = (
    Case(
        "orders",
        "derivatives of the logistic loss, X of shape (2n, n)",
        paper.logistic_data,
        paper.logistic,
        (
            Job("gradient", paper.logistic_gradient),
            Job("hessian", paper.logistic_hessian),
            Job("third", third_derivative),
            Job("fourth", fourth_derivative),
        ),
        sizes=(10, 20, 30),
        quick=(10,),
    ),
    Case(
        "depth",
        "ReLU network of layers 10 × 10, batch 10, Hessian in the first layer",
        deep_data,
        networks.relu_network,
        (Job("gradient", networks.relu_gradient), Job("hessian", networks.relu_hessian)),
        sizes=(5, 10, 20, 50),
        quick=(10,),
        tiny=3,
        parameter="layers",
    ),
    Case(
        "chain",
        "a chain of operations on one number",
        chain_data,
        chain,
        (Job("gradient", chain_gradient),),
        sizes=(100, 1000, 10000),
        quick=(100,),
        tiny=15,
        parameter="operations",
    ),
)
