"""How to test a gradient that was written by hand: run ``pytest examples/test_my_gradient.py``.

Hypothesis looks for arguments on which the hand-written gradient and the exact one differ, and shrinks what
it finds. There are two checks, all entries at once against ``ea.grad`` and a directional derivative against
``ea.jvp``. The last test shows that a wrong gradient is caught.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import einsumad as ea


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


# no entry so small that it vanishes in a sum
numbers = st.floats(-100, 100).map(lambda value: round(value, 3))


def vectors(size):
    return arrays(np.float64, size, elements=numbers)


sizes = st.integers(0, 6)
pairs = sizes.flatmap(lambda n: st.tuples(vectors(n), vectors(n)))
triples = sizes.flatmap(lambda n: st.tuples(vectors(n), vectors(n), vectors(n)))


@given(pairs)
def test_gradient(case):
    np.testing.assert_allclose(huber_gradient(*case), ea.grad(huber)(*case), rtol=1e-12, atol=1e-12)


@given(triples)
def test_directional_derivative(case):
    x, target, direction = case
    value, slope = ea.jvp(lambda x: huber(x, target), (x,), (direction,))
    np.testing.assert_allclose(value, huber(x, target), rtol=1e-12)
    np.testing.assert_allclose(huber_gradient(x, target) @ direction, slope, rtol=1e-12, atol=1e-10)


def test_a_wrong_gradient_is_caught():
    @given(pairs)
    def agrees(case):
        np.testing.assert_allclose(wrong_gradient(*case), ea.grad(huber)(*case), rtol=1e-12, atol=1e-12)

    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        agrees()
