"""Curves from noisy points: the sine, and cos(15x), which a plain network does not find.

A network with tanh and the usual small weights starts as nearly a straight line. It bends to a sine in a second, but
not to the ten half waves of cos(15x) between -1 and 1: networks learn slow waves first (Rahaman et al., 2019). With a
first layer ``sin(frequency (W x + b))`` it starts with waves of all lengths down to the one that is wanted (Sitzmann et
al., 2020). That is a layer of one's own in a few lines, with no derivative given.

``python examples/curve_fits.py picture.png`` draws points, fits and the curves themselves (needs matplotlib).
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from time import perf_counter

import numpy as np

from einsumad import data, nn, optim

POINTS, NOISE = 256, 0.1
HIDDEN, BATCH, RATE, EPOCHS = 32, 32, 0.005, 150
FREQUENCY = 15.0
GRID = 500


class SineLayer(nn.Module):
    """``sin(frequency (x Wᵀ + b))``: waves with up to that many radians in a unit of the input."""

    def __init__(self, inputs, outputs, frequency, rng=None):
        self.linear = nn.Linear(inputs, outputs, rng=rng)
        self.frequency = frequency

    def forward(self, x):
        return np.sin(self.frequency * self.linear(x))


def tanh_network(rng):
    return nn.Sequential(
        nn.Linear(1, HIDDEN, rng=rng),
        nn.Tanh(),
        nn.Linear(HIDDEN, HIDDEN, rng=rng),
        nn.Tanh(),
        nn.Linear(HIDDEN, 1, rng=rng),
    )


def sine_network(rng):
    return nn.Sequential(
        SineLayer(1, HIDDEN, FREQUENCY, rng=rng),
        nn.Linear(HIDDEN, HIDDEN, rng=rng),
        nn.Tanh(),
        nn.Linear(HIDDEN, 1, rng=rng),
    )


@dataclass(frozen=True)
class Task:
    """A curve on an interval, and the network that is to find it."""

    name: str
    curve: Callable
    interval: tuple[float, float]
    network: Callable

    def points(self):
        return data.curve(self.curve, POINTS, NOISE, rng=0, interval=self.interval).arrays


def waves(x):
    return np.cos(15 * x)


TASKS = (
    Task("sin x, tanh network", np.sin, (-np.pi, np.pi), tanh_network),
    Task("cos 15x, tanh network", waves, (-1, 1), tanh_network),
    Task("cos 15x, sine layer first", waves, (-1, 1), sine_network),
)


@dataclass(frozen=True)
class Fit:
    """What a network has found: its values on a grid, their errors, and what it cost."""

    task: Task
    x: np.ndarray
    found: np.ndarray
    losses: list[float]
    seconds: float

    @property
    def errors(self):
        return self.found - self.task.curve(self.x)

    @property
    def root_mean_square(self):
        return np.sqrt(np.mean(self.errors**2))


def fit(task, epochs=EPOCHS):
    """Train the network of a task on its points, and look at it on a grid."""
    began = perf_counter()
    net = task.network(np.random.default_rng(0))
    optimizer = optim.Adam(net.parameters(), lr=RATE)
    schedule = optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    history = nn.fit(
        net,
        nn.MSELoss(),
        task.points(),
        optimizer,
        epochs,
        batch_size=BATCH,
        scheduler=schedule,
        progress=False,
        rng=0,
    )
    x = np.linspace(*task.interval, GRID, dtype=np.float32)
    return Fit(task, x, nn.predict(net, x[:, None])[:, 0], history["loss"], perf_counter() - began)


def draw(fits, path):
    """A picture of each fit with the curve and the noisy points."""
    try:
        figure_class = import_module("matplotlib.figure").Figure
    except ImportError as error:
        raise ImportError('pictures need matplotlib: pip install "einsumad[plot]"') from error
    figure = figure_class(figsize=(4.5 * len(fits), 3.8), layout="constrained")
    for axes, each in zip(figure.subplots(1, len(fits), squeeze=False)[0], fits, strict=True):
        axes.scatter(*each.task.points(), s=8, color="0.6", label="points")
        axes.plot(each.x, each.task.curve(each.x), color="black", linestyle="--", linewidth=1, label="curve")
        axes.plot(each.x, each.found, color="tab:red", label="fit")
        axes.set_title(f"{each.task.name}: error {each.root_mean_square:.3f}", fontsize="medium")
        axes.set_xlabel("x")
        axes.locator_params(axis="x", nbins=5)
    figure.axes[0].legend(loc="upper left")
    figure.savefig(path, dpi=120)
    print(f"\nthe picture is in {path}")


def main(path=None, tasks=TASKS, epochs=EPOCHS):
    print(f"{POINTS} points with noise {NOISE}; errors are those from the curve itself, at {GRID} places")
    print(f"{'':28}mean squared loss     root mean square error  largest  seconds")
    fits = [fit(task, epochs) for task in tasks]
    for each in fits:
        losses = f"{each.losses[0]:.4f} -> {each.losses[-1]:.4f}"
        largest = np.max(np.abs(each.errors))
        print(f"{each.task.name:28}{losses:18}{each.root_mean_square:26.4f}{largest:9.3f}{each.seconds:9.1f}")
    if path is not None:
        draw(fits, path)
    return fits


if __name__ == "__main__":
    main(*[Path(word) for word in sys.argv[1:2]])
