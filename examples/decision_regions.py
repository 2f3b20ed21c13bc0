"""Where a small network decides for which class: two moons, and stripes.

The moons are two half circles that reach into each other, with noise. The stripes are points of the unit square that
belong to one class where cos(15x) is positive, and to the other where it is negative (the task of DiCo, Fehrenbach,
2023); the second coordinate does not matter, which the network has to find out. Each takes one call of ``nn.fit``; a
quarter of the points is held out.

``python examples/decision_regions.py picture.png`` draws the probability of the second class over the plane with what
is held out (needs matplotlib).
"""

import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from time import perf_counter

import numpy as np

from einsumad import data, nn, optim

BATCH, RATE = 32, 0.01
GRID, MARGIN = 200, 0.25


@dataclass(frozen=True)
class Task:
    """Points of two classes, those to learn from and those held out, and how long and how wide a network learns."""

    name: str
    points: np.ndarray
    labels: np.ndarray
    hidden: int
    epochs: int

    def split(self):
        return data.train_test_split(self.points, self.labels, test_size=0.25, stratify=self.labels, rng=0)


def moons(count=600, epochs=60):
    return Task("moons", *data.make_moons(count, noise=0.15, rng=0).arrays, hidden=16, epochs=epochs)


def stripes(count=1600, epochs=200):
    points = np.random.default_rng(0).uniform(size=(count, 2)).astype(np.float32)
    labels = (np.cos(15 * points[:, 0]) < 0).astype(np.int64)
    return Task("stripes", points, labels, hidden=64, epochs=epochs)


def network(hidden, rng):
    """Two hidden layers, and a score for each of two classes."""
    return nn.Sequential(
        nn.Linear(2, hidden, rng=rng),
        nn.ReLU(),
        nn.Linear(hidden, hidden, rng=rng),
        nn.ReLU(),
        nn.Linear(hidden, 2, rng=rng),
    )


def learn(task):
    """A network that was trained on the task, what measures the coordinates for it, and its history."""
    x, x_test, y, y_test = task.split()
    scale = data.Standardize().fit(x)
    net = network(task.hidden, np.random.default_rng(0))
    optimizer = optim.Adam(net.parameters(), lr=RATE)
    history = nn.fit(
        net,
        nn.CrossEntropyLoss(),
        (scale(x), y),
        optimizer,
        task.epochs,
        batch_size=BATCH,
        validation=(scale(x_test), y_test),
        metrics=["accuracy"],
        scheduler=optim.lr_scheduler.CosineAnnealingLR(optimizer, task.epochs),
        progress=False,
        rng=0,
    )
    return net, scale, history


def probabilities(net, scale, points):
    """How likely each point is of the second class, as the network has it."""
    return nn.functional.softmax(nn.predict(net, scale(points)))[:, 1]


def plane(points):
    """The coordinates of a grid around the points, along both axes."""
    margin = MARGIN * points.std(axis=0)
    low, high = points.min(axis=0) - margin, points.max(axis=0) + margin
    return [np.linspace(low[axis], high[axis], GRID, dtype=np.float32) for axis in range(2)]


def draw(results, path):
    """A picture of each task: probabilities as colours, the boundary as a line, and the points held out."""
    try:
        figure_class = import_module("matplotlib.figure").Figure
    except ImportError as error:
        raise ImportError('pictures need matplotlib: pip install "einsumad[plot]"') from error
    figure = figure_class(figsize=(5.5 * len(results), 4.5), layout="constrained")
    for axes, (task, net, scale, history) in zip(
        figure.subplots(1, len(results), squeeze=False)[0], results, strict=True
    ):
        _, points, _, labels = task.split()
        horizontal, vertical = plane(task.points)
        grid = np.stack(np.meshgrid(horizontal, vertical), axis=-1)
        found = probabilities(net, scale, grid.reshape(-1, 2)).reshape(GRID, GRID)
        colours = axes.contourf(horizontal, vertical, found, np.linspace(0, 1, 11), cmap="RdBu_r", alpha=0.6)
        axes.contour(horizontal, vertical, found, [0.5], colors="black", linewidths=1)
        for label, colour in enumerate(("tab:blue", "tab:red")):
            axes.scatter(*points[labels == label].T, s=12, color=colour, edgecolors="white", linewidths=0.4)
        axes.set_title(f"{task.name}: {history.last['val_accuracy']:.1%} of {len(points)} held-out points")
    figure.colorbar(colours, ax=axes, label="probability of the red class")
    figure.savefig(path, dpi=120)
    print(f"the picture is in {path}")


def main(path=None, tasks=None):
    results = []
    for task in tasks or (moons(), stripes()):
        began = perf_counter()
        net, scale, history = learn(task)
        seconds = perf_counter() - began
        losses = f"loss {history['loss'][0]:.3f} -> {history['loss'][-1]:.3f}"
        print(f"{task.name:8}{losses}  held-out accuracy {history.last['val_accuracy']:.1%}  {seconds:.1f} s")
        results.append((task, net, scale, history))
    if path is not None:
        draw(results, path)
    return results


if __name__ == "__main__":
    main(*[Path(word) for word in sys.argv[1:2]])
