"""The benchmark: hand-written versions against differences, this library against them, the commands of workers."""

from __future__ import annotations

import sys
from functools import partial

import numpy as np
import pytest
from benchmark import ablation, command, measuring, memory, tables, targets
from benchmark.case import Case, Job
from benchmark.cases import CASES
from benchmark.growth import exponent
from benchmark.measuring import Limits, Systems, measure
from benchmark.operations import count_operations
from benchmark.process import LimitError, Process
from benchmark.records import Record, Run, load, ratio
from benchmark.systems import installed, open_system
from benchmark.systems.base import NotOfferedError, flat
from benchmark.systems.hand import by_hand, compared
from benchmark.systems.ours import Ours
from benchmark.tables import case_tables, memory_ratio
from benchmark.worker import Worker, largest_difference

JOBS = [(case, job) for case in CASES.values() for job in case.jobs]
NAMES = [f"{case.name}-{job.kind}" for case, job in JOBS]


@pytest.fixture(scope="module")
def ours():
    return Ours("ours")


@pytest.mark.parametrize(("case", "job"), JOBS, ids=NAMES)
def test_result_of_this_library_is_the_one_by_hand(ours, case, job):
    plain = case.data(case.tiny)
    found = ours.arrays(job, plain, ours.build(case, job, plain)())
    assert largest_difference(found, compared(job, plain, by_hand(job, plain)())) <= case.tolerance


def test_what_is_written_for_a_graph_is_not_asked_without_compile():
    case = CASES["material"]
    with pytest.raises(NotOfferedError):
        Ours("ours-uncompiled").build(case, case.job("blocks"), case.data(4))


def differences(f, x, step):
    """Derivatives of f's result in the entries of x, by central differences of fourth order; axes of x last."""
    columns = []
    for place in np.ndindex(x.shape):
        shift = np.zeros_like(x)
        shift[place] = step
        near, far = f(x + shift) - f(x - shift), f(x + 2 * shift) - f(x - 2 * shift)
        columns.append((8 * near - far) / (12 * step))
    return np.stack(columns, axis=-1).reshape((*np.shape(columns[0]), *x.shape))


def lower(case: Case, kind: str):
    """The job by hand that is differentiated once to give this one, and in which variable."""
    below = {
        "gradient": ("function", 0),
        "hessian": ("gradient", 0),
        "third": ("hessian", 0),
        "fourth": ("third", 0),
        "mixed": ("gradient", 1),
    }
    name, variable = below[kind]
    kinds = [job.kind for job in case.jobs]
    return (case.job(name) if name in kinds else None), variable


ONCE = [
    (case, job)
    for case, job in JOBS
    if job.kind in ("gradient", "hessian", "third", "fourth", "mixed") and case.tolerance < 1e-6
]


@pytest.mark.parametrize(("case", "job"), ONCE, ids=[f"{case.name}-{job.kind}" for case, job in ONCE])
def test_derivatives_by_hand_are_those_of_differences(case, job):
    plain = case.data(case.tiny)
    below, variable = lower(case, job.kind)
    by_hand_below = partial(case.function, Ours("ours").xp) if below is None else below.by_hand
    found = job.by_hand(plain.constants, *plain.variables)
    for place in job.argnums if job.kind == "gradient" else (variable,):

        def f(x, place=place):
            given = [x if k == place else value for k, value in enumerate(plain.variables)]
            return np.asarray(by_hand_below(plain.constants, *given))

        expected = differences(f, plain.variables[place], 1e-5)
        mine = found[job.argnums.index(place)] if isinstance(found, tuple) else found
        np.testing.assert_allclose(mine, expected, rtol=0, atol=1e-7 * max(1.0, float(np.max(np.abs(expected)))))


@pytest.mark.parametrize("case", [case for case in CASES.values() if "function" in [job.kind for job in case.jobs]])
def test_values_by_hand_are_those_of_the_function(case):
    plain = case.data(case.tiny)
    expected = case.function(Ours("ours").xp, plain.constants, *plain.variables)
    found = case.job("function").by_hand(plain.constants, *plain.variables)
    for mine, theirs in zip(flat(found), flat(expected), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5 if case.tolerance > 1e-6 else 1e-10)


def of_gradient(job: Job, plain, direction):
    """The derivative of the gradient by hand along a direction."""

    def along(step):
        return job.by_hand(plain.constants, plain.variables[0] + step * direction, *plain.variables[1:])

    h = 1e-5
    return (8 * (along(h) - along(-h)) - along(2 * h) + along(-2 * h)) / (12 * h)


@pytest.mark.parametrize("name", ["logistic", "factorisation", "relu", "tanh", "atoms", "material", "kmeans"])
def test_structured_and_partial_hessians_by_hand_are_those_of_differences(name):
    case = CASES[name]
    plain = case.data(case.tiny)
    v = plain.directions[0]
    for job in case.jobs:
        if job.kind not in ("hvp", "compressed", "blocks", "diagonal"):
            continue
        result = by_hand(job, plain)()
        if job.kind == "compressed":
            result = job.product(plain.constants, result, *plain.directions)
        elif job.kind == "blocks":
            result = np.einsum("iabcd,icd->iab", result, v)
        elif job.kind == "diagonal":
            result = result * v
        expected = of_gradient(case.job("gradient"), plain, v)
        np.testing.assert_allclose(result, expected, rtol=0, atol=1e-7 * max(1.0, float(np.max(np.abs(expected)))))


def test_jacobian_of_the_bundle_by_hand_is_that_of_differences():
    case = CASES["bundle"]
    plain = case.data(case.tiny)
    job = case.job("compressed-jacobian")
    found = job.product(plain.constants, by_hand(job, plain)(), *plain.directions)
    h = 1e-4

    def along(step):
        moved = [value + step * v for value, v in zip(plain.variables, plain.directions, strict=True)]
        return case.job("function").by_hand(plain.constants, *moved)

    for mine, up, down in zip(found, along(h), along(-h), strict=True):
        np.testing.assert_allclose(mine, (up - down) / (2 * h), atol=1e-5)


def test_sizes_of_all_cases_are_data():
    for case in CASES.values():
        small, large = case.data(min(case.sizes)), case.data(sorted(case.sizes)[1])
        assert small.nbytes < large.nbytes or case.parameter == "operations"
        assert all(x.dtype == v.dtype for x, v in zip(small.variables, small.directions, strict=True))


def test_operations_of_a_function_are_counted():
    case = CASES["logistic"]
    assert count_operations(case, case.data(3)) == 6  # X w, -y times it, exp, + 1, log, sum


def test_a_difference_is_found():
    a = np.ones(3)
    assert largest_difference([a], [a]) == 0
    assert largest_difference([a], [a + 1e-3]) == pytest.approx(1e-3, rel=1e-2)
    assert largest_difference([a[:2]], [a]) == np.inf
    assert largest_difference([a.astype(np.float32)], [a]) == np.inf
    assert largest_difference([np.full(3, np.nan)], [a]) == np.inf


HUGE_PAGE = 2**21


def test_memory_of_a_call_is_seen():
    def call():
        return float(np.sum(np.ones(10**6)))

    assert memory.allocated_peak(call) == pytest.approx(8e6, rel=0.01)
    if sys.platform == "linux":
        found = memory.resident_peak(call)
        assert found is None or 7.2e6 < found < 8e6 + 2 * HUGE_PAGE  # memory comes in pages, and large ones at that


def test_a_wrong_value_of_a_worker_is_not_the_same():
    worker = Worker(Ours("ours"))
    worker.build("quadratic-64", 4, "gradient")
    assert worker.check()["same"]
    right = worker._call
    worker._call = lambda: right() * (1 + 1e-6)
    assert not worker.check()["same"]


def test_workers_answer_and_a_run_is_saved_and_printed(tmp_path):
    run, told = Run(), []
    case = CASES["factorisation"]
    limits = Limits(rounds=2, round_seconds=0.001)
    with Systems(("ours", "hand", "no-such-system"), limits, {}, told.append) as systems:
        measure(systems, run, case, 30, case.job("compressed"))
    assert systems.missing == ["no-such-system"]
    for name in ("ours", "hand"):
        record = run.find("factorisation", 30, "compressed", name)
        assert record.failed is None
        assert len(record.times) == 2
        assert record.same
        assert record.result == 30 * 5 * 5 * 8
        assert memory_ratio(record) > 0
    assert run.find("factorisation", 30, "compressed", "ours").stages["plan"] > 0
    run.save(tmp_path / "run.json")
    assert load(tmp_path / "run.json") == run
    assert "matrix factorisation" in case_tables(run)
    assert command.main(["--table", str(tmp_path / "run.json")]) == 0
    run.records[0].same = False
    run.save(tmp_path / "run.json")
    assert command.main(["--table", str(tmp_path / "run.json")]) == 1
    assert any("compressed" in line for line in told)


def test_what_a_call_takes_longer_is_the_median_difference_of_rounds(monkeypatch):
    worker, own = Worker(Ours("ours-uncompiled")), iter([5.0, 90.0, 7.0, *[6.0] * 6])
    worker.build("logistic", 3, "gradient")
    monkeypatch.setattr(Worker, "round", lambda self, calls: {"seconds": next(own) if self is worker else 1.0 * calls})
    assert worker.beside("ours", 2) == {"over": 4.0}


def test_what_is_not_compiled_is_timed_beside_what_is():
    run, case = Run(), CASES["logistic"]
    with Systems(("ours", "ours-uncompiled"), Limits(rounds=1, round_seconds=0.001), {}, lambda _: None) as systems:
        for kind in ("function", "gradient"):
            measure(systems, run, case, 10, case.job(kind))
    record = run.find("logistic", 10, "gradient", "ours-uncompiled")
    assert record.failed is None
    assert run.find("logistic", 10, "gradient", "ours").over is None
    assert run.find("logistic", 10, "function", "ours-uncompiled").over is None
    (shown,) = [t for t in targets.targets(run) if t.text.startswith("without compile, gradient, logistic")]
    assert shown.measured == pytest.approx(1e6 * record.over / 6)


def test_a_run_from_the_command_line(tmp_path, capfd):
    path, folder = tmp_path / "run.json", tmp_path / "plots"
    arguments = ["--cases", "quadratic-64", "--systems", "ours", "hand", "--rounds", "1", "--threads", "1"]
    assert command.main([*arguments, "--sizes", "4", "8", "--json", str(path)]) == 0
    printed = capfd.readouterr().out
    assert "xᵀAx, float64" in printed
    assert "threads of each system: 1" in printed
    assert {(record.kind, record.n) for record in load(path).records} == {
        (kind, n) for kind in ("function", "gradient", "hessian") for n in (4, 8)
    }
    pytest.importorskip("matplotlib")
    assert command.main(["--table", str(path), "--plots", str(folder)]) == 0
    assert (folder / "quadratic-64.png").stat().st_size > 1000


def test_an_error_of_this_library_is_told(tmp_path, capfd):
    path = tmp_path / "run.json"
    Run(records=[Record("logistic", 3, "hessian", "ours", failed="ValueError: no")]).save(path)
    assert command.main(["--table", str(path)]) == 1
    assert "FAILED: ours, logistic" in capfd.readouterr().out
    Run(records=[Record("logistic", 3, "hessian", "ours", failed="over 20 s")]).save(path)
    assert command.main(["--table", str(path)]) == 0


def test_a_first_call_is_what_it_takes_more():
    short = Record("logistic", 10, "hessian", "ours", [0.001], first=0.004, stages={"plan": 0.001})
    assert targets.first_call(short) == pytest.approx(0.003)
    long = Record("logistic", 10, "hessian", "ours", [1.0], first=1.5, stages={"plan": 0.001, "trace": 0.002})
    assert targets.first_call(long) == pytest.approx(0.003)
    several = Record("logistic", 10, "hessian", "ours", [0.001], first=0.09, firsts=[0.003, 0.002, 0.05])
    assert targets.first_call(several) == 0.003


@pytest.mark.parametrize(("alone", "least"), [({"resident": 3, "allocated": 9}, (3, 7)), ({}, (8, 7)), (None, (8, 7))])
def test_memory_is_the_least_of_what_is_measured_in_an_old_process_and_in_a_new_one(monkeypatch, alone, least):
    record = Record("logistic", 10, "hessian", "ours", resident=8, allocated=7)
    monkeypatch.setattr(measuring, "_alone", lambda *_: alone)
    measuring._measure_memory_alone(record, None, None, 10, None)
    assert (record.resident, record.allocated) == least


def test_memory_counts_from_a_megabyte_on():
    assert tables.counts_for_memory(Record("logistic", 10, "hessian", "ours", given=2**20, result=8))
    assert not tables.counts_for_memory(Record("logistic", 10, "hessian", "ours", given=2**19, result=8))
    assert not tables.counts_for_memory(Record("logistic", 10, "hessian", "jax", given=2**20, result=8))


def test_systems_are_compared_round_by_round():
    ours = Record("logistic", 10, "hessian", "ours", [1.0, 30.0, 2.0])
    hand = Record("logistic", 10, "hessian", "hand", [2.0, 10.0, 2.0])
    assert ratio(ours, hand) == 1.0
    gradient = Record("logistic", 10, "gradient", "ours", [4.0, 5.0, 6.0])
    assert ratio(ours, gradient) == 2.0 / 5.0
    hand.times.pop()
    assert ratio(ours, hand) == 2.0 / 6.0
    hand.same = False
    assert ratio(ours, hand) is None


def test_a_wrong_value_is_told_and_counts_for_nothing(tmp_path, capfd):
    path = tmp_path / "run.json"
    for system, status in (("jax", 1), ("tensorgrad", 0)):
        wrong = Record("factorisation", 50, "hessian", system, [1e-6], difference=1.0, same=False)
        Run(records=[wrong, Record("factorisation", 50, "hessian", "ours", [1e-3])]).save(path)
        assert command.main(["--table", str(path)]) == status
        printed = capfd.readouterr().out
        assert f"WRONG VALUE: {system}, factorisation, n = 50" in printed
        assert "fastest peer" not in printed


def test_what_options_give_is_shown_as_ratios():
    records = [Record("logistic", 10, "hessian", ablation.ON, [1e-3], flops=100)]
    records += [Record("logistic", 10, "hessian", name, [2e-3], flops=300) for name in ablation.VARIANTS[1:]]
    text = ablation.ablation_table(Run(records=records))
    assert text.count("2.00") == 6
    assert text.count("3.00") == 6


PEERS = ("jax", "torch", "autograd", "tensorgrad")


@pytest.mark.parametrize("name", [name for name in PEERS if installed(name)])
def test_other_systems_give_the_same(name):
    system = open_system(name)
    worker = Worker(system)
    for case, kind in (
        ("logistic", "hessian"),
        ("factorisation", "mixed"),
        ("newton-glm", "newton"),
        ("kmeans", "diagonal"),
        ("bundle", "compressed-jacobian"),
        ("material", "blocks"),
    ):
        try:
            worker.build(case, CASES[case].tiny, kind)
        except NotOfferedError:
            assert name in ("autograd", "tensorgrad")
            continue
        assert worker.check()["same"], (case, kind)


def test_a_limit_ends_the_process():
    process = Process("hand", 2**40, {})
    with pytest.raises(LimitError, match="over 0 s"):
        process.ask("build", 0.0, case="logistic", n=2000, kind="hessian")
    assert process.ask("build", 60.0, case="logistic", n=3, kind="hessian")["first"] > 0
    assert "no such kind" in process.ask("build", 60.0, case="logistic", n=3, kind="no such kind")["error"]
    process.memory = 1
    with pytest.raises(LimitError, match="GB"):
        process.ask("build", 60.0, case="logistic", n=2000, kind="hessian")
    process.close()


def test_exponents_and_targets():
    assert exponent([1, 10, 100, 1000], [5.0, 1.0, 100.0, 10000.0]) == pytest.approx(2)
    assert exponent([1, 10], [None, 1.0]) is None
    run = Run(records=[Record("logistic", 10, "hessian", name, [t]) for name, t in (("ours", 1.0), ("hand", 0.5))])
    found = {target.text: target for target in targets.targets(run)}
    target = found["Hessian, logistic, n = 10: time / by hand"]
    assert (target.measured, target.passed) == (2.0, True)
    run.records[0].times = [2.0]
    found = {target.text: target for target in targets.targets(run)}
    assert found[target.text].passed is False
    assert found["Hessian, logistic, n = 100: time / by hand"].passed is None
