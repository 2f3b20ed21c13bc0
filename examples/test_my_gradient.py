"""How to test a gradient that was written by hand: run ``pytest examples/test_my_gradient.py``.

Hypothesis looks for arguments at which the hand-written gradient is wrong, and shrinks what it finds. What is right
is known twice: from the values of the function alone, and from the exact gradient that the library derives. The last
test shows that a wrong gradient is caught.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from einsumad.testing import WrongDerivativeError, check_user_gradient
from einsumad.testing.strategies import floats


def huber(x, target):
    """Quadratic near the target and linear far from it, summed."""
    r = x - target
    return np.sum(np.where(np.abs(r) <= 1, r**2 / 2, np.abs(r) - 0.5))


def huber_gradient(x, target):
    """The gradient in x, written by hand: the residual, clipped to [-1, 1]."""
    return np.clip(x - target, -1, 1)


def wrong_gradient(x, target):
    """The same with the linear part forgotten, which is right in all easy cases."""
    return x - target


pairs = st.integers(0, 6).flatmap(lambda size: st.tuples(floats(size), floats(size)))


@settings(deadline=None)
@given(pairs)
def test_gradient(pair):
    check_user_gradient(huber, huber_gradient, *pair, minimal=False).raise_if_wrong()


@settings(deadline=None)
@given(pairs)
def test_gradient_against_the_exact_one(pair):
    check_user_gradient(huber, huber_gradient, *pair, against="einsumad", minimal=False).raise_if_wrong(undecided=True)


def test_a_wrong_gradient_is_caught():
    @settings(deadline=None)
    @given(pairs)
    def agrees(pair):
        check_user_gradient(huber, wrong_gradient, *pair, minimal=False).raise_if_wrong()

    with pytest.raises(WrongDerivativeError, match="WRONG"):
        agrees()
