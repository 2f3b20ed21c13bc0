"""Every function of the surface has right derivatives to order three in every mode, and in single precision."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.surface.all_specs import SPECS, Spec
from tests.surface.checks import MODES, right_derivatives, single_precision
from tests.surface.drawing import Drawer

FUZZING = settings().max_examples > 100
QUICKEST = {
    "scipy.linalg.eigh, general": "forward",
    "scipy.linalg.eigh": "forward",
    "scipy.linalg.polar": "reverse",
    "numpy.linalg.cond": "reverse",
    "scipy.special.comb, repetition": "forward",
}
"""The mode of third order in the short run where the others take seconds: terms are many there."""
DIFFERENTIABLE = [spec for spec in SPECS.values() if spec.order]

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")


@pytest.mark.fuzz
@pytest.mark.parametrize("spec", DIFFERENTIABLE, ids=str)
@settings(max_examples=1 if not FUZZING else settings().max_examples)
@given(st.integers(0, 2**32 - 1))
def test_derivatives_are_those_of_differences(spec: Spec, seed: int) -> None:
    """Third order in one of the modes in the short run, in all of them in the long one."""
    rng = np.random.default_rng([seed, len(spec.name)])
    f, operands = spec.make(Drawer(rng, empty=FUZZING))
    turn = rng.integers(len(MODES))
    turn = MODES.index(QUICKEST[spec.name]) if spec.name in QUICKEST else turn
    orders = {mode: spec.order if FUZZING or k == turn else min(spec.order, 1 + k % 2) for k, mode in enumerate(MODES)}
    right_derivatives(f, operands, rng, orders, accuracy=spec.accuracy)


@pytest.mark.parametrize("spec", DIFFERENTIABLE, ids=str)
def test_single_precision(spec: Spec) -> None:
    rng = np.random.default_rng(len(spec.name))
    f, operands = spec.make(Drawer(rng, empty=False))
    single_precision(f, operands, rng)
