"""What training and evaluation take as data, and what they say to all else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from einsumad import data, nn, optim

rng = np.random.default_rng(0)
X = rng.normal(size=(20, 4)).astype(np.float32)
Y = rng.integers(0, 3, 20)
LOSS = nn.CrossEntropyLoss()


def fitted(given: Any, **options: Any) -> nn.History:
    net = nn.Linear(4, 3, rng=0)
    return nn.fit(
        net, LOSS, given, optim.SGD(net.parameters(), lr=0.1), 2, batch_size=8, progress=False, rng=0, **options
    )


def test_a_data_set_is_what_its_arrays_are() -> None:
    expected = fitted((X, Y), validation=(X, Y))
    found = fitted(data.ArrayDataset(X, Y), validation=data.ArrayDataset(X, Y))
    assert (found["loss"], found["val_loss"]) == (expected["loss"], expected["val_loss"])
    part = data.Subset(data.ArrayDataset(X, Y), np.arange(20))
    assert fitted(part)["loss"] == expected["loss"]


@pytest.mark.parametrize("batch_size", [3, 256])
def test_evaluate_takes_what_fit_takes(batch_size: int) -> None:
    net = nn.Linear(4, 3, rng=0)
    expected = float(LOSS(net(X), Y).numpy())
    for given in (
        (X, Y),
        data.ArrayDataset(X, Y),
        [(X, Y)],
        ((X, Y),),
        [[X, Y]],
        data.DataLoader(data.ArrayDataset(X, Y), 7),
    ):
        found = nn.evaluate(net, LOSS, given, ["accuracy"], batch_size=batch_size)
        assert found["loss"] == pytest.approx(expected, rel=1e-5)
        assert found["accuracy"] == np.mean(np.argmax(net(X).numpy(), axis=1) == Y)


class Foreign:
    """An array of another library."""

    shape = (20, 4)
    dtype = "torch.float32"


Foreign.__module__ = "torch.tensors"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((Foreign(), Foreign()), "Foreign of torch where NumPy's arrays are needed"),
        ((X, Foreign()), "Foreign of torch"),
        ([X, Y], r"write \(x, y\), a tuple"),
        ((X, [0, 1]), "also of list"),
        ((X.tolist(), Y.tolist()), "data has a list where a batch has an array"),
        ([(X.tolist(), Y)], "data has a list where a batch has an array"),
        (X, r"tuple of arrays, \(x, y\)"),
        (None, "got NoneType"),
        ({"x": X}, "got dict"),
    ],
)
def test_what_is_no_data_is_refused(given: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        fitted(given)
    with pytest.raises(TypeError, match=message):
        nn.evaluate(nn.Linear(4, 3), LOSS, given)


def test_a_batch_of_lists_is_refused() -> None:
    with pytest.raises(TypeError, match="a batch has a list: batches are tuples of NumPy's arrays"):
        fitted(iter([(X.tolist(), Y)]))


def test_stopping_without_data_held_out_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="pass validation="):
        fitted((X, Y), early_stopping=nn.EarlyStopping())
    with pytest.raises(ValueError, match="'val_accuracy'"):
        fitted((X, Y), early_stopping=nn.EarlyStopping("val_accuracy"))
    assert len(fitted((X, Y), early_stopping=nn.EarlyStopping("loss"))) == 2


def test_names_of_metrics() -> None:
    with pytest.raises(ValueError, match=r"no metric has the name 'acc'\. Known are accuracy, mae"):
        fitted((X, Y), metrics=["acc"])
    with pytest.raises(ValueError, match=r"'acuracy', is accuracy meant\? Known"):
        fitted((X, Y), metrics=["acuracy"])


def test_a_batch_without_targets_that_count_is_nan() -> None:
    net = nn.Linear(4, 3, rng=0)
    ignored = np.full(20, -100)
    assert np.isnan(nn.evaluate(net, LOSS, (X, ignored))["loss"])
    mixed = np.where(np.arange(20) < 10, Y, -100)
    halves = nn.evaluate(net, LOSS, (X, mixed), batch_size=20)["loss"]
    assert halves == pytest.approx(float(LOSS(net(X[:10]), Y[:10]).numpy()), rel=1e-5)


def test_batches_of_foreign_arrays_are_refused() -> None:
    for given in ([(X, Foreign())], [(Foreign(), Y)]):
        with pytest.raises(TypeError, match="a batch has a Foreign of torch"):
            fitted(given)
