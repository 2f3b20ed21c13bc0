"""Losses beside PyTorch's, on random configurations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402 (where torch is)
from hypothesis import strategies as st  # noqa: E402

from einsumad import nn  # noqa: E402
from tests.nn.beside_torch import compare  # noqa: E402

DTYPES = st.sampled_from([np.float64, np.float64, np.float32])
REDUCTIONS = st.sampled_from(["mean", "sum", "none"])
SEEDS = st.integers(0, 2**16)
OPTIONS = st.tuples(st.booleans(), st.booleans(), st.sampled_from([0.0, 0.2]), st.integers(0, 2))
"""Whether there are weights, whether a class is ignored, smoothing, and how many axes there are behind the classes."""
several = settings(max_examples=40, deadline=None)


def both(name: str, weights: dict[str, Any], **options: Any) -> tuple[Any, Any]:
    """The loss here and there, with weights as arrays and as tensors."""
    given = {key: None if array is None else torch.tensor(array) for key, array in weights.items()}
    return getattr(nn, name)(**weights, **options), getattr(torch.nn, name)(**given, **options)


@several
@given(SEEDS, DTYPES, st.sampled_from(["MSELoss", "L1Loss", "HuberLoss"]), REDUCTIONS)
def test_losses_of_numbers(seed: int, dtype: Any, name: str, reduction: str) -> None:
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 5, rng.integers(1, 4)))
    options = {"delta": float(rng.uniform(0.1, 2))} if name == "HuberLoss" else {}
    p, t = rng.normal(size=shape).astype(dtype), rng.normal(size=shape).astype(dtype)
    t.flat[0] = p.flat[0]
    compare(*both(name, {}, reduction=reduction, **options), [p, t], seed=seed)


@several
@given(SEEDS, DTYPES, REDUCTIONS, st.booleans(), st.booleans())
def test_binary_losses(seed: int, dtype: Any, reduction: str, weighted: bool, positive: bool) -> None:
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 5, 2))
    t = rng.choice([0.0, 1.0, rng.uniform()], size=shape).astype(dtype)
    weight = rng.uniform(0.1, 2, shape[1]).astype(dtype) if weighted else None
    p = rng.uniform(0.01, 0.99, shape).astype(dtype)
    compare(*both("BCELoss", {"weight": weight}, reduction=reduction), [p], [t], seed=seed)
    pos = rng.uniform(0.1, 3, shape[1]).astype(dtype) if positive else None
    scores = (rng.normal(size=shape) * 5).astype(dtype)
    pair = both("BCEWithLogitsLoss", {"weight": weight, "pos_weight": pos}, reduction=reduction)
    compare(*pair, [scores, t], seed=seed)


@several
@given(SEEDS, DTYPES, st.sampled_from(["mean", "sum", "none", "batchmean"]), st.booleans())
def test_divergence(seed: int, dtype: Any, reduction: str, logarithm: bool) -> None:
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 5, 2))
    log_p = np.log(rng.uniform(0.01, 1, shape)).astype(dtype)
    t = rng.uniform(0.01, 1, shape)
    target = np.log(t) if logarithm else np.where(rng.uniform(size=shape) < 0.2, 0, t)
    pair = both("KLDivLoss", {}, reduction=reduction, log_target=logarithm)
    compare(*pair, [log_p], [target.astype(dtype)], seed=seed)


@settings(max_examples=80, deadline=None)
@given(SEEDS, DTYPES, REDUCTIONS, OPTIONS)
def test_losses_of_classes(seed: int, dtype: Any, reduction: str, chosen: tuple[bool, bool, float, int]) -> None:
    weighted, ignoring, smoothing, rank = chosen
    rng = np.random.default_rng(seed)
    classes, rest = int(rng.integers(2, 5)), tuple(rng.integers(1, 4, rank))
    scores = rng.normal(size=(int(rng.integers(1, 5)), classes, *rest)).astype(dtype)
    target = rng.integers(0, classes, (scores.shape[0], *rest))
    ignored = -100
    if ignoring:
        ignored = int(rng.integers(0, classes))
        target.flat[0] = (ignored + 1) % classes
    options: dict[str, Any] = {"reduction": reduction, "ignore_index": ignored}
    weights = {"weight": rng.uniform(0.1, 2, classes).astype(dtype) if weighted else None}
    compare(*both("CrossEntropyLoss", weights, label_smoothing=smoothing, **options), [scores], [target], seed=seed)
    logs = torch.log_softmax(torch.tensor(scores), 1).numpy()
    compare(*both("NLLLoss", weights, **options), [logs], [target], seed=seed)
    rows = np.moveaxis(rng.dirichlet(np.ones(classes), (scores.shape[0], *rest)), -1, 1).astype(dtype)
    pair = both("CrossEntropyLoss", weights, label_smoothing=smoothing, reduction=reduction)
    compare(*pair, [scores, rows], seed=seed)
    one = both("CrossEntropyLoss", weights, label_smoothing=smoothing, reduction=reduction)
    compare(*one, [scores.reshape(classes, -1)[:, 0]], [target.reshape(-1)[0]], seed=seed)
