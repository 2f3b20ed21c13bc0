"""What a module holds beside arrays may change between steps: compiled steps follow it as calls do."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad import nn, optim
from einsumad.nn.training.settings import Settings, settings_of

F = nn.functional
rng = np.random.default_rng(0)
X = rng.normal(size=(20, 4)).astype(np.float32)
Y = rng.integers(0, 3, 20)


class Annealed(nn.Module):
    """Cross entropy and a penalty whose weight is given in several ways."""

    def __init__(self) -> None:
        self.beta = 0.0
        self.options = {"scale": [1.0]}
        self.config = SimpleNamespace(shift=0.0)
        self.table = np.zeros(3, np.float32)
        self.last = deque([0.0])

    def forward(self, outputs: Any, target: Any) -> Any:
        factor = self.beta + self.config.shift + self.last[0]
        return F.cross_entropy(self.options["scale"][0] * (outputs + self.table), target) + factor * np.mean(outputs**2)


def network() -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(4, 6, rng=0), nn.BatchNorm1d(6), nn.Tanh(), nn.Dropout(0.5, rng=1), nn.Linear(6, 3, rng=2)
    )


def set_beta(loss: Annealed) -> None:
    loss.beta = 3.0


def set_option(loss: Annealed) -> None:
    loss.options["scale"][0] = 2.0


def set_config(loss: Annealed) -> None:
    loss.config.shift = 3.0


def set_entry(loss: Annealed) -> None:
    loss.table[1] = 2.0


def set_member(loss: Annealed) -> None:
    loss.last[0] = 2.0


CHANGES = [set_beta, set_option, set_config, set_entry, set_member]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("second", [False, True])
def test_a_loss_follows_what_it_holds(change: Callable[[Annealed], None], second: bool) -> None:
    net, loss = nn.Linear(4, 3, rng=0), Annealed()
    step = (
        nn.SecondOrderStep(net, loss, optim.GaussNewton(net.parameters(), lr=1e-3))
        if second
        else nn.TrainingStep(net, loss, optim.SGD(net.parameters(), lr=0.0))
    )
    step(X, Y)
    change(loss)
    expected = float(loss(net(X), Y).numpy())
    assert abs(expected - float(step(X, Y)[0])) < 1e-5


@pytest.mark.parametrize("change", CHANGES)
def test_an_objective_and_an_evaluation_follow_too(change: Callable[[Annealed], None]) -> None:
    net, loss = nn.Linear(4, 3, rng=0), Annealed()
    goal, optimizer = nn.objective(net, loss), optim.NewtonCG(net.parameters(), lr=1e-6)
    of = nn.training.evaluation.Evaluation(net, loss)
    optimizer.step(goal, X, Y)
    of([X], Y)
    change(loss)
    expected = float(loss(net(X), Y).numpy())
    assert abs(expected - float(optimizer.step(goal, X, Y))) < 1e-5
    assert abs(expected - float(of([X], Y)[1])) < 1e-5


def test_layers_and_losses_follow_their_numbers() -> None:
    compiled, plain = network(), network()
    losses = [nn.CrossEntropyLoss(), nn.CrossEntropyLoss()]
    step = nn.TrainingStep(compiled, losses[0], optim.SGD(compiled.parameters(), lr=0.1))
    optimizer = optim.SGD(plain.parameters(), lr=0.1)
    for number in range(4):
        for net, loss in zip((compiled, plain), losses, strict=True):
            net[3].p = (0.5, 0.2, 0.2, 0.0)[number]
            net[1].momentum = (0.1, 0.1, 0.5, 0.5)[number]
            loss.label_smoothing = (0.0, 0.0, 0.0, 0.3)[number]
        found = step(X, Y)[0]
        optimizer.zero_grad()
        expected = losses[1](plain(X), Y)
        expected.backward()
        optimizer.step()
        np.testing.assert_allclose(found, expected.numpy(), rtol=1e-5, err_msg=str(number))
    step.store()
    for name, array in plain.state_dict().items():
        np.testing.assert_allclose(compiled.state_dict()[name], array, rtol=2e-4, atol=1e-6, err_msg=name)


def test_fit_follows_what_a_schedule_changes() -> None:
    net, loss = nn.Linear(4, 3, rng=0), Annealed()

    class Warm:
        def step(self) -> None:
            loss.beta += 1.0

    found = nn.fit(
        net, loss, (X, Y), optim.SGD(net.parameters(), lr=0.0), 3, batch_size=20, scheduler=Warm(), progress=False
    )
    squares = float(np.mean(net(X).numpy() ** 2))
    np.testing.assert_allclose(np.diff(found["loss"]), squares, rtol=1e-4)


def test_a_generator_in_the_place_of_another_is_drawn_from() -> None:
    layer = nn.Dropout(0.5, rng=0)
    net = nn.Sequential(nn.Linear(4, 3, rng=0), layer)
    step = nn.TrainingStep(net, nn.CrossEntropyLoss(), optim.SGD(net.parameters(), lr=0.0))
    step(X, Y)
    layer.generator = np.random.default_rng(7)
    found = step(X, Y)[0]
    layer.generator = np.random.default_rng(7)
    np.testing.assert_allclose(found, nn.CrossEntropyLoss()(net(X), Y).numpy(), rtol=1e-5)


def test_settings_that_are_back_need_no_new_plan() -> None:
    net, loss = nn.Linear(4, 3, rng=0), Annealed()
    step = nn.TrainingStep(net, loss, optim.SGD(net.parameters(), lr=0.1))
    step(X, Y)
    loss.beta = 1.0
    step(X, Y)
    loss.beta = 0.0
    step(X, Y)
    loss.beta = 1.0
    step(X, Y)
    assert len(step._compiled._by_signature) == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (0.0, -0.0),
        (1, 1.0),
        (1, True),
        ("a", b"a"),
        ((1, 2), [1, 2]),
        ({1}, {2}),
        (np.float32(1), np.float64(1)),
        (np.zeros(2), np.zeros((2, 1))),
        (np.zeros(1000), np.ones(1000)),
        (np.array([1, "a"], object), np.array([1, "b"], object)),
        (F.relu, F.gelu),
        (ea.tensor(np.zeros(2)), ea.tensor(np.ones(2))),
        (np.dtype("f4"), np.dtype("f8")),
        (None, 0),
        (0j, -0j),
        (slice(1), slice(2)),
        (SimpleNamespace(a=1), SimpleNamespace(a=1)),
    ],
)
def test_different_settings_have_different_numbers(one: Any, other: Any) -> None:
    net = nn.Identity()
    settings = Settings(net)
    net.held = one
    first = settings.number()
    assert settings.number() == first
    net.held = other
    assert settings.number() != first
    net.held = one
    assert settings.number() == first


def test_what_refers_to_itself_is_no_trouble() -> None:
    net = nn.Identity()
    held: list[Any] = [1]
    held.append(held)
    net.held, net.owner = held, SimpleNamespace(net=SimpleNamespace(of=held))
    assert settings_of(net) == settings_of(net)


def test_long_arrays_that_are_written_to_are_seen_and_those_that_cannot_be_are_not_read() -> None:
    net = nn.Identity()
    net.table = np.zeros(10_000)
    before = settings_of(net)
    net.table[5000] = 1
    assert settings_of(net) != before
    net.table.flags.writeable = False
    assert settings_of(net) == settings_of(net)
    assert type(dict(entry[:2] for entry in settings_of(net)[0][1])["table"]).__name__ == "_Same"


def test_what_changes_at_each_step_is_warned_of_once() -> None:
    net, loss = nn.Linear(4, 3, rng=0), Annealed()
    settings = Settings(nn.Sequential(net, loss))
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for number in range(40):
            loss.beta = float(number)
            settings.number()
    assert len(found) == 1
    assert "1.beta has changed 16 times" in str(found[0].message)


def test_an_optimiser_that_a_module_holds_makes_no_new_plans() -> None:
    class Whole(nn.Module):
        def __init__(self) -> None:
            self.part = nn.Linear(4, 3, rng=0)
            self.optimizer = optim.Adam(self.part.parameters())
            self.schedule = optim.lr_scheduler.StepLR(self.optimizer, 1)

        def forward(self, x: Any) -> Any:
            self.last = self.part(x)  # what a call leaves behind is no setting
            return self.last

    net = Whole()
    step = nn.TrainingStep(net, nn.CrossEntropyLoss(), net.optimizer)
    for number in range(5):
        if number == 2:  # by then what calls leave behind is there
            plans = len(step._compiled._by_signature)
        step(X, Y)
        net.schedule.step()
    assert len(step._compiled._by_signature) == plans


def test_evaluation_between_epochs_makes_no_new_plans() -> None:
    net, loss = network(), nn.CrossEntropyLoss()
    step = nn.TrainingStep(net, loss, optim.SGD(net.parameters(), lr=0.1))
    of = nn.training.evaluation.Evaluation(net, loss)
    for _ in range(3):
        step(X, Y)
        step.store()
        of([X], Y)
        net.eval()
        net.train()
    assert len(step._compiled._by_signature) == len(of._compiled._by_signature) == 1
