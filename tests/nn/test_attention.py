"""Attention: values by hand, masks, queries without keys, derivatives to second order, and what is refused."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad import nn
from tests.nn.second_order import check_to_second_order

F = nn.functional
rng = np.random.default_rng(5)


def attended(qkv: Any, allowed: Any, added: Any, scale: float | None = None) -> tuple[Any, Any]:
    """One query after the other, over the keys that take part; 0 where none does."""
    q, k, v = qkv
    weights = np.zeros((len(q), len(k)))
    for i in range(len(q)):
        keys = [j for j in range(len(k)) if allowed[i, j]]
        scores = [q[i] @ k[j] * (1 / np.sqrt(q.shape[1]) if scale is None else scale) + added[i, j] for j in keys]
        for j, score in zip(keys, scores, strict=True):
            weights[i, j] = np.exp(score) / sum(np.exp(scores))
    return weights @ v, weights


def made(cls: Any = nn.MultiHeadAttention, *args: Any, **kwargs: Any) -> Any:
    """A layer in double precision whose biases are no zeros."""
    module = cls(*args, **{"rng": 1, "dtype": np.float64, **kwargs})
    draws = np.random.default_rng(2)
    module.load_state_dict({name: a + 0.3 * draws.normal(size=a.shape) for name, a in module.state_dict().items()})
    return module


def by_hand(module: Any, qkv: Any, allowed: Any) -> tuple[Any, Any]:
    """Output and weights of each head, for one sample."""
    p, size, heads = module.state_dict(), module.embed_dim, module.num_heads
    W, b = p["in_proj_weight"].reshape(3, size, size), p["in_proj_bias"].reshape(3, size)
    q, k, v = [x @ W[n].T + b[n] for n, x in enumerate(qkv)]
    parts = [slice(h * size // heads, (h + 1) * size // heads) for h in range(heads)]
    nothing = np.zeros((len(q), len(k)))
    found = [attended((q[:, s], k[:, s], v[:, s]), allowed[h], nothing) for h, s in enumerate(parts)]
    joined = np.concatenate([output for output, _ in found], axis=1)
    return joined @ p["out_proj.weight"].T + p["out_proj.bias"], np.stack([weights for _, weights in found])


@pytest.mark.parametrize("scale", [None, 0.7])
def test_values_by_hand(scale: float | None) -> None:
    q, k, v = rng.normal(size=(3, 4)), rng.normal(size=(5, 4)), rng.normal(size=(5, 2))
    everything, nothing = np.ones((3, 5), bool), np.zeros((3, 5))
    mask, bias = rng.random((3, 5)) < 0.6, rng.normal(size=(3, 5))
    mask[1] = False
    cases: list[tuple[dict[str, Any], Any, Any]] = [
        ({}, everything, nothing),
        ({"attn_mask": mask}, mask, nothing),
        ({"attn_mask": mask[:1]}, np.repeat(mask[:1], 3, 0), nothing),
        ({"attn_mask": bias}, everything, bias),
        ({"attn_mask": np.where(mask, bias, -np.inf)}, mask, bias),
        ({"is_causal": True}, np.tri(3, 5, dtype=bool), nothing),
        ({"is_causal": True, "attn_mask": mask}, np.tri(3, 5, dtype=bool) & mask, nothing),
    ]
    for options, allowed, added in cases:
        expected, _ = attended((q, k, v), allowed, added, scale)
        attend = partial(F.scaled_dot_product_attention, scale=scale, **options)
        found = attend(q, k, v)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(ea.compile(attend)(q, k, v), expected, rtol=1e-12, atol=1e-14)
        batched = attend(np.stack([q, -q]), np.stack([k, k]), np.stack([v, v]))
        np.testing.assert_allclose(batched[0], expected, rtol=1e-12, atol=1e-14)


def loss_of(mask: Any, weights: Any) -> Any:
    return lambda q, k, v: np.sum(weights * F.scaled_dot_product_attention(q, k, v, mask))


def test_what_is_masked_is_as_if_it_were_not_there() -> None:
    """Derivatives to second order are those without the masked key, whatever that key is; its own are 0."""
    q, k, v, weights = [rng.normal(size=shape) for shape in ((2, 2), (3, 2), (3, 1), (2, 1))]
    k[1], v[1] = 1e200, -1e200
    allowed = np.array([True, False, True])
    additive = np.array([[0.0, -np.inf, 0.0]])
    inner = loss_of(None, weights)
    for order, transform in ((1, ea.grad), (2, ea.hessian)):
        expected = transform(inner, argnums=(0, 1, 2))(q, k[allowed], v[allowed])
        for mask in (allowed[None], additive):
            found = transform(loss_of(mask, weights), argnums=(0, 1, 2))(q, k, v)
            blocks = (found, expected) if order == 1 else (sum(found, ()), sum(expected, ()))
            for one, other in zip(*blocks, strict=True):
                kept = one
                for axis, size in enumerate(one.shape):
                    if size == 3:
                        assert not np.take(one, 1, axis).any()
                        kept = np.compress(allowed, kept, axis)
                np.testing.assert_allclose(kept, other, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("additive", [False, True])
def test_a_query_without_keys_gives_zero_and_disturbs_no_other(additive: bool) -> None:
    q, k, v, weights = [rng.normal(size=shape) for shape in ((2, 2), (2, 2), (2, 1), (2, 1))]
    allowed = np.array([[False, False], [True, True]])
    mask = np.where(allowed, 0.0, -np.inf) if additive else allowed
    with np.errstate(all="raise"):
        np.testing.assert_array_equal(F.scaled_dot_product_attention(q, k, v, mask)[0], [0])
    alone = lambda q, k, v: np.sum(weights[1:] * F.scaled_dot_product_attention(q[1:], k, v))  # noqa: E731
    for mode in ("forward", "reverse", "cross-country"):
        found, expected = [
            ea.hessian(f, argnums=(0, 1, 2), mode=mode)(q, k, v) for f in (loss_of(mask, weights), alone)
        ]
        for one, other in zip(sum(found, ()), sum(expected, ()), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)
    traced = ea.compile(F.scaled_dot_product_attention)
    np.testing.assert_allclose(traced(q, k, v, mask), F.scaled_dot_product_attention(q, k, v, mask), rtol=1e-13)


def test_the_derivative_in_an_added_mask() -> None:
    """A learned bias; what it excludes has derivative 0."""
    q, k, v, weights = [rng.normal(size=shape) for shape in ((2, 2), (3, 2), (3, 2), (2, 2))]
    bias = rng.normal(size=(2, 3))

    def loss(bias: Any) -> Any:
        return np.sum(weights * F.scaled_dot_product_attention(q, k, v, bias))

    check_to_second_order(loss, bias)
    bias[0, 1] = -np.inf
    found, slope = ea.hessian(loss)(bias), ea.grad(loss)(bias)
    assert np.isfinite(found).all()
    assert not found[0, 1].any()
    assert slope[0, 1] == 0
    assert slope[0, 0] != 0


@pytest.mark.parametrize("options", [{}, {"attn_mask": np.array([[True, False], [False, True], [False, False]])}])
def test_derivatives(options: dict[str, Any]) -> None:
    module = made(nn.MultiHeadAttention, 2, 1)
    arrays, weights = module.arrays(), rng.normal(size=(3, 1, 2))
    source = rng.normal(size=(2, 1, 2))

    def loss(weight: Any, x: Any) -> Any:
        return np.sum(weights * module.apply({**arrays, "in_proj_weight": weight}, x, source, source, **options)[0])

    check_to_second_order(loss, arrays["in_proj_weight"], rng.normal(size=(3, 1, 2)))


@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize("additive", [False, True])
def test_heads_and_masks_by_hand(heads: int, additive: bool) -> None:
    module = made(nn.MultiHeadAttention, 4, heads)
    q, k, v = rng.normal(size=(3, 2, 4)), rng.normal(size=(5, 2, 4)), rng.normal(size=(5, 2, 4))
    padding = np.array([[False] * 5, [False, True, False, False, True]])
    excluded = rng.random((2 * heads, 3, 5)) < 0.4
    excluded[0, 0] = True  # a query of the first sample without any key, in the first head
    as_given = (lambda mask: np.where(mask, -np.inf, 0.5)) if additive else (lambda mask: mask)
    masks = {
        "no": (None, np.zeros_like(excluded)),
        "one for all": (excluded[1], np.broadcast_to(excluded[1], excluded.shape)),
        "one for each head": (excluded, excluded),
    }
    for mask, without in masks.values():
        for pad in (None, padding):
            output, weights = module.apply(
                module.arrays(),
                *(q, k, v),
                attn_mask=None if mask is None else as_given(mask),
                key_padding_mask=None if pad is None else as_given(pad),
                average_attn_weights=False,
            )
            for n in range(2):
                allowed = ~(without.reshape(2, heads, 3, 5)[n] | (False if pad is None else pad[n]))
                expected, of_heads = by_hand(module, (q[:, n], k[:, n], v[:, n]), allowed)
                np.testing.assert_allclose(output[:, n], expected, rtol=1e-11, atol=1e-13)
                np.testing.assert_allclose(weights[n], of_heads, rtol=1e-11, atol=1e-13)


def test_order_of_axes_no_batch_and_weights() -> None:
    module, other = made(nn.MultiHeadAttention, 4, 2), made(nn.MultiHeadAttention, 4, 2, batch_first=True)
    q, k = rng.normal(size=(3, 2, 4)), rng.normal(size=(5, 2, 4))
    arrays = module.arrays()
    output, weights = module.apply(arrays, q, k, k)
    of_heads = module.apply(arrays, q, k, k, average_attn_weights=False)[1]
    assert (output.shape, weights.shape, of_heads.shape) == ((3, 2, 4), (2, 3, 5), (2, 2, 3, 5))
    np.testing.assert_allclose(weights, of_heads.mean(1), rtol=1e-13)
    turned, same = other.apply(arrays, q.swapaxes(0, 1), k.swapaxes(0, 1), k.swapaxes(0, 1))
    np.testing.assert_allclose(turned.swapaxes(0, 1), output, rtol=1e-13)
    np.testing.assert_allclose(same, weights, rtol=1e-13)
    for each in (module, other):
        single, of_single = each.apply(arrays, q[:, 1], k[:, 1], k[:, 1])
        np.testing.assert_allclose(single, output[:, 1], rtol=1e-13)
        np.testing.assert_allclose(of_single, weights[1], rtol=1e-13)
    assert module.apply(arrays, q, k, k, need_weights=False)[1] is None
    itself, parts = module.apply(arrays, q, q, q)[0], module.apply(arrays, q, q.copy(), q.copy())[0]
    np.testing.assert_allclose(itself, parts, rtol=1e-12)  # one product, or three
    causal = module.apply(arrays, q, q, q, is_causal=True)[0]
    masked = module.apply(arrays, q, q, q, attn_mask=~np.tri(3, dtype=bool))[0]
    np.testing.assert_allclose(causal, masked, rtol=1e-13)
    assert module.apply(arrays, q[:, :0], k[:, :0], k[:, :0])[0].shape == (3, 0, 4)


def test_names_first_values_and_the_other_name() -> None:
    module = nn.MultiheadAttention(8, 2, rng=0)
    assert nn.MultiheadAttention is nn.MultiHeadAttention
    assert list(module.state_dict()) == ["in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"]
    assert not module.in_proj_bias.data.any()
    assert not module.out_proj.bias.data.any()
    bound = np.sqrt(6 / (8 + 24))
    assert 0.9 * bound < np.abs(module.in_proj_weight.data).max() <= bound
    assert list(nn.MultiHeadAttention(8, 2, bias=False).state_dict()) == ["in_proj_weight", "out_proj.weight"]
    x = np.ones((3, 1, 8), np.float32)
    for mask in (None, np.triu(np.full((3, 3), -np.inf), 1), np.eye(3) > 0, np.ones((3, 3))):
        output, weights = module(x, x, x, attn_mask=mask)
        assert output.dtype == weights.dtype == np.float32
    shared = nn.MultiHeadAttention(4, 1, dropout=0.5, rng=0)
    x = np.ones((3, 1, 4), np.float32)
    values = np.unique(np.asarray(shared.apply(shared.arrays(), x, x, x)[1]).round(4))
    np.testing.assert_allclose(values, [0, 2 / 3], atol=1e-4)
    shared.eval()
    np.testing.assert_allclose(shared.apply(shared.arrays(), x, x, x)[1], 1 / 3, rtol=1e-6)


def normalised(x: Any, weight: Any, bias: Any) -> Any:
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * weight + bias


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("activation", ["relu", "gelu", np.sin])
def test_a_layer_of_a_transformer_by_hand(norm_first: bool, activation: Any) -> None:
    layer = made(
        nn.TransformerEncoderLayer, 4, 2, 3, activation=activation, norm_first=norm_first, batch_first=True
    ).eval()
    p, x, padding = layer.state_dict(), rng.normal(size=(2, 3, 4)), np.array([[False, False, True], [False] * 3])
    act = activation if callable(activation) else getattr(F, activation)
    first, second = [lambda x, n=n: normalised(x, p[f"norm{n}.weight"], p[f"norm{n}.bias"]) for n in (1, 2)]

    def network(x: Any) -> Any:
        return act(x @ p["linear1.weight"].T + p["linear1.bias"]) @ p["linear2.weight"].T + p["linear2.bias"]

    def attend(x: Any) -> Any:
        allowed = np.tri(3, dtype=bool) & ~padding[:, None]
        return np.stack([by_hand(layer.self_attn, (s,) * 3, [a] * 2)[0] for s, a in zip(x, allowed, strict=True)])

    if norm_first:
        y = x + attend(first(x))
        expected = y + network(second(y))
    else:
        y = first(x + attend(x))
        expected = second(y + network(y))
    found = layer.apply(layer.arrays(), x, src_key_padding_mask=padding, is_causal=True)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)
    single = layer.apply(layer.arrays(), x[1], is_causal=True)
    np.testing.assert_allclose(single, found[1], rtol=1e-11, atol=1e-12)


def test_a_layer_of_a_transformer_learns_and_drops() -> None:
    layer = nn.TransformerEncoderLayer(4, 2, 6, dropout=0.3, rng=0)
    assert [name for name, _ in layer.named_parameters()][:4] == [
        "self_attn.in_proj_weight",
        "self_attn.in_proj_bias",
        "self_attn.out_proj.weight",
        "self_attn.out_proj.bias",
    ]
    x = rng.normal(size=(3, 2, 4)).astype(np.float32)
    np.sum(layer(x) ** 3).backward()
    assert all(p.grad is not None and p.grad.dtype == np.float32 for p in layer.parameters())
    arrays = layer.arrays()
    one, other = layer.apply(arrays, x), layer.apply(arrays, x, rng=np.random.default_rng(1))
    assert not np.allclose(one, other)
    np.testing.assert_array_equal(one, layer.apply(arrays, x))
    layer.eval()
    np.testing.assert_array_equal(layer.apply(arrays, x), layer.apply(arrays, x, rng=np.random.default_rng(1)))


def test_derivatives_of_a_layer_of_a_transformer() -> None:
    layer = made(nn.TransformerEncoderLayer, 2, 1, 2, activation="gelu", norm_first=True).eval()
    arrays, x, weights = layer.arrays(), rng.normal(size=(2, 1, 2)), rng.normal(size=(2, 1, 2))
    name = "self_attn.out_proj.bias"

    def loss(bias: Any) -> Any:
        return np.sum(weights * layer.apply({**arrays, name: bias}, x, is_causal=True))

    check_to_second_order(loss, arrays[name])


def test_dropped_weights_are_reproducible() -> None:
    x = np.eye(4)
    first, same = [F.scaled_dot_product_attention(x, x, x, dropout_p=0.5, rng=3) for _ in range(2)]
    np.testing.assert_array_equal(first, same)
    whole = F.scaled_dot_product_attention(x, x, x)
    np.testing.assert_allclose(first[first > 0], 2 * whole[first > 0], rtol=1e-14)
    assert (first == 0).any()
    assert not F.scaled_dot_product_attention(x, x, x, dropout_p=1.0).any()


X = np.ones((3, 2, 4))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda m: m(X, X[..., :3], X), ea.ShapeError, r"queries \(L, N, 4\)"),
        (lambda m: m(X, X[0], X[0]), ea.ShapeError, "all with or all without"),
        (lambda m: m(X, X[:, :1], X[:, :1]), ea.ShapeError, "queries"),
        (lambda m: m(X, X, X[:2]), ea.ShapeError, "keys and values"),
        (
            lambda m: m(X, X, X, attn_mask=np.ones((2, 3), bool)),
            ea.ShapeError,
            r"attn_mask has shape \(3, 3\) or \(4, 3, 3\)",
        ),
        (
            lambda m: m(X, X, X, key_padding_mask=np.ones((3, 2), bool)),
            ea.ShapeError,
            r"padding_mask has shape \(2, 3\)",
        ),
        (lambda m: m(X, X, X, attn_mask=np.ones((3, 3), int)), TypeError, "True excludes"),
        (lambda _: nn.MultiHeadAttention(5, 2), ValueError, "multiple"),
        (lambda _: nn.TransformerEncoderLayer(4, 2, activation="tanhh"), ValueError, "'gelu'"),
        (lambda _: F.scaled_dot_product_attention(X, X[..., :2], X), ea.ShapeError, "queries"),
        (lambda _: F.scaled_dot_product_attention(X, X, X, np.ones((2, 3, 3), bool)), ea.ShapeError, "broadcast"),
        (lambda _: F.scaled_dot_product_attention(X, X, X, np.ones((2, 2), int)), TypeError, "True lets"),
        (lambda _: F.scaled_dot_product_attention(X, X, X, dropout_p=2.0), ValueError, "probability"),
    ],
)
def test_what_is_refused(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call(nn.MultiHeadAttention(4, 2, dtype=np.float64))
