"""``make gpu-check`` says so where there is no GPU, and fails."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.backends.libraries import gpu_backends

SCRIPT = Path(__file__).with_name("gpu_check.py")


@pytest.mark.skipif(bool(gpu_backends()), reason="there is a GPU")
def test_without_a_gpu() -> None:
    done = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 2
    assert "no library with a GPU was found" in done.stdout
