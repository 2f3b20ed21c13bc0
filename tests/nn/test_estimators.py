"""Networks as estimators: what they compute, and their places in pipelines and searches of scikit-learn."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from functools import partial
from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad import data, nn, optim

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from einsumad.nn.estimators import EinsumClassifier, EinsumRegressor

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))
Y = np.argmax(X[:, :3] + 0.3 * X[:, 1:], axis=1)
Z = np.sin(X[:, 0]) + X[:, 1]
FIXED: dict[str, Any] = {"hidden_layer_sizes": (8,), "max_iter": 5, "tol": None, "random_state": 3}
KINDS = pytest.mark.parametrize(("kind", "y"), [(EinsumClassifier, Y), (EinsumRegressor, Z)], ids=["class", "number"])


def states_agree(one: nn.Module, other: nn.Module, **tolerance: float) -> None:
    for name, array in one.state_dict().items():
        np.testing.assert_allclose(other.state_dict()[name], array, err_msg=name, **tolerance)


# --- what is fitted ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_fit_is_that_by_hand(dtype: Any) -> None:
    x = X.astype(dtype)
    found = EinsumClassifier(**FIXED, alpha=0.0, batch_size=16, learning_rate_init=0.01).fit(x, Y)
    seeded = np.random.default_rng(3)
    net = nn.Sequential(nn.Linear(4, 8, dtype=dtype, rng=seeded), nn.ReLU(), nn.Linear(8, 3, dtype=dtype, rng=seeded))
    history = nn.fit(
        net,
        nn.CrossEntropyLoss(),
        (x, Y),
        optim.Adam(net.parameters(), lr=0.01),
        5,
        batch_size=16,
        progress=False,
        rng=seeded,
    )
    states_agree(net, found.module_, rtol=0, atol=0)
    assert found.history_["loss"] == history["loss"]
    assert (found.n_iter_, found.loss_) == (5, history["loss"][-1])
    scores = nn.predict(net, x)
    assert scores.dtype == dtype
    np.testing.assert_allclose(found.predict_proba(x), nn.functional.softmax(scores), rtol=1e-5)
    np.testing.assert_allclose(np.exp(found.predict_log_proba(x)), found.predict_proba(x), rtol=1e-5)
    np.testing.assert_array_equal(found.predict(x), np.argmax(scores, axis=1))
    assert found.predict_proba(x).dtype == dtype


def beside_scikit_learn(mlp: Any, ours: Any, y: Any, weights: Any = None) -> None:
    """Both from the weights that scikit-learn's network starts with."""
    unmoved = {"learning_rate_init": 1e-300, "max_iter": 1}
    rate, epochs = mlp.learning_rate_init, mlp.max_iter
    mlp.set_params(**unmoved).fit(X, y)
    net = nn.Sequential(nn.Linear(4, 6, dtype=float), nn.Tanh(), nn.Linear(6, mlp.coefs_[1].shape[1], dtype=float))
    start = [array.T.copy() for pair in zip(mlp.coefs_, mlp.intercepts_, strict=True) for array in pair]
    net.load_state_dict(dict(zip(net.state_dict(), start, strict=True)))
    mlp.set_params(learning_rate_init=rate, max_iter=epochs, warm_start=True).fit(X, y, sample_weight=weights)
    ours.set_params(module=net, learning_rate_init=rate, max_iter=epochs, tol=None, shuffle=False)
    ours.fit(X, y, sample_weight=weights)
    arrays = ours.module_.state_dict()
    for place, name in enumerate(["0", "2"]):
        np.testing.assert_allclose(arrays[f"{name}.weight"], mlp.coefs_[place].T, rtol=1e-7, atol=1e-10)
        np.testing.assert_allclose(arrays[f"{name}.bias"], mlp.intercepts_[place], rtol=1e-7, atol=1e-10)
    assert not np.allclose(arrays["0.weight"], start[0], rtol=1e-3)
    np.testing.assert_allclose(ours.history_["loss"], mlp.loss_curve_[-epochs:], rtol=1e-7)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("solver", "batch_size", "weighted"),
    [("sgd", 20, False), ("adam", 60, False), ("sgd", 60, True), ("adam", 60, True)],
)
def test_training_is_that_of_scikit_learn(solver: str, batch_size: int, weighted: bool) -> None:
    """Penalty and weights included. Theirs divides by the weights of each batch, so batches are one there."""
    options = {"batch_size": batch_size, "alpha": 0.5, "activation": "tanh", "random_state": 0}
    given = {"solver": solver, "epsilon": 1e-30, "learning_rate_init": 0.05, "shuffle": False, "tol": 0.0}
    given |= {"hidden_layer_sizes": (6,), "max_iter": 6, **options}
    options["solver"] = solver if solver == "sgd" else partial(optim.Adam, lr=0.05, eps=1e-30)
    weights = np.random.default_rng(1).uniform(0.5, 3, 60) if weighted else None
    beside_scikit_learn(MLPClassifier(**given), EinsumClassifier(**options), Y, weights)
    beside_scikit_learn(MLPRegressor(**given), EinsumRegressor(**options), Z, weights)


@KINDS
def test_weights_count_as_repetitions_do(kind: Any, y: Any) -> None:
    """In batches too, where zero weights leave the order of the others alone."""
    counts = np.tile([1, 2, 0, 3], 15)
    whole = {**FIXED, "batch_size": 1000, "alpha": 0.3}
    weighted = kind(**whole).fit(X, y, sample_weight=counts)
    states_agree(kind(**whole).fit(X.repeat(counts, 0), y.repeat(counts)).module_, weighted.module_, rtol=1e-9)
    kept = np.arange(60) % 3 > 0
    one = kind(**FIXED, batch_size=7).fit(X, y, sample_weight=2.0 * kept)
    other = kind(**FIXED, batch_size=7).fit(X[kept], y[kept], sample_weight=np.full(kept.sum(), 2.0))
    states_agree(one.module_, other.module_, rtol=0, atol=0)
    small = {**FIXED, "batch_size": 7, "alpha": 0.0}
    states_agree(kind(**small).fit(X, y).module_, kind(**small).fit(X, y, np.full(60, 5.0)).module_, rtol=1e-9)


def test_losses() -> None:
    weights = np.random.default_rng(1).uniform(0.5, 2, 60)
    smooth = nn.CrossEntropyLoss(label_smoothing=0.1)
    same = partial(nn.functional.cross_entropy, label_smoothing=0.1)
    for given in (None, weights):
        one, other = (EinsumClassifier(**FIXED, loss=loss).fit(X, Y, given) for loss in (smooth, same))
        states_agree(one.module_, other.module_, rtol=0, atol=0)
        assert one.loss_ != EinsumClassifier(**FIXED).fit(X, Y, given).loss_
    assert smooth.reduction == "mean"
    residuals = EinsumRegressor(**{**FIXED, "max_iter": 1}, alpha=0.0, solver=partial(optim.SGD, lr=1e-12))
    error = residuals.fit(X, Z).predict(X) - Z
    expected = {
        "squared_error": error**2 / 2,
        "absolute_error": np.abs(error),
        "huber": np.where(np.abs(error) < 1, error**2 / 2, np.abs(error) - 0.5),
    }
    for name, losses in expected.items():
        found = clone(residuals).set_params(loss=name).fit(X, Z, sample_weight=weights)
        np.testing.assert_allclose(found.loss_, np.average(losses, weights=weights), rtol=1e-9)


def test_several_targets() -> None:
    targets = np.stack([Z, X[:, 2] ** 2], axis=1)
    found = EinsumRegressor((16,), learning_rate_init=0.02, tol=None, random_state=0).fit(X, targets)
    assert found.predict(X).shape == (60, 2)
    assert found.score(X, targets) > 0.9
    assert EinsumRegressor(**FIXED).fit(X, targets[:, :1]).predict(X).shape == (60, 1)
    assert EinsumRegressor(**FIXED).fit(X, Z).predict(X).shape == (60,)


def test_digits() -> None:
    x, y = data.digits().arrays
    x_train, x_test, y_train, y_test = data.train_test_split(x / 16, y, test_size=0.25, stratify=y, rng=0)
    found = EinsumClassifier((64,), learning_rate_init=0.005, max_iter=30, batch_size=64, tol=None, random_state=0)
    assert found.fit(x_train.astype(np.float32), y_train).score(x_test, y_test) > 0.95
    assert found.predict_proba(x_test).dtype == np.float32


# --- networks of one's own --------------------------------------------------------------------------------------------


def with_normalisation(inputs: int, outputs: int, rng: np.random.Generator) -> nn.Module:
    return nn.Sequential(
        nn.Linear(inputs, 8, rng=rng),
        nn.BatchNorm1d(8),
        nn.ReLU(),
        nn.Dropout(0.2, rng=rng),
        nn.Linear(8, outputs, rng=rng),
    )


@KINDS
def test_modules_of_the_user(kind: Any, y: Any) -> None:
    one, other = (kind(**FIXED, module=with_normalisation).fit(X, y) for _ in range(2))
    states_agree(one.module_, other.module_, rtol=0, atol=0)
    assert not one.module_.training
    assert one.module_[0].weight.data.dtype == np.float64
    np.testing.assert_array_equal(one.predict(X), one.predict(X))
    given = with_normalisation(4, 3 if kind is EinsumClassifier else 1, np.random.default_rng(0))
    before = given.state_dict()
    found = kind(**FIXED, module=given).fit(X, y)
    for name, array in given.state_dict().items():
        np.testing.assert_array_equal(array, before[name])
    states_agree(found.module_, clone(found).fit(X, y).module_, rtol=0, atol=0)
    states_agree(
        kind(**{**FIXED, "hidden_layer_sizes": ()}).fit(X, y).module_[0],
        kind(**FIXED, module=nn.Linear).fit(X, y).module_,
    )
    assert "BatchNorm1d" in repr(found)
    assert found._repr_html_()


def test_penalised_are_weights_that_are_learned() -> None:
    def frozen(inputs: int, outputs: int, rng: np.random.Generator) -> nn.Module:
        net = with_normalisation(inputs, outputs, rng)
        net[0].weight.requires_grad = False
        return net

    options = {**FIXED, "max_iter": 1, "solver": partial(optim.SGD, lr=0.1), "module": frozen}
    plain, penalised = (EinsumClassifier(**options, alpha=alpha).fit(X, Y).module_ for alpha in (0.0, 6.0))
    for name, array in plain.state_dict().items():
        moved = np.max(np.abs(penalised.state_dict()[name] - array))
        assert (moved > 1e-3) == (name == "4.weight"), name


def test_schedules_and_solvers() -> None:
    halved = partial(optim.lr_scheduler.StepLR, step_size=1, gamma=0.5)
    found = EinsumClassifier(**FIXED, solver="sgd", learning_rate=halved, learning_rate_init=0.4).fit(X, Y)
    assert found.history_["lr"] == [0.4, 0.2, 0.1, 0.05, 0.025]
    losses = {
        solver: EinsumClassifier(**FIXED, solver=solver).fit(X, Y).loss_
        for solver in ("adam", "sgd", "rmsprop", "adagrad", partial(optim.AdamW, lr=0.1))
    }
    assert len(set(losses.values())) == 5


# --- going on, and ending ---------------------------------------------------------------------------------------------


@KINDS
def test_partial_fits_are_the_epochs_of_a_fit(kind: Any, y: Any) -> None:
    options = {**FIXED, "batch_size": 16, "learning_rate": partial(optim.lr_scheduler.StepLR, step_size=2)}
    whole, parts = kind(**options).fit(X, y), kind(**options)
    for epoch in range(5):
        assert parts.partial_fit(X, y).n_iter_ == epoch + 1
        parts = pickle.loads(pickle.dumps(copy.deepcopy(parts)))  # noqa: S301 (written by this test)
    states_agree(whole.module_, parts.module_, rtol=0, atol=0)
    assert [{**r, "seconds": 0} for r in parts.history_] == [{**r, "seconds": 0} for r in whole.history_]


@KINDS
def test_a_step_that_is_kept_is_that_of_now(kind: Any, y: Any) -> None:
    """Weights, parameters, arrays of the network and rows change from call to call; a copy compiles anew."""
    kept = kind(**FIXED, alpha=0.5)
    copied = clone(kept)
    changes: list[dict[str, Any]] = [{}, {}, {"alpha": 5.0}, {}, {"solver": "sgd"}, {"solver": "adam"}]
    for number, changed in enumerate(changes):
        weights = None if number == 3 else np.random.default_rng(number).uniform(0, number + 1.0, 60)
        rows = slice(0, 60 - 20 * (number == 1))
        for estimator in (kept, copied):
            options = {"classes": [0, 1, 2]} if kind is EinsumClassifier else {}
            estimator.set_params(**changed)
            given = {"sample_weight": None if weights is None else weights[rows], **options}
            if number == 4:
                with pytest.raises(ValueError, match="solver or learning_rate has changed"):
                    estimator.partial_fit(X[rows], y[rows], **given)
                continue
            estimator.partial_fit(X[rows], y[rows], **given)
        copied = copy.deepcopy(copied)
        states_agree(kept.module_, copied.module_, rtol=0, atol=0)
        if number == 2:
            for estimator in (kept, copied):
                estimator.module_[0].bias.data = np.full(8, 0.25)
    assert kept.n_iter_ == 5


def test_a_partial_fit_that_fails_changes_nothing() -> None:
    found = EinsumRegressor(**FIXED, solver="sgd").partial_fit(X, Z)
    other = copy.deepcopy(found)
    with pytest.raises(ValueError, match="training diverged"), np.errstate(all="ignore"):
        found.partial_fit(X, 1e200 * Z)
    states_agree(found.partial_fit(X, Z).module_, other.partial_fit(X, Z).module_, rtol=0, atol=0)


def test_a_warm_start_goes_on_with_another_optimiser() -> None:
    found = EinsumClassifier(**FIXED, warm_start=True).fit(X, Y)
    before = found.module_.state_dict()
    found.set_params(max_iter=1, solver="sgd", learning_rate_init=1e-12).fit(X, Y)
    for name, array in found.module_.state_dict().items():
        np.testing.assert_allclose(array, before[name], atol=1e-8)
    assert found.n_iter_ == 1
    with pytest.raises(ValueError, match=r"\[7\] that are not among \[0, 1, 2\]"):
        found.fit(X, np.where(Y == 2, 7, Y))


def test_early_stopping_keeps_the_best_epoch() -> None:
    noisy = np.random.default_rng(1).permutation(Y)
    found = EinsumClassifier(
        (50,), learning_rate_init=0.05, early_stopping=True, n_iter_no_change=4, random_state=0, alpha=5.0
    ).fit(X, noisy)
    assert found.n_iter_ < 200
    assert found.history_.stopped
    seeded = np.random.default_rng(0)
    nn.Sequential(nn.Linear(4, 50, rng=seeded), nn.Linear(50, 3, rng=seeded))
    _, x_held, _, y_held = data.train_test_split(X, noisy, test_size=0.1, stratify=noisy, rng=seeded)
    loss = nn.evaluate(found.module_, nn.CrossEntropyLoss(), [(x_held, y_held)])["loss"]
    assert loss == pytest.approx(min(found.history_["val_loss"]), abs=1e-4)


def test_a_run_ends_when_the_loss_stays() -> None:
    found = EinsumRegressor(**{**FIXED, "max_iter": 200, "tol": 10.0}, n_iter_no_change=3).fit(X, Z)
    assert found.n_iter_ == 4
    with pytest.warns(ConvergenceWarning, match="tol=0.0 when max_iter=2 epochs"):
        EinsumRegressor(**{**FIXED, "max_iter": 2, "tol": 0.0}).fit(X, Z)


def test_a_fit_that_fails_leaves_what_was_fitted() -> None:
    found = EinsumRegressor(**FIXED, warm_start=True).fit(X, Z)
    before = found.predict(X)
    found.set_params(solver=partial(optim.SGD, lr=1e200))
    for attempt in (found.fit, clone(found).fit):
        with pytest.raises(ValueError, match="training diverged"):
            attempt(X, Z)
    np.testing.assert_array_equal(found.predict(X), before)


# --- in scikit-learn --------------------------------------------------------------------------------------------------


def test_in_a_pipeline_and_a_search() -> None:
    names = np.array(["left", "middle", "right"])[Y]
    pipeline = make_pipeline(StandardScaler(), EinsumClassifier(**{**FIXED, "max_iter": 20}))
    grid = {
        "einsumclassifier__hidden_layer_sizes": [(), (8,)],
        "einsumclassifier__learning_rate_init": [1e-6, 0.05],
    }
    search = GridSearchCV(pipeline, grid, cv=3).fit(100 * X, names)
    assert search.best_params_["einsumclassifier__learning_rate_init"] == 0.05
    assert search.score(100 * X, names) > 0.85
    assert search.predict(100 * X).dtype == names.dtype
    assert search.classes_.tolist() == ["left", "middle", "right"]
    assert np.mean(cross_val_score(EinsumRegressor(**FIXED, solver="sgd", learning_rate_init=0.05), X, Z, cv=3)) > 0.2


@KINDS
def test_seeds(kind: Any, y: Any) -> None:
    def fitted(seed: Any) -> nn.Module:
        return kind(**{**FIXED, "random_state": seed}, batch_size=16).fit(X, y).module_

    for make in (lambda: 5, lambda: np.random.default_rng(5), lambda: np.random.RandomState(5)):
        states_agree(fitted(make()), fitted(make()), rtol=0, atol=0)
    states_agree(fitted(5), fitted(np.random.default_rng(5)), rtol=0, atol=0)
    before = np.random.get_state()[1].copy()  # noqa: NPY002 (that it is not touched)
    nn.manual_seed(1)
    one = fitted(None)
    nn.manual_seed(1)
    states_agree(one, fitted(None), rtol=0, atol=0)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_parameters_are_kept_as_they_are() -> None:
    sizes = [np.int64(3), 2]
    estimator = EinsumClassifier(sizes, max_iter=1, tol=None)
    assert estimator.get_params()["hidden_layer_sizes"] is sizes
    assert [p.data.shape for p in estimator.fit(X, Y).module_.parameters()][::2] == [(3, 4), (2, 3), (3, 2)]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"hidden_layer_sizes": (5, 0)}, "hidden_layer_sizes"),
        ({"hidden_layer_sizes": "5"}, "hidden_layer_sizes"),
        ({"activation": "rely"}, "activation is one of 'relu'"),
        ({"module": 3}, "module is None"),
        ({"module": lambda *_, **__: 3}, "gave int"),
        ({"module": lambda i, o, rng: nn.Linear(i, o + 1, rng=rng)}, r"\(2, 3\) is needed"),
        ({"module": lambda i, _, rng: nn.Linear(i, 1, rng=rng)}, r"\(2, 1\) for inputs of shape \(2, 4\)"),
        ({"module": nn.ReLU()}, "needed"),
        ({"loss": "mse"}, "loss is one of 'log_loss'"),
        ({"loss": nn.CrossEntropyLoss(reduction="sum")}, "another reduction"),
        ({"solver": "lbfgs"}, "solver is one of 'adam'"),
        ({"solver": list}, "solver gave list"),
        ({"alpha": -1}, "alpha is finite and at least 0"),
        ({"alpha": "0"}, "alpha is a number"),
        ({"batch_size": 0}, "batch_size is 'auto' or"),
        ({"learning_rate": "adaptive"}, "learning_rate is 'constant' or"),
        ({"learning_rate_init": 0.0}, "learning_rate_init is finite and above 0"),
        ({"learning_rate_init": np.nan}, "learning_rate_init"),
        ({"max_iter": 2.5}, "max_iter"),
        ({"shuffle": 1}, "shuffle"),
        ({"random_state": "0"}, "rng is"),
        ({"tol": -0.1}, "tol"),
        ({"validation_fraction": 1.0}, "below 1"),
        ({"n_iter_no_change": 0}, "n_iter_no_change"),
    ],
)
def test_bad_parameters(parameters: dict[str, Any], message: str) -> None:
    estimator = EinsumClassifier(**{**FIXED, **parameters})
    with pytest.raises((ValueError, TypeError), match=message):
        estimator.fit(X, Y)
    assert not hasattr(estimator, "module_")


def never_each(outputs: Any, target: Any, reduction: str = "mean") -> Any:  # noqa: ARG001 (that is what is wrong)
    return np.mean(outputs - target)


def test_bad_data() -> None:
    def refused(estimator: Any, *arguments: Any, match: str, **options: Any) -> None:
        with pytest.raises(ValueError, match=match):
            estimator.fit(*arguments, **options)

    refused(EinsumClassifier(), X, np.zeros(60), match=r"one class: \[0\.0\]")
    refused(EinsumClassifier(), X, Y, Y == 0, match="one class is left")
    refused(EinsumClassifier(), X, Y, -np.ones(60), match="(?i)negative")
    refused(EinsumClassifier(), X, Y, np.zeros(60), match="zero")
    refused(EinsumClassifier(), X, np.eye(3)[Y], match=r"1d array")
    refused(EinsumRegressor(), X.astype(np.float32), 1e300 * Z, match="too large for float32")
    weighted = nn.CrossEntropyLoss(np.ones(3))
    refused(EinsumClassifier(loss=weighted), X, Y, np.ones(60), match="weights of classes")
    plain = EinsumRegressor(loss=lambda outputs, target: np.mean((outputs - target) ** 2))
    refused(plain, X, Z, np.ones(60), match="has no argument or attribute reduction")
    refused(EinsumRegressor(loss=never_each), X, Z, np.ones(60), match="each sample")
    assert plain.set_params(max_iter=1, tol=None).fit(X, Z).loss_ > 0
    with pytest.raises(ValueError, match="early_stopping"):
        EinsumClassifier(early_stopping=True).partial_fit(X, Y)
    found = EinsumClassifier(**FIXED).partial_fit(X[:1], Y[:1], classes=[0, 1, 2])
    with pytest.raises(ValueError, match="since the first call"):
        found.partial_fit(X, Y, classes=[0, 1])
    with pytest.raises(ValueError, match="fitted to 1 targets"):
        EinsumRegressor(**FIXED, warm_start=True).fit(X, Z).fit(X, np.stack([Z, Z], axis=1))


def test_names_of_columns() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcd"))
    found = EinsumClassifier(**FIXED).fit(frame, Y)
    assert found.feature_names_in_.tolist() == list("abcd")
    with pytest.raises(ValueError, match="feature names"):
        found.predict(frame[list("dcba")])


def test_scikit_learn_is_loaded_by_those_who_ask_for_it() -> None:
    program = """
import sys, einsumad.data, einsumad.optim
from einsumad import nn
print("sklearn" in sys.modules)
sys.modules["sklearn"] = None
try:
    nn.EinsumClassifier
except ImportError as error:
    print(error)
del sys.modules["sklearn"]
from einsumad.nn import EinsumRegressor
print("sklearn" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    before, message, after = done.stdout.splitlines()
    assert (before, after) == ("False", "True")
    assert 'pip install "einsumad[estimators]"' in message
    assert nn.EinsumClassifier is EinsumClassifier
    assert ea.nn.estimators.EinsumRegressor is EinsumRegressor


def test_second_order_optimisers_are_refused_with_the_reason() -> None:
    classifier = EinsumClassifier((4,), solver=optim.GaussNewton, max_iter=2)
    with pytest.raises(TypeError, match="GaussNewton, and estimators train by first-order optimisers only"):
        classifier.fit(np.ones((4, 2)), [0, 1, 0, 1])
