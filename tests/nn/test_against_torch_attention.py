"""Attention and a layer of a transformer beside PyTorch's on random configurations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import einsumad as ea
from einsumad import nn
from tests.nn.exchange import agree, with_the_state_of

torch = pytest.importorskip("torch")

SETTINGS = settings(max_examples=30, deadline=None)
MASKS = st.sampled_from(["none", "boolean", "float", "infinite"])


def mask_of(kind: str, shape: tuple[int, ...], rng: np.random.Generator, dtype: np.dtype) -> Any:
    """A mask that leaves each query the first key."""
    without = (rng.random(shape) < 0.4) & (np.arange(shape[-1]) > 0)
    floats = rng.normal(size=shape).astype(dtype)
    return {"none": None, "boolean": without, "float": floats, "infinite": np.where(without, -np.inf, floats)}[kind]


def given_as(mask: Any, module: Any) -> Any:
    """The mask as a module of either library takes it."""
    return torch.tensor(mask) if mask is not None and isinstance(module, torch.nn.Module) else mask


@st.composite
def configurations(draw: Any) -> dict[str, Any]:
    """Sizes and options."""
    heads = draw(st.integers(1, 3))
    return {
        "heads": heads,
        "size": heads * draw(st.integers(1, 2)),
        "batch_first": draw(st.booleans()),
        "bias": draw(st.booleans()),
        "batch": draw(st.sampled_from([None, 1, 2, 3])),
        "lengths": (draw(st.integers(1, 4)), draw(st.integers(1, 4))),
        "mask": draw(MASKS),
        "for_each_head": draw(st.booleans()),
        "padding": draw(MASKS),
        "double": draw(st.booleans()),
        "seed": draw(st.integers(0, 2**16)),
    }


def shape_of(case: dict[str, Any], length: int) -> tuple[int, ...]:
    if case["batch"] is None:
        return length, case["size"]
    pair = (case["batch"], length) if case["batch_first"] else (length, case["batch"])
    return (*pair, case["size"])


def masks_of(case: dict[str, Any], lengths: tuple[int, int], rng: np.random.Generator, dtype: np.dtype) -> list[Any]:
    batch = () if case["batch"] is None else (case["batch"],)
    heads = ((case["batch"] or 1) * case["heads"],) if case["for_each_head"] else ()
    mask = mask_of(case["mask"], (*heads, *lengths), rng, dtype)
    return [mask, mask_of(case["padding"], (*batch, lengths[1]), rng, dtype)]


@pytest.mark.filterwarnings("ignore:Support for mismatched")
@SETTINGS
@given(configurations(), st.sampled_from(["averaged", "of heads", "none"]), st.booleans())
def test_attention_with_several_heads(case: dict[str, Any], weights: str, itself: bool) -> None:
    dtype, rng = np.dtype(np.float64 if case["double"] else np.float32), np.random.default_rng(case["seed"])
    options = {"bias": case["bias"], "batch_first": case["batch_first"]}
    own = nn.MultiHeadAttention(case["size"], case["heads"], **options, dtype=dtype, rng=case["seed"])
    biases = {name: rng.normal(size=array.shape) for name, array in own.state_dict().items()}
    own.load_state_dict({name: array + 0.3 * biases[name] for name, array in own.state_dict().items()})
    theirs = with_the_state_of(
        torch.nn.MultiheadAttention(case["size"], case["heads"], **options, dtype=getattr(torch, dtype.name)),
        own,
        torch,
    )
    lengths = (case["lengths"][0],) * 2 if itself else case["lengths"]
    mask, padding = masks_of(case, lengths, rng, dtype)
    shapes = [shape_of(case, lengths[0])] + [shape_of(case, lengths[1])] * (0 if itself else 2)
    inputs = [rng.normal(size=shape).astype(dtype) for shape in shapes]

    def call(module: Any, *parts: Any) -> tuple[Any, ...]:
        output, found = module(
            *(parts * 3 if itself else parts),
            key_padding_mask=given_as(padding, module),
            attn_mask=given_as(mask, module),
            need_weights=weights != "none",
            average_attn_weights=weights == "averaged",
        )
        return (output,) if found is None else (output, found)

    agree((own, theirs), inputs, call, torch, 1e-9 if case["double"] else 3e-5)


@pytest.mark.filterwarnings("ignore:Support for mismatched")
@SETTINGS
@given(configurations(), st.sampled_from(["relu", "gelu"]), st.booleans())
def test_a_layer_of_a_transformer(case: dict[str, Any], activation: str, norm_first: bool) -> None:
    rng, dtype = np.random.default_rng(case["seed"]), np.dtype(np.float64)
    sizes = (case["size"], case["heads"], 1 + case["seed"] % 3, 0.1, activation, 1e-3)
    options = {name: case[name] for name in ("batch_first", "bias")} | {"norm_first": norm_first}
    own = nn.TransformerEncoderLayer(*sizes, **options, dtype=dtype, rng=case["seed"]).eval()
    theirs = torch.nn.TransformerEncoderLayer(*sizes, **options, dtype=torch.float64).eval()
    theirs = with_the_state_of(theirs, own, torch)
    length = case["lengths"][0]
    mask, padding = masks_of(case, (length, length), rng, dtype)

    def call(module: Any, x: Any) -> tuple[Any]:
        masks = {"src_mask": given_as(mask, module), "src_key_padding_mask": given_as(padding, module)}
        return (module(x, **masks),)

    agree((own, theirs), [rng.normal(size=shape_of(case, length))], call, torch, 1e-8)


@SETTINGS
@given(st.integers(0, 2**16), MASKS, st.booleans(), st.sampled_from([None, 0.3]))
def test_the_function(seed: int, kind: str, causal: bool, scale: float | None) -> None:
    rng = np.random.default_rng(seed)
    length, keys, size = rng.integers(1, 5, 3)
    shapes = [(2, 3, length, size), (2, 3, keys, size), (2, 3, keys, 2)]
    arrays = [rng.normal(size=shape) for shape in shapes]
    mask = None if causal else mask_of(kind, (length, keys), rng, np.dtype(float))
    mask = ~mask if kind == "boolean" and mask is not None else mask
    tensors = [torch.tensor(array, requires_grad=True) for array in arrays]
    attend = torch.nn.functional.scaled_dot_product_attention
    expected = attend(*tensors, None if mask is None else torch.tensor(mask), is_causal=causal, scale=scale)
    weights = rng.normal(size=tuple(expected.shape))
    torch.sum(torch.tensor(weights) * expected).backward()

    def own(*arrays: Any) -> Any:
        return nn.functional.scaled_dot_product_attention(*arrays, mask, is_causal=causal, scale=scale)

    def loss(*arrays: Any) -> Any:
        return np.sum(weights * own(*arrays))

    found = own(*arrays)
    np.testing.assert_allclose(found, expected.detach().numpy(), rtol=1e-10, atol=1e-12)
    for slope, tensor in zip(ea.grad(loss, argnums=(0, 1, 2))(*arrays), tensors, strict=True):
        np.testing.assert_allclose(slope, tensor.grad.numpy(), rtol=1e-8, atol=1e-10)


def test_a_query_without_keys_is_zero_as_in_the_function_of_pytorch() -> None:
    x = np.random.default_rng(0).normal(size=(1, 3, 2))
    mask = np.array([[True, True, False], [False] * 3, [True] * 3])
    found = nn.functional.scaled_dot_product_attention(x, x, x, mask)
    tensor = torch.tensor(x)
    expected = torch.nn.functional.scaled_dot_product_attention(tensor, tensor, tensor, torch.tensor(mask)).numpy()
    np.testing.assert_allclose(found, np.nan_to_num(expected), rtol=1e-12, atol=1e-14)
    assert not found[0, 1].any()
