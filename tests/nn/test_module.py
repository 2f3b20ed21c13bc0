"""Modules: attributes register themselves, states are exchanged, calls and `apply` agree."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad import nn

F = nn.functional
rng = np.random.default_rng(0)
X = rng.normal(size=(7, 4)).astype(np.float32)
Y = rng.integers(0, 3, 7)


class Scaled(nn.Module):
    """A parameter, a buffer and a module below, without a call of the base's constructor."""

    def __init__(self) -> None:
        self.factor = nn.Parameter(np.full(3, 2.0, np.float32))
        self.register_buffer("calls", np.zeros((), np.float32))
        self.inner = nn.Linear(4, 3, rng=0)

    def forward(self, x: Any) -> Any:
        if self.training:
            self.calls = self.calls + 1
        return self.factor * self.inner(x)


def network() -> nn.Sequential:
    return nn.Sequential(nn.Linear(4, 5, rng=1), nn.ReLU(), nn.Linear(5, 3, rng=2))


def loss_of(net: nn.Module, values: Any = None) -> Any:
    return F.cross_entropy(net(X) if values is None else net.apply(values, X), Y)


def test_names() -> None:
    names = [name for name, _ in Scaled().named_parameters()]
    assert names == ["factor", "inner.weight", "inner.bias"]
    assert list(Scaled().state_dict()) == [*names, "calls"]
    assert [name for name, _ in network().named_modules()] == ["", "0", "1", "2"]


def test_values_are_those_by_hand() -> None:
    net = network()
    state = net.state_dict()
    hidden = np.maximum(X @ state["0.weight"].T + state["0.bias"], 0)
    expected = hidden @ state["2.weight"].T + state["2.bias"]
    np.testing.assert_array_equal(net(X).numpy(), expected)
    np.testing.assert_array_equal(net.apply({}, X).numpy(), expected)
    np.testing.assert_array_equal(net.apply(net.arrays(), X), expected)
    with nn.no_grad():
        plain = net(X)
    assert type(plain) is np.ndarray
    np.testing.assert_array_equal(plain, expected)


def test_backward_and_the_transform_give_the_same_gradients() -> None:
    net = network()
    loss_of(net).backward()
    gradients = ea.grad(lambda values: loss_of(net, values))(net.arrays())
    for name, parameter in net.named_parameters():
        assert parameter.grad is not None
        assert parameter.grad.dtype == np.float32
        np.testing.assert_allclose(parameter.grad, gradients[name], rtol=1e-6, atol=1e-7)


def test_gradients_add_up_until_they_are_forgotten() -> None:
    net = network()
    loss_of(net).backward()
    once = {name: np.array(p.grad) for name, p in net.named_parameters()}
    loss_of(net).backward()
    for name, p in net.named_parameters():
        np.testing.assert_allclose(p.grad, 2 * once[name], rtol=1e-6)
    net.zero_grad()
    assert all(p.grad is None for p in net.parameters())
    loss_of(net).backward()
    for name, p in net.named_parameters():
        np.testing.assert_array_equal(p.grad, once[name])


def test_a_new_array_keeps_the_gradient_until_it_is_forgotten() -> None:
    p = nn.Parameter(np.array([1.0, 2.0]))
    np.sum(p**2).backward()
    p.data = p.data + 1
    np.testing.assert_array_equal(p.grad, [2.0, 4.0])
    np.sum(p**2).backward()
    np.testing.assert_array_equal(p.grad, [2.0 + 4.0, 4.0 + 6.0])


def test_a_parameter_is_a_tensor_in_any_expression() -> None:
    p = nn.Parameter(np.array([[1.0, 2.0], [3.0, 4.0]]))
    t = ea.tensor(np.array([[1.0, 0.5], [0.0, 2.0]]), requires_grad=True)
    for loss in (
        lambda: np.sum(t @ p),
        lambda: np.sum(p @ t),
        lambda: np.sum(np.concatenate([t, p]) ** 2),
        lambda: ea.einsum("ij,jk->", p, t),
        lambda: np.sum(np.exp(p.T[0]) * t[:, 1]),
        lambda: np.sum(np.stack([row * 2 for row in p]) ** 2 @ t),
    ):
        p.grad = t.grad = None
        loss().backward()
        at = np.array(p.data)
        step, difference = 1e-6, np.zeros((2, 2))
        for index in np.ndindex(2, 2):
            values = []
            for sign in (1, -1):
                moved = at.copy()
                moved[index] += sign * step
                p.data = moved
                values.append(float(loss().numpy()))
            difference[index] = (values[0] - values[1]) / (2 * step)
        p.data = at
        np.testing.assert_allclose(p.grad, difference, rtol=1e-6)
        assert t.grad is not None
    assert (p.shape, p.dtype, p.ndim, p.size, len(p)) == ((2, 2), np.float64, 2, 4, 2)


def test_arrays_of_parameters_are_read_only() -> None:
    array = np.array([1.0, 2.0])
    p = nn.Parameter(array)
    array[0] = 7
    assert p.data[0] == 1
    with pytest.raises(ValueError, match="read-only"):
        p.data[0] = 3
    with pytest.raises(ea.TracingError, match=r"p\.data"):
        p[0] = 3
    with pytest.raises(ea.TracingError, match="no_grad"):
        p -= 1
    with nn.no_grad():
        p -= 0.5
    assert isinstance(p, nn.Parameter)
    np.testing.assert_array_equal(p.data, [0.5, 1.5])


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (np.ones(3), ea.ShapeError),
        (np.ones((2, 1)), ea.ShapeError),
        (np.ones(2, complex), TypeError),
        (1.0, ea.ShapeError),
    ],
)
def test_what_does_not_fit_is_refused_and_changes_nothing(value: Any, error: type[Exception]) -> None:
    net = Scaled()
    net.factor = np.ones(3)
    p = nn.Parameter(np.array([1.0, 2.0]))
    with pytest.raises(error):
        p.data = value
    np.testing.assert_array_equal(p.data, [1, 2])
    assert net.factor.data.dtype == np.float32


def test_a_parameter_needs_a_floating_dtype() -> None:
    with pytest.raises(ea.DifferentiationError, match="int64"):
        nn.Parameter(np.arange(3))


def test_a_list_of_modules_is_refused() -> None:
    class Lost(nn.Module):
        def __init__(self) -> None:
            self.layers = [nn.Linear(2, 2)]

    with pytest.raises(TypeError, match="ModuleList"):
        Lost()


def test_frozen_parameters() -> None:
    net = network()
    first = net[0].weight
    first.requires_grad = False
    loss_of(net).backward()
    assert first.grad is None
    assert net[0].bias.grad is not None
    first.requires_grad = True
    loss_of(net).backward()
    assert first.grad is not None


def test_buffers_change_in_calls_and_not_in_apply() -> None:
    net = Scaled()
    net(X)
    net(X)
    assert net.calls == 2
    net.apply(net.arrays(), X)
    assert net.calls == 2
    _, updates = net.apply_and_update({"calls": np.float32(5)}, X)
    assert updates == {"calls": 6}
    assert net.calls == 2
    net.eval()(X)
    assert net.calls == 2
    assert not net.inner.training


def test_running_statistics_need_values() -> None:
    class Mean(nn.Module):
        def __init__(self) -> None:
            self.register_buffer("mean", np.zeros(4, np.float32))

        def forward(self, x: Any) -> Any:
            self.mean = 0.5 * self.mean + 0.5 * np.mean(x, axis=0)
            return x - self.mean

    net = Mean()
    net(ea.tensor(X))
    np.testing.assert_allclose(net.mean, 0.5 * X.mean(axis=0), rtol=1e-6)
    with pytest.raises(ea.TracingError, match="apply_and_update"):
        ea.compile(net)(X)
    out, updates = ea.compile(lambda x: net.apply_and_update({}, x))(X)
    np.testing.assert_allclose(updates["mean"], 0.75 * X.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(out, X - updates["mean"], rtol=1e-6)


def test_states_are_exchanged() -> None:
    one, other = network(), network()
    other[0].weight = one[0].weight.data + 1
    other.load_state_dict(one.state_dict())
    np.testing.assert_array_equal(other(X).numpy(), one(X).numpy())


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"0.bias": None}, KeyError, "missing: 0.bias"),
        ({"0.biases": np.ones(5)}, KeyError, "near to: 0.bias"),
        ({"0.bias": np.ones(4)}, ea.ShapeError, r"0\.bias has shape \(5,\) here and \(4,\)"),
        ({"0.bias": np.ones(5, complex)}, TypeError, "0.bias has dtype float32 here and complex128"),
    ],
)
def test_a_state_that_does_not_fit_is_refused(change: dict[str, Any], error: type[Exception], text: str) -> None:
    net = network()
    before = net.state_dict()
    state = {name: array for name, array in {**before, **change}.items() if array is not None}
    state["2.weight"] = before["2.weight"] + 1
    with pytest.raises(error, match=text):
        net.load_state_dict(state)
    for name, array in before.items():
        np.testing.assert_array_equal(net.state_dict()[name], array)


def test_apply_refuses_unknown_names_and_other_shapes() -> None:
    net = network()
    with pytest.raises(KeyError, match=r"near to: 0\.weight"):
        net.apply({"0.weigth": np.ones((5, 4))}, X)
    with pytest.raises(ea.ShapeError, match=r"0\.weight"):
        net.apply({"0.weight": np.ones((4, 5))}, X)


def test_tied_parameters() -> None:
    net = nn.Sequential(nn.Linear(4, 4, rng=0), nn.Tanh(), nn.Linear(4, 4, rng=1))
    net[2].weight = net[0].weight
    assert len(list(net.parameters())) == 3
    assert len(net.state_dict()) == 4
    np.sum(net(X) ** 2).backward()
    values = net.arrays()
    gradient = ea.grad(lambda v: np.sum(net.apply(v, X) ** 2))(values)
    np.testing.assert_allclose(net[0].weight.grad, gradient["0.weight"], rtol=1e-5, atol=1e-6)
    with pytest.raises(KeyError, match="several names"):
        net.apply({"0.weight": np.ones((4, 4)), "2.weight": np.ones((4, 4))}, X)


def test_copies_are_independent() -> None:
    net = network()
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):  # noqa: S301 (its own)
        np.testing.assert_array_equal(other(X).numpy(), net(X).numpy())
        other[0].weight = other[0].weight.data + 1
        assert not np.array_equal(other(X).numpy(), net(X).numpy())


def test_a_network_in_another_dtype() -> None:
    net = network().to(np.float64)
    assert {p.dtype for p in net.parameters()} == {np.dtype(np.float64)}
    hessian = ea.hessian(lambda v: loss_of(net, v))(net.arrays())
    gradient = ea.grad(lambda v: loss_of(net, v))
    values = net.arrays()
    moved = {**values, "2.bias": values["2.bias"] + np.array([1e-6, 0, 0])}
    slope = (gradient(moved)["0.weight"] - gradient(values)["0.weight"]) / 1e-6
    np.testing.assert_allclose(hessian["0.weight"]["2.bias"][..., 0], slope, rtol=1e-3, atol=1e-6)


def test_texts() -> None:
    assert repr(network()).splitlines() == [
        "Sequential(",
        "  (0): Linear(4, 5)  # weight (5, 4), bias (5,): 25 parameters",
        "  (1): ReLU()",
        "  (2): Linear(5, 3)  # weight (3, 5), bias (3,): 18 parameters",
        ")  # 43 parameters",
    ]
    lines = network().summary((7, 4)).splitlines()
    assert lines[2].split() == ["0:", "Linear", "(7,", "5)", "25"]
    assert lines[-1].startswith("43 parameters")
    assert "dtype=float64" in repr(nn.Parameter(np.ones(2)))


def test_summary_changes_nothing() -> None:
    net = Scaled()
    net.summary((2, 4))
    assert net.calls == 0


def test_inputs_of_another_size_are_refused() -> None:
    with pytest.raises(ea.ShapeError, match=r"Linear\(4, 5\) takes inputs \(\.\.\., 4\), got \(7, 3\)"):
        network()(X[:, :3])


def test_a_call_that_fails_changes_no_buffer() -> None:
    net = nn.Sequential(Scaled(), nn.Linear(4, 2, rng=0))
    with pytest.raises(ea.ShapeError):
        net(X)
    assert net[0].calls == 0
    np.testing.assert_array_equal(net[0](X).shape, (7, 3))
    assert net[0].calls == 1


def test_options_are_shown_beside_the_modules_below() -> None:
    lines = repr(nn.LSTM(2, 3, num_layers=2, dropout=0.5)).splitlines()
    assert lines[0] == "LSTM("
    assert "num_layers=2" in lines[1]
    assert "Dropout(p=0.5)" in lines[2]


def test_texts_count_what_is_shared_once_and_say_what_is_frozen() -> None:
    first, second = nn.Linear(4, 4, rng=0), nn.Linear(4, 4, rng=0)
    second.weight = first.weight
    second.bias.requires_grad = False
    net = Scaled()
    net.inner = nn.Sequential(first, nn.Sequential(second, first))
    expected = [
        "Scaled(",
        "  # factor (3,): 3 parameters",
        "  (inner): Sequential(",
        "    (0): Linear(4, 4)  # weight (4, 4), bias (4,): 20 parameters",
        "    (1): Sequential(",
        "      (0): Linear(4, 4)  # weight (4, 4), bias (4,): 20 parameters, 16 of them shared, 4 of them frozen",
        "      (1): Linear(4, 4)  # weight (4, 4), bias (4,): 20 parameters, shared",
        "    )  # 24 parameters, 20 of them shared, 4 of them frozen",
        "  )  # 24 parameters, 4 of them frozen",
        ")  # 27 parameters, 4 of them frozen",
    ]
    for _ in range(2):
        assert repr(net).splitlines() == expected
    assert sum(p.data.size for p in net.parameters()) == 27
    second.weight.requires_grad = False
    assert repr(second) == "Linear(4, 4)  # weight (4, 4), bias (4,): 20 parameters, frozen"
    assert repr(nn.Sequential(nn.ReLU())) == "Sequential(\n  (0): ReLU()\n)"
    assert repr(nn.Linear(1, 1, bias=False)) == "Linear(1, 1, bias=False)  # weight (1, 1): 1 parameter"


def test_what_a_module_holds() -> None:
    net, shared = nn.Sequential(Scaled(), nn.BatchNorm1d(3)), nn.Tanh()
    assert [type(m).__name__ for m in net.modules()] == ["Sequential", "Scaled", "Linear", "BatchNorm1d"]
    assert [name for name, _ in nn.Sequential(shared, nn.ReLU(), shared).named_children()] == ["0", "1"]
    assert list(net.children()) == [net[0], net[1]]
    assert [array.shape for array in net.buffers()] == [(), (3,), (3,), ()]
    assert net.get_submodule("0.inner") is net[0].inner
    assert net.get_submodule("") is net
    with pytest.raises(AttributeError, match=r"no module '0\.outer'"):
        net.get_submodule("0.outer")
    assert sum(p.numel() for p in net.parameters()) == 24
    assert next(iter(net.state_dict(prefix="net."))) == "net.0.factor"
    missing, unexpected = net.load_state_dict({"0.factor": np.zeros(3), "other": 1}, strict=False)
    assert len(missing) == 8
    assert unexpected == ["other"]
    assert not net[0].factor.data.any()


def test_held_under_names_that_are_given() -> None:
    module = nn.Module()
    module.register_parameter("w", nn.Parameter(np.ones(2)))
    module.register_parameter("none", None)
    module.register_buffer("nothing", None)
    module.add_module("inner", nn.Linear(2, 2, rng=0))
    assert list(module.state_dict()) == ["w", "inner.weight", "inner.bias"]
    assert module.none is None
    assert module.nothing is None
    module.register_buffer("w", np.zeros(3))
    assert [name for name, _ in module.named_parameters()] == ["inner.weight", "inner.bias"]
    for name in ("a.b", "", "forward", "training", "_buffers"):
        with pytest.raises(KeyError):
            module.register_buffer(name, np.ones(2))
        with pytest.raises(KeyError):
            module.register_module(name, nn.Tanh())
        with pytest.raises(KeyError):
            module.register_parameter(name, None)
    with pytest.raises(TypeError, match=r"make a nn\.Parameter"):
        module.register_parameter("v", np.ones(2))
    with pytest.raises(TypeError, match="is a module or None"):
        module.register_module("v", np.ones(2))


def test_all_at_once() -> None:
    net = network()
    for convert, dtype in ((net.half, np.float16), (net.double, np.float64), (net.float, np.float32)):
        assert convert() is net
        assert {p.dtype for p in net.parameters()} == {np.dtype(dtype)}
    assert net[0].requires_grad_(False) is net[0]
    loss_of(net).backward()
    assert net[0].weight.grad is None
    assert net[2].weight.grad is not None
    net.zero_grad(set_to_none=False)
    np.testing.assert_array_equal(net[2].weight.grad, np.zeros((3, 5)))
    net.zero_grad()
    assert net[2].weight.grad is None
    with pytest.raises(TypeError, match=r"for part in module\.modules"):
        net.apply(len)


def test_names_stay_in_the_order_in_which_they_were_first_set() -> None:
    layer = nn.Linear(2, 3, rng=0)
    layer.weight = nn.Parameter(np.ones((3, 2), np.float32))
    assert list(layer.state_dict()) == ["weight", "bias"]
    net = network()
    setattr(net, "0", nn.Linear(4, 5, rng=0))
    assert [name for name, _ in net.named_modules()] == ["", "0", "1", "2"]
    net(X)


def test_the_shape_of_a_parameter_without_gradients_makes_no_copy_each_time() -> None:
    p = nn.Parameter(np.ones((3, 2)))
    with nn.no_grad():
        assert p.shape == (3, 2)
        assert p.entries is p.entries
        assert type(np.sum(p)) is np.float64


def test_a_parameter_is_not_assigned_within_apply() -> None:
    class Drifting(nn.Module):
        def __init__(self) -> None:
            self.w = nn.Parameter(np.ones(2))

        def forward(self, x: Any) -> Any:
            self.w = self.w * 0.5
            return self.w * x

    net = Drifting()
    with pytest.raises(ea.TracingError, match="within apply"):
        ea.grad(lambda v: np.sum(net.apply(v, np.ones(2))))(net.arrays())
    np.testing.assert_array_equal(net.w.data, [1, 1])
