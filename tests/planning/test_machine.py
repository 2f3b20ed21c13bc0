"""Rates of machines in files: read where they belong to this machine, otherwise ignored with a warning."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import einsumad as ea
from einsumad.planning import Machine, machine_in_force, set_machine
from einsumad.planning.machine import DEFAULT, calibrated
from einsumad.planning.machine_files import RATES, cache_folder, machine_file, read_rates, this_machine, write_rates

RATES_OF_A_MACHINE = dict(zip(RATES, (6e10, 2.4e10, 2e11, 3e10, 3e-7, 1.3e-8), strict=True))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("EINSUMAD_MACHINE")
    return tmp_path


@pytest.fixture
def _back() -> Iterator[None]:
    yield
    set_machine(DEFAULT)


def read_quietly() -> dict[str, float] | None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return read_rates()


def test_what_is_written_is_read(folder):
    assert read_quietly() is None
    path = write_rates(RATES_OF_A_MACHINE)
    assert path.parent == folder / "einsumad" == cache_folder()
    assert read_quietly() == RATES_OF_A_MACHINE
    assert [p.name for p in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda _: "{", "Expecting"),
        (lambda _: "", "Expecting"),
        (lambda _: "[" * 50_000, ""),
        (lambda _: "[1, 2]", "no file of rates"),
        (lambda c: json.dumps({**c, "format": 2}), "of format 1"),
        (lambda c: json.dumps({**c, "machine": {**c["machine"], "numpy": "1.0"}}), "another machine"),
        (lambda c: json.dumps({**c, "rates": {"speed": 1.0}}), "its rates are not"),
        (lambda c: json.dumps({**c, "rates": {**c["rates"], "flops_per_second": "fast"}}), "'fast', not between"),
        (lambda c: json.dumps({**c, "rates": {**c["rates"], "flops_per_second": True}}), "True, not between"),
        (lambda c: json.dumps({**c, "rates": {**c["rates"], "seconds_per_call": -1}}), "-1, not between"),
        (lambda c: json.dumps({**c, "rates": {**c["rates"], "seconds_per_call": float("nan")}}), "nan, not between"),
        (lambda c: json.dumps({**c, "rates": {**c["rates"], "seconds_per_call": float("inf")}}), "inf, not between"),
    ],
)
def test_what_is_damaged_or_foreign_is_ignored_with_a_warning(change, reason):
    path = write_rates(RATES_OF_A_MACHINE)
    path.write_text(change(json.loads(path.read_text())))
    with pytest.warns(UserWarning, match="not used, but those of the default machine") as met:
        assert read_rates() is None
    assert reason in str(met[0].message)
    assert str(path) in str(met[0].message)


def test_bytes_that_are_no_text():
    write_rates(RATES_OF_A_MACHINE).write_bytes(b"\xff\xfe\x00")
    with pytest.warns(UserWarning, match="not used"):
        assert read_rates() is None


def test_the_environment_names_a_file_or_none(tmp_path, monkeypatch):
    own = write_rates(RATES_OF_A_MACHINE)
    other = tmp_path / "other.json"
    content = json.loads(own.read_text())
    other.write_text(json.dumps({**content, "machine": {}, "rates": {**content["rates"], "seconds_per_call": 1e-6}}))
    monkeypatch.setenv("EINSUMAD_MACHINE", str(other))
    assert read_quietly() == {**RATES_OF_A_MACHINE, "seconds_per_call": 1e-6}
    assert machine_file() == other
    monkeypatch.setenv("EINSUMAD_MACHINE", "default")
    assert read_quietly() is None
    monkeypatch.setenv("EINSUMAD_MACHINE", str(tmp_path / "none.json"))
    with pytest.warns(UserWarning, match="there is no such file"):
        assert read_rates() is None


def test_a_user_without_a_home_has_the_default_machine(monkeypatch):
    """Such as one of a container, whose number nobody knows."""

    def home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", home)
    assert read_quietly() is None
    with pytest.raises(OSError, match="set XDG_CACHE_HOME"):
        write_rates(RATES_OF_A_MACHINE)


UNREADABLE = "a" * 300
"""A name that the system refuses to look up, as it does one in a folder that is closed to this user."""


def test_folders_and_files_that_cannot_be_looked_up(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / UNREADABLE))
    assert read_quietly() is None
    with pytest.raises(OSError, match="too long"):
        write_rates(RATES_OF_A_MACHINE)
    monkeypatch.setenv("EINSUMAD_MACHINE", str(tmp_path / UNREADABLE))
    with pytest.warns(UserWarning, match="no such file that may be read"):
        assert read_rates() is None


def test_a_file_for_each_number_of_threads(monkeypatch):
    first = machine_file()
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "17")
    assert machine_file() != first
    assert this_machine()["numpy"] == np.__version__


@pytest.mark.usefixtures("_back")
def test_plans_are_chosen_anew_for_another_machine():
    def f(x):
        return np.sum(np.sinh(x) ** 3)

    x, hessian = np.ones(3), ea.hessian(f)
    fast = ea.compile(hessian)

    def derived() -> int:
        before = ea.statistics().derived
        hessian(x)
        return ea.statistics().derived - before

    derived()
    fast(x)
    assert derived() == 0
    set_machine(Machine(seconds_per_call=1.0, name="slow"))
    assert machine_in_force().name == "slow"
    assert derived() == 1
    fast(x)
    assert len(fast._by_arrays) == 2
    assert str(ea.explain(hessian, x)).splitlines()[-1].endswith(" s on the slow machine")


@pytest.mark.whole_planner
@pytest.mark.usefixtures("_back")
def test_the_machine_decides():
    """Of two orders one has less arithmetic in matrix products, the other starts fewer inner loops."""
    a = np.random.default_rng(5).normal(size=(3, 3))

    def loss(a):
        return np.sum(np.exp(np.linalg.eigvalsh(a + a.T)))

    fast = dict(zip(RATES, (1e16, 1e16, 1e16, 1e16, 0.0, 0.0), strict=True))
    met = {}
    for name, value in (("products_per_second", 1.0), ("seconds_per_loop", 1.0)):
        set_machine(Machine(**{**fast, name: value}))
        choice = ea.explain(ea.hessian(loss), a).choices[1]
        met[name] = next(c.cost for c in choice.candidates if c.mode == choice.mode)
    assert met["products_per_second"].products < met["seconds_per_loop"].products
    assert met["products_per_second"].loops > met["seconds_per_loop"].loops


def test_a_calibrated_machine_says_so():
    assert calibrated(RATES_OF_A_MACHINE).name == "calibrated"
    assert str(DEFAULT).startswith("default machine: 5e+10 flops/s in products")


CALIBRATING = """
import time
import einsumad as ea
from einsumad.planning import machine_in_force
start = time.perf_counter()
machine = ea.calibrate()
print(time.perf_counter() - start < 4)
assert machine_in_force() is machine
print(machine)
"""
READING = "from einsumad.planning import machine_in_force; print(machine_in_force())"


def run(text: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", text],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )
    return done.stdout.strip()


def test_later_processes_read_what_was_calibrated(folder):
    in_time, machine = run(CALIBRATING).split("\n")
    assert in_time == "True"
    assert machine.startswith("calibrated machine")
    assert run(READING) == machine
    assert run(READING, EINSUMAD_MACHINE="default") == str(DEFAULT)
    rates = json.loads(next((folder / "einsumad").iterdir()).read_text())["rates"]
    assert 1e9 < rates["products_per_second"] < 1e13
    assert 1e8 < rates["flops_per_second"] < 1e12
    assert 1e9 < rates["far_bytes_per_second"] <= rates["near_bytes_per_second"] < 1e13
    assert 1e-8 < rates["seconds_per_call"] < 1e-5


def test_the_command_calibrates():
    done = subprocess.run(
        [sys.executable, "-m", "einsumad", "calibrate"], capture_output=True, text=True, check=True, env={**os.environ}
    )
    assert done.stdout.startswith("calibrated machine: ")
    assert done.stdout.strip().endswith(str(machine_file()))


def test_the_command_says_where_nothing_can_be_kept(tmp_path):
    (tmp_path / "file").write_text("")
    env = {**os.environ, "EINSUMAD_MACHINE": str(tmp_path / "file" / "rates.json")}
    done = subprocess.run(
        [sys.executable, "-m", "einsumad", "calibrate"], capture_output=True, text=True, check=False, env=env
    )
    assert done.returncode == 1
    assert done.stderr.startswith("error: the rates cannot be kept")
