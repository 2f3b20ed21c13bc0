"""Training by compiled steps: what a plain loop gives, exactly resumed, and what ends a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad import data, nn, optim

F = nn.functional
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4)).astype(np.float32)
Y = np.argmax(X[:, :3] + 0.3 * X[:, 1:], axis=1)


class Noisy(nn.Module):
    """Draws a mask and counts its calls, as layers with dropout and running statistics do."""

    def __init__(self, generator: np.random.Generator) -> None:
        self.rng = generator
        self.register_buffer("mean", np.zeros(8, np.float32))

    def forward(self, x: Any) -> Any:
        if not self.training:
            return x - self.mean
        self.mean = np.float32(0.9) * self.mean + np.float32(0.1) * np.mean(x, axis=0)
        mask = nn.context.draw(self.rng, lambda g: (g.random(np.shape(x)) < 0.8).astype(np.float32))
        return x * mask


def network(seed: int = 0) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(4, 8, rng=seed), nn.Tanh(), Noisy(np.random.default_rng(seed)), nn.Linear(8, 3, rng=seed + 1)
    )


def states_agree(one: nn.Module, other: nn.Module) -> None:
    for name, array in one.state_dict().items():
        np.testing.assert_array_equal(other.state_dict()[name], array, err_msg=name)


def fitted(net: nn.Module, epochs: int, **options: Any) -> nn.History:
    optimizer = options.pop("optimizer", None) or optim.Adam(net.parameters(), lr=0.01)
    return nn.fit(net, F.cross_entropy, (X, Y), optimizer, epochs, progress=False, batch_size=16, rng=3, **options)


def test_steps_are_those_of_the_plain_loop() -> None:
    compiled, plain = network(), network()
    step = nn.TrainingStep(compiled, F.cross_entropy, optim.Adam(compiled.parameters(), lr=0.01))
    optimizer = optim.Adam(plain.parameters(), lr=0.01)
    for start in (0, 16, 32, 0):
        x, y = X[start : start + 16], Y[start : start + 16]
        loss, outputs = step(x, y)
        optimizer.zero_grad()
        expected = F.cross_entropy(plain(x), y)
        expected.backward()
        optimizer.step()
        np.testing.assert_allclose(loss, expected.numpy(), rtol=1e-5)
        assert outputs.shape == (16, 3)
    step.store()
    for name, array in plain.state_dict().items():
        assert array.dtype == np.float32
        np.testing.assert_allclose(compiled.state_dict()[name], array, rtol=2e-4, atol=1e-6, err_msg=name)


def test_nothing_is_derived_or_planned_after_the_first_step() -> None:
    net = network()
    step = nn.TrainingStep(net, F.cross_entropy, optim.SGD(net.parameters(), lr=0.1, momentum=0.9))
    step(X[:16], Y[:16])
    before = ea.statistics()
    plans = len(step._compiled._by_signature)
    for start in (16, 32):
        step(X[start : start + 16], Y[start : start + 16])
    after = ea.statistics()
    assert (after.derived, after.planned, len(step._compiled._by_signature)) == (before.derived, before.planned, plans)


def test_the_mode_of_the_model_is_part_of_the_plan() -> None:
    net = network()
    step = nn.TrainingStep(net, F.cross_entropy, optim.SGD(net.parameters(), lr=0.0))
    trained, _ = step(X[:16], Y[:16])
    step.store()
    net.eval()
    evaluated, _ = step(X[:16], Y[:16])
    with nn.no_grad():
        np.testing.assert_allclose(evaluated, F.cross_entropy(net(X[:16]), Y[:16]), rtol=1e-5)
    assert trained != evaluated


def test_fitting_learns_and_measures() -> None:
    net = network()
    history = fitted(net, 30, validation=(X, Y), metrics=["accuracy"])
    assert history["accuracy"][-1] > 0.85
    assert history["loss"][-1] < 0.5 * history["loss"][0]
    measured = nn.evaluate(net, F.cross_entropy, [(X, Y)], ["accuracy"])
    np.testing.assert_allclose(history.last["val_loss"], measured["loss"], rtol=1e-6)
    assert history.last["val_accuracy"] == measured["accuracy"]
    assert net.training
    np.testing.assert_allclose(nn.accuracy(nn.predict(net, X, batch_size=7), Y), measured["accuracy"])
    assert str(history).splitlines()[0].split() == [
        "epoch", "loss", "accuracy", "val_loss", "val_accuracy", "lr", "seconds",
    ]  # fmt: skip


@pytest.mark.parametrize("stop", [1, 3])
def test_a_run_that_stops_and_goes_on_is_the_run_that_did_not(stop: int, tmp_path: Path) -> None:
    def run(net: nn.Module, epochs: int, name: str) -> nn.History:
        optimizer = optim.Adam(net.parameters(), lr=0.01, amsgrad=True)
        schedule = optim.lr_scheduler.CosineAnnealingLR(optimizer, 6)
        checkpoint = nn.Checkpoint(tmp_path / name)
        return fitted(net, epochs, optimizer=optimizer, scheduler=schedule, checkpoint=checkpoint, validation=(X, Y))

    whole = network()
    expected = run(whole, 6, "whole")
    run(network(), stop, "parts")
    resumed = network(seed=5)
    found = run(resumed, 6, "parts")
    states_agree(whole, resumed)
    for name in ("loss", "val_loss", "lr"):
        assert found[name] == expected[name]


class Centres(nn.Module):
    """A loss with a parameter, running statistics and noise of its own."""

    def __init__(self) -> None:
        self.centres = nn.Parameter(np.zeros((3, 3), np.float32))
        self.register_buffer("seen", np.zeros(3, np.float32))
        self.rng = np.random.default_rng(9)

    def forward(self, outputs: Any, y: Any) -> Any:
        if self.training:
            self.seen = np.float32(0.5) * self.seen + np.mean(outputs, axis=0)
            shape = np.shape(outputs)
            outputs = outputs + nn.context.draw(self.rng, lambda g: g.normal(size=shape).astype(np.float32))
        return F.cross_entropy(outputs, y) + np.mean((outputs - self.centres[y]) ** 2)


def test_a_loss_that_learns_goes_on_exactly_and_goes_back_to_the_best_epoch(tmp_path: Path) -> None:
    def run(net: nn.Module, loss: nn.Module, epochs: int, **options: Any) -> nn.History:
        optimizer = optim.Adam([*net.parameters(), *loss.parameters()], lr=0.02)
        settings = {"progress": False, "batch_size": 16, "rng": 3, **options}
        return nn.fit(net, loss, (X, Y), optimizer, epochs, **settings)

    whole, of_whole = network(), Centres()
    expected = run(whole, of_whole, 5)
    stopped, of_stopped = network(), Centres()
    run(stopped, of_stopped, 2, checkpoint=nn.Checkpoint(tmp_path / "run"))
    resumed, of_resumed = network(5), Centres()
    history = run(resumed, of_resumed, 5, checkpoint=nn.Checkpoint(tmp_path / "run"))
    states_agree(whole, resumed)
    states_agree(of_whole, of_resumed)
    assert history["loss"] == expected["loss"]
    best, of_best = network(), Centres()
    stopping = nn.EarlyStopping("loss", patience=0, mode="max")
    run(best, of_best, 5, early_stopping=stopping)
    once, of_once = network(), Centres()
    run(once, of_once, 1)
    states_agree(once, best)
    states_agree(of_once, of_best)


def test_early_stopping_gives_back_the_best_epoch(tmp_path: Path) -> None:
    def run(net: nn.Module) -> nn.History:
        stopping = nn.EarlyStopping("val_loss", patience=2)
        wrong = (Y + 1) % 3
        return fitted(
            net, 50, validation=(X, wrong), early_stopping=stopping, checkpoint=nn.Checkpoint(tmp_path / "run")
        )

    net = network()
    history = run(net)
    assert 3 <= len(history) < 50
    assert "val_loss" in history.stopped
    best = min(history["val_loss"])
    measured = nn.evaluate(net, F.cross_entropy, [(X, (Y + 1) % 3)])
    np.testing.assert_allclose(measured["loss"], best, rtol=1e-6)
    again = network(seed=9)
    assert len(run(again)) == len(history)
    states_agree(net, again)


def test_the_generator_of_the_library_goes_on_too(tmp_path: Path) -> None:
    def run(epochs: int, name: str) -> nn.Module:
        net = nn.Sequential(nn.Linear(4, 8, rng=0), nn.Dropout(0.3), nn.Linear(8, 3, rng=1))
        fitted(net, epochs, checkpoint=nn.Checkpoint(tmp_path / name))
        return net

    nn.manual_seed(1)
    whole = run(4, "whole")
    nn.manual_seed(1)
    run(2, "parts")
    nn.manual_seed(77)
    states_agree(whole, run(4, "parts"))


def test_a_file_of_another_run_is_refused(tmp_path: Path) -> None:
    net = network()
    fitted(net, 1, checkpoint=nn.Checkpoint(tmp_path / "run"))
    before = net.state_dict()
    optimizer = optim.Adam(net.parameters())
    schedule = optim.lr_scheduler.StepLR(optimizer, 2)
    with pytest.raises(ValueError, match="another scheduler"):
        fitted(net, 2, optimizer=optimizer, scheduler=schedule, checkpoint=nn.Checkpoint(tmp_path / "run"))
    plain = nn.Sequential(nn.Linear(4, 3, rng=0))
    with pytest.raises(ValueError, match="random numbers"):
        fitted(plain, 2, checkpoint=nn.Checkpoint(tmp_path / "run"))
    (tmp_path / "run").write_bytes(b"not a run")
    with pytest.raises(ValueError, match="run"):
        fitted(net, 2, checkpoint=nn.Checkpoint(tmp_path / "run"))
    for name, array in before.items():
        np.testing.assert_array_equal(net.state_dict()[name], array)


def test_a_run_that_fails_keeps_the_last_whole_step() -> None:
    net, other = network(), network()
    batches = [(X[:16], Y[:16]), (X[:16, :3], Y[:16])]
    with pytest.raises(ea.ShapeError):
        nn.fit(net, F.cross_entropy, batches, optim.SGD(net.parameters(), lr=0.1), 1, progress=False)
    nn.fit(other, F.cross_entropy, batches[:1], optim.SGD(other.parameters(), lr=0.1), 1, progress=False)
    states_agree(net, other)


def test_parameters_that_are_not_given_stay() -> None:
    net = network()
    before = net[0].weight.data
    nn.fit(net, F.cross_entropy, [(X, Y)], optim.SGD(net[3].parameters(), lr=0.1), 2, progress=False)
    np.testing.assert_array_equal(net[0].weight.data, before)
    other = network()
    with pytest.raises(ValueError, match="another model"):
        nn.TrainingStep(other, F.cross_entropy, optim.SGD(net.parameters(), lr=0.1))
    net[0].weight.requires_grad = False
    with pytest.raises(ValueError, match=r"model\.0\.weight"):
        nn.TrainingStep(net, F.cross_entropy, optim.SGD(net.parameters(), lr=0.1))


def test_a_loss_with_parameters() -> None:
    class Weighted(nn.Module):
        def __init__(self) -> None:
            self.scale = nn.Parameter(np.ones((), np.float32))

        def forward(self, outputs: Any, target: Any) -> Any:
            return F.cross_entropy(self.scale * outputs, target)

    net, loss = nn.Linear(4, 3, rng=0), Weighted()
    optimizer = optim.SGD([*net.parameters(), *loss.parameters()], lr=0.1)
    nn.fit(net, loss, [(X, Y)], optimizer, 3, progress=False)
    assert loss.scale.data != 1


def test_parameters_of_a_loss_are_those_of_now_where_it_is_measured() -> None:
    class Scaled(nn.Module):
        def __init__(self) -> None:
            self.scale = nn.Parameter(np.array(3.0, np.float32))

        def forward(self, outputs: Any, target: Any) -> Any:
            return self.scale * F.cross_entropy(outputs, target) if not self.training else self.scale

    loss, net = Scaled(), nn.Linear(4, 3, rng=0)
    of = nn.training.evaluation.Evaluation(net, loss)
    once = of([X], Y)[1]
    assert isinstance(once, np.floating)
    loss.scale.data = np.array(6.0)
    np.testing.assert_allclose(of([X], Y)[1], 2 * once, rtol=1e-6)
    assert loss.training
    history = nn.fit(
        net, loss, (X, Y), optim.SGD(loss.parameters(), lr=0.5), 2, validation=(X, Y), batch_size=60, progress=False
    )
    np.testing.assert_allclose(history["val_loss"], np.array([5.5, 5.0]) * once / 3, rtol=1e-5)


def test_the_norm_of_the_gradients_is_bounded() -> None:
    net = nn.Linear(4, 3, rng=0).to(np.float64)
    before = net.arrays()
    x = X.astype(float)
    gradient = ea.grad(lambda v: F.cross_entropy(net.apply(v, x), Y))(before)
    norm = np.sqrt(sum([np.sum(g**2) for g in gradient.values()]))
    step = nn.TrainingStep(net, F.cross_entropy, optim.SGD(net.parameters(), lr=1.0), clip_norm=0.5 * norm)
    step(x, Y)
    step.store()
    for name, array in net.arrays().items():
        np.testing.assert_allclose(before[name] - array, 0.5 * gradient[name], rtol=1e-5)


def test_batches_of_unequal_sizes_count_by_their_sizes() -> None:
    net = nn.Linear(4, 3, rng=0)
    loader = data.DataLoader(data.ArrayDataset(X, Y), batch_size=25)
    measured = nn.evaluate(net, F.cross_entropy, loader)
    with nn.no_grad():
        np.testing.assert_allclose(measured["loss"], F.cross_entropy(net(X), Y), rtol=1e-5)


def test_errors_of_what_is_asked() -> None:
    with pytest.raises(ValueError, match="is accuracy meant"):
        fitted(network(), 1, metrics=["acuracy"])
    with pytest.raises(KeyError, match="'accuracy', but epoch, loss"):
        fitted(network(), 3, early_stopping=nn.EarlyStopping("accuracy"))
    net = network()
    with pytest.raises(ValueError, match="no sample"):
        nn.fit(net, F.cross_entropy, [], optim.SGD(net.parameters(), lr=0.1), 1, progress=False)


def test_the_picture_of_a_history() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    history = fitted(nn.Linear(4, 3, rng=0), 2, validation=(X, Y))
    axes = history.plot()
    assert [line.get_label() for line in axes.lines] == ["loss", "val_loss"]
    assert list(axes.lines[0].get_ydata()) == history["loss"]


def test_a_bar_shows_the_loss(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm")
    net = nn.Linear(4, 3, rng=0)
    nn.fit(net, F.cross_entropy, (X, Y), optim.SGD(net.parameters(), lr=0.1), 1)
    assert "loss=" in capsys.readouterr().err


@pytest.mark.parametrize("patience", [0, 1, 3])
def test_patience_is_a_number_of_epochs_in_a_row(patience: int) -> None:
    stopping, net = nn.EarlyStopping("loss", patience=patience), nn.Linear(1, 1, rng=0)
    assert not stopping.is_over({"loss": 2.0}, net)
    assert not stopping.is_over({"loss": 1.0}, net)
    over = [stopping.is_over({"loss": 1.0}, net) for _ in range(4)]
    assert over.index(True) + 1 == max(patience, 1)
