"""Dictionaries and keyword arguments have an order, which a compiled function keeps as the function does."""

from collections import OrderedDict, defaultdict

import numpy as np
import pytest

import einsumad as ea

A, B = np.zeros(2), np.arange(1.0, 4.0)
FORWARD, BACKWARD = {"a": A, "b": B}, {"b": B, "a": A}


def joined(values):
    return np.concatenate([2 * value for value in values.values()])


@pytest.mark.parametrize("kind", [dict, OrderedDict, lambda given: defaultdict(list, given)])
@pytest.mark.parametrize("first", [FORWARD, BACKWARD])
def test_whichever_comes_first(kind, first):
    compiled, gradient = ea.compile(joined), ea.compile(ea.grad(lambda values: np.sum(joined(values) * np.arange(5))))
    compiled(kind(first)), gradient(kind(first))
    for given in (FORWARD, BACKWARD):
        np.testing.assert_array_equal(compiled(kind(given)), joined(given))
        expected = ea.grad(lambda values: np.sum(joined(values) * np.arange(5)))(kind(given))
        found = gradient(kind(given))
        assert list(found) == list(expected)
        for name in expected:
            np.testing.assert_array_equal(found[name], expected[name])


def test_within_other_containers():
    compiled = ea.compile(lambda values: joined(values[0]["inner"]))
    for given in (FORWARD, BACKWARD):
        np.testing.assert_array_equal(compiled([{"inner": given}]), joined(given))


def test_keyword_arguments():
    compiled = ea.compile(lambda **values: joined(values))
    for given in (FORWARD, BACKWARD):
        np.testing.assert_array_equal(compiled(**given), joined(given))


def test_directions_are_paired_by_key():
    def f(values):
        return np.sum(values["a"] ** 2) + np.sum(values["b"] ** 3)

    expected = 6 * np.sum(B**2)
    for tangent in ({"a": A, "b": np.full(3, 2.0)}, {"b": np.full(3, 2.0), "a": A}):
        for product in (ea.jvp, ea.compile(ea.jvp)):
            np.testing.assert_allclose(product(f, (FORWARD,), (tangent,))[1], expected)
