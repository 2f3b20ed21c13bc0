"""Second-order optimisers: products, matrices and blocks against loops, exact steps, and what they promise."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import optimize

import einsumad as ea
from einsumad import nn, optim
from einsumad.optim.curvature import blocks, gauss_newton, objective
from einsumad.optim.curvature.solvers import averaged
from tests.optim import networks

MAKERS: dict[str, Callable[..., optim.SecondOrderOptimizer]] = {
    "NewtonCG": optim.NewtonCG,
    "NewtonCG of Gauss-Newton": lambda p, **o: optim.NewtonCG(p, curvature="gauss_newton", **o),
    "GaussNewton": optim.GaussNewton,
    "GaussNewton in structure": lambda p, **o: optim.GaussNewton(p, compressed=True, **o),
    "KFAC": optim.KFAC,
    "KFAC with averages": lambda p, **o: optim.KFAC(p, decay=0.9, **o),
}
ALL = pytest.mark.parametrize("make", MAKERS.values(), ids=list(MAKERS))
CLASSES = pytest.mark.parametrize("classes", [False, True], ids=["squares", "classes"])


@CLASSES
def test_products_are_those_of_dense_matrices(classes: bool) -> None:
    at, (x, y) = networks.values(), networks.batch(7, classes=classes)
    of, v = networks.objective(classes=classes), np.random.default_rng(5).normal(size=26)
    dense = networks.gauss_newton(at, x, classes=classes)
    found = of.ask(objective.gauss_newton_product, at, v, (x, y))
    np.testing.assert_allclose(found, dense @ v, rtol=1e-10, atol=1e-13)
    of_loss = ea.hessian(lambda values: of.at(values, (x, y)))(at)
    hessian = np.block(
        [
            [np.reshape(b, (p.size, q.size)) for b, q in zip(row, at, strict=True)]
            for row, p in zip(of_loss, at, strict=True)
        ]
    )
    np.testing.assert_allclose(of.ask(objective.hessian_product, at, v, (x, y)), hessian @ v, rtol=1e-9, atol=1e-12)
    assert np.max(np.abs(hessian - dense)) > 1e-3


@CLASSES
def test_values_gradients_and_matrices_are_those_of_loops(classes: bool) -> None:
    at, (x, y) = networks.values(), networks.batch(7, classes=classes)
    of = networks.objective(classes=classes)
    value, outputs, gradient = of.ask(objective.value_and_gradient, at, (x, y))
    np.testing.assert_allclose(outputs, networks.outputs(at, x), rtol=1e-12)
    np.testing.assert_allclose(value, of.at(at, (x, y)), rtol=1e-12)
    np.testing.assert_allclose(gradient, networks.gradient(at, x, y, classes=classes), rtol=1e-10, atol=1e-13)
    dense = networks.gauss_newton(at, x, classes=classes)
    parts = of.ask(gauss_newton.gauss_newton_blocks, at, (x, y))
    places = np.cumsum([0, *[value.size for value in at]])
    for i, row in enumerate(parts):
        for j, part in enumerate(row):
            expected = dense[places[i] : places[i + 1], places[j] : places[j + 1]]
            np.testing.assert_allclose(part, expected, rtol=1e-10, atol=1e-13)
    gram, curvature, residual, diagonal = of.ask(gauss_newton.gram_and_curvature, at, (x, y))
    J = networks.jacobian(at, x).reshape(14, -1)
    np.testing.assert_allclose(gram, J @ J.T, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(J.T @ curvature @ J, dense, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(J.T @ residual, gradient, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(diagonal, np.diagonal(dense), rtol=1e-10, atol=1e-13)


@CLASSES
@pytest.mark.parametrize("count", [1, 4, 40])
@pytest.mark.parametrize("compressed", [False, True])
def test_a_gauss_newton_step_is_the_damped_solution(count: int, compressed: bool, classes: bool) -> None:
    """With four samples there are fewer outputs than parameters, and with forty more."""
    x, y = networks.batch(count, classes=classes)
    parameters, at = networks.parameters(), networks.values()
    optimizer = optim.GaussNewton(parameters, damping=0.3, compressed=compressed)
    assert optimizer.step(networks.objective(classes=classes), x, y) > 0
    dense = networks.gauss_newton(at, x, classes=classes)
    expected = -np.linalg.solve(dense + 0.3 * np.eye(26), networks.gradient(at, x, y, classes=classes))
    found = networks.flat([p.data for p in parameters]) - networks.flat(at)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-10)


def test_the_first_damping_is_a_thousandth_of_the_diagonal() -> None:
    x, y = networks.batch(40)
    damping = 1e-3 * np.max(np.diagonal(networks.gauss_newton(networks.values(), x, classes=False)))
    steps = []
    for given in (None, damping):
        parameters = networks.parameters()
        optim.GaussNewton(parameters, damping=given).step(networks.objective(), x, y)
        steps.append(networks.flat([p.data for p in parameters]))
    np.testing.assert_allclose(steps[0], steps[1], rtol=1e-9)


def blocks_of(of: optim.Objective, at: list[np.ndarray], *args: np.ndarray, largest: int = 512) -> list[Any]:
    curvature = of.ask(blocks.sample_curvature, at, args)
    return of.ask(blocks.layer_blocks, at, curvature, largest, args)


@CLASSES
def test_blocks_of_layers_are_those_of_loops(classes: bool) -> None:
    at, (x, y) = networks.values(), networks.batch(9, classes=classes)
    found = blocks_of(networks.objective(classes=classes), at, x, y)
    expected = networks.layer_factors(at, x, classes=classes)
    for place, (G, A) in zip((0, 2), expected, strict=True):
        layer = found[place]
        np.testing.assert_allclose(layer.result, G, rtol=1e-10, atol=1e-13)
        np.testing.assert_allclose(layer.input, A[:-1, :-1], rtol=1e-10)
        np.testing.assert_allclose(layer.mean, A[-1, :-1], rtol=1e-10, atol=1e-13)
        assert isinstance(found[place + 1], blocks.Joined)
        assert found[place + 1].place == place


def layer_direction(
    at: list[np.ndarray], batch: tuple[np.ndarray, np.ndarray], damping: float, *, classes: bool
) -> np.ndarray:
    """The solution for the Kronecker products of both layers, made dense."""
    gradient, parts, start = networks.gradient(at, *batch, classes=classes), [], 0
    for G, A in networks.layer_factors(at, batch[0], classes=classes):
        outputs, inputs = len(G), len(A) - 1
        weight = gradient[start : start + outputs * inputs].reshape(outputs, inputs)
        bias = gradient[start + outputs * inputs : start + outputs * (inputs + 1)]
        right = np.concatenate([weight, bias[:, None]], axis=1)
        solved = np.linalg.solve(np.kron(G, A) + damping * np.eye(right.size), right.ravel()).reshape(right.shape)
        parts += [-solved[:, :-1].ravel(), -solved[:, -1]]
        start += right.size
    return np.concatenate(parts)


@CLASSES
@pytest.mark.parametrize("momentum", [True, False])
def test_steps_by_layers_are_the_best_for_the_whole_matrix(momentum: bool, classes: bool) -> None:
    """The best multiple of the direction, and in the second step of it and the step before together."""
    batch, damping = networks.batch(9, classes=classes), 0.2
    parameters, before = networks.parameters(), None
    optimizer = optim.KFAC(parameters, damping=damping, momentum=momentum)
    for _ in range(3):
        at = [p.data for p in parameters]
        directions = [layer_direction(at, batch, damping, classes=classes)]
        directions += [before] if momentum and before is not None else []
        D = np.stack(directions, axis=1)
        matrix = networks.gauss_newton(at, batch[0], classes=classes) + damping * np.eye(26)
        weights = np.linalg.solve(D.T @ matrix @ D, -D.T @ networks.gradient(at, *batch, classes=classes))
        optimizer.step(networks.objective(classes=classes), *batch)
        before = networks.flat([p.data for p in parameters]) - networks.flat(at)
        np.testing.assert_allclose(before, D @ weights, rtol=1e-7, atol=1e-10)
        damping = optimizer.state_dict()["state"]["damping"]


def kinds(function: Any, values: list[np.ndarray], *args: np.ndarray, largest: int = 512) -> list[str]:
    of = optim.Objective(function, lambda z, *_: np.mean(z**2))
    return [type(block).__name__ for block in blocks_of(of, values, *args, largest=largest)]


def test_what_is_a_layer_is_read_off_the_structure() -> None:
    rng = np.random.default_rng(0)
    W, V, s, x = rng.normal(size=(5, 5)), rng.normal(size=(5, 5)), rng.normal(size=5), rng.normal(size=(6, 5))
    assert kinds(lambda p, x: np.tanh(x @ p[0]) @ p[1], [W, V], x) == ["Kronecker", "Kronecker"]
    assert kinds(lambda p, x: x + np.tanh(x @ p[0].T) @ p[1], [W, V], x) == ["Kronecker", "Kronecker"]
    assert kinds(lambda p, x: np.tanh(np.maximum(x @ p[0].T, 0) @ p[0]), [W], x) == ["Exact"]  # used twice
    assert kinds(lambda p, x: np.tanh(x @ p[0].T) @ p[0].T, [W], x, largest=24) == ["Diagonal"]
    assert kinds(lambda p, x: np.tanh(x @ p[0].T) * p[1], [W, s], x) == ["Kronecker", "Exact"]  # a scale of results
    assert kinds(lambda p, x: (x + p[1]) @ p[0].T + p[1], [W, s], x) == ["Kronecker", "Exact"]  # before and after
    found = kinds(lambda p, x: np.tanh(x @ p[0].T + p[1]) @ p[2] + p[3], [W, s, V, s], x)
    assert found == ["Kronecker", "Joined", "Kronecker", "Joined"]
    one = [W, s, V, s, s]  # a single output for each sample, without an axis of its own
    found = kinds(lambda p, x: np.tanh(np.tanh(x @ p[0].T + p[1]) @ p[2].T + p[3]) @ p[4], one, x)
    assert found == ["Kronecker", "Joined", "Kronecker", "Joined", "Exact"]
    column = [W, s, V[:1], s[:1]]
    assert kinds(lambda p, x: np.tanh(x @ p[0].T + p[1]) @ p[2].T + p[3], column, x) == [
        "Kronecker", "Joined", "Kronecker", "Joined",
    ]  # fmt: skip


@pytest.mark.parametrize("make", [lambda v: v, lambda v: v[:1]], ids=["five", "one"])
def test_blocks_of_other_shapes_are_right(make: Callable[[np.ndarray], np.ndarray]) -> None:
    """Transposed weights, one sample, one input, one result, and blocks that are matrices or diagonals."""
    rng = np.random.default_rng(1)
    W, s, V = rng.normal(size=(1, 3)), rng.normal(size=3), rng.normal(size=(3, 1))
    x = make(rng.normal(size=(5, 1)))

    def outputs(p: Any, x: Any) -> Any:
        return np.tanh(x @ p[0] + p[1]) * p[3] @ p[2]

    at = [W, s, V, np.ones(3)]
    of = optim.Objective(outputs, lambda z, *_: np.sum(z**2))
    exact = of.ask(gauss_newton.gauss_newton_blocks, at, (x,))
    matrices = blocks_of(of, at, x, largest=3)
    np.testing.assert_allclose(matrices[3].matrix, exact[3][3], rtol=1e-10, atol=1e-13)
    diagonals = blocks_of(of, at, x, largest=2)
    np.testing.assert_allclose(diagonals[3].entries, np.diagonal(exact[3][3]), rtol=1e-10, atol=1e-13)
    if len(x) == 1:  # of a single sample the product is the block itself
        for place in (0, 2):
            found = dense_block(matrices[place], at[place].shape)
            np.testing.assert_allclose(found, exact[place][place], rtol=1e-10, atol=1e-13)


def dense_block(block: Any, shape: tuple[int, ...]) -> np.ndarray:
    if isinstance(block, blocks.Exact):
        return block.matrix
    order = [int(axis) for axis in block.order]
    turned, back = [shape[axis] for axis in order], np.argsort(order)
    whole = np.kron(block.result, block.input).reshape(*turned, *turned)
    return whole.transpose([*back, *(len(back) + back)]).reshape(np.prod(shape), -1)


@pytest.mark.parametrize("outputs", [2, 1, None])
def test_of_a_single_sample_blocks_of_layers_are_exact(outputs: int | None) -> None:
    rng = np.random.default_rng(4)
    shapes = [(4, 3), (4,), (4, 4), (4,), (4,) if outputs is None else (outputs, 4)]
    at, x = [rng.normal(size=shape) for shape in shapes], rng.normal(size=(1, 3))
    of = optim.Objective(
        lambda p, x: np.tanh(np.tanh(x @ p[0].T + p[1]) @ p[2].T + p[3]) @ p[4].T, lambda z, _: np.sum(np.exp(z))
    )
    found, exact = blocks_of(of, at, x), of.ask(gauss_newton.gauss_newton_blocks, at, (x,))
    for place in (0, 2, 4):
        block = dense_block(found[place], at[place].shape)
        np.testing.assert_allclose(block, exact[place][place], rtol=1e-10, atol=1e-13)
    if outputs != 1:  # else a layer has no more entries than its factors
        assert [type(block).__name__ for block in found[:4]] == ["Kronecker", "Joined", "Kronecker", "Joined"]


def test_factors_are_averaged() -> None:
    """The weight of a new batch is 1/2, 1/3, ... and at last one minus the decay; other structures begin anew."""
    first, second, third = [[np.eye(2)]], [[3 * np.eye(2)]], [[np.eye(3)]]
    assert averaged(first, None, 0, 0.75) is first
    np.testing.assert_allclose(averaged(second, first, 1, 0.75)[0][0], 2 * np.eye(2))
    np.testing.assert_allclose(averaged(second, first, 2, 0.75)[0][0], 5 / 3 * np.eye(2))
    np.testing.assert_allclose(averaged(second, first, 9, 0.75)[0][0], 1.5 * np.eye(2))
    np.testing.assert_array_equal(averaged(third, first, 9, 0.75)[0][0], np.eye(3))
    parameters, of = networks.parameters(), networks.objective()
    optimizer = optim.KFAC(parameters, decay=0.75)
    seen = []
    for seed in (0, 1):
        x, y = networks.batch(9, seed)
        seen.append(networks.layer_factors([p.data for p in parameters], x, classes=False))
        optimizer.step(of, x, y)
    found = optimizer.state_dict()["state"]["factors"]
    for place, (one, other) in zip((0, 2), zip(*seen, strict=True), strict=True):
        np.testing.assert_allclose(found[place][0], 0.5 * (one[0] + other[0]), rtol=1e-10, atol=1e-13)
        np.testing.assert_allclose(found[place][1], 0.5 * (one[1] + other[1])[:-1, :-1], rtol=1e-10, atol=1e-13)


@ALL
def test_linear_least_squares_take_one_step(make: Callable[..., optim.SecondOrderOptimizer]) -> None:
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(30, 4)), rng.normal(size=(30, 2))
    W, b = nn.Parameter(np.zeros((2, 4))), nn.Parameter(np.zeros(2))
    of = optim.Objective(lambda p, x, _: x @ p[0].T + p[1], lambda z, _, y: np.sum((z - y) ** 2))
    optimizer = make([W, b])
    optimizer.load_state_dict(exact(optimizer))
    optimizer.step(of, x, y)
    expected, *_ = np.linalg.lstsq(np.concatenate([x, np.ones((30, 1))], 1), y, rcond=None)
    np.testing.assert_allclose(np.concatenate([W.data, b.data[:, None]], 1).T, expected, rtol=1e-6, atol=1e-9)


def exact(optimizer: optim.SecondOrderOptimizer) -> dict[str, Any]:
    """A state with hardly any damping, or a large region and products until the end."""
    state = optimizer.state_dict()
    if "radius" in state["state"]:
        return {**state, "state": {**state["state"], "radius": 1e6, "norm": 1e30, "forcing": 1e-8}}
    return {**state, "state": {**state["state"], "damping": 1e-12}}


@ALL
def test_logistic_regression_finds_the_minimum(make: Callable[..., optim.SecondOrderOptimizer]) -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(200, 3))
    y = (x @ [1.0, -2.0, 0.5] + rng.logistic(size=200) > 0).astype(float)

    def loss(z: Any, _: Any, y: Any) -> Any:
        return nn.functional.binary_cross_entropy_with_logits(z, y)

    w = nn.Parameter(np.zeros(3))
    of = optim.Objective(lambda p, x, _: x @ p[0], loss)
    optimizer = make([w])
    for _ in range(12):
        optimizer.step(of, x, y)
    found = optimize.minimize(
        lambda v: loss(x @ v, x, y), np.zeros(3), jac=lambda v: x.T @ (1 / (1 + np.exp(-x @ v)) - y) / 200, tol=1e-12
    )
    np.testing.assert_allclose(w.data, found.x, atol=1e-6)


def test_a_saddle_is_left() -> None:
    p = nn.Parameter(np.array([1.0, 1e-6]))
    of = optim.Objective(lambda v: v[0][0] ** 2 - v[0][1] ** 2 + v[0][1] ** 4)
    optimizer = optim.NewtonCG([p])
    for _ in range(40):
        loss = optimizer.step(of)
    np.testing.assert_allclose(loss, -0.25, atol=1e-9)
    np.testing.assert_allclose(np.abs(p.data), [0, np.sqrt(0.5)], atol=1e-6)


def test_newtons_convergence_is_fast_at_last() -> None:
    p = nn.Parameter(np.full(6, 1.2))
    of = optim.Objective(lambda v: np.sum(100 * (v[0][1:] - v[0][:-1] ** 2) ** 2 + (1 - v[0][:-1]) ** 2))
    optimizer, errors = optim.NewtonCG([p]), []
    for _ in range(40):
        optimizer.step(of)
        errors.append(float(np.max(np.abs(p.data - 1))))
    small = [e for e in errors if 1e-13 < e < 1e-1]
    assert errors[-1] < 1e-12
    assert any(after < before**1.5 for before, after in pairwise(small))


@ALL
@CLASSES
def test_the_loss_of_a_batch_never_rises(make: Callable[..., optim.SecondOrderOptimizer], classes: bool) -> None:
    parameters, of = networks.parameters(), networks.objective(classes=classes)
    optimizer = make(parameters)
    for number in range(24):
        x, y = networks.batch(8, number % 3, classes=classes)
        before = of.at([p.data for p in parameters], (x, y))
        assert optimizer.step(of, x, y) == pytest.approx(before, rel=1e-12)
        assert of.at([p.data for p in parameters], (x, y)) <= before * (1 + 1e-12)


@ALL
def test_single_precision_stays(make: Callable[..., optim.SecondOrderOptimizer]) -> None:
    parameters = networks.parameters(dtype=np.float32)
    x, y = (array.astype(np.float32) for array in networks.batch(30))
    optimizer, of = make(parameters), networks.objective()
    losses = [optimizer.step(of, x, y) for _ in range(8)]
    assert {loss.dtype for loss in losses} == {np.dtype(np.float32)}
    assert {p.data.dtype for p in parameters} == {np.dtype(np.float32)}
    assert losses[-1] < 0.5 * losses[0]


@ALL
def test_nothing_is_derived_or_planned_after_the_first_step(make: Callable[..., optim.SecondOrderOptimizer]) -> None:
    optimizer, of = make(networks.parameters()), networks.objective(classes=True)
    for seed in (0, 1):
        optimizer.step(of, *networks.batch(12, seed, classes=True))
    before = ea.statistics()
    for seed in (2, 3, 4):
        optimizer.step(of, *networks.batch(12, seed, classes=True))
    after = ea.statistics()
    assert (after.derived, after.planned) == (before.derived, before.planned)


@ALL
def test_states_go_on_to_the_bit(make: Callable[..., optim.SecondOrderOptimizer]) -> None:
    of, found = networks.objective(), []
    for stop in (None, 3):
        parameters = networks.parameters()
        optimizer = make(parameters)
        for number in range(7):
            if number == stop:
                saved = optimizer.state_dict()
                parameters = [nn.Parameter(p.data) for p in parameters]
                optimizer = make(parameters)
                optimizer.load_state_dict(saved)
            optimizer.step(of, *networks.batch(9, number % 2))
        found.append((parameters, optimizer.state_dict()))
    for one, other in zip(found[0][0], found[1][0], strict=True):
        np.testing.assert_array_equal(one.data, other.data)
    assert found[0][1]["param_groups"] == found[1][1]["param_groups"]
    assert found[0][1]["state"]["step"] == 7


@ALL
def test_a_share_of_the_step_is_taken(make: Callable[..., optim.SecondOrderOptimizer]) -> None:
    steps = []
    for lr in (1.0, 0.25):
        parameters = networks.parameters()
        make(parameters, lr=lr).step(networks.objective(), *networks.batch(30))
        steps.append(networks.flat([p.data for p in parameters]) - networks.flat(networks.values()))
    np.testing.assert_allclose(steps[1], 0.25 * steps[0], rtol=1e-6, atol=1e-9)


@ALL
def test_where_nothing_lowers_the_loss_values_stay(make: Callable[..., optim.SecondOrderOptimizer]) -> None:
    """At the minimum, and with a loss that no step lowers, since its derivatives are those of another function."""
    w = nn.Parameter(np.array([1.0, 2.0]))
    still = optim.Objective(lambda p: 3 * p[0], lambda z: np.sum((z - np.array([3.0, 6.0])) ** 2))
    optimizer = make([w])
    assert [float(optimizer.step(still)) for _ in range(3)] == [0, 0, 0]
    np.testing.assert_array_equal(w.data, [1.0, 2.0])
    uphill = ea.custom_function(np.positive, push=lambda _, tangents: -tangents[0])
    before = w.data
    optimizer = make([w])
    assert optimizer.step(optim.Objective(lambda p: p[0], lambda z: np.sum(uphill(z)))) > 0
    np.testing.assert_array_equal(w.data, before)
