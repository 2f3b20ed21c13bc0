"""Nothing of other libraries is loaded before an array of them is met, and their functions only by a plan for them."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
import numpy as np
import einsumad as ea

ea.compile(ea.hessian(lambda x: np.sum(x**3)))(np.ones(2))
ea.grad(lambda x: np.sum(x**3))(np.ones(2))
names = ("array_api_compat", "array_api_strict", "torch", "jax", "cupy", "einsumad.execution.backends.operations")
print([name for name in names if name in sys.modules])
"""


def test_numpy_alone_loads_nothing() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.strip() == "[]"
