"""Entries of an argument that only branches not taken use, or nothing at all: every mode, three orders.

The argument is 0 there, where the branch has no value or no slope; what lies between the two (a sum, a product with a
matrix, reading at places) mixes it with other entries. The derivatives are those of the same function with these
entries made harmless.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import einsumad as ea

MODES = ("forward", "reverse", "cross-country")
A = np.array([[0.6, -1.2, 0.4], [1.1, 0.3, -0.7]])
DANGEROUS = {
    "x log x": lambda x: x * np.log(x),
    "sqrt log": lambda x: np.sqrt(x) * np.log(x),
    "x / x": lambda x: x / x,
    "root over x": lambda x: x**0.5 * (1 / x),
    "root of x log x": lambda x: np.sqrt(x * np.log(x) + x),
    "sin 1/x": lambda x: np.sin(1 / x) * x,
}
EACH = np.eye(3)
# What leads from three entries to those of the mask, and which entries each of these uses.
LINKS = {
    "the same": (lambda u: u, EACH),
    "rows": (lambda u: u * np.array([[1.0], [2.0]]), np.stack([EACH, EACH])),
    "columns": (lambda u: u[:, None] * np.array([1.0, 2.0]), np.stack([EACH, EACH], 1)),
    "a matrix product": (lambda u: A @ u, np.ones((2, 3))),
    "a sum": (np.sum, np.ones(3)),
    "a product": (np.prod, np.ones(3)),
    "places": (lambda u: u[[2, 0, 0]], EACH[[2, 0, 0]]),
    "neighbours": (lambda u: u[1:] * u[:-1], EACH[1:] + EACH[:-1]),
    "pairs": (lambda u: np.outer(u, u), EACH[:, None] + EACH),
    "a running sum": (np.cumsum, np.tri(3)),
    "a size of 1": (lambda u: u[:1] * np.array([1.0, 2.0]), EACH[[0, 0]]),
    "a number": (lambda u: u[0] * np.array([1.0, 2.0]), EACH[[0, 0]]),
    "a joined array": (lambda u: np.concatenate([u, np.ones(1)]) * 2, np.eye(4)[:, :3]),
    "a convolution": (lambda u: np.convolve(u, [1.0, 2.0]), np.eye(4)[:, :3] + np.eye(4, k=-1)[:, :3]),
}
CHOICES = {
    "where": np.where,
    "select": lambda m, v, y: np.select([m, ~m], [v, y]),
    "nested": lambda m, v, y: np.where(m, np.where(m, v, y * 2), y),
    "where= of a sum": lambda m, v, y: np.sum(np.stack([v, y]), axis=0, where=np.stack([m, ~m])),
}
ENDS = {
    "sum": np.sum,
    "squares": lambda w: np.sum(w**2),
    "exponential": lambda w: np.exp(np.sum(w) / 9),
    "product": np.prod,
}
TABLES = (DANGEROUS, LINKS, CHOICES, ENDS)
NAMES = st.tuples(*[st.sampled_from(list(table)) for table in TABLES])


@pytest.mark.fuzz
@settings(max_examples=14 if settings().max_examples <= 100 else settings().max_examples)
@given(NAMES, st.lists(st.booleans(), min_size=3, max_size=3), st.integers(0, 99))
def test_entries_of_branches_not_taken_do_not_contribute(names, at_zero, seed):
    bad, (link, uses), choice, end = (table[name] for table, name in zip(TABLES, names, strict=True))
    generator, zero = np.random.default_rng(seed), np.array(at_zero)
    x = np.where(zero, 0.0, generator.uniform(0.5, 2.0, 3))
    taken = ~np.any(uses[..., zero] != 0, axis=-1) & (generator.random(uses.shape[:-1]) < 0.8)

    def f(x, harmless):
        branch = link(bad(np.where(zero, 1.3, x) if harmless else x))
        return end(choice(taken, branch, np.sum(x**2) + np.ones(uses.shape[:-1])))

    known_limit = names[1] == "pairs" and names[3] == "product"  # NaN beside infinite entries, order 3 in reverse mode
    for order in (1, 2, 3):
        expected = ea.derivative(lambda x: f(x, True), order=order, mode="forward")(x)
        for mode in MODES:
            if known_limit and order == 3 and mode == "reverse":
                continue
            found = ea.derivative(lambda x: f(x, False), order=order, mode=mode)(x)
            np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8 * (1 + abs(expected).max()), err_msg=mode)


UNUSED = {
    "a slice": lambda u: np.sum(u[1:] ** 2),
    "an entry": lambda u: u[1] ** 2 * u[2],
    "places": lambda u: np.sum(np.sqrt(u + 1)[[1, 2, 1]]),
    "a sum of slices": lambda u: np.sum(u[1:]) ** 2,
    "differences": lambda u: np.sum(np.diff(u[1:]) ** 2 * u[1:2]),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", UNUSED)
def test_entries_that_nothing_reads_do_not_contribute(name, mode):
    """The zeros of an index that leads nowhere win over the infinite slope of ``x log x`` at 0."""
    x = np.array([0.0, 0.7, 1.3])

    def f(x):
        return UNUSED[name](x * np.log(x))

    for order in (1, 2, 3):
        expected = ea.derivative(f, order=order)(np.array([1.0, 0.7, 1.3]))
        np.testing.assert_allclose(ea.derivative(f, order=order, mode=mode)(x), expected, rtol=1e-10, atol=1e-10)
