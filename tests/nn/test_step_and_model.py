"""A step beside the model it trains: what is given to the model meanwhile, what is frozen, and what takes no part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad import nn, optim
from einsumad.optim.first_order.dependence import depends_on

F = nn.functional
rng = np.random.default_rng(0)
X = rng.normal(size=(20, 4)).astype(np.float32)
Y = rng.integers(0, 3, 20)

METHODS: list[Callable[[Any], Any]] = [
    lambda p: optim.SGD(p, lr=0.1, weight_decay=0.1, momentum=0.9),
    lambda p: optim.AdamW(p, lr=0.1, weight_decay=0.1),
    lambda p: optim.Adam(p, lr=0.1, weight_decay=0.1),
]


class Heads(nn.Module):
    """One head is used, one is computed in vain, one is not called, and one has the derivative 0."""

    def __init__(self) -> None:
        self.used, self.vain, self.idle = nn.Linear(4, 3, rng=0), nn.Linear(4, 3, rng=1), nn.Linear(4, 3, rng=2)
        self.flat = nn.Linear(4, 3, rng=3)

    def forward(self, x: Any) -> Any:
        self.vain(x)
        return self.used(x) + 0 * self.flat(x)


def stepped(net: nn.Module, optimizer: Any, count: int) -> None:
    for _ in range(count):
        optimizer.zero_grad()
        F.cross_entropy(net(X), Y).backward()
        optimizer.step()


@pytest.mark.parametrize("make", METHODS)
@pytest.mark.parametrize("clip_norm", [None, 100.0])
def test_what_the_loss_does_not_depend_on_stays(make: Callable[[Any], Any], clip_norm: float | None) -> None:
    compiled, plain = Heads(), Heads()
    optimizer, other = make(compiled.parameters()), make(plain.parameters())
    step = nn.TrainingStep(compiled, F.cross_entropy, optimizer, clip_norm)
    for _ in range(3):
        step(X, Y)
    step.store()
    stepped(plain, other, 3)
    for name, array in Heads().state_dict().items():
        moved = not name.startswith(("vain", "idle"))
        assert bool(np.any(compiled.state_dict()[name] != array)) == moved, name
        np.testing.assert_allclose(compiled.state_dict()[name], plain.state_dict()[name], rtol=1e-4, atol=1e-6)
    assert set(optimizer.state_dict()["state"]) == set(other.state_dict()["state"])


def test_a_part_that_is_used_later_begins_then() -> None:
    class Switched(nn.Module):
        def __init__(self) -> None:
            self.first, self.second = nn.Linear(4, 3, rng=0), nn.Linear(4, 3, rng=1)
            self.both = False

        def forward(self, x: Any) -> Any:
            return self.first(x) + self.second(x) if self.both else self.first(x)

    compiled, plain = Switched(), Switched()
    optimizer, other = optim.Adam(compiled.parameters()), optim.Adam(plain.parameters())
    step = nn.TrainingStep(compiled, F.cross_entropy, optimizer)
    for both in (False, True, False):
        compiled.both = plain.both = both
        step(X, Y)
        stepped(plain, other, 1)
    step.store()
    for name, array in plain.state_dict().items():
        np.testing.assert_allclose(compiled.state_dict()[name], array, rtol=1e-4, atol=1e-6, err_msg=name)
    steps = {place: state["step"] for place, state in optimizer.state_dict()["state"].items()}
    assert steps == {0: 3, 1: 3, 2: 1, 3: 1}


def test_a_loss_without_parameters_moves_none() -> None:
    net = nn.Linear(4, 3, rng=0)
    step = nn.TrainingStep(net, lambda _, t: np.mean(t), optim.SGD(net.parameters(), lr=0.1, weight_decay=0.1))
    before = net.state_dict()
    assert float(step(X, X)[0]) == pytest.approx(float(X.mean()), abs=1e-6)
    step.store()
    for name, array in before.items():
        np.testing.assert_array_equal(net.state_dict()[name], array)


def test_dependence_is_what_backward_leaves_gradients_on() -> None:
    a, b, c = (ea.tensor(np.ones(2), requires_grad=True) for _ in range(3))
    result = np.sum(a * 0) + np.sum(np.where(True, b, c[::-1] * 0))
    result.backward()
    assert depends_on(result, [a, b, c]) == [tensor.grad is not None for tensor in (a, b, c)]
    assert depends_on(np.ones(2), [a]) == [False]


@pytest.mark.parametrize("loading", [False, True])
def test_a_parameter_that_is_frozen_meanwhile_is_refused(loading: bool) -> None:
    net = nn.Sequential(nn.Linear(4, 6, rng=0), nn.Linear(6, 3, rng=1))
    optimizer = optim.SGD(net.parameters(), lr=0.1)
    step = nn.TrainingStep(net, F.cross_entropy, optimizer)
    step(X, Y)
    step.store()
    before = net.state_dict()
    net[0].weight.requires_grad = False
    for _ in range(2):
        with pytest.raises(ValueError, match=r"model\.0\.weight does not require gradients"):
            step.load() if loading else step(X, Y)
    step.store()
    for name, array in before.items():
        np.testing.assert_array_equal(net.state_dict()[name], array)
    net[0].weight.requires_grad = True
    step(X, Y)


def test_second_order_steps_refuse_it_too() -> None:
    net = nn.Linear(4, 3, rng=0)
    step = nn.SecondOrderStep(net, F.cross_entropy, optim.GaussNewton(net.parameters()))
    step(X, Y)
    net.bias.requires_grad = False
    before = net.bias.data
    with pytest.raises(ValueError, match=r"model\.bias does not require gradients"):
        step(X, Y)
    assert net.bias.data is before


def test_a_parameter_in_the_place_of_another_is_refused() -> None:
    net = nn.Linear(4, 3, rng=0)
    step = nn.TrainingStep(net, F.cross_entropy, optim.SGD(net.parameters(), lr=0.1))
    step(X, Y)
    net.weight = nn.Parameter(np.zeros((3, 4), np.float32))
    with pytest.raises(ValueError, match="1 parameter that the model has not"):
        step(X, Y)


def test_arrays_that_the_model_is_given_are_taken_over() -> None:
    net, other = nn.Linear(4, 3, rng=0), nn.Linear(4, 3, rng=1)
    step = nn.TrainingStep(net, F.cross_entropy, optim.SGD(net.parameters(), lr=0.1))
    step(X, Y)
    net.load_state_dict(other.state_dict())
    assert float(step(X, Y)[0]) == pytest.approx(float(F.cross_entropy(other(X), Y).numpy()), rel=1e-5)
    net.bias.data = np.full(3, 7.0)
    step.store()
    np.testing.assert_array_equal(net.bias.data, 7)  # what was assigned last holds
    assert np.any(net.weight.data != other.weight.data)


def test_buffers_are_how_a_number_changes_at_every_step() -> None:
    class Annealed(nn.Module):
        def __init__(self) -> None:
            self.register_buffer("beta", np.zeros((), np.float32))

        def forward(self, outputs: Any, target: Any) -> Any:
            return F.cross_entropy(outputs, target) + self.beta * np.mean(outputs**2)

    net, loss = nn.Linear(4, 3, rng=0), Annealed()
    step = nn.TrainingStep(net, loss, optim.SGD(net.parameters(), lr=0.0))
    step(X, Y)
    planned = ea.statistics().planned
    for beta in (1.0, 2.0):
        loss.beta = np.float32(beta)
        assert float(step(X, Y)[0]) == pytest.approx(float(loss(net(X), Y).numpy()), rel=1e-5)
    assert ea.statistics().planned <= planned + 2  # those of the calls beside it


def test_an_optimiser_that_is_loaded_is_followed() -> None:
    net = nn.Linear(4, 3, rng=0)
    optimizer = optim.Adam(net.parameters(), lr=0.1)
    step = nn.TrainingStep(net, F.cross_entropy, optimizer)
    arrays, state = net.state_dict(), optimizer.state_dict()
    found = []
    for _ in range(2):
        net.load_state_dict(arrays)
        optimizer.load_state_dict(state)
        found.append([float(step(X, Y)[0]) for _ in range(3)])
    assert found[0] == found[1]


def test_a_model_of_another_dtype_or_with_more_layers_is_followed() -> None:
    net = nn.Sequential(nn.Linear(4, 3, rng=0))
    step = nn.TrainingStep(net, F.cross_entropy, optim.SGD(net.parameters(), lr=0.0))
    step(X, Y)
    net.append(nn.BatchNorm1d(3))
    step(X, Y)
    step.store()
    assert int(net[1].num_batches_tracked) == 1
    net.double()
    assert step(X.astype(np.float64), Y)[1].dtype == np.float64


def test_a_group_that_is_added_later_takes_part() -> None:
    net, beside = (nn.Sequential(nn.Linear(4, 5, rng=0), nn.Linear(5, 3, rng=1)) for _ in range(2))
    optimizer, other = (optim.Adam(each[1].parameters(), lr=0.1) for each in (net, beside))
    step = nn.TrainingStep(net, nn.CrossEntropyLoss(), optimizer)
    step(X, Y)
    stepped(beside, other, 1)
    for each, of in ((net, optimizer), (beside, other)):
        of.add_param_group({"params": list(each[0].parameters()), "lr": 0.01, "weight_decay": 0.1})
    step(X, Y)
    step(X, Y)
    stepped(beside, other, 2)
    step.store()
    for found, expected in zip(net.parameters(), beside.parameters(), strict=True):
        np.testing.assert_allclose(found.data, expected.data, rtol=1e-5, atol=1e-7)
