"""Matrix factorisation by Newton's method, against L-BFGS.

A matrix T of which some entries are known is approximated by U Vᵀ. In U alone, and in V alone, the loss is a quadratic
function whose Hessian has one small block for each row; so one Newton step solves each half exactly, and the dense
Hessian, 800 MB for a thousand rows of ten, is never there. In both together the Hessian is indefinite far from a
minimum, and Newton's method damps it. All of this is read off the loss as it is written.

``python examples/newton_factorisation.py 1000 10 picture.png`` runs it with a thousand rows and rank ten, and draws
loss against time and against iterations (needs matplotlib).
"""

import importlib
import sys
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
from scipy.optimize import minimize

import einsumad as ea

RIDGE, NOISE, KNOWN = 0.01, 0.03, 0.3
WEAKEST = 0.1
LARGEST_SCHUR_COMPLEMENT = 2000


@dataclass(frozen=True)
class Problem:
    """The matrix, which of its entries are known, and where the search for U and V starts."""

    T: np.ndarray
    known: np.ndarray
    U: np.ndarray
    V: np.ndarray


def make_problem(size, rank, seed=0):
    """A square matrix of that rank with noise, of which a part is known; its weakest factor is a tenth of the first."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(size, rank)) * np.geomspace(1, WEAKEST, rank)
    T = factors @ rng.normal(size=(rank, size)) + NOISE * rng.normal(size=(size, size))
    known = (rng.random((size, size)) < KNOWN).astype(float)
    return Problem(T, known, rng.normal(size=(size, rank)), rng.normal(size=(size, rank)))


def loss(U, V, T, known):
    """Half the squared error at the known entries, with a ridge term."""
    return 0.5 * np.sum(known * (T - U @ V.T) ** 2) + 0.5 * RIDGE * (np.sum(U**2) + np.sum(V**2))


def balanced(U, V):
    """The factors of the same product for which the ridge term is least (Srebro, Rennie and Jaakkola, 2004)."""
    (Q, R), (P, S) = np.linalg.qr(U), np.linalg.qr(V)
    left, values, right = np.linalg.svd(R @ S.T)
    return Q @ left * np.sqrt(values), P @ right.T * np.sqrt(values)


def alternating_newton(problem, tolerance, most=300):
    """Newton steps in U and in V in turn, until a round gains less than the tolerance; seconds and losses.

    How large U is beside V matters to the ridge term only, which is small: steps in turn would settle it slowly.
    """

    def step(U, V, argnums):
        return ea.optim.newton_step(loss, U, V, problem.T, problem.known, argnums=argnums)

    U, V = problem.U, problem.V
    for argnums in (0, 1):
        step(U, V, argnums)  # derived and planned before the clock starts
    began = perf_counter()
    seconds, losses = [], []
    while len(losses) < most and (len(losses) < 2 or losses[-2] - losses[-1] > tolerance * losses[-1]):
        seconds.append(perf_counter() - began)
        half = step(U, V, 0)
        losses.append(half.value)
        U, V = balanced(half.x, step(half.x, V, 1).x)
    return seconds, losses


def joint_newton(problem):
    """Damped Newton steps in both factors together."""
    arguments = problem.U, problem.V, problem.T, problem.known
    ea.optim.newton(loss, *arguments, argnums=(0, 1), maxiter=1)
    result = ea.optim.newton(loss, *arguments, argnums=(0, 1))
    return [record.seconds for record in result.history], [record.value for record in result.history]


def quasi_newton(problem, tolerance):
    """L-BFGS of SciPy with exact gradients, compiled once."""
    arguments = ea.optim.minimize_arguments(
        loss, problem.U, problem.V, problem.T, problem.known, argnums=(0, 1), method="L-BFGS-B", compiled=True
    )
    seconds, losses = [0.0], [arguments["fun"](arguments["x0"])[0]]
    began = perf_counter()

    def record(intermediate_result):
        seconds.append(perf_counter() - began)
        losses.append(intermediate_result.fun)

    options = {"maxiter": 5000, "maxfun": 10000, "ftol": tolerance, "gtol": 0.0}
    minimize(**arguments, callback=record, options=options)
    return seconds, losses


def compare(size, rank, tolerance=1e-10):
    """The runs of all methods by name; both factors together only where the Schur complement is small."""
    problem = make_problem(size, rank)
    runs = {"alternating Newton": alternating_newton(problem, tolerance), "L-BFGS": quasi_newton(problem, tolerance)}
    if size * rank <= LARGEST_SCHUR_COMPLEMENT:
        runs["joint Newton"] = joint_newton(problem)
    else:
        print(f"joint Newton is left out: its Schur complement is dense, {8e-9 * (size * rank) ** 2:.1f} GB\n")
    return runs


def table(runs):
    """Print for each method how long it took, to the end and to within a thousandth of the least loss of all."""
    best = min(losses[-1] for _, losses in runs.values())
    print("method              iterations  seconds          loss  to 0.1% of the best: iterations  seconds")
    for name, (seconds, losses) in runs.items():
        close = np.flatnonzero(np.array(losses) <= 1.001 * best)
        there = f"{close[0]:34}  {seconds[close[0]]:7.2f}" if close.size else f"{'never':>34}"
        print(f"{name:18}  {len(losses) - 1:10}  {seconds[-1]:7.2f}  {losses[-1]:12.6f}  {there}")


def draw(runs, path):
    """The distance from the least loss against iterations and against time, as a picture."""
    figure_class = importlib.import_module("matplotlib.figure").Figure
    figure = figure_class(figsize=(10, 4), layout="constrained")
    by_iteration, by_time = figure.subplots(1, 2, sharey=True)
    best = min(min(losses) for _, losses in runs.values())
    for name, (seconds, losses) in runs.items():
        gap = np.maximum(np.array(losses) / best - 1, 1e-12)
        by_iteration.semilogy(gap, label=name)
        by_time.semilogy(seconds, gap, label=name)
    by_iteration.set(xlabel="iteration", ylabel="loss / least loss − 1")
    by_time.set(xlabel="seconds")
    by_time.legend()
    figure.savefig(path)
    print(f"\nthe picture is in {path}")


def main(size=100, rank=4, path=None):
    problem = make_problem(size, rank)
    hessian = ea.hessian(loss, compressed=True)(problem.U, problem.V, problem.T, problem.known)
    print(f"{size} × {size} of rank {rank}, {KNOWN:.0%} known. The Hessian in U:\n{hessian.structure}\n")
    runs = compare(size, rank)
    table(runs)
    if path is not None:
        draw(runs, path)
    return runs


if __name__ == "__main__":
    main(*[int(word) for word in sys.argv[1:3]], *[Path(word) for word in sys.argv[3:4]])
