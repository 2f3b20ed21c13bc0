"""The comparison runs, and a second-order step reaches a loss in fewer steps than Adam."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("second_order.py")


def test_the_comparison(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "picture.png"
    options = ["curve", "--optimisers", "GaussNewton", "KFAC", "Adam", "--rates", "0.01", "--seconds", "0.5"]
    command = [sys.executable, str(SCRIPT), *options, "--plot", str(picture)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    steps = {}
    for line in done.stdout.splitlines():
        name, *_ = line.split()[:1] or [""]
        found = re.findall(r"\(\s*(\d+)\)", line)
        if found:
            steps[name] = int(found[0])
    assert steps["GaussNewton"] < steps["Adam"]
    assert steps["KFAC"] < steps["Adam"]
    assert picture.read_bytes().startswith(b"\x89PNG")
