"""Parts that other processes compute, put together: the bits are those of one process."""

import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from einsumad.errors import ShapeError
from einsumad.planning import options_in_force
from tests.execution.parts_elsewhere import W, X, plan_and_values


def test_parts_from_several_processes(tmp_path):
    plan, values = plan_and_values()
    (sweep,) = plan.sweeps
    assert sweep.count > 4
    off = [name for name, on in asdict(options_in_force()).items() if not on]
    shares = [range(0, sweep.count, 2), range(1, sweep.count, 2)]
    for share in shares:
        command = [sys.executable, "-m", "tests.execution.parts_elsewhere", str(tmp_path / f"{share.start}.npz")]
        subprocess.run([*command, *off, *map(str, share)], check=True, cwd=Path(__file__).parents[2])
    stored = {}
    for share in shares:
        with np.load(tmp_path / f"{share.start}.npz") as found:
            stored.update({name: found[name] for name in found.files})
    outputs = len(sweep.plan.results)
    parts = [tuple([stored[f"{number}.{place}"][()] for place in range(outputs)]) for number in range(sweep.count)]
    together = plan.finish([*values, *sweep.put_together(parts)])
    for one, other in zip(together, plan(*values), strict=True):
        assert one.tobytes() == other.tobytes()
    s = 1 / (1 + np.exp(-(X @ W)))
    np.testing.assert_allclose(together[1], X.T @ (2 * s * np.log1p(np.exp(X @ W))) / len(X) + 2 * W, rtol=1e-12)


def test_all_parts_are_needed():
    plan, values = plan_and_values()
    (sweep,) = plan.sweeps
    held = sweep.held(values)
    with pytest.raises(ShapeError, match=f"{sweep.count} parts"):
        sweep.put_together([sweep.run_part(0, values, held)])


def test_a_split_plan_is_data_that_can_be_printed():
    plan, _ = plan_and_values()
    assert plan.plan.count == plan.sweeps[0].count
    assert plan.plan.cost.flops == plan.plan.flops
    assert str(plan.plan).startswith(plan.plan.note)
    with pytest.raises(AttributeError):
        plan.plan.length = 3
