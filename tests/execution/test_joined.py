"""Sums of parts at places of their own along an axis: each is written where it belongs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import einsumad as ea
from einsumad.execution.reference import evaluate
from einsumad.graph import add, affine, einsum, scale
from einsumad.planning import make_plan
from einsumad.planning.kernels import Joined, Overlap, Pad
from tests.execution.test_compiled import run
from tests.planning.products import random_values, variable


def kernels(function, *args):
    return [type(step.kernel) for step in ea.explain(function, *args).plan.steps]


@st.composite
def sums(draw):
    """A sum of parts along drawn axes, with axes in any order, times numbers, and of whole terms."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = tuple(draw(st.lists(st.integers(1, 5), min_size=1, max_size=3)))
    dtype = draw(st.sampled_from([np.float64, np.float32]))
    values, terms = {}, []
    for k in range(draw(st.integers(1, 6))):
        along = draw(st.sampled_from([0, 0, 0, len(shape) - 1]))
        size = draw(st.integers(0 if k else 1, shape[along]))
        start = draw(st.integers(-1, shape[along] - size + 1))  # also beyond the ends: what is there is cut off
        part = (*shape[:along], size, *shape[along + 1 :])
        order = draw(st.permutations(range(len(shape))))
        term = variable(f"x{k}", tuple([part[axis] for axis in order]), dtype)
        values[term] = random_values(rng, term.shape, dtype)
        labels = tuple([len(shape) if axis == along else axis for axis in order])
        places = affine(shape[along], [size], [1], start, np.dtype(dtype))
        term = einsum([term, places], [labels, (along, len(shape))], tuple(range(len(shape))), 1, np.dtype(dtype))
        terms.append(scale(draw(st.sampled_from([1, 1, -1, 0.5])), term))
    for k in range(draw(st.integers(0, 2))):
        whole = variable(f"w{k}", shape, dtype)
        values[whole] = random_values(rng, shape, dtype)
        terms.append(scale(draw(st.sampled_from([1, -1, 2.5])), whole))
    return add(terms, np.dtype(dtype)) if len(terms) > 1 else terms[0], values


@settings(max_examples=max(200, settings().max_examples))
@given(sums())
def test_random_sums(case):
    root, values = case
    found, expected = run([root], values)[0], evaluate([root], values)[0]
    tolerance = 1e-5 if root.dtype == np.float32 else 1e-13
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
    twice = einsum([root, root], [tuple(range(len(root.shape)))] * 2, (), 1, root.dtype)
    np.testing.assert_allclose(run([twice], values)[0], np.sum(expected**2), rtol=10 * tolerance, atol=10 * tolerance)


@pytest.mark.whole_planner
@pytest.mark.parametrize("join", [np.stack, np.concatenate])
def test_what_is_joined_is_one_step(join):
    parts = [np.full((2, 3), float(k)) for k in range(4)]
    function = lambda parts: join([np.exp(part) for part in parts])  # noqa: E731
    found = ea.compile(function)(parts)
    np.testing.assert_array_equal(found, join(np.exp(parts)))
    used = kernels(ea.compile(function), parts)
    assert (used.count(Joined), used.count(Pad), used.count(Overlap)) == (1, 0, 0)


@pytest.mark.whole_planner
def test_the_work_of_a_gradient_in_slices_grows_with_their_number():
    """Each slice made as large as the whole would be n² of them."""

    def f(x):
        state = x[0]
        for t in range(1, len(x)):
            state = np.tanh(x[t] + state)
        return np.sum(state**2)

    moved = [ea.explain(ea.grad(f), np.ones((n, 50))).plan.bytes for n in (8, 16, 32)]
    assert moved[2] - moved[1] < 2.2 * (moved[1] - moved[0])


def test_parts_that_meet_are_added_and_gaps_are_zero():
    x = np.arange(1.0, 6.0)
    found = ea.grad(lambda x: np.sum(x[:3] ** 2) + 2 * np.sum(x[1:4] ** 2))(x)
    np.testing.assert_array_equal(found, [2, 12, 18, 16, 0])
    with_whole = ea.grad(lambda x: np.sum(x[:3] ** 2) + np.sum(np.sin(x)) - np.sum(x[2:] ** 3))(x)
    by_hand = np.cos(x) + 2 * x * (np.arange(5) < 3) - 3 * x**2 * (np.arange(5) >= 2)
    np.testing.assert_allclose(with_whole, by_hand, rtol=1e-14)


def test_nothing_is_written_to_what_is_joined():
    a = np.arange(6.0).reshape(2, 3)
    first, second = ea.compile(lambda a: (np.concatenate([a, a * 2]), np.concatenate([a, a * 2]) + 1))(a)
    np.testing.assert_array_equal(first, np.concatenate([a, a * 2]))
    np.testing.assert_array_equal(second, first + 1)
    np.testing.assert_array_equal(a, np.arange(6.0).reshape(2, 3))


def test_its_text_says_where_parts_lie():
    x, y = variable("x", (2,), float), variable("y", (3,), float)
    terms = [
        einsum([part, affine(5, [n], [1], start, np.dtype(float))], [(1,), (0, 1)], (0,), 1, np.dtype(float))
        for part, n, start in ((x, 2, 0), (y, 3, 2))
    ]
    text = str(make_plan([add(terms, np.dtype(float))], [x, y]))
    assert "t0[i]" in text
    assert "t1[i-2]" in text
