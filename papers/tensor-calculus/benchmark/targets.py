"""What the benchmark must show, beside what it shows.

Owns the targets and their table. Invariant: a target whose jobs were not measured is counted as such, and
not as passed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from benchmark.case import KINDS
from benchmark.records import Record, Run, ratio
from benchmark.systems import PEERS
from benchmark.tables import MOST_MEMORY, columns, counts_for_memory, fastest_peer, memory_ratio, number

LONG = 0.01
"""Seconds from which a call takes long beside what its first one takes more."""


@dataclass(frozen=True)
class Target:
    """What is measured, and what it should be at most, or at least."""

    text: str
    measured: float | None
    limit: float
    at_most: bool = True
    unit: str = ""
    note: str = ""

    @property
    def passed(self) -> bool | None:
        """Whether it was reached; None where it was not measured."""
        if self.measured is None:
            return None
        return self.measured <= self.limit if self.at_most else self.measured >= self.limit


_HESSIANS = (
    ("logistic", 10, "hessian", 2.5, 1.2, ("jax",)),
    ("logistic", 100, "hessian", 1.5, 2, ("jax",)),
    ("logistic", 1000, "hessian", 1.1, 3, ("jax",)),
    ("factorisation", 50, "hessian", 2, 30, PEERS),
    ("factorisation", 200, "hessian", 1.3, 300, PEERS),
    ("factorisation", 50, "compressed", 2.5, 40, PEERS),
    ("factorisation", 200, "compressed", 1.5, 1500, PEERS),
    ("relu", 10, "hessian", 2.5, 1.4, PEERS),
    ("relu", 30, "hessian", 1.3, 10, PEERS),
    ("tanh", 10, "hessian", 2.5, 1.2, PEERS),
    ("tanh", 30, "hessian", 1.4, 7, PEERS),
    ("quadratic-32", 2048, "hessian", 0.8, 8, PEERS),
    ("logsumexp-32", 2048, "hessian", 0.8, 0.7, PEERS),
)
"""Case, size, job, most against hand-written NumPy, least against the fastest of some peers."""

_AUTOMATIC = tuple([name for name in PEERS if name != "tensorgrad"])
"""The peers that differentiate programs, not expressions: they are shown too where tensorgrad is the fastest."""

_PROBLEMS = {"logistic": (10, 100, 1000), "factorisation": (50, 200), "relu": (10, 30)}
_PRODUCTS = {"logistic": (10, 100, 1000), "tanh": (10, 30), "atoms": (24,)}


def targets(run: Run) -> list[Target]:
    """All of them."""
    return [
        *_of_hessians(run),
        *_of_gradients(run),
        *_of_products(run),
        *_of_tracing(run),
        *_of_first_calls(run),
        *_of_memory(run),
    ]


def target_table(run: Run) -> str:
    """What was aimed at and what was measured."""
    rows = [["what must be shown", "target", "measured", "", ""]]
    found = targets(run)
    for target in [target for target in found if target.passed is not None]:
        sign = "≤" if target.at_most else "≥"
        measured, verdict = f"{number(target.measured)}{target.unit}", "pass" if target.passed else "FAIL"
        rows.append([target.text, f"{sign} {target.limit:g}{target.unit}", measured, verdict, target.note])
    missing = [target.text for target in found if target.passed is None]
    failed = [target for target in found if target.passed is False]
    counts = f"{len(found) - len(missing) - len(failed)} passed, {len(failed)} failed, {len(missing)} not measured"
    return f"{columns(rows)}\n{counts}" if len(rows) > 1 else f"what must be shown: {counts}"


def _of_hessians(run: Run) -> Iterator[Target]:
    for case, n, kind, most, least, peers in _HESSIANS:
        text = f"{KINDS[kind]}, {case}, n = {n}"
        ours = run.find(case, n, kind, "ours")
        yield Target(f"{text}: time / by hand", ratio(ours, run.find(case, n, kind, "hand")), most)
        peer, other = fastest_peer(run, case, n, kind, peers), fastest_peer(run, case, n, kind, _AUTOMATIC)
        yield Target(
            f"{text}: fastest peer / time",
            ratio(peer, ours),
            least,
            at_most=False,
            note="; ".join(dict.fromkeys([f"{p.system} {number(ratio(p, ours))}" for p in (peer, other) if p])),
        )


def _of_gradients(run: Run) -> Iterator[Target]:
    for case, sizes in _PROBLEMS.items():
        for n in sizes:
            ours = run.find(case, n, "value+gradient", "ours")
            plain = [ratio(ours, run.find(case, n, "function", name)) for name in ("ours", "ours-uncompiled")]
            to_function = max([known for known in plain if known is not None], default=None)
            text = f"value and gradient, {case}, n = {n}"
            yield Target(f"{text}: time / function", to_function, 3)
            jax = run.find(case, n, "value+gradient", "jax")
            yield Target(f"{text}: JAX / time", ratio(jax, ours), 1, at_most=False)


def _of_products(run: Run) -> Iterator[Target]:
    for case, sizes in _PRODUCTS.items():
        for n in sizes:
            product, gradient = [run.find(case, n, kind, "ours") for kind in ("hvp", "gradient")]
            yield Target(f"Hessian-vector product, {case}, n = {n}: time / gradient", ratio(product, gradient), 4)


def _of_tracing(run: Run) -> Iterator[Target]:
    for case, sizes in _PROBLEMS.items():
        for kind in ("gradient", "hessian"):
            record = run.find(case, sizes[0], kind, "ours-uncompiled")
            over = None
            if record is not None and record.over is not None and record.operations:
                over = 1e6 * record.over / record.operations
            text = f"without compile, {KINDS[kind]}, {case}, n = {sizes[0]}: more a traced operation"
            note = f"{record.operations} operations" if record is not None and record.operations else ""
            yield Target(text, over, 10, unit=" µs", note=note)


def _of_first_calls(run: Run) -> Iterator[Target]:
    for case, sizes in _PROBLEMS.items():
        for kind in ("hessian", "compressed"):
            found = [first_call(run.find(case, n, kind, "ours")) for n in sizes]
            known = [seconds for seconds in found if seconds is not None]
            yield Target(f"first call, {KINDS[kind]}, {case}", 1e3 * max(known) if known else None, 50, unit=" ms")
    for text, key, limit in (
        ("first call, Hessian of 50 layers", ("depth", 50, "hessian"), 1000),
        ("first call, fourth derivative, logistic", ("orders", 10, "fourth"), 500),
    ):
        seconds = first_call(run.find(*key, "ours"))
        yield Target(text, None if seconds is None else 1e3 * seconds, limit, unit=" ms")


def first_call(record: Record | None) -> float | None:
    """Seconds of a first call beyond those of the others: tracing, deriving, planning, compiling.

    The median where several processes made one. Where a call itself takes long, its noise would be larger than the
    difference; there the stages are added up.
    """
    if record is None or record.first is None or record.seconds is None:
        return None
    if record.stages and record.seconds > LONG:
        return sum(record.stages.values())
    if record.firsts:
        return median(record.firsts)
    return max(0.0, record.first - record.seconds)


def _of_memory(run: Run) -> Iterator[Target]:
    worst: dict[tuple[str, str], Record] = {}
    for record in run.records:
        multiple = memory_ratio(record)
        if multiple is None or not counts_for_memory(record):
            continue
        known = worst.get((record.case, record.kind))
        if known is None or multiple > (memory_ratio(known) or 0):
            worst[record.case, record.kind] = record
    for (case, kind), record in worst.items():
        yield Target(
            f"peak memory / (given + result), {KINDS[kind]}, {case}, n = {record.n}", memory_ratio(record), MOST_MEMORY
        )
