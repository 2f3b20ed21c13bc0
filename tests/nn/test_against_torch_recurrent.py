"""Recurrent layers beside PyTorch's on random configurations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from einsumad import nn
from tests.nn.exchange import agree, with_the_state_of

torch = pytest.importorskip("torch")

SETTINGS = settings(max_examples=25, deadline=None)


@st.composite
def configurations(draw: Any) -> dict[str, Any]:
    """Sizes and options, and of which shape inputs are."""
    return {
        "input_size": draw(st.integers(1, 3)),
        "hidden_size": draw(st.integers(1, 3)),
        "num_layers": draw(st.integers(1, 2)),
        "bias": draw(st.booleans()),
        "batch_first": draw(st.booleans()),
        "bidirectional": draw(st.booleans()),
        "length": draw(st.integers(1, 4)),
        "batch": draw(st.sampled_from([None, 0, 1, 1, 2, 3])),
        "states": draw(st.booleans()),
        "double": draw(st.booleans()),
        "seed": draw(st.integers(0, 2**16)),
    }


def compare(kind: str, case: dict[str, Any], **options: Any) -> None:
    case = dict(case)
    length, batch, states, double, seed = [case.pop(name) for name in ("length", "batch", "states", "double", "seed")]
    dtype, rng = np.dtype(np.float64 if double else np.float32), np.random.default_rng(seed)
    own = getattr(nn, kind)(**case, **options, dtype=dtype, rng=seed)
    theirs = with_the_state_of(getattr(torch.nn, kind)(**case, **options, dtype=getattr(torch, dtype.name)), own, torch)
    shape = (length, case["input_size"]) if batch is None else (length, batch, case["input_size"])
    shape = (batch, length, shape[-1]) if case["batch_first"] and batch is not None else shape
    first = (case["num_layers"] * (1 + case["bidirectional"]), *([] if batch is None else [batch]), case["hidden_size"])
    inputs = [rng.normal(size=size).astype(dtype) for size in [shape, *[first] * (1 + (kind == "LSTM")) * states]]

    def call(module: Any, x: Any, *given: Any) -> tuple[Any, ...]:
        output, last = module(x, *([given] if kind == "LSTM" and given else given))
        return (output, *last) if kind == "LSTM" else (output, last)

    agree((own, theirs), inputs, call, torch, 1e-9 if double else 3e-5)


@SETTINGS
@given(configurations(), st.sampled_from(["tanh", "relu"]))
def test_rnn(case: dict[str, Any], nonlinearity: str) -> None:
    compare("RNN", case, nonlinearity=nonlinearity)


@SETTINGS
@given(configurations())
def test_lstm(case: dict[str, Any]) -> None:
    compare("LSTM", case)


@SETTINGS
@given(configurations())
def test_gru(case: dict[str, Any]) -> None:
    compare("GRU", case)
