"""Functions on which properties hold: a name, the function, and how its arrays are drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special


@dataclass(frozen=True)
class Example:
    name: str
    function: Callable[..., Any]
    arrays: tuple[np.ndarray, ...]
    batched: bool = False


RNG = np.random.default_rng(20)


def normal(*shape):
    return RNG.standard_normal(shape)


def spd(n):
    v = normal(n, n)
    return v @ v.T + np.eye(n)


MATRIX, WIDE = normal(3, 3), normal(3, 4)
HILBERT = 1 / (np.arange(6)[:, None] + np.arange(6) + 1.0)
INVERSE = np.linalg.inv(HILBERT)
LABELS = np.array([1.0, -1.0, 1.0, 1.0, -1.0])
FEATURES = normal(5, 3)


def logistic(w):
    return np.sum(np.log1p(np.exp(-LABELS * (FEATURES @ w)))) + 0.1 * (w @ w)


def network(x, W, v):
    return np.tanh(x @ W) @ v


def normalised(x):
    centred = x - np.mean(x, axis=0)
    return centred / np.sqrt(np.mean(centred**2, axis=0) + 1e-3)


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


EXAMPLES = (
    Example("cubes", lambda x: np.sum(x**3), (normal(4),)),
    Example("entries", lambda x: np.sin(x) * x, (normal(2, 2),)),
    Example("two arrays", lambda x, y: np.exp(x) * y - x, (normal(3), normal(3))),
    Example("broadcast", lambda x, y: np.tanh(x + y), (normal(2, 1), normal(3))),
    Example("logistic", logistic, (normal(3),)),
    Example("linear", lambda x: MATRIX @ x, (normal(3),)),
    Example("identity", lambda x: x, (normal(2, 3),)),
    Example("constant", lambda x: np.ones(2) + 0 * np.sum(x), (normal(3),)),
    Example("quadratic form", lambda x, A: x @ A @ x, (normal(2), normal(2, 2))),
    Example("einsum", lambda x, y: np.einsum("ij,jk,ij->k", x, y, x), (normal(2, 3), normal(3, 2))),
    Example("inverse", np.linalg.inv, (spd(2),)),
    Example("log-determinant", lambda A: np.linalg.slogdet(A)[1], (spd(3),)),
    Example("solve", np.linalg.solve, (spd(2), normal(2))),
    Example("division", lambda x, y: x / (1 + y * y), (normal(2), normal(2))),
    Example("special", lambda x: np.sum(special.gammaln(x) + special.erf(x)), (np.exp(normal(3)),)),
    Example("batch of sums", lambda x, y: np.sum(x * np.sin(y), axis=1), (normal(3, 2), normal(3, 2)), batched=True),
    Example("batch of rows", softmax, (normal(2, 3),), batched=True),
    Example("network", network, (normal(3, 2), normal(2, 2), normal(2))),
    Example("normalised", normalised, (normal(4, 2),)),
)

CORNERS = (
    Example("empty", np.sin, (np.zeros((0, 2)),)),
    Example("empty sum", lambda x: np.sum(np.sin(x)), (np.zeros((0, 2)),)),
    Example("empty of several", lambda x, y: np.sum(x) * y, (np.zeros(0), normal(2))),
    Example("empty batch", lambda x: x**2, (np.zeros((0, 2)),), batched=True),
    Example("empty value", lambda x: np.zeros((0, 2)) * np.sum(x), (normal(2),)),
    Example("scalars", lambda x, y: x * np.sin(y), (np.array(0.3), np.array(-2.0))),
    Example("one entry", lambda x: np.exp(x) * x, (normal(1),)),
    Example("one by one", lambda x, y: x @ y, (normal(1, 1), normal(1, 1))),
    Example("three axes", lambda x: np.sum(x**2, axis=1), (normal(2, 2, 1),)),
)

HARD = (
    Example("inverse pair", lambda x: INVERSE @ (HILBERT @ x), (normal(6),)),
    Example("squared inverse pair", lambda x: np.sum((INVERSE @ (HILBERT @ x)) ** 2), (normal(6),)),
    Example("large offset", lambda x: (x + 1e8) * x - 1e8 * x, (normal(3),)),
    Example("offset inside", lambda x: np.exp((x + 1e6) - 1e6), (normal(3),)),
    Example("ill-conditioned", np.linalg.inv, (HILBERT[:4, :4].copy(),)),
    Example("relu at zero", lambda x: np.sum(np.maximum(x, 0) ** 2 * x), (np.array([0.0, 1.0, -1.0, 0.0]),)),
    Example("ties", lambda x: np.max(x) ** 2, (np.array([1.0, 2.0, 2.0, 2.0]),)),
    Example("ties of two", lambda x, y: np.maximum(x, y) * x, (np.array([1.0, 2.0]), np.array([1.0, 3.0]))),
    Example("root at zero", np.sqrt, (np.array([0.0, 1.0]),)),
    Example("root squared", lambda x: np.sqrt(x) * np.sqrt(x), (np.array([0.0, 4.0]),)),
    Example("norm at zero", np.linalg.norm, (np.zeros(2),)),
    Example("absolute values at zero", lambda x: np.abs(x) * np.abs(x), (np.array([0.0, -1.0]),)),
    Example("huge", lambda x: x * x * x, (np.array([1e100, 1.0]),)),
    Example("tiny", lambda x: x * x * x, (np.array([1e-100, 1e-3]),)),
    Example("underflow", lambda x: np.exp(-x * x), (np.array([30.0, 1.0, 26.0]),)),
    Example("saturated softmax", softmax, (np.array([100.0, 3.0, -90.0]),)),
    Example("saturated logsumexp", lambda x: np.log(np.sum(np.exp(x))), (np.array([-100.0, 5.0, 90.0]),)),
    Example("saturated sigmoid", lambda x: 1 / (1 + np.exp(-x)), (np.array([40.0, -40.0, 800.0, 0.1]),)),
    Example("variance far from zero", lambda x: np.mean(x * x) - np.mean(x) ** 2, (normal(5) + 1e4,)),
    Example("normalised far from zero", normalised, (normal(3, 2) + 100,)),
    Example(
        "masked logarithm", lambda x: np.where(x > 0, np.log(np.where(x > 0, x, 1)), 0), (np.array([0.0, -1.0, 2.0]),)
    ),
    Example("power at zero", lambda x: x**0.5 + x**3, (np.array([0.0, 1.0]),)),
    Example("near a kink", lambda x: np.sum(np.abs(x - 0.1 - 0.2)), (np.array([0.3, 0.1 + 0.2]),)),
    Example("steps", lambda x: np.floor(x) * x, (np.array([1.0, 2.5]),)),
    Example("fast oscillation", lambda x: np.sin(1e8 * x), (normal(3),)),
    Example("badly scaled", lambda x: np.exp(x * 1e-9) @ np.array([1e12, 1.0]), (np.array([1e9, 1e-9]),)),
)
