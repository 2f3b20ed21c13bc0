"""How the mutation self-test asks the checks about a case."""

from __future__ import annotations

from typing import Any

import numpy as np

from einsumad.testing import (
    Report,
    check_hessian,
    check_hvp,
    check_jacobian,
    check_jvp,
    check_user_gradient,
    check_vjp,
)
from tests.testing.cases import Case

CHECKS = {
    "gradient": check_user_gradient,
    "jacobian": check_jacobian,
    "hessian": check_hessian,
    "hvp": check_hvp,
    "jvp": check_jvp,
    "vjp": check_vjp,
}


def report_of(case: Case, seed: int, **options: Any) -> Report:
    """The report about a case at the point that a seed gives."""
    args = case.sample(np.random.default_rng(seed))
    merged = {"minimal": False, "seed": seed, **case.options, **options}
    return CHECKS[case.kind](case.function, case.claim, *args, argnums=case.argnums, **merged)


def size_of(case: Case) -> int:
    """The number of entries of the largest argument."""
    return max(np.size(argument) for argument in case.sample(np.random.default_rng(0)))
