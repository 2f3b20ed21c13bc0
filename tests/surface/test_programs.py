"""Random programs of the whole surface: no wrong value, no wrong derivative, no error but the library's own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

import einsumad as ea
from tests.surface.checks import MODES, right_derivatives, same
from tests.surface.drawing import Operand
from tests.surface.programs import program

FUZZING = settings().max_examples > 100


@pytest.mark.fuzz
@settings(max_examples=settings().max_examples if FUZZING else 25)
@given(st.integers(0, 2**32 - 1))
def test_programs_of_the_whole_surface(seed: int) -> None:
    rng = np.random.default_rng(seed)
    numbers = rng.uniform(-0.9, 0.9, 5)
    drawn = program(rng, numbers, 1 + int(rng.integers(4)))
    note(str(drawn))
    same(drawn(ea.tensor(numbers)), drawn(numbers), drawn.accuracy)
    orders = dict.fromkeys(MODES, 2) if FUZZING else {MODES[rng.integers(3)]: 2}
    right_derivatives(drawn, (Operand((5,), -1.0, 1.0),), rng, orders, numbers, accuracy=drawn.accuracy)
