"""Losses: values against loops, derivatives against differences, far-out scores, and what is refused."""

from __future__ import annotations

from math import exp, log
from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad import nn, optim
from tests.nn.derivatives import right

F = nn.functional
INF = np.inf
rng = np.random.default_rng(5)
SCORES, CLASSES = rng.normal(size=(5, 4)), np.array([3, 0, 1, 1, 2])
ROWS = rng.dirichlet(np.ones(4), 5)
WEIGHT = np.array([0.5, 1.5, 2.0, 0.25])
REDUCED = {"mean": np.mean, "sum": np.sum, "none": lambda losses: losses}


def logarithms(scores: np.ndarray) -> np.ndarray:
    return scores - np.log(np.sum(np.exp(scores), axis=-1, keepdims=True))


ENTRYWISE: dict[str, tuple[Any, Any]] = {
    "MSELoss": (nn.MSELoss, lambda p, t: (p - t) ** 2),
    "L1Loss": (nn.L1Loss, lambda p, t: abs(p - t)),
    "HuberLoss": (
        lambda reduction: nn.HuberLoss(reduction, 0.4),
        lambda p, t: (p - t) ** 2 / 2 if abs(p - t) <= 0.4 else 0.4 * (abs(p - t) - 0.2),
    ),
    "BCELoss": (nn.BCELoss, lambda p, t: -t * log(p) - (1 - t) * log(1 - p)),
    "BCEWithLogitsLoss": (nn.BCEWithLogitsLoss, lambda s, t: log(1 + exp(s)) - t * s),
    "KLDivLoss": (nn.KLDivLoss, lambda p, t: t * (log(t) - p)),
    "KLDivLoss of logarithms": (
        lambda reduction: nn.KLDivLoss(reduction=reduction, log_target=True),
        lambda p, t: exp(t) * (t - p),
    ),
}


@pytest.mark.parametrize("name", ENTRYWISE)
def test_losses_entry_by_entry(name: str) -> None:
    make, formula = ENTRYWISE[name]
    p, t = rng.uniform(0.1, 0.9, (2, 3)), rng.uniform(0.1, 0.9, (2, 3))
    each = np.reshape([formula(float(a), float(b)) for a, b in zip(p.flat, t.flat, strict=True)], (2, 3))
    for reduction, total in REDUCED.items():
        loss = make(reduction=reduction)
        np.testing.assert_allclose(loss(p, t), total(each), rtol=1e-12)
        np.testing.assert_allclose(ea.compile(loss)(p, t), total(each), rtol=1e-12)
        assert loss(p.astype(np.float32), t.astype(np.float32)).dtype == np.float32
    right(make(reduction="sum"), p, t, entries=5)
    with pytest.raises(ea.ShapeError, match=r"\(2, 3\), the target \(3,\)"):
        make(reduction="sum")(p, t[0])
    with pytest.raises(ValueError, match="'mean', 'sum', 'none'"):
        make(reduction="average")
    assert make(reduction="none")(p[:0], t[:0]).shape == (0, 3)
    assert make(reduction="sum")(p[:0], t[:0]) == 0


def by_loop(
    scores: np.ndarray, classes: np.ndarray, weight: np.ndarray, ignored: int, smoothing: float
) -> tuple[np.ndarray, float]:
    """The losses of the samples, and what their sum is divided by."""
    logs, losses, count = logarithms(scores), np.zeros(len(scores)), 0.0
    for k, c in enumerate(classes):
        if c != ignored:
            losses[k] = -(1 - smoothing) * weight[c] * logs[k, c] - smoothing * np.mean(weight * logs[k])
            count += weight[c]
    return losses, count


@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("ignored", [-100, 1])
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_cross_entropy_of_classes(weight: Any, ignored: int, smoothing: float) -> None:
    losses, count = by_loop(SCORES, CLASSES, np.ones(4) if weight is None else weight, ignored, smoothing)
    for reduction, expected in {"mean": losses.sum() / count, "sum": losses.sum(), "none": losses}.items():
        loss = nn.CrossEntropyLoss(weight, ignore_index=ignored, reduction=reduction, label_smoothing=smoothing)
        np.testing.assert_allclose(loss(SCORES, CLASSES), expected, rtol=1e-12)
        np.testing.assert_allclose(ea.compile(loss)(SCORES, CLASSES), expected, rtol=1e-12)
        assert ea.compile(loss)(SCORES.astype(np.float32), CLASSES).dtype == np.float32
        assert loss(SCORES.astype(np.float32), CLASSES).dtype == np.float32
        single = ea.compile(loss)(SCORES.astype(np.float32), CLASSES.astype(np.uint8)) if ignored > 0 else expected
        np.testing.assert_allclose(single, expected, rtol=1e-5)
    if smoothing:
        loss = nn.CrossEntropyLoss(weight, ignore_index=ignored, label_smoothing=smoothing)
        right(lambda s: loss(s, CLASSES), SCORES, entries=5)


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_cross_entropy_of_probabilities(smoothing: float) -> None:
    smooth = (1 - smoothing) * ROWS + smoothing / 4
    expected = -np.sum(WEIGHT * smooth * logarithms(SCORES), axis=1)
    for reduction, total in REDUCED.items():
        loss = nn.CrossEntropyLoss(WEIGHT, reduction=reduction, label_smoothing=smoothing)
        np.testing.assert_allclose(loss(SCORES, ROWS), total(expected), rtol=1e-12)
    right(nn.CrossEntropyLoss(WEIGHT, label_smoothing=smoothing), SCORES, ROWS, entries=5)


def test_one_hot_rows_are_classes() -> None:
    one_hot = np.eye(4)[CLASSES]
    for smoothing in (0.0, 0.2):
        loss = nn.CrossEntropyLoss(label_smoothing=smoothing)
        np.testing.assert_allclose(loss(SCORES, one_hot), loss(SCORES, CLASSES), rtol=1e-13)


def test_nll_is_what_is_left_of_cross_entropy() -> None:
    for options in ({}, {"weight": WEIGHT}, {"ignore_index": 1}, {"weight": WEIGHT, "ignore_index": 2}):
        found = nn.NLLLoss(**options)(logarithms(SCORES), CLASSES)
        np.testing.assert_allclose(found, nn.CrossEntropyLoss(**options)(SCORES, CLASSES), rtol=1e-13)
    right(lambda s: nn.NLLLoss(WEIGHT, ignore_index=1)(s, CLASSES), logarithms(SCORES))


def test_axes_behind_the_classes_and_none_before_them() -> None:
    scores, classes = rng.normal(size=(2, 4, 3, 2)), rng.integers(0, 4, (2, 3, 2))
    flat = np.moveaxis(scores, 1, -1).reshape(-1, 4)
    for options in ({}, {"weight": WEIGHT}, {"ignore_index": 2}, {"weight": WEIGHT, "label_smoothing": 0.1}):
        loss = nn.CrossEntropyLoss(**options)
        np.testing.assert_allclose(loss(scores, classes), loss(flat, classes.reshape(-1)), rtol=1e-12)
        np.testing.assert_allclose(loss(SCORES[0], CLASSES[0]), loss(SCORES[:1], CLASSES[:1]), rtol=1e-12)
    rows = np.moveaxis(rng.dirichlet(np.ones(4), (2, 3, 2)), -1, 1)
    weighted = nn.CrossEntropyLoss(WEIGHT)
    np.testing.assert_allclose(
        weighted(scores, rows), weighted(flat, np.moveaxis(rows, 1, -1).reshape(-1, 4)), rtol=1e-12
    )
    np.testing.assert_allclose(weighted(SCORES[0], ROWS[0]), weighted(SCORES[:1], ROWS[:1]), rtol=1e-12)


def test_no_sample_is_left() -> None:
    loss, nothing = nn.CrossEntropyLoss(), np.full(5, -100)
    assert np.isnan(loss(SCORES, nothing))
    assert np.isnan(ea.compile(loss)(SCORES, nothing))
    for gradient in (ea.grad(loss), ea.compile(ea.grad(loss))):
        np.testing.assert_array_equal(gradient(SCORES, nothing), np.zeros_like(SCORES))
    assert nn.CrossEntropyLoss(reduction="sum")(SCORES, nothing) == 0
    assert nn.CrossEntropyLoss(reduction="none")(SCORES[:0], CLASSES[:0]).shape == (0,)


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("ignored", [-100, 1])
def test_what_is_left_weighs_nothing(ignored: int, smoothing: float) -> None:
    loss = nn.CrossEntropyLoss(np.array([0, 1.0, 1, 1]), ignore_index=ignored, label_smoothing=smoothing)
    classes = np.array([0, 0, max(ignored, 0), 0, 0])
    for function in (ea.value_and_grad(loss), ea.compile(ea.value_and_grad(loss))):
        value, gradient = function(SCORES, classes)
        assert np.isnan(value)
        assert np.all(np.isnan(gradient[0]))


def test_a_sample_that_is_ignored_may_be_anything() -> None:
    scores, classes = SCORES.copy(), CLASSES.copy()
    scores[0], classes[0] = [np.nan, INF, -INF, 0], -100
    loss = nn.CrossEntropyLoss()
    expected = loss(scores[1:], classes[1:])
    for found in (loss(scores, classes), ea.compile(loss)(scores, classes)):
        np.testing.assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_n12_a_class_that_is_masked(dtype: Any) -> None:
    """Row N12 (TF#11756; allennlp#890; optax PR#1762; dynet#218): weight 0 at the score -∞ takes no part."""
    scores, rows = np.array([[1.0, -INF, 0.5]], dtype), np.array([[0.4, 0.0, 0.6]], dtype)
    p = np.exp(scores) / np.sum(np.exp(scores))
    logs = np.array([[np.log(p[0, 0]), -INF, np.log(p[0, 2])]], dtype)
    for f, expected in (
        (lambda s: F.cross_entropy(s, rows), p - rows),
        (lambda s: F.cross_entropy(s, np.array([2])), p - np.array([[0, 0, 1]])),
        (lambda s: F.kl_div(F.log_softmax(s), rows, reduction="sum"), p - rows),
        (lambda s: F.kl_div(F.log_softmax(s), logs, reduction="sum", log_target=True), 0 * p),
    ):
        value, tangent = ea.jvp(f, (scores,), (np.zeros_like(scores),))
        assert np.isfinite(value)
        assert tangent == 0
        gradient = ea.grad(f)(scores)
        np.testing.assert_allclose(gradient, expected, atol=1e-6 if dtype == np.float32 else 1e-15)
        assert gradient[0, 1] == 0
        assert gradient.dtype == dtype


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_n14_binary_cross_entropy_of_large_scores(dtype: Any) -> None:
    """Row N14 (burn#5373; snntorch PR#433; tt-metal PR#56397; TG PR#11796): no overflow, and no digit is lost."""
    scores, targets = np.array([-1e3, 1e3, -1e3, 1e3, 20, -20], dtype), np.array([0, 1, 1, 0, 1, 0], dtype)
    loss = nn.BCEWithLogitsLoss(reduction="none")
    small = np.log1p(np.exp(-20.0))
    for found in (loss(scores, targets), ea.compile(loss)(scores, targets)):
        np.testing.assert_allclose(found, [0, 0, 1000, 1000, small, small], rtol=1e-6)
    gradient = ea.grad(lambda s: np.sum(loss(s, targets)))(scores)
    slope = np.exp(-20.0) / (1 + np.exp(-20.0))
    np.testing.assert_allclose(gradient, [0, 0, -1, 1, -slope, slope], rtol=1e-6)
    assert np.isfinite(ea.hessian(lambda s: np.sum(loss(s, targets)))(scores)).all()


def test_weights_of_binary_losses() -> None:
    s, t = rng.normal(size=(4, 3)), rng.uniform(size=(4, 3))
    p, w, pos = 1 / (1 + np.exp(-s)), np.array([0.5, 2.0, 1.0]), np.array([3.0, 1.0, 0.1])
    expected = -w * (pos * t * np.log(p) + (1 - t) * np.log(1 - p))
    np.testing.assert_allclose(nn.BCEWithLogitsLoss(w, pos_weight=pos)(s, t), np.mean(expected), rtol=1e-13)
    np.testing.assert_allclose(
        nn.BCELoss(w, reduction="sum")(p, t), -np.sum(w * (t * np.log(p) + (1 - t) * np.log(1 - p))), rtol=1e-13
    )
    right(nn.BCEWithLogitsLoss(w, pos_weight=pos), s, t, entries=6)
    assert nn.BCEWithLogitsLoss(w, pos_weight=pos)(s.astype(np.float32), t.astype(np.float32)).dtype == np.float32
    with pytest.raises(ea.ShapeError, match="do not broadcast"):
        nn.BCELoss(np.ones(4))(p, t)
    with pytest.raises(ea.ShapeError, match="do not broadcast"):
        nn.BCELoss(np.ones((2, 4, 3)))(p, t)


def test_logarithms_of_probabilities_zero_and_one() -> None:
    p, t = np.array([0.0, 1.0, 0.0, 1.0]), np.array([0.0, 1.0, 1.0, 0.0])
    np.testing.assert_array_equal(F.binary_cross_entropy(p, t, reduction="none"), [0, 0, 100, 100])
    gradient = ea.grad(lambda p: F.binary_cross_entropy(p, t, reduction="sum"))(p)
    np.testing.assert_array_equal(gradient, [1, -1, 0, 0])
    for bad, good in ((p + 0.5, t), (t, p - 0.5)):
        with pytest.raises(ValueError, match="between 0 and 1"):
            F.binary_cross_entropy(bad, good)


def test_huber_at_its_ends() -> None:
    error = np.array([0.0, 1.0, -1.0])
    np.testing.assert_array_equal(ea.grad(lambda e: F.huber_loss(e, 0 * error, "sum"))(error), [0, 1, -1])
    np.testing.assert_array_equal(ea.hessian_diagonal(lambda e: F.huber_loss(e, 0 * error, "sum"))(error), [1, 1, 1])
    with pytest.raises(ValueError, match="delta"):
        nn.HuberLoss(delta=0.0)
    with pytest.raises(ValueError, match="delta"):
        F.huber_loss(error, error, delta=-1.0)


def test_kl_per_row() -> None:
    logs, rows = logarithms(SCORES), ROWS.copy()
    rows[0] = [1, 0, 0, 0]
    expected = sum(t * (log(t) - x) for t, x in zip(rows.ravel(), logs.ravel(), strict=True) if t) / 5
    np.testing.assert_allclose(nn.KLDivLoss(reduction="batchmean")(logs, rows), expected, rtol=1e-13)
    assert F.kl_div(logs[0, 0], rows[0, 0], reduction="batchmean") == pytest.approx(-logs[0, 0])


@pytest.mark.parametrize(
    ("target", "error", "text"),
    [
        (CLASSES.astype(float), TypeError, "whole numbers of shape"),
        (CLASSES[:4], ea.ShapeError, r"need classes of shape \(5,\), got \(4,\)"),
        (np.eye(4, dtype=int)[CLASSES], ea.ShapeError, "one-hot rows are floating-point"),
        (CLASSES + 1, IndexError, "from 0 to 3, got 1 to 4"),
        (CLASSES - 1, IndexError, "from 0 to 3, got -1 to 2"),
        (ROWS[:, :3], TypeError, "probabilities of the shape of the scores"),
    ],
)
def test_classes_that_do_not_fit(target: Any, error: type[Exception], text: str) -> None:
    for function in (F.cross_entropy, F.nll_loss):
        with pytest.raises(error, match=text if function is F.cross_entropy else "nll_loss"):
            function(SCORES, target)
    with pytest.raises(error):
        ea.compile(F.cross_entropy)(SCORES, target)


def test_what_else_is_refused() -> None:
    for call in (
        lambda: nn.CrossEntropyLoss(label_smoothing=1.5),
        lambda: F.cross_entropy(SCORES, CLASSES, label_smoothing=-0.1),
        lambda: F.cross_entropy(SCORES, CLASSES, reduction="average"),  # type: ignore[arg-type]
        lambda: F.nll_loss(SCORES, CLASSES, reduction="average"),  # type: ignore[arg-type]
    ):
        with pytest.raises(ValueError, match=r"label_smoothing|reduction"):
            call()
    with pytest.raises(ValueError, match="targets are probabilities"):
        F.cross_entropy(SCORES, ROWS, ignore_index=2)
    with pytest.raises(ea.ShapeError, match=r"4 classes need weights of shape \(4,\), got \(3,\)"):
        F.cross_entropy(SCORES, CLASSES, WEIGHT[:3])
    with pytest.raises(ea.ShapeError, match="got a number"):
        F.cross_entropy(np.float64(1), np.int64(0))
    with pytest.raises(TypeError, match="floating-point"):
        F.cross_entropy(np.eye(5, 4, dtype=int), CLASSES)
    with pytest.raises(TypeError, match="floating-point"):
        F.mse_loss(CLASSES, CLASSES)


def test_weights_are_buffers() -> None:
    loss = nn.CrossEntropyLoss(WEIGHT.astype(np.float32))
    assert list(loss.state_dict()) == ["weight"]
    assert list(nn.BCEWithLogitsLoss(pos_weight=np.ones(2)).state_dict()) == ["pos_weight"]
    assert not nn.NLLLoss().state_dict()
    np.testing.assert_allclose(loss(SCORES, CLASSES), F.cross_entropy(SCORES, CLASSES, WEIGHT), rtol=1e-6)
    assert repr(nn.MSELoss(reduction="sum")) == "MSELoss(reduction='sum')"


@pytest.mark.parametrize("dtype", "bBhHiIlLqQ")
@pytest.mark.parametrize("ignored", [-100, 1])
def test_classes_of_every_dtype(dtype: str, ignored: int) -> None:
    classes = CLASSES.astype(dtype)
    loss = nn.CrossEntropyLoss(ignore_index=ignored)
    expected = loss(SCORES, CLASSES.astype(np.int64))
    np.testing.assert_array_equal(loss(SCORES, classes), expected)
    if classes.dtype == np.uint64:  # traced, np.take_along_axis refuses these
        return
    np.testing.assert_allclose(ea.compile(loss.forward)(SCORES, classes), expected, rtol=1e-12)


@pytest.mark.whole_planner  # without sharing the order of a sum depends on the names of all leaves
@pytest.mark.parametrize("dtype", "bBhHiIlq")
@pytest.mark.parametrize("ignored", [-100, 1])
def test_a_step_takes_classes_of_every_dtype(dtype: str, ignored: int) -> None:
    loss = nn.CrossEntropyLoss(ignore_index=ignored)
    net = nn.Linear(3, 3, rng=0)
    step = nn.TrainingStep(net, loss, optim.SGD(net.parameters(), lr=0.1))
    x, y = np.ones((4, 3), np.float32), np.array([0, 1, 2, 2])
    np.testing.assert_array_equal(step(x, y.astype(dtype))[0], step_of_int64(loss, x, y))


def step_of_int64(loss: Any, x: np.ndarray, y: np.ndarray) -> Any:
    net = nn.Linear(3, 3, rng=0)
    return nn.TrainingStep(net, loss, optim.SGD(net.parameters(), lr=0.1))(x, y)[0]
