"""Training with second-order optimisers: the same step object, exact resumption, and what a model holds besides."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad import nn, optim
from einsumad.optim.curvature import gauss_newton

F = nn.functional
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4)).astype(np.float32)
Y = np.argmax(X[:, :3] + 0.3 * X[:, 1:], axis=1)
MAKERS: dict[str, Callable[[Any], optim.SecondOrderOptimizer]] = {
    "NewtonCG": optim.NewtonCG,
    "GaussNewton": optim.GaussNewton,
    "KFAC": lambda p: optim.KFAC(p, decay=0.9),
}
ALL = pytest.mark.parametrize("make", MAKERS.values(), ids=list(MAKERS))


def network(seed: int = 0, *, noisy: bool = True) -> nn.Sequential:
    between = [nn.BatchNorm1d(6), nn.Dropout(0.1, rng=seed)] if noisy else []
    return nn.Sequential(nn.Linear(4, 6, rng=seed), nn.Tanh(), *between, nn.Linear(6, 3, rng=seed + 1))


def states_agree(one: nn.Module, other: nn.Module) -> None:
    for name, array in one.state_dict().items():
        np.testing.assert_array_equal(other.state_dict()[name], array, err_msg=name)


def fitted(net: nn.Module, optimizer: Any, epochs: int, **options: Any) -> nn.History:
    return nn.fit(net, F.cross_entropy, (X, Y), optimizer, epochs, progress=False, batch_size=30, rng=3, **options)


@ALL
def test_fitting_learns_and_measures(make: Callable[[Any], optim.SecondOrderOptimizer]) -> None:
    net = network(noisy=False)
    history = fitted(net, make(net.parameters()), 12, validation=(X, Y), metrics=["accuracy"])
    assert history["accuracy"][-1] > 0.95
    assert history["loss"][-1] < 0.2 * history["loss"][0]
    assert history.last["lr"] == 1
    assert {p.data.dtype for p in net.parameters()} == {np.dtype(np.float32)}


@ALL
@pytest.mark.parametrize("stop", [1, 3])
def test_a_run_that_stops_and_goes_on_is_the_run_that_did_not(
    make: Callable[[Any], optim.SecondOrderOptimizer], stop: int, tmp_path: Path
) -> None:
    def run(net: nn.Module, epochs: int, name: str) -> nn.History:
        optimizer = make(net.parameters())
        schedule = optim.lr_scheduler.CosineAnnealingLR(optimizer, 8)
        checkpoint = nn.Checkpoint(tmp_path / name)
        return fitted(net, optimizer, epochs, scheduler=schedule, checkpoint=checkpoint, validation=(X, Y))

    whole, resumed = network(), network(seed=5)
    expected = run(whole, 5, "whole")
    run(network(), stop, "parts")
    found = run(resumed, 5, "parts")
    states_agree(whole, resumed)
    for name in ("loss", "val_loss", "lr"):
        assert found[name] == expected[name]


@ALL
def test_losses_outputs_and_statistics_are_those_before_the_step(
    make: Callable[[Any], optim.SecondOrderOptimizer],
) -> None:
    """As a step of first order has them, with the same masks of dropout."""
    first, second = network(), network()
    one = nn.TrainingStep(first, F.cross_entropy, optim.SGD(first.parameters(), lr=0.0))
    two = nn.SecondOrderStep(second, F.cross_entropy, make(second.parameters()))
    for found, expected in zip(two(X, Y), one(X, Y), strict=True):
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-6)
    one.store()
    for (name, buffer), (_, other) in zip(first.named_buffers(), second.named_buffers(), strict=True):
        np.testing.assert_allclose(other.data, buffer.data, rtol=1e-6, err_msg=name)
    assert np.any(second[0].weight.data != first[0].weight.data)
    before = [buffer.data for _, buffer in second.named_buffers()]
    second.eval()
    two(X, Y)
    for (_, buffer), array in zip(second.named_buffers(), before, strict=True):
        np.testing.assert_array_equal(buffer.data, array)


def test_what_is_not_learned_is_read_anew() -> None:
    net = network(noisy=False)
    net[0].weight.requires_grad = False
    goal = nn.objective(net, nn.MSELoss())
    optimizer = optim.GaussNewton([p for p in net.parameters() if p.requires_grad])
    target = np.ones((60, 3), np.float32)
    optimizer.step(goal, X, target)
    frozen = net[0].weight.data
    net[0].weight.data = 0.5 * frozen
    with nn.no_grad():
        expected = F.mse_loss(net(X), target)
    np.testing.assert_allclose(optimizer.step(goal, X, target), expected, rtol=1e-5)
    np.testing.assert_array_equal(net[0].weight.data, 0.5 * frozen)
    with pytest.raises(ValueError, match=r"model\.0\.weight does not require gradients"):
        nn.objective(net, nn.MSELoss(), net.parameters())


def test_tied_parameters_are_one() -> None:
    layer = nn.Linear(4, 4, rng=0, dtype=np.float64)
    net = nn.Sequential(layer, nn.Tanh(), layer)
    x, y = X.astype(float), X[::-1].astype(float)
    goal, at = nn.objective(net, nn.MSELoss()), [p.data for p in net.parameters()]
    args = goal.arguments(x, y)
    blocks = goal.ask(gauss_newton.gauss_newton_blocks, at, args)
    names = list(net.arrays())
    J = ea.jacobian(lambda v: net.apply(dict(zip(names, v, strict=True)), x))(at)
    flat = np.concatenate([part.reshape(240, -1) for part in J], axis=1)
    expected = 2 / 240 * flat.T @ flat
    np.testing.assert_allclose(blocks[0][0], expected[:16, :16], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(blocks[1][0], expected[16:, :16], rtol=1e-9, atol=1e-12)
    for make in MAKERS.values():
        optimizer = make(net.parameters())
        losses = [float(optimizer.step(goal, x, y)) for _ in range(6)]
        assert losses == sorted(losses, reverse=True)
    optimizer = optim.KFAC(net.parameters())
    optimizer.step(goal, x, y)
    assert optimizer.blocks == ("0: matrix 16×16", "1: matrix 4×4")


def test_layers_are_found_in_modules() -> None:
    net = nn.Sequential(
        nn.Conv2d(1, 2, 2, rng=0), nn.ReLU(), nn.Flatten(), nn.LayerNorm(8), nn.Linear(8, 5, rng=1), nn.GELU(),
        nn.Linear(5, 3, rng=2),
    )  # fmt: skip
    x = rng.normal(size=(20, 1, 3, 3)).astype(np.float32)
    optimizer, goal = optim.KFAC(net.parameters(), largest=6), nn.objective(net, nn.CrossEntropyLoss())
    losses = [float(optimizer.step(goal, x, np.arange(20) % 3)) for _ in range(5)]
    assert losses == sorted(losses, reverse=True)
    assert optimizer.blocks == (
        "0: diagonal of 8", "1: matrix 2×2", "2: diagonal of 8", "3: diagonal of 8",
        "4: 5×5 ⊗ 8×8", "5: an input of ones of 4", "6: 3×3 ⊗ 5×5", "7: an input of ones of 6",
    )  # fmt: skip


def test_what_is_refused() -> None:
    class Weighted(nn.Module):
        def __init__(self) -> None:
            self.scale = nn.Parameter(np.ones((), np.float32))

        def forward(self, outputs: Any, target: Any) -> Any:
            return F.cross_entropy(self.scale * outputs, target)

    net, loss = nn.Linear(4, 3, rng=0), Weighted()
    before = net.arrays()
    with pytest.raises(ValueError, match=r"loss\.scale are parameters of the loss"):
        nn.SecondOrderStep(net, loss, optim.KFAC([*net.parameters(), *loss.parameters()]))
    with pytest.raises(ValueError, match="leave it out"):
        fitted(net, optim.KFAC(net.parameters()), 1, clip_norm=1.0)
    with pytest.raises(ValueError, match="another model"):
        nn.SecondOrderStep(network(), F.cross_entropy, optim.KFAC(net.parameters()))
    goal = nn.objective(net, F.cross_entropy)
    with pytest.raises(ValueError, match="in another order"):
        optim.GaussNewton([net.bias, net.weight]).step(goal, X, Y)
    with pytest.raises(TypeError, match="inputs of the model and last the target"):
        optim.GaussNewton(net.parameters()).step(goal, X)
    with pytest.raises(ea.ShapeError):
        optim.GaussNewton(net.parameters()).step(goal, X[:, :3], Y)
    for name, array in net.arrays().items():
        assert array is before[name]
    optim.GaussNewton(net.parameters()).step(nn.objective(net, loss), X, Y)  # the loss keeps its own
    assert loss.scale.data == 1


def test_parameters_in_the_order_of_the_optimiser() -> None:
    net, other = nn.Linear(4, 3, rng=0), nn.Linear(4, 3, rng=0)
    optim.GaussNewton(net.parameters()).step(nn.objective(net, F.cross_entropy), X, Y)
    turned = [other.bias, other.weight]
    optim.GaussNewton(turned).step(nn.objective(other, F.cross_entropy, turned), X, Y)
    for name, array in net.arrays().items():
        np.testing.assert_allclose(other.arrays()[name], array, rtol=1e-4, atol=1e-5)
