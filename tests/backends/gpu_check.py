"""The conformance suite on the libraries that have a GPU here: ``make gpu-check``.

Needs a Python with what the package and its tests need, beside CuPy, PyTorch or JAX. Without a GPU library it says so
and fails.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import pytest  # noqa: E402 (the root of the project has to be on the path first)

from tests.backends.libraries import ON_GPU, gpu_backends  # noqa: E402


def main() -> int:
    """Run the suite, and return the exit status."""
    os.environ[ON_GPU] = "1"
    found = gpu_backends()
    if not found:
        print(
            f"no library with a GPU was found by {sys.executable}: CuPy with a device, PyTorch with CUDA, or JAX with "
            "a GPU. Nothing was checked. Give a Python that has one: make gpu-check GPU_PYTHON=/path/to/python"
        )
        return 2
    print(f"on {', '.join(map(str, found))}", flush=True)
    return int(pytest.main(["-q", "-p", "no:cacheprovider", str(Path(__file__).parent), *sys.argv[1:]]))


if __name__ == "__main__":
    sys.exit(main())
