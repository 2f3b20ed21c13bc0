"""Networks on handwritten digits, beside the same networks in PyTorch.

5,000 digits of MNIST, 28 × 28, a fifth of them held out. All systems start from the same weights, take the same batches
in the same order, and step with Adam; each is a process of its own, and epochs alternate. Shown are the medians of the
times of a step, the losses, and the accuracy on what is held out; ``--help`` shows the options.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from einsumad import data, nn, optim

BATCH, RATE, THREADS = 64, 1e-3, 2
MLPS = {
    "784-500-200-10": (784, 500, 200, 10),
    "784-15-15-10": (784, 15, 15, 10),
    "784-1568-392-10": (784, 1568, 392, 10),
}
NETWORKS = (*MLPS, "cnn")


def digits(name: str) -> tuple[np.ndarray, ...]:
    """Pixels in [0, 1] of what is learned and what is held out, in the shape that a network takes, and the digits."""
    pixels, labels = data.mnist_digits().arrays
    pixels = (pixels / 255).astype(np.float32)
    pixels = pixels[:, None] if name == "cnn" else pixels.reshape(len(pixels), -1)
    return data.train_test_split(pixels, labels, test_size=0.2, stratify=labels, rng=0)


def batches(count: int, epoch: int) -> Iterator[np.ndarray]:
    """The rows of each batch, in an order of the epoch; the rest is left out."""
    order = np.random.default_rng(epoch).permutation(count)
    return (order[start : start + BATCH] for start in range(0, count - BATCH + 1, BATCH))


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


def ours(name: str) -> tuple[Callable[..., Any], Callable[[np.ndarray], np.ndarray]]:
    """A step that gives the loss, and the scores of a network."""
    net = initial(name)
    step = nn.TrainingStep(net, nn.CrossEntropyLoss(), optim.Adam(net.parameters(), lr=RATE))

    def scores(x: np.ndarray) -> np.ndarray:
        step.store()
        return nn.predict(net, x)

    return lambda x, y: step(x, y)[0], scores


def with_torch(name: str) -> tuple[Callable[..., Any], Callable[[np.ndarray], np.ndarray]]:
    """The same in PyTorch, with the weights of this library's network."""
    import torch  # noqa: PLC0415 (only this process has it)

    torch.set_num_threads(THREADS)
    net = torch.nn.Sequential(*layers(torch.nn, name))
    net.load_state_dict({key: torch.from_numpy(array.copy()) for key, array in initial(name).state_dict().items()})
    optimizer, loss_of = torch.optim.Adam(net.parameters(), lr=RATE), torch.nn.CrossEntropyLoss()

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

    return step, scores


SYSTEMS = {"ours": ours, "torch": with_torch}


def work(system: str, name: str) -> None:
    """Serve epochs: a number a line of standard input, times, losses and accuracy a line of standard output."""
    x, x_test, y, y_test = digits(name)
    step, scores = SYSTEMS[system](name)
    print("ready", flush=True)
    for line in sys.stdin:
        times, losses = [], []
        for rows in batches(len(x), int(line)):
            batch = x[rows], y[rows].astype(np.int64)
            start = perf_counter()
            losses.append(float(step(*batch)))
            times.append(perf_counter() - start)
        print(json.dumps([times, losses, nn.accuracy(scores(x_test), y_test)]), flush=True)


def compare(name: str, systems: list[str], epochs: int) -> None:
    """Train one network in all systems and print what came of it."""
    command = [sys.executable, __file__, "--worker"]
    workers = {s: subprocess.Popen([*command, s, name], stdin=-1, stdout=-1, text=True) for s in systems}
    for worker in workers.values():
        assert worker.stdout.readline().strip() == "ready"
    times: dict[str, list[float]] = {s: [] for s in systems}
    losses: dict[str, list[float]] = {s: [] for s in systems}
    accuracy: dict[str, float] = {}
    for epoch in range(epochs):
        for s, worker in workers.items():
            print(epoch, file=worker.stdin, flush=True)
            of_epoch, of_loss, accuracy[s] = json.loads(worker.stdout.readline())
            times[s] += of_epoch if epoch else of_epoch[1:]
            losses[s] += of_loss
    for worker in workers.values():
        worker.stdin.close()
        worker.wait()
    for s in systems:
        of_epoch = np.mean(losses[s][-60:])
        text = f"{name:16} {s:6} step {1e3 * median(times[s]):7.3f} ms  loss {losses[s][0]:.4f} -> {of_epoch:.4f}"
        print(f"{text}  held out {accuracy[s]:.1%}")
    if len(systems) == 2:
        one, other = (np.array(losses[s]) for s in systems)
        apart = [float(np.max(np.abs(one[:count] - other[:count]) / other[:count])) for count in (10, 60)]
        ratio = median(times["ours"]) / median(times["torch"])
        print(f"{name:16} time / PyTorch {ratio:.2f}  losses apart by {apart[0]:.1e} in 10 steps, {apart[1]:.1e} in 60")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("networks", nargs="*", default=NETWORKS, help=f"of {', '.join(NETWORKS)} (default: all)")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    options = parser.parse_args()
    for name in options.networks:
        compare(name, options.systems, options.epochs)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        work(*sys.argv[2:])
    else:
        main()
