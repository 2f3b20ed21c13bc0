"""The example that finds wrong derivatives in other libraries: with them, without them, and its table.

Owns the claim that the toolkit finds real faults. Imports the example. Invariant: in the versions in which the faults
are known all are found; in others they may be mended, and what is right passes in all.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from einsumad.testing import Report
from examples import faults_in_peers
from examples.faults_in_peers import SUSPECTS, Suspect

ROOT = Path(__file__).resolve().parents[2]
KNOWN = {"jax": "0.10.2", "torch": "2.13.0", "autograd": "1.9.1"}
HIDDEN = """
import runpy, sys
sys.modules.update(dict.fromkeys({peers!r}))
runpy.run_path("examples/faults_in_peers.py", run_name="__main__")
"""


@dataclass(frozen=True)
class Run:
    """What the example printed, and the reports of faults."""

    text: str
    faults: dict[Suspect, Report]

    def section(self, peer: str) -> str:
        """The part of the table about one peer."""
        lines = self.text.splitlines()
        start = next(k for k, line in enumerate(lines) if line.split(" ")[0] == peer)
        rest = [k for k, line in enumerate(lines) if k > start and not line.startswith(" ")]
        return "\n".join(lines[start : rest[0] if rest else None])


@pytest.fixture(scope="module")
def run() -> Run:
    printed = StringIO()
    with redirect_stdout(printed):
        faults = faults_in_peers.main()
    return Run(printed.getvalue(), faults)


def as_known(peer: str) -> bool:
    return version(peer).split("+")[0] == KNOWN[peer]


@pytest.mark.parametrize("peer", KNOWN)
def test_what_is_right_passes_and_every_suspect_gets_a_verdict(peer: str, run: Run) -> None:
    pytest.importorskip(peer)
    section = run.section(peer)
    assert section.startswith(f"{peer} {version(peer)}\n")
    assert section.endswith("  5 of 5 right ones passed")
    for suspect in SUSPECTS:
        if suspect.peer == peer:
            rows = [line for line in section.splitlines() if line.startswith(f"  {suspect.title} ")]
            assert len(rows) == 1
            assert "wrong, order" in rows[0] or "right in this version" in rows[0]


@pytest.mark.parametrize("peer", KNOWN)
def test_known_faults_are_found(peer: str, run: Run) -> None:
    pytest.importorskip(peer)
    if not as_known(peer):
        pytest.skip(f"the faults are known in {peer} {KNOWN[peer]}")
    suspects = [suspect for suspect in SUSPECTS if suspect.peer == peer]
    assert len(suspects) >= 2
    for suspect in suspects:
        assert run.faults[suspect].verdict == "wrong"
        assert run.faults[suspect].wrong[0].order == suspect.order
        assert suspect.public in run.section(peer)


def test_faults_are_found_overall_and_one_is_told_in_full(run: Run) -> None:
    for peer in KNOWN:
        pytest.importorskip(peer)
    if not all(map(as_known, KNOWN)):
        pytest.skip("some peers are installed in other versions")
    assert len(run.faults) >= 3
    assert {suspect.peer for suspect in run.faults} == set(KNOWN)
    told = run.text[run.text.index("One report in full") :]
    assert "is wrong: derivative, order 1, forward" in told
    assert "using='torch'" in told


def test_faults_are_found_without_an_oracle_too(run: Run) -> None:
    pytest.importorskip("torch")
    if not as_known("torch"):
        pytest.skip(f"the faults are known in torch {KNOWN['torch']}")
    laws = {finding.claim for report in run.faults.values() for finding in report.wrong}
    assert {"adjoint identity", "mode agreement", "symmetry"} <= laws


def test_it_runs_without_any_peer() -> None:
    code = HIDDEN.format(peers=tuple(KNOWN))
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count('not installed: pip install "einsumad[peers]"') == 3
    assert "faults" not in done.stdout


class TestRows:
    """Rows about functions of this library, which is always there."""

    @staticmethod
    def row(function: Callable[..., Any], gradient: Any = None) -> tuple[str, Report | None]:
        printed = StringIO()
        suspect = Suspect("einsumad", "a sum", function, (1.0, 2.0), 1, "nobody/nothing#1", gradient)
        with redirect_stdout(printed):
            report = faults_in_peers.print_row(suspect)
        return printed.getvalue(), report

    def test_a_mended_fault(self) -> None:
        text, report = self.row(lambda x: np.sum(x**2))
        assert text.split() == ["a", "sum", "right", "in", "this", "version"]
        assert report is None

    def test_an_exception(self) -> None:
        def raising(_: Any) -> Any:
            raise ValueError("not today")

        text, report = self.row(raising)
        assert text.endswith("raises ValueError\n")
        assert report is None

    def test_a_wrong_number(self) -> None:
        text, report = self.row(lambda x: np.sum(x**2), lambda _: lambda x: x)
        assert report is not None
        assert "wrong, order 1  x[1]: found 2, expected 4\n" in text
        assert text.endswith("by whole-number differences; cause: factor 1/2; nobody/nothing#1\n")

    def test_a_wrong_shape(self) -> None:
        text, report = self.row(lambda x: np.sum(x**2), lambda _: lambda x: 2 * x[:1])
        assert report is not None
        assert "the gradient has shape (1,), and (2,) is right for x\n      by its shape; cause: wrong shape" in text
