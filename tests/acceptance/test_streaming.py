"""Value, gradient and Hessian over two million samples in a file, in less than a fifth of their memory."""

import subprocess
import sys
from pathlib import Path

import pytest

ROWS = 2_000_000
LIMIT = 32 * 10**6


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read where Linux shows it")
def test_memory_stays_within_the_limit(tmp_path):
    command = [sys.executable, "-m", "tests.acceptance.streaming", str(tmp_path), str(ROWS), str(LIMIT)]
    run = subprocess.run(command, check=True, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    growth, *errors = map(float, run.stdout.split())
    assert (tmp_path / "X").stat().st_size == 160_000_000
    assert growth < LIMIT
    assert max(errors) < 1e-12
