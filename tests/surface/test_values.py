"""Every function of the surface has NumPy's values, shapes and dtypes, at random shapes and dtypes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.surface.all_specs import SPECS, Spec
from tests.surface.checks import arguments, numbers_for, same_values
from tests.surface.drawing import Drawer

KINDS = {"f": (np.float64, np.float32), "d": (np.float64,), "i": (np.int64, np.int8), "b": (np.bool_,)}

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")


@pytest.mark.fuzz
@pytest.mark.filterwarnings("ignore:non-integer arg n is deprecated")
@pytest.mark.parametrize("spec", SPECS.values(), ids=str)
@settings(max_examples=2 if settings().max_examples <= 100 else settings().max_examples)
@given(st.integers(0, 2**32 - 1))
def test_values_are_those_of_numpy(spec: Spec, seed: int) -> None:
    rng = np.random.default_rng(seed)
    f, operands = spec.make(Drawer(rng))
    dtypes = [dtype for kind in spec.dtypes for dtype in KINDS[kind]]
    made = arguments(operands, numbers_for(operands, rng))
    args = [np.asarray(array).astype(dtypes[rng.integers(len(dtypes))]) for array in made]
    same_values(f, args, spec.accuracy)
