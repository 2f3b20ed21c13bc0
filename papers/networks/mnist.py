"""Networks on handwritten digits, beside the same networks in PyTorch.

5,000 digits of MNIST, 28 × 28, a fifth of them held out. Both systems start from the same weights and take the same
batches in the same order; each is a process of its own, and epochs alternate. There are two runs of each network: one
with Adam on the pixels as they are, for the time of a step, and one with settings of its own, for the accuracy on what
is held out. ``--help`` shows the options, and the README how the settings were chosen.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from math import cos, pi
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from pictures import Movement, deslanted

from einsumad import data, nn, optim

BATCH = 64
MLPS = {
    "784-500-200-10": (784, 500, 200, 10),
    "784-15-15-10": (784, 15, 15, 10),
    "784-1568-392-10": (784, 1568, 392, 10),
}
NETWORKS = (*MLPS, "cnn")


@dataclass(frozen=True)
class Settings:
    """How a network is trained: with Adam, or AdamW if there is decay, at a rate that is constant or half a cosine."""

    epochs: int = 8
    rate: float = 1e-3
    decay: float = 0.0
    constant: bool = True
    deslant: bool = False
    standardise: bool = False
    movement: tuple[float, float, float] | None = None
    validate: bool = False
    """Hold out a fifth of what would be learned from, and leave the digits alone that are held out otherwise."""

    def rate_of(self, epoch: int) -> float:
        return self.rate if self.constant else self.rate * (1 + cos(pi * epoch / self.epochs)) / 2

    def optimizer(self, of: Any, parameters: Any) -> Any:
        """The optimiser, of this library's or PyTorch's module ``optim``."""
        if not self.decay:
            return of.Adam(parameters, lr=self.rate)
        return of.AdamW(parameters, lr=self.rate, weight_decay=self.decay)


@dataclass(frozen=True)
class Limits:
    """What must be reached: the accuracy on what is held out, and the time of a step as a multiple of PyTorch's."""

    accuracy: float
    time: float


FAST = Settings()
_CAREFUL: dict[str, Any] = {"decay": 0.01, "constant": False, "standardise": True}
_SMALL, _LARGE = (0.5, 0.1, 0.1), (1.0, 0.15, 0.1)
ACCURATE = {
    "784-500-200-10": Settings(epochs=16, rate=1e-3, movement=_LARGE, **_CAREFUL),
    "784-15-15-10": Settings(epochs=60, rate=3e-3, movement=_SMALL, deslant=True, **_CAREFUL),
    "784-1568-392-10": Settings(epochs=12, rate=5e-4, movement=_LARGE, **_CAREFUL),
    "cnn": Settings(epochs=16, rate=3e-3, movement=_LARGE, **_CAREFUL),
}
LIMITS = {**dict.fromkeys(MLPS, Limits(0.94, 1.3)), "cnn": Limits(0.96, 2.5)}


def digits(settings: Settings) -> tuple[np.ndarray, ...]:
    """Pictures to learn from and pictures held out, and the digits of both."""
    pixels, labels = data.mnist_digits().arrays
    pixels = (pixels / 255).astype(np.float32)
    if settings.deslant:
        pixels = deslanted(pixels)
    x, x_test, y, y_test = data.train_test_split(pixels, labels, test_size=0.2, stratify=labels, rng=0)
    if settings.validate:
        x, x_test, y, y_test = data.train_test_split(x, y, test_size=0.2, stratify=y, rng=0)
    return x, x_test, y.astype(np.int64), y_test


@dataclass(frozen=True)
class Batches:
    """The batches of each epoch in an order of its own, in the shape that a network takes; the rest is left out."""

    name: str
    settings: Settings
    x: np.ndarray
    y: np.ndarray
    middle: float = 0.0
    scale: float = 1.0

    def shaped(self, pictures: np.ndarray) -> np.ndarray:
        """Pictures as a network takes them: ``(n, 1, 28, 28)`` or ``(n, 784)``."""
        measured = (pictures - np.float32(self.middle)) / np.float32(self.scale)
        return measured[:, None] if self.name == "cnn" else measured.reshape(len(measured), -1)

    def of(self, epoch: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The batches of an epoch, the pictures of each moved anew."""
        rng = np.random.default_rng(epoch)
        order = rng.permutation(len(self.x))
        for start in range(0, len(order) - BATCH + 1, BATCH):
            rows = order[start : start + BATCH]
            pictures = self.x[rows]
            if self.settings.movement is not None:
                pictures = Movement(*self.settings.movement)(pictures, rng)
            yield self.shaped(pictures), self.y[rows]


def batches(name: str, settings: Settings, x: np.ndarray, y: np.ndarray) -> Batches:
    """Batches in units of the pictures' own mean and standard deviation, if the settings want it."""
    return (
        Batches(name, settings, x, y, float(x.mean()), float(x.std()))
        if settings.standardise
        else Batches(name, settings, x, y)
    )


def layers(of: Any, name: str) -> list[Any]:
    """The layers of a network, of this library's or PyTorch's module ``nn``."""
    if name == "cnn":
        first = [of.Conv2d(1, 8, 5), of.ReLU(), of.MaxPool2d(2), of.Conv2d(8, 16, 5), of.ReLU(), of.MaxPool2d(2)]
        return [*first, of.Flatten(), of.Linear(256, 10)]
    found: list[Any] = []
    for inputs, outputs in zip(MLPS[name][:-1], MLPS[name][1:], strict=True):
        found += [of.Linear(inputs, outputs), of.ReLU()]
    return found[:-1]


def initial(name: str) -> nn.Sequential:
    """The network of this library, from a fixed seed."""
    nn.manual_seed(0)
    return nn.Sequential(*layers(nn, name))


@dataclass(frozen=True)
class System:
    """A network and its optimiser: a step that gives the loss, scores, and where the rate is set."""

    step: Callable[[np.ndarray, np.ndarray], Any]
    scores: Callable[[np.ndarray], np.ndarray]
    optimizer: Any

    def set_rate(self, rate: float) -> None:
        self.optimizer.param_groups[0]["lr"] = rate


def ours(name: str, settings: Settings) -> System:
    """A network of this library."""
    net = initial(name)
    optimizer = settings.optimizer(optim, net.parameters())
    step = nn.TrainingStep(net, nn.CrossEntropyLoss(), optimizer)

    def scores(x: np.ndarray) -> np.ndarray:
        step.store()
        return nn.predict(net, x)

    return System(lambda x, y: step(x, y)[0], scores, optimizer)


def with_torch(name: str, settings: Settings) -> System:
    """The same in PyTorch, with the weights of this library's network."""
    import torch  # noqa: PLC0415 (only this process has it)

    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    net = torch.nn.Sequential(*layers(torch.nn, name))
    net.load_state_dict({key: torch.from_numpy(array.copy()) for key, array in initial(name).state_dict().items()})
    optimizer = settings.optimizer(torch.optim, net.parameters())
    loss_of = torch.nn.CrossEntropyLoss()

    def step(x: np.ndarray, y: np.ndarray) -> Any:
        optimizer.zero_grad()
        loss = loss_of(net(torch.from_numpy(x)), torch.from_numpy(y))
        loss.backward()
        optimizer.step()
        return loss.item()

    def scores(x: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            found: np.ndarray = net(torch.from_numpy(x)).numpy()
        return found

    return System(step, scores, optimizer)


SYSTEMS = {"ours": ours, "torch": with_torch}


def work(system: str, name: str, settings: Settings) -> None:
    """Serve epochs: a number a line of standard input, times and losses a line of output; at last the accuracy."""
    x, x_test, y, y_test = digits(settings)
    of_epoch, trained = batches(name, settings, x, y), SYSTEMS[system](name, settings)
    print("ready", flush=True)
    for line in sys.stdin:
        times, losses = [], []
        trained.set_rate(settings.rate_of(int(line)))
        for batch in of_epoch.of(int(line)):
            start = perf_counter()
            losses.append(float(trained.step(*batch)))
            times.append(perf_counter() - start)
        print(json.dumps([times, losses]), flush=True)
        if int(line) == settings.epochs - 1:
            print(nn.accuracy(trained.scores(of_epoch.shaped(x_test)), y_test), flush=True)


@dataclass
class Run:
    """What a system has measured: the time of each step, without the first epoch's first, the losses, the accuracy."""

    times: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    accuracy: float = 0.0


def compared(name: str, settings: Settings, systems: list[str], threads: int = 2) -> dict[str, Run]:
    """Train one network in all systems, epochs in turn."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
    runs, workers = {s: Run() for s in systems}, {}
    for s in systems:
        command = [sys.executable, __file__, "--worker", s, name, json.dumps(asdict(settings))]
        workers[s] = subprocess.Popen(command, stdin=-1, stdout=-1, text=True, env=environment)
        assert workers[s].stdout.readline().strip() == "ready", f"{s} has not started"
    for epoch in range(settings.epochs):
        for s, worker in workers.items():
            print(epoch, file=worker.stdin, flush=True)
            times, losses = json.loads(worker.stdout.readline())
            runs[s].times += times if epoch else times[1:]
            runs[s].losses += losses
    for s, worker in workers.items():
        runs[s].accuracy = float(worker.stdout.readline())
        worker.communicate()
    return runs


def apart(runs: dict[str, Run], count: int) -> float:
    """How far the losses of both systems are apart in so many first steps, relative to PyTorch's."""
    one, other = (np.array(runs[s].losses[:count]) for s in ("ours", "torch"))
    return float(np.max(np.abs(one - other) / other))


def verdict(reached: bool, limit: str) -> str:
    return f"({'reached' if reached else 'NOT REACHED'}: {limit})"


def show(name: str, kind: str, runs: dict[str, Run]) -> None:
    """Print the figures of a run, and beside each limit whether it is reached."""
    limits = LIMITS[name]
    for s, run in runs.items():
        text = f"{name:16} {kind:9} {s:6} step {1e3 * median(run.times):7.3f} ms  loss {run.losses[0]:.4f} -> "
        text += f"{np.mean(run.losses[-60:]):.4f}  held out {run.accuracy:.1%}"
        if kind == "accurate":
            text += f" {verdict(run.accuracy >= limits.accuracy, f'at least {limits.accuracy:.0%}')}"
        print(text, flush=True)
    if set(runs) == set(SYSTEMS):
        ratio = median(runs["ours"].times) / median(runs["torch"].times)
        text = f"{name:16} {kind:9} time / PyTorch {ratio:.2f}"
        if kind == "fast":
            text += f" {verdict(ratio <= limits.time, f'at most {limits.time}')}"
        print(f"{text}  losses apart by {apart(runs, 10):.1e} in 10 steps, {apart(runs, 60):.1e} in 60", flush=True)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("networks", nargs="*", default=NETWORKS, help=f"of {', '.join(NETWORKS)} (default: all)")
    parser.add_argument("--runs", nargs="+", choices=("fast", "accurate"), default=["fast", "accurate"])
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    parser.add_argument("--threads", type=int, default=2, help="of each system (default: 2)")
    parser.add_argument("--validate", action="store_true", help="hold out a part of what is learned from instead")
    options = parser.parse_args(arguments)
    for name in options.networks:
        for kind in options.runs:
            settings = replace(FAST if kind == "fast" else ACCURATE[name], validate=options.validate)
            show(name, kind, compared(name, settings, options.systems, options.threads))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        work(*sys.argv[2:4], Settings(**json.loads(sys.argv[4])))
    else:
        main()
