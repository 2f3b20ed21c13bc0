"""How time, first call and memory grow with the size, the depth and the order: exponents fitted to what was measured.

Owns the fits and their table. Invariant: an exponent is the slope of logarithms over the three largest sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from benchmark.case import KINDS
from benchmark.cases import CASES
from benchmark.records import Record, Run
from benchmark.tables import columns
from benchmark.targets import first_call

_LAST = 3
_ORDERS = ("gradient", "hessian", "third", "fourth")


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Of the line through points by least squares."""
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    across = sum([(a - mean_x) ** 2 for a in x])
    return sum([(a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)]) / across


def exponent(sizes: Sequence[int], values: Sequence[float | None]) -> float | None:
    """Of a power law through the largest sizes; None where fewer than two are known."""
    known = [(n, value) for n, value in zip(sizes, values, strict=True) if value is not None and value > 0][-_LAST:]
    if len(known) < 2:
        return None
    return slope([math.log(n) for n, _ in known], [math.log(value) for _, value in known])


_MEASURES: dict[str, tuple[str, Callable[[Record], float | None]]] = {
    "time": ("ours", lambda record: record.seconds),
    "by hand": ("hand", lambda record: record.seconds),
    "JAX": ("jax", lambda record: record.seconds),
    "first call": ("ours", first_call),
    "peak memory": ("ours", lambda record: record.peak),
}


def growth_table(run: Run) -> str:
    """Exponents against the size of each case, and factors against the order of the derivative."""
    rows = [["growth: exponent of", "against", *_MEASURES]]
    keys = dict.fromkeys([(record.case, record.kind) for record in run.records if record.system == "ours"])
    for case, kind in keys:
        sizes = sorted({record.n for record in run.records if (record.case, record.kind) == (case, kind)})
        if len(sizes) < _LAST:
            continue
        cells = [_cell(run, case, kind, sizes, name) for name in _MEASURES]
        rows.append([f"{KINDS[kind]}, {case}", CASES[case].parameter, *cells])
    for n in sorted({record.n for record in run.records if record.case == "orders"}):
        factors = [_factor(run, n, name) for name in _MEASURES]
        rows.append([f"factor for each order, logistic, n = {n}", "order", *factors])
    return columns(rows) if len(rows) > 1 else "growth: no case was measured at three sizes"


def _cell(run: Run, case: str, kind: str, sizes: Sequence[int], name: str) -> str:
    system, measure = _MEASURES[name]
    found = [run.find(case, n, kind, system) for n in sizes]
    power = exponent(sizes, [None if record is None else measure(record) for record in found])
    return "" if power is None else f"{power:.2f}"


def _factor(run: Run, n: int, name: str) -> str:
    system, measure = _MEASURES[name]
    known: list[tuple[int, float]] = []
    for order, kind in enumerate(_ORDERS, 1):
        record = run.find("orders", n, kind, system)
        value = None if record is None else measure(record)
        if value:
            known.append((order, math.log(value)))
    if len(known) < 2:
        return ""
    return f"×{math.exp(slope([order for order, _ in known], [value for _, value in known])):.1f}"
