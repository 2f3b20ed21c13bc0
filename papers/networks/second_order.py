"""Second-order steps beside Adam on small networks: the loss against seconds and against steps.

Three tasks on all samples at once, in float32: a curve (sin 3x, 1-20-20-1), two moons (2-16-16-2) and handwritten
digits of scikit-learn (64-16-10). All optimisers start from the same weights, and each run is a process of its own.
Those of second order have their defaults; Adam is run with each of five learning rates, here and in PyTorch if that is
installed, and counts with the one that reaches a loss first. ``--help`` shows the options.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from math import inf
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from einsumad import data, nn, optim

RATES = (1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
LEVELS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
LAYERS = {"curve": (1, 20, 20, 1), "moons": (2, 16, 16, 2), "digits": (64, 16, 10)}
SECOND_ORDER: dict[str, Callable[[Any], optim.SecondOrderOptimizer]] = {
    "GaussNewton": optim.GaussNewton,
    "KFAC": optim.KFAC,
    "NewtonCG": optim.NewtonCG,
    "NewtonCG, Gauss-Newton": lambda params: optim.NewtonCG(params, curvature="gauss_newton"),
}
OPTIMISERS = (*SECOND_ORDER, "Adam", "Adam in PyTorch")
WARM_UP = 3


@dataclass(frozen=True)
class Run:
    """The losses before each step and after the last, the seconds until each, and those of the first steps more."""

    optimiser: str
    rate: float | None
    losses: list[float]
    seconds: list[float]
    preparing: float

    @property
    def label(self) -> str:
        """What ran."""
        return self.optimiser if self.rate is None else f"{self.optimiser}, rate {self.rate:g}"

    def reaching(self, level: float) -> tuple[float, int]:
        """The seconds and steps after which the loss is at most this, infinite seconds if it never is."""
        for step, (loss, seconds) in enumerate(zip(self.losses, self.seconds, strict=True)):
            if loss <= level:
                return seconds, step
        return inf, len(self.losses)


def samples(task: str) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and targets."""
    if task == "curve":
        x = np.linspace(-3, 3, 256, dtype=np.float32)[:, None]
        return x, np.sin(3 * x)
    if task == "moons":
        return data.make_moons(400, noise=0.1, rng=0).arrays
    pixels, digits = data.digits().arrays
    return (pixels / 16).astype(np.float32), digits


def layers(of: Any, task: str) -> list[Any]:
    """The layers of a network, of this library's or PyTorch's module ``nn``."""
    sizes = LAYERS[task]
    found: list[Any] = []
    for inputs, outputs in pairwise(sizes):
        found += [of.Linear(inputs, outputs), of.Tanh()]
    return found[:-1]


def initial(task: str) -> nn.Sequential:
    """The network of this library, from a fixed seed."""
    nn.manual_seed(0)
    return nn.Sequential(*layers(nn, task))


def ours(optimiser: str, task: str, rate: float | None) -> tuple[Callable[..., Any], Callable[[], None]]:
    """A step that gives the loss before it, and what begins anew."""
    net = initial(task)
    loss = nn.MSELoss() if task == "curve" else nn.CrossEntropyLoss()
    weights = net.state_dict()
    if rate is None:
        second = SECOND_ORDER[optimiser](net.parameters())
        step: Any = nn.SecondOrderStep(net, loss, second)
        state = second.state_dict()
    else:
        first = optim.Adam(net.parameters(), lr=rate)
        step, state = nn.TrainingStep(net, loss, first), first.state_dict()

    def anew() -> None:
        net.load_state_dict(weights)
        (second if rate is None else first).load_state_dict(state)
        step.load()

    return lambda x, y: step(x, y)[0], anew


def with_torch(task: str, rate: float) -> tuple[Callable[..., Any], Callable[[], None]]:
    """Adam in PyTorch, with the weights of this library's network."""
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)
    net = torch.nn.Sequential(*layers(torch.nn, task))
    loss_of = torch.nn.MSELoss() if task == "curve" else torch.nn.CrossEntropyLoss()
    held: dict[str, Any] = {}

    def anew() -> None:
        net.load_state_dict({key: torch.from_numpy(a.copy()) for key, a in initial(task).state_dict().items()})
        held["optimizer"] = torch.optim.Adam(net.parameters(), lr=rate)

    def step(x: np.ndarray, y: np.ndarray) -> Any:
        held["optimizer"].zero_grad()
        loss = loss_of(net(torch.from_numpy(x)), torch.from_numpy(y))
        loss.backward()
        held["optimizer"].step()
        return loss.item()

    anew()
    return step, anew


def work(optimiser: str, task: str, rate: float | None, budget: float) -> None:
    """Run for so many seconds and write the run as a line of JSON."""
    x, y = samples(task)
    step, anew = with_torch(task, rate) if rate and "PyTorch" in optimiser else ours(optimiser, task, rate)
    start = perf_counter()
    for _ in range(WARM_UP):
        step(x, y)
    preparing = perf_counter() - start
    anew()
    losses: list[float] = []
    seconds = [0.0]
    start = perf_counter()
    while seconds[-1] < budget:
        losses.append(float(step(x, y)))
        seconds.append(perf_counter() - start)
    preparing -= seconds[WARM_UP] if len(seconds) > WARM_UP else 0.0
    print(json.dumps([losses, seconds[:-1], max(preparing, 0.0)]))


def run(optimiser: str, task: str, rate: float | None, budget: float) -> Run:
    """A run in a process of its own."""
    command = [sys.executable, __file__, "--worker", optimiser, task, json.dumps(rate), str(budget)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{optimiser} on {task} failed:\n{done.stderr}")
    losses, seconds, preparing = json.loads(done.stdout)
    return Run(optimiser, rate, losses, seconds, preparing)


def runs_of(task: str, optimisers: Sequence[str], budget: float, rates: Sequence[float]) -> list[Run]:
    """All runs on a task."""
    found: list[Run] = []
    for optimiser in optimisers:
        if optimiser in SECOND_ORDER:
            found.append(run(optimiser, task, None, budget))
        elif "PyTorch" not in optimiser or find_spec("torch"):
            found += [run(optimiser, task, rate, budget) for rate in rates]
    return found


def fastest(runs: Sequence[Run], level: float) -> Run:
    """The run that reaches the loss first; of those that never do, the one with the least loss."""
    return min(runs, key=lambda each: (each.reaching(level)[0], min(each.losses)))


def table(task: str, runs: Sequence[Run]) -> str:
    """The seconds and steps until the loss is at most each level, without and with what the first steps take more."""
    lines = [f"{task}: seconds (steps) until the loss is at most"]
    lines.append(f"{'':26}{''.join([f'{level:>16g}' for level in LEVELS])}   first steps")
    for optimiser in dict.fromkeys([each.optimiser for each in runs]):
        of = [each for each in runs if each.optimiser == optimiser]
        cells, used = [], []
        for level in LEVELS:
            best = fastest(of, level)
            seconds, steps = best.reaching(level)
            cells.append(f"{'-':>16}" if seconds == inf else f"{seconds:>9.3f} ({steps:>4})")
            used.append(best)
        preparing = max([each.preparing for each in used])
        lines.append(f"{optimiser:26}{''.join(cells)}   {preparing:>+8.3f} s")
    return "\n".join(lines)


def draw(found: dict[str, list[Run]], path: Path) -> None:
    """Draw the loss against seconds and against steps, a row for each task."""
    matplotlib = importlib.import_module("matplotlib")
    matplotlib.use("Agg")
    figure, axes = importlib.import_module("matplotlib.pyplot").subplots(
        len(found), 2, figsize=(11, 3.6 * len(found)), squeeze=False
    )
    for row, (task, runs) in zip(axes, found.items(), strict=True):
        for optimiser in dict.fromkeys([each.optimiser for each in runs]):
            best = fastest([each for each in runs if each.optimiser == optimiser], LEVELS[-1])
            style = "--" if best.rate else "-"
            least = np.minimum.accumulate(best.losses)
            row[0].loglog(np.maximum(best.seconds, 1e-4), least, style, label=best.label)
            row[1].loglog(np.arange(1, len(least) + 1), least, style)
        row[0].set_xlabel("seconds, without the first steps")
        row[1].set_xlabel("steps")
        row[0].set_ylabel(f"{task}: least loss so far")
        row[0].set_ylim(bottom=1e-8)
        row[1].set_ylim(bottom=1e-8)
        row[0].legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main(arguments: Sequence[str] | None = None) -> dict[str, list[Run]]:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("tasks", nargs="*", default=list(LAYERS), help=f"of {', '.join(LAYERS)} (default: all)")
    parser.add_argument("--optimisers", nargs="+", choices=OPTIMISERS, default=OPTIMISERS)
    parser.add_argument("--rates", nargs="+", type=float, default=RATES, help="learning rates of Adam")
    parser.add_argument("--seconds", type=float, default=4.0, help="seconds for each run")
    parser.add_argument("--plot", type=Path, default=Path("second_order.png"), help="where the picture goes")
    options = parser.parse_args(arguments)
    found: dict[str, list[Run]] = {}
    for task in options.tasks:
        found[task] = runs_of(task, options.optimisers, options.seconds, options.rates)
        print(f"{table(task, found[task])}\n", flush=True)
    if find_spec("matplotlib"):
        draw(found, options.plot)
        print(f"drawn in {options.plot}")
    return found


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        work(sys.argv[2], sys.argv[3], json.loads(sys.argv[4]), float(sys.argv[5]))
    else:
        main()
