"""Where the branch not taken is infinite or undefined, nothing of it reaches a derivative: every mode, two orders.

Each random function is written twice: with the dangerous branch as it is, and with its argument made harmless where it
is not taken. Both have the same derivatives, at the border between the branches too; away from it, what they have to be
is known from the values of the function alone.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

import einsumad as ea
from einsumad.testing import check_derivatives

MODES = ("forward", "reverse", "cross-country", "auto")
SMOOTH = {"sin": np.sin, "exp": np.exp, "square": lambda z: z**2, "tanh": np.tanh, "cube": lambda z: z * z * z}
DANGEROUS = {
    "sqrt": np.sqrt,
    "log": np.log,
    "reciprocal": lambda z: 1 / z,
    "root": lambda z: z**0.5,
    "inverse square": lambda z: z**-2,
}
OTHER = {"zero": lambda x: 0.0, "itself": lambda x: x, "square": lambda x: x**2, "one": lambda x: 1.0}  # noqa: ARG005
A = np.array([[0.6, -1.2, 0.4], [1.1, 0.3, -0.7], [-0.5, 0.9, 1.4]])
ENDS: dict[str, Callable] = {
    "sum": lambda s, x, u, v: np.sum(u(s)),  # noqa: ARG005
    "product": lambda s, x, u, v: np.sum(u(A @ s)),  # noqa: ARG005
    "nested": lambda s, x, u, v: np.sum(u(A @ v(s * x))),
    "two sums": lambda s, x, u, v: np.sum(s) * np.sum(u(s)),  # noqa: ARG005
    "where again": lambda s, x, u, v: np.sum(np.where(A @ x > 0, u(A @ s), s)),  # noqa: ARG005
    "maximum": lambda s, x, u, v: np.max(A @ s) + np.sum(np.outer(s, x) * A),  # noqa: ARG005
}


Names = tuple[str, str, str, str, str]
NAMES = st.tuples(*[st.sampled_from(list(table)) for table in (DANGEROUS, OTHER, ENDS, SMOOTH, SMOOTH)])
POINTS = st.permutations([-1.0, 0.0, 0.75])


def program(names: Names, *, border: float = 0.0, harmless: bool = False) -> Callable:
    bad, other, end, u, v = names

    def f(x):
        taken = x > border
        argument = np.where(taken, x, 1.0) if harmless else x
        s = np.where(taken, DANGEROUS[bad](argument), OTHER[other](x))
        return ENDS[end](s, x, SMOOTH[u], SMOOTH[v])

    return f


@pytest.mark.fuzz
@settings(max_examples=25 if settings().max_examples <= 100 else settings().max_examples)
@given(NAMES, POINTS)
def test_the_branch_not_taken_never_contributes(names, point):
    x = np.array(point)
    dangerous, harmless = program(names), program(names, harmless=True)
    for order in (1, 2):
        expected = ea.derivative(harmless, order=order, mode="reverse")(x)
        for mode in MODES:
            found = ea.derivative(dangerous, order=order, mode=mode)(x)
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9, err_msg=mode)


@pytest.mark.fuzz
@settings(max_examples=8 if settings().max_examples <= 100 else settings().max_examples)
@given(NAMES, POINTS)
def test_derivatives_away_from_the_border_are_those_of_the_oracles(names, point):
    """At -1 and 0, where the branch not taken is infinite or undefined, and at 0.75, where it is taken."""
    report = check_derivatives(program(names, border=0.5), np.array(point), properties=("mode agreement",))
    report.raise_if_wrong(undecided=True)
    assert all(finding.verdict == "right" for finding in report.findings if finding.claim == "derivative")


X = np.array([1.3, 1.0])
STRETCHED = {
    "a mask": lambda y: np.sum(np.where(y < 0, y**2 * X, y**-1.5 * np.exp(X))),
    "a mask and the branch": lambda y: np.sum(np.where(y < 0, y**2 * X, np.sqrt(y) * np.log(X * y))),
    "the branch": lambda y: np.sum(np.where(X > 0, y**2 * X, np.sqrt(y) * X)),
    "a mask in the middle": lambda y: np.sum(np.where(y[:, None] < 0, y**2 * X, np.log(y)[:, None] * X**2)),
    "a constant mask": lambda y: np.sum(np.where([True], y**2 * X, np.sqrt(y) * np.log(X * y))),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", STRETCHED)
def test_masks_reach_across_stretched_axes(name, mode):
    y, inside = np.array([-0.7]), np.sum(X)
    for order, expected in ((1, 2 * y[0] * inside), (2, 2 * inside), (3, 0)):
        found = ea.derivative(STRETCHED[name], order=order, mode=mode)(y)
        np.testing.assert_allclose(found.ravel(), [expected], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_a_mask_is_seen_through_a_sign(mode):
    """In reverse mode ``a - b`` with the same mask in both is multiplied by what is infinite where it is false."""

    def f(z):
        return np.where(z[0] > 5, special.binom(z[0], z[1]), 0.0) ** 2

    for order in (1, 2):
        assert not ea.derivative(f, order=order, mode=mode)(np.array([0.4768, 1.4768])).any()
