"""Same plan, same source, same bits in every process; and as reviewed: golden files.

``UPDATE_GOLDEN=1`` writes the files of ``tests/golden/`` anew: read the difference before it is committed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.problems import PROBLEMS

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden"
SEEDS = ("0", "1", "2", "31337", "random")


def printed_under(seed: str) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tests.acceptance.problems"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def test_same_plan_source_and_bits_under_five_hash_seeds():
    first, *others = (printed_under(seed) for seed in SEEDS)
    for seed, other in zip(SEEDS[1:], others, strict=True):
        assert other == first, f"PYTHONHASHSEED={seed}"


@pytest.mark.whole_planner
@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("what", ["plan", "source"])
def test_golden_file(name, what):
    path = GOLDEN / f"{name}.{what}.txt"
    text = getattr(PROBLEMS[name](), what)()
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text.rstrip("\n") + "\n"


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_same_bits_again_in_one_process(name):
    """Also after other things were traced, and from the compiled form."""
    problem = PROBLEMS[name]()
    first = problem.bits()
    for other in PROBLEMS.values():
        other().bits()
    assert PROBLEMS[name]().bits() == first


def test_names_of_the_user_do_not_enter_the_source():
    source = PROBLEMS["logistic"]().source()
    assert "loss" not in source
