"""Recurrent layers: values by hand, derivatives to second order, shapes, states, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad import nn
from tests.nn.second_order import check_to_second_order

KINDS = ("RNN", "LSTM", "GRU")
rng = np.random.default_rng(3)


def sigma(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def step_by_hand(kind: str, p: Any, name: str, x: Any, state: Any) -> tuple[Any, Any]:
    """One step for one sample, gate by gate."""
    h, c = state
    size = len(h)
    a = [p[f"weight_ih_{name}"][k] @ x + p[f"bias_ih_{name}"][k] for k in range(len(p[f"weight_ih_{name}"]))]
    u = [p[f"weight_hh_{name}"][k] @ h + p[f"bias_hh_{name}"][k] for k in range(len(p[f"weight_hh_{name}"]))]
    a, u = np.reshape(a, (-1, size)), np.reshape(u, (-1, size))
    if kind == "RNN":
        return np.tanh(a[0] + u[0]), c
    if kind == "LSTM":
        i, f, g, o = a + u
        c = sigma(f) * c + sigma(i) * np.tanh(g)
        return sigma(o) * np.tanh(c), c
    r, z = sigma(a[0] + u[0]), sigma(a[1] + u[1])
    return (1 - z) * np.tanh(a[2] + r * u[2]) + z * h, c


def by_hand(module: Any, x: Any, h: Any, c: Any) -> tuple[Any, Any, Any]:
    """Output and last states for inputs (seq, batch, feature), sample by sample, layer by layer."""
    kind, p = type(module).__name__, module.state_dict()
    (length, batch, _), ways = x.shape, 2 if module.bidirectional else 1
    last = [np.array(h), np.array(c)]
    for layer in range(module.num_layers):
        outputs = np.zeros((length, batch, ways * module.hidden_size))
        for way in range(ways):
            k = ways * layer + way
            name = f"l{layer}" + "_reverse" * way
            for b in range(batch):
                state = h[k, b], c[k, b]
                for t in range(length)[:: -1 if way else 1]:
                    state = step_by_hand(kind, p, name, x[t, b], state)
                    outputs[t, b, way * module.hidden_size : (way + 1) * module.hidden_size] = state[0]
                last[0][k, b], last[1][k, b] = state
        x = outputs
    return x, last[0], last[1]


def made(kind: str, *args: Any, **kwargs: Any) -> Any:
    return getattr(nn, kind)(*args, **{"rng": 1, "dtype": np.float64, **kwargs})


def called(module: Any, x: Any, states: Any = None) -> tuple[Any, tuple[Any, ...]]:
    """Output and states as arrays."""
    output, last = module.apply(module.arrays(), x, states)
    return np.asarray(output), last if isinstance(last, tuple) else (last,)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("layers", "bidirectional", "length", "batch"),
    [(1, False, 4, 2), (2, True, 3, 2), (3, False, 1, 1), (1, True, 2, 0)],
)
def test_values_by_hand(kind: str, layers: int, bidirectional: bool, length: int, batch: int) -> None:
    module = made(kind, 3, 2, layers, bidirectional=bidirectional)
    x = rng.normal(size=(length, batch, 3))
    h, c = rng.normal(size=(2, layers * (1 + bidirectional), batch, 2))
    expected = by_hand(module, x, h, c)
    output, last = called(module, x, (h, c) if kind == "LSTM" else h)
    for found, wanted in zip((output, *last), expected, strict=False):
        assert found.shape == wanted.shape
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)
    zeros = by_hand(module, x, np.zeros_like(h), np.zeros_like(c))
    np.testing.assert_allclose(called(module, x)[0], zeros[0], rtol=1e-12, atol=1e-14)


def test_relu_and_no_bias() -> None:
    module = made("RNN", 2, 3, nonlinearity="relu", bias=False)
    assert [name for name, _ in module.named_parameters()] == ["weight_ih_l0", "weight_hh_l0"]
    x, h = rng.normal(size=(4, 2, 2)), np.zeros((2, 3))
    output = called(module, x)[0]
    for t in range(4):
        h = np.maximum(x[t] @ module.weight_ih_l0.data.T + h @ module.weight_hh_l0.data.T, 0)
        np.testing.assert_allclose(output[t], h, rtol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
def test_names_shapes_and_first_values(kind: str) -> None:
    gates = {"RNN": 1, "LSTM": 4, "GRU": 3}[kind]
    module = getattr(nn, kind)(3, 16, num_layers=2, bidirectional=True, rng=0)
    names = [
        f"{what}_l{layer}{way}"
        for layer in range(2)
        for way in ("", "_reverse")
        for what in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    ]
    assert [name for name, _ in module.named_parameters()] == names
    assert module.weight_ih_l0.shape == (16 * gates, 3)
    assert module.weight_ih_l1_reverse.shape == (16 * gates, 32)
    for parameter in module.parameters():
        assert parameter.dtype == np.float32
        assert 0.15 < np.abs(parameter.data).max() <= 0.25
    assert repr(module).partition("  # ")[0] == f"{kind}(3, 16, num_layers=2, bidirectional=True)"
    assert "(5, 2, 32)" in module.summary((5, 2, 3))


@pytest.mark.parametrize("kind", KINDS)
def test_order_of_axes_and_no_batch(kind: str) -> None:
    module, other = made(kind, 3, 2, 2, bidirectional=True), made(kind, 3, 2, 2, bidirectional=True, batch_first=True)
    x, h = rng.normal(size=(4, 5, 3)), rng.normal(size=(4, 5, 2))
    pair = lambda h: (h, h / 2) if kind == "LSTM" else h  # noqa: E731
    output, last = called(module, x, pair(h))
    turned, states = called(other, x.swapaxes(0, 1), pair(h))
    np.testing.assert_allclose(turned, output.swapaxes(0, 1), rtol=1e-13)
    for module_ in (module, other):
        single, of_single = called(module_, x[:, 1], pair(h[:, 1]))
        np.testing.assert_allclose(single, output[:, 1], rtol=1e-13)
        for one, batched, state in zip(of_single, last, states, strict=True):
            np.testing.assert_allclose(one, batched[:, 1], rtol=1e-13)
            np.testing.assert_allclose(state, batched, rtol=1e-13)
    np.testing.assert_allclose(called(module, x[:, 1])[0], called(module, x)[0][:, 1], rtol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
def test_derivatives_in_parameters(kind: str) -> None:
    module = made(kind, 2, 1)
    arrays, x, weights = module.arrays(), rng.normal(size=(2, 1, 2)), rng.normal(size=(2, 1, 1))

    def loss(weight: Any, bias: Any) -> Any:
        return np.sum(weights * module.apply({**arrays, "weight_hh_l0": weight, "bias_ih_l0": bias}, x)[0])

    check_to_second_order(loss, arrays["weight_hh_l0"], arrays["bias_ih_l0"])


@pytest.mark.parametrize("kind", KINDS)
def test_derivatives_in_inputs_and_states(kind: str) -> None:
    ways = 2 if kind == "RNN" else 1
    module = made(kind, 1, 1, bidirectional=ways == 2)
    arrays, weights = module.arrays(), rng.normal(size=(2, 1, ways))

    def loss(x: Any, h: Any) -> Any:
        output, last = module.apply(arrays, x, (h, np.sin(h)) if kind == "LSTM" else h)
        return np.sum(weights * output) + np.sum((last[1] if kind == "LSTM" else last) ** 2)

    check_to_second_order(loss, rng.normal(size=(2, 1, 1)), rng.normal(size=(ways, 1, 1)))


@pytest.mark.parametrize("kind", KINDS)
def test_calls_and_apply_agree_in_single_precision(kind: str) -> None:
    module = getattr(nn, kind)(3, 4, num_layers=2, rng=2)
    x = rng.normal(size=(5, 2, 3)).astype(np.float32)
    weights = rng.normal(size=(5, 2, 4)).astype(np.float32)
    output, _ = module(x)
    np.sum(weights * output).backward()
    found = ea.compile(ea.grad(lambda p: np.sum(weights * module.apply(p, x)[0])))(module.arrays())
    with nn.no_grad():
        plain, _ = module(x)
    assert plain.dtype == output.dtype == np.float32
    np.testing.assert_allclose(plain, output.numpy(), rtol=1e-5, atol=1e-6)
    for name, parameter in module.named_parameters():
        assert parameter.grad is not None
        assert parameter.grad.dtype == found[name].dtype == np.float32
        np.testing.assert_allclose(parameter.grad, found[name], rtol=1e-4, atol=1e-5)


def test_one_module_used_twice() -> None:
    """An encoder whose last state begins a decoder with the same weights: gradients are those of one long sequence."""
    module = made("GRU", 2, 3)
    x = rng.normal(size=(6, 2, 2))

    def at_once(p: Any) -> Any:
        return np.sum(module.apply(p, x)[0] ** 2)

    def in_two(p: Any) -> Any:
        first, h = module.apply(p, x[:4])
        return np.sum(first**2) + np.sum(module.apply(p, x[4:], h)[0] ** 2)

    for one, other in zip(*[ea.grad(f)(module.arrays()).values() for f in (at_once, in_two)], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


def test_dropout_acts_between_layers_in_training_only() -> None:
    module = made("LSTM", 2, 3, 2, dropout=0.5)
    assert list(module.state_dict()) == list(made("LSTM", 2, 3, 2).state_dict())
    x = rng.normal(size=(4, 3, 2))
    first, again = called(module, x)[0], called(module, x)[0]
    np.testing.assert_array_equal(first, again)  # a pure function
    other = np.asarray(module.apply(module.arrays(), x, rng=np.random.default_rng(9))[0])
    assert not np.allclose(first, other)
    module.eval()
    np.testing.assert_array_equal(called(module, x)[0], called(made("LSTM", 2, 3, 2), x)[0])
    with pytest.warns(UserWarning, match="nothing is dropped"):
        nn.GRU(2, 3, dropout=0.5)


@pytest.mark.parametrize("kind", KINDS)
def test_work_grows_with_the_number_of_steps(kind: str) -> None:
    module = getattr(nn, kind)(4, 8, rng=0)
    costs = []
    for length in (4, 8, 16):
        x = np.ones((length, 3, 4), np.float32)
        plan = ea.explain(ea.grad(lambda p, x=x: np.mean(module.apply(p, x)[0] ** 2)), module.arrays()).plan
        costs.append((plan.flops, plan.bytes, plan.calls))
    for first, second, third in zip(*costs, strict=True):
        assert third - second < 2.2 * (second - first)


@pytest.mark.parametrize(
    ("x", "states", "error", "text"),
    [
        (np.ones((4, 2, 5)), None, ea.ShapeError, r"\(seq, batch, 3\)"),
        (np.ones(3), None, ea.ShapeError, r"\(seq, 3\)"),
        (np.ones((0, 2, 3)), None, ea.ShapeError, "at least one step"),
        (np.ones((4, 2, 3)), np.ones((2, 2, 2)), TypeError, "tuple"),
        (np.ones((4, 2, 3)), (np.ones((2, 2, 2)), np.ones((1, 2, 2))), ea.ShapeError, r"c_0 has shape \(2, 2, 2\)"),
        (np.ones((4, 3)), (np.ones((2, 2, 2)),) * 2, ea.ShapeError, r"h_0 has shape \(2, 2\)"),
    ],
)
def test_what_is_refused(x: Any, states: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        made("LSTM", 3, 2, 2)(x, states)


def test_sizes_that_are_refused() -> None:
    with pytest.raises(ValueError, match="positive"):
        nn.GRU(3, 0)
    with pytest.raises(ValueError, match="nonlinearity"):
        nn.RNN(3, 2, nonlinearity="gelu")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="nonlinearity"):
        nn.functional.rnn_step(np.ones(2), (np.ones(2),), np.eye(2), nonlinearity="sin")  # type: ignore[arg-type]
