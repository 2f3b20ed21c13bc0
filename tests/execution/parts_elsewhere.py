"""Parts of a plan computed in a process of its own: ``python -m tests.execution.parts_elsewhere out.npz 0 2 4``.

Words among the numbers are names of options of the planner that are off.
"""

import sys

import numpy as np

import einsumad as ea

N, K = 5000, 3
LIMIT = 30_000
X = np.random.default_rng(0).normal(size=(N, K))
W = np.array([0.1, -0.2, 0.3])


def loss(w):
    return np.mean(np.log1p(np.exp(X @ w)) ** 2) + w @ w


def plan_and_values():
    """The plan, and the values of its inputs."""
    program = ea.compile(ea.value_grad_and_hessian(loss), memory_limit=LIMIT).program(W)
    return program.plan, program.plan.checked([W, *program.captured])


if __name__ == "__main__":
    off = [word for word in sys.argv[2:] if not word.isdigit()]
    with ea.planner_options(**dict.fromkeys(off, False)):
        plan, values = plan_and_values()
    (sweep,) = plan.sweeps
    held = sweep.held(values)
    found = {}
    for number in [int(word) for word in sys.argv[2:] if word.isdigit()]:
        for place, value in enumerate(sweep.run_part(number, values, held)):
            found[f"{number}.{place}"] = value
    np.savez(sys.argv[1], **found)
