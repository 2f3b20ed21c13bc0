"""``import einsumad`` is light: little more than NumPy, and nothing heavy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from statistics import median

import pytest

ROOT = Path(__file__).parents[2]
HEAVY = ("scipy", "sympy", "sklearn", "matplotlib", "pandas", "IPython", "torch", "jax", "cupy", "hypothesis", "pytest")


def run(program):
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


def seconds_after_numpy():
    program = "import time, numpy; start = time.perf_counter(); import einsumad; print(time.perf_counter() - start)"
    return float(run(program))


def test_import_within_a_tenth_of_a_second_of_numpy():
    """The median of several fresh processes; a busy machine gets a second chance."""
    run("import einsumad")
    assert any(median([seconds_after_numpy() for _ in range(5)]) < 0.1 for _ in range(3))


def test_nothing_heavy_is_loaded():
    loaded = run("import sys, einsumad; print(*sorted({name.split('.')[0] for name in sys.modules}))").split()
    assert not set(HEAVY) & set(loaded)


@pytest.mark.parametrize(
    ("program", "loads"),
    [
        ("ea.hessian(lambda x: np.sum(np.exp(x) * np.tanh(x)))(np.ones(3))", False),
        ("ea.grad(lambda x: np.sum(x @ x.T))(np.ones((3, 3)))", False),
        ("ea.grad(lambda x: np.sum(1 / (1 + np.exp(-x))))(np.ones(3))", True),
    ],
)
def test_scipy_is_loaded_by_the_plans_that_need_it_only(program, loads):
    found = run(f"import sys, numpy as np, einsumad as ea; {program}; print('scipy' in sys.modules)")
    assert found.split()[-1] == str(loads)
