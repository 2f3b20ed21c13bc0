"""The planner's estimates against the clock: every step of the plans of the paper's problems, by kind of kernel.

``python papers/tensor-calculus/cost_model.py`` prints, for each kind, how many steps there are, what they are estimated
to take together, what they take, and in between which factors the two differ. ``--steps`` prints each step.

A step is timed inside of its plan: the generated source with a clock read before each step, the least of many runs.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable, Iterator
from statistics import geometric_mean, quantiles
from typing import Any, NamedTuple

import numpy as np

import einsumad as ea
from einsumad.execution import compile_plan
from einsumad.planning import Plan, Step, machine_in_force
from einsumad.planning.kernels import Contract
from einsumad.planning.text import step_text

LEAST_SECONDS, LEAST_RUNS = 0.3, 7
rng = np.random.default_rng(3)


class Timed(NamedTuple):
    """A step of a problem, and the seconds that it takes."""

    problem: str
    step: Step
    seconds: float


def logistic(n: int) -> tuple[Callable[..., Any], Any]:
    """``Σ log(1 + exp(−y ⊙ (X w)))``, X of shape 2n × n."""
    x, y = rng.normal(size=(2 * n, n)), np.sign(rng.normal(size=2 * n))
    return lambda w: np.sum(np.log(np.exp(-y * (x @ w)) + 1)), rng.normal(size=n) / n


def factorisation(n: int) -> tuple[Callable[..., Any], Any]:
    """``‖Ω ∘ (T − U Vᵀ)‖²`` in U of shape n × 5."""
    t, omega, v = rng.normal(size=(n, n)), rng.random((n, n)) < 0.5, rng.normal(size=(n, 5))
    return lambda u: np.sum((omega * (t - u @ v.T)) ** 2), rng.normal(size=(n, 5))


def network(layers: int, n: int, activation: Callable[[Any], Any]) -> tuple[Callable[..., Any], Any]:
    """Softmax cross-entropy of layers of width n on n samples, in the first layer."""
    weights = [rng.normal(size=(n, n)) * np.sqrt(2 / n) for _ in range(layers)]
    x, target = rng.normal(size=(n, n)), np.eye(n)[rng.integers(0, n, n)]

    def loss(first: Any) -> Any:
        a = x
        for w in (first, *weights[1:]):
            a = activation(a @ w)
        return np.sum(np.log(np.sum(np.exp(a), axis=1))) - np.sum(target * a)

    return loss, weights[0]


def problems() -> Iterator[tuple[str, Plan, list[np.ndarray]]]:
    """Plans of gradients and Hessians of the paper's problems, with values for their inputs."""
    cases: dict[str, tuple[Callable[..., Any], Any]] = {}
    for n in (10, 30, 100, 300, 1000):
        cases[f"logistic {n}"] = logistic(n)
    for n in (10, 50, 100):
        cases[f"factorisation {n}"] = factorisation(n)
    for n in (10, 30):
        cases[f"ReLU net {n}"] = network(10, n, lambda z: np.maximum(z, 0))
        cases[f"tanh net {n}"] = network(4, n, np.tanh)
    for name, (f, x) in cases.items():
        transforms = {"gradient": ea.grad(f), "hessian": ea.hessian(f), "structure": ea.hessian(f, compressed=True)}
        for what, transform in transforms.items():
            plan = ea.explain(transform, x).plan
            yield f"{name} {what}", plan, [value_for(leaf) for leaf in plan.inputs]
    index = rng.integers(0, 200, 500)
    cases = {
        "gather": (lambda x: np.sum(np.sin(x[index]) * x[index[::-1]]), rng.normal(size=200)),
        "windows": (lambda x: np.sum(np.tanh(np.convolve(x, x[:5])) ** 2), rng.normal(size=200)),
        "mechanics": (
            lambda a: np.sum(np.log(np.linalg.det(a @ a.transpose(0, 2, 1) + np.eye(3)))),
            rng.normal(size=(300, 3, 3)),
        ),
    }
    for name, (f, x) in cases.items():
        for what, transform in {"gradient": ea.grad(f), "structure": ea.hessian(f, compressed=True)}.items():
            plan = ea.explain(transform, x).plan
            yield f"{name} {what}", plan, [value_for(leaf) for leaf in plan.inputs]
    f, x = network(4, 100, np.tanh)
    plan = ea.explain(ea.grad(f), x).plan
    yield "tanh net 100 gradient", plan, [value_for(leaf) for leaf in plan.inputs]


def value_for(leaf: Any) -> np.ndarray:
    """Some value of the right shape and dtype: what steps take hardly depends on it."""
    if leaf.dtype.kind == "b":
        return rng.random(leaf.shape) < 0.5
    if leaf.dtype.kind in "iu":
        return rng.integers(0, 200, leaf.shape).astype(leaf.dtype)
    return np.asarray(rng.normal(size=leaf.shape) / max(1, max(leaf.shape, default=1)), leaf.dtype)


def timed(problem: str, plan: Plan, arrays: list[np.ndarray]) -> list[Timed]:
    """The steps of a plan with the least time that each took."""
    compiled = compile_plan(plan)
    lines = compiled.source.split("\n")
    written: list[str] = []
    for line in lines:
        found = re.match(r"    t(\d+) = ", line)
        if found and int(found.group(1)) >= len(plan.inputs):
            written.append(f"    _reads.append(_clock()); _registers.append({found.group(1)})")
        if line.startswith("    return"):
            written.append("    _reads.append(_clock())")
        written.append(line)
    scope = compiled.function.__globals__ | {"_clock": time.perf_counter_ns, "_reads": [], "_registers": []}
    exec(compile("\n".join(written), "<timed plan>", "exec"), scope)  # noqa: S102 - generated source with clocks
    best: dict[int, float] = {}
    overhead = clock_overhead()
    start, runs = time.perf_counter(), 0
    while runs < LEAST_RUNS or time.perf_counter() - start < LEAST_SECONDS:
        scope["_reads"].clear()
        scope["_registers"].clear()
        with np.errstate(all="ignore"):
            scope["plan"](*arrays)
        reads, registers = scope["_reads"], scope["_registers"]
        taken: dict[int, float] = {}
        for k, register in enumerate(registers):
            taken[register] = taken.get(register, 0.0) + max(0.0, (reads[k + 1] - reads[k] - overhead) * 1e-9)
        for register, seconds in taken.items():
            best[register] = min(best.get(register, np.inf), seconds)
        runs += 1
    return [Timed(problem, step, best.get(step.register, 0.0)) for step in plan.steps]


def clock_overhead() -> float:
    """The nanoseconds between two reads of the clock, with what is noted beside."""
    reads: list[int] = []
    notes: list[int] = []
    for _ in range(2000):
        reads.append(time.perf_counter_ns())
        notes.append(5)
    return float(np.median(np.diff(reads)))


def report(found: list[Timed]) -> None:
    """A line for each kind of kernel, and one for each problem."""
    machine = machine_in_force()
    print(
        f"{'kernel':<26}{'steps':>6}{'estimated':>12}{'measured':>12}{'ratio':>8}    of 90 % of the steps between, mean"
    )
    groups: dict[str, list[Timed]] = {}
    for item in found:
        groups.setdefault(kind_of_step(item.step), []).append(item)
    for name, items in sorted(groups.items()):
        line(name, items, machine)
    print()
    by_problem: dict[str, list[Timed]] = {}
    for item in found:
        by_problem.setdefault(item.problem, []).append(item)
    for name, items in by_problem.items():
        line(name, items, machine)
    line("all", found, machine)


def kind_of_step(step: Step) -> str:
    """The kernel, and of a contraction what it is for BLAS."""
    kernel = step.kernel
    name = type(kernel).__name__
    if not isinstance(kernel, Contract):
        return name
    both = set(kernel.left) & set(kernel.right)
    stack = any(label < len(step.shape) for label in both)
    free = [set(labels) - both for labels in (kernel.left, kernel.right)]
    return f"{name}, {'stack of ' if stack else ''}{['dots', 'matrix by vector', 'matrices'][sum(map(bool, free))]}"


def line(name: str, items: list[Timed], machine: Any) -> None:
    estimated = [item.step.cost.seconds(machine) for item in items]
    measured = [item.seconds for item in items]
    ratios = [e / m for e, m in zip(estimated, measured, strict=True) if e and m]
    total, real = sum(estimated), sum(measured)
    spread = ""
    if ratios:
        low, high = (min(ratios), max(ratios)) if len(ratios) < 20 else (quantiles(ratios, n=20)[k] for k in (0, -1))
        spread = f"{low:8.2f} ... {geometric_mean(ratios):5.2f} ... {high:6.2f}"
    ratio = f"{total / real:8.2f}" if real else f"{'':>8}"
    print(f"{name:<26}{len(items):>6}{total * 1e6:>10.1f}us{real * 1e6:>10.1f}us{ratio}{spread}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", action="store_true", help="print every step")
    parser.add_argument("--only", default="", help="problems whose name has this text")
    options = parser.parse_args()
    found: list[Timed] = []
    for name, plan, arrays in problems():
        if options.only in name:
            found += timed(name, plan, arrays)
    if options.steps:
        for item in found:
            estimate = item.step.cost.seconds(machine_in_force())
            times = f"{item.problem:<26}{estimate * 1e6:>9.2f}{item.seconds * 1e6:>9.2f}us"
            print(f"{times}  {step_text(item.step)} {item.step.stored}")
    report(found)


if __name__ == "__main__":
    main()
