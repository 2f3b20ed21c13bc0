"""The rates of this machine, measured in about a second.

Owns these measurements. Imports planning's machines. Invariant: a rate is the best of many short runs, which other work
on the machine disturbs least, and is rounded, so that files of two runs differ little.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from einsumad.planning import Machine, calibrated, set_machine
from einsumad.planning.machine_files import write_rates

_ROUNDS, _SECONDS = 8, 0.02
"""How often everything is measured in turn, and how long each thing takes then."""
_FLOPS_OF_EXP = 12
"""What the catalogue counts for one exponential."""
_NEAR, _FAR = 2**14, 2**22
_SIDE, _ROWS = 384, 64
_SHORTEST = 1e-8


def calibrate() -> Machine:
    """Measure this machine, estimate with its rates from now on, and keep them in a file for later processes.

    The planner weighs arithmetic, memory traffic and calls with them. The file, ``machine-....json`` in the user's
    cache folder, is for this processor, number of threads, NumPy and BLAS; another machine that shares the folder has
    another. The environment variable ``EINSUMAD_MACHINE`` names another file, or with ``default`` none: then plans are
    those of the default machine, the same everywhere.

    Raises :class:`OSError` if the file cannot be written; the rates are in force all the same.

    >>> machine = calibrate()  # doctest: +SKIP
    >>> print(machine)  # doctest: +SKIP
    calibrated machine: 5.6e+10 flops/s in products, ...
    """
    rates = {name: _rounded(value) for name, value in measured().items()}
    machine = calibrated(rates)
    set_machine(machine)
    write_rates(rates)
    return machine


def measured() -> dict[str, float]:
    """The rates, by the names that :class:`einsumad.planning.Machine` has for them."""
    rng = np.random.default_rng(0)
    few, matrix = rng.random((4, 4)), rng.random((_SIDE, _SIDE))
    x, y, large = rng.random(_NEAR), rng.random(_NEAR), rng.random(_FAR)
    rows, row = rng.random((_ROWS, 1)), rng.random(8)
    product, out, table = np.empty_like(matrix), np.empty_like(x), np.empty((_ROWS, 8))
    runs: dict[str, Callable[[], Any]] = {
        "entries": lambda: np.multiply(few, few),
        "matrices": lambda: few.T.dot(few),
        "products": lambda: np.dot(matrix, matrix, product),
        "near": lambda: x * y,
        "exp": lambda: np.exp(x, out),
        "far": lambda: large * large,
        "rows": lambda: np.multiply(rows, row, table),
    }
    best = dict.fromkeys(runs, np.inf)
    for _ in range(_ROUNDS):
        for name, run in runs.items():
            best[name] = min(best[name], _best(run))
    call = (best["entries"] + best["matrices"]) / 2
    near = 3 * 8 * _NEAR / max(best["near"] - call, _SHORTEST)
    return {
        "products_per_second": 2 * _SIDE**3 / best["products"],
        "flops_per_second": _FLOPS_OF_EXP * _NEAR / max(best["exp"] - call, _SHORTEST),
        "near_bytes_per_second": near,
        "far_bytes_per_second": min(2 * 8 * _FAR / best["far"], near),
        "seconds_per_call": call,
        "seconds_per_loop": max(best["rows"] - call, _SHORTEST) / _ROWS,
    }


def _best(run: Callable[[], Any]) -> float:
    """The least time of a run, of as many as fit."""
    start = perf_counter()
    run()
    count = max(1, int(_SECONDS / 10 / max(perf_counter() - start, _SHORTEST)))
    best, end = np.inf, start + _SECONDS
    while perf_counter() < end:
        start = perf_counter()
        for _ in range(count):
            run()
        best = min(best, (perf_counter() - start) / count)
    return float(best)


def _rounded(value: float) -> float:
    return float(f"{value:.2g}")
