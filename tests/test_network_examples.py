"""The demos of networks learn what they promise, in small."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from einsumad import nn
from examples import character_transformer, curve_fits, decision_regions, lstm_sequence


def is_picture(path: Path) -> bool:
    return path.read_bytes().startswith(b"\x89PNG")


def test_moons_are_told_apart_and_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    ((task, net, scale, history),) = decision_regions.main(tmp_path / "moons.png", [decision_regions.moons(400, 15)])
    assert history.last["val_accuracy"] >= 0.93
    assert history["loss"][-1] < 0.3 * history["loss"][0]
    middles = np.array([[0, 1], [1, -0.5]], np.float32)  # of the two half circles
    np.testing.assert_allclose(decision_regions.probabilities(net, scale, middles), [0, 1], atol=0.1)
    assert all(
        axis[0] < points.min() < points.max() < axis[-1]
        for axis, points in zip(decision_regions.plane(task.points), task.points.T, strict=True)
    )
    assert is_picture(tmp_path / "moons.png")


def test_stripes_are_those_of_the_cosine_and_are_learned() -> None:
    task = decision_regions.stripes(800, 60)
    changes = np.pi * (np.arange(5) + 0.5) / 15
    np.testing.assert_array_equal(task.labels, np.searchsorted(changes, task.points[:, 0]) % 2)
    _, _, history = decision_regions.learn(task)
    assert history.last["val_accuracy"] >= 0.93


def test_curves_are_fitted_and_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    sine, plain, waves = curve_fits.main(tmp_path / "curves.png", epochs=60)
    assert sine.root_mean_square < 0.06
    assert plain.root_mean_square > 0.5  # as the example says
    assert waves.root_mean_square < 0.08
    assert is_picture(tmp_path / "curves.png")


@pytest.mark.parametrize("example", [decision_regions, curve_fits])
def test_without_matplotlib_it_is_said_what_to_install(
    example: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(example, "import_module", missing)
    with pytest.raises(ImportError, match=r"pip install \"einsumad\[plot\]\""):
        example.draw([], tmp_path / "picture.png")


def test_an_lstm_adds_numbers_that_are_marked(capsys: pytest.CaptureFixture[str]) -> None:
    numbers, sums = lstm_sequence.sequences(np.random.default_rng(0), 50, 7)
    assert [numbers.shape, sums.shape, numbers.dtype, sums.dtype] == [(50, 7, 2), (50, 1), np.float32, np.float32]
    assert np.all(numbers[:, :3, 1].sum(axis=1) == 1)
    assert np.all(numbers[:, :, 1].sum(axis=1) == 2)
    marked = [row[row[:, 1] == 1, 0].sum() for row in numbers]
    np.testing.assert_allclose(sums[:, 0], marked, rtol=1e-6)
    history = lstm_sequence.main(length=6, epochs=4)
    assert history.last["val_loss"] < lstm_sequence.BASELINE / 20
    assert history.last["val_right"] > 0.9
    assert "times less" in capsys.readouterr().out


def test_the_texts_of_python_are_found() -> None:
    text = character_transformer.python_text()
    assert text.startswith("The Zen of Python, by Tim Peters\n\nBeautiful is better than ugly.")
    alphabet = character_transformer.Alphabet(text)
    assert alphabet.text(alphabet.numbers(text[:200])) == text[:200]
    x, y = character_transformer.pieces(np.arange(30), np.array([0, 7]), 5)
    np.testing.assert_array_equal(x, [[0, 1, 2, 3, 4], [7, 8, 9, 10, 11]])
    np.testing.assert_array_equal(y, x + 1)


def test_no_character_sees_a_later_one() -> None:
    net = character_transformer.CharacterTransformer(11, context=8, width=16, heads=2, layers=2, rng=0)
    rng = np.random.default_rng(0)
    x = rng.integers(0, 11, (3, 8))
    other = x.copy()
    other[:, 5:] = (x[:, 5:] + 1) % 11
    with nn.no_grad():
        one, two = net(x), net(other)
    assert one.shape == (3, 11, 8)
    np.testing.assert_allclose(one[:, :, :5], two[:, :, :5], rtol=1e-5, atol=1e-6)
    assert np.min(np.max(np.abs(one - two)[:, :, 5:], axis=1)) > 1e-3


def test_a_transformer_learns_to_write(capsys: pytest.CaptureFixture[str]) -> None:
    text = character_transformer.python_text()[:8000]
    alphabet = character_transformer.Alphabet(text)
    numbers = alphabet.numbers(text)
    net = character_transformer.CharacterTransformer(len(alphabet), context=16, width=32, rng=0)
    shares = np.linspace(0, 1, 150, endpoint=False)
    losses, reports = character_transformer.train(net, numbers[:7000], numbers[7000:], shares)
    assert len(losses) == 150
    assert losses[0] > 0.9 * np.log(len(alphabet))
    assert reports[-1][1] < 0.65 * losses[0]
    assert reports[-1][2] < 0.75 * losses[0]
    assert reports[0][2] > reports[3][2] > reports[-1][2]
    assert len(capsys.readouterr().out.splitlines()) == len(reports) + 1
    line = character_transformer.written(net, alphabet, "The ", 40, rng=np.random.default_rng(0))
    assert len(line) == 44
    assert line.startswith("The ")


def test_time_is_shared_out(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([100.0, 101.0, 104.0, 109.0, 110.5])
    monkeypatch.setattr(character_transformer, "perf_counter", lambda: next(clock))
    assert list(character_transformer.shares_of(10)) == [0.0, 0.1, 0.4, 0.9]
    rates = [character_transformer.rate_at(share) for share in (0.0, 0.05, 0.5, 1.0)]
    assert max(rates[0], rates[3]) < 0.1 * rates[1] < rates[2] < rates[1] <= character_transformer.RATE
