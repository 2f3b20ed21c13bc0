"""Indexing and taking: values and dtypes as NumPy's, derivatives of three orders against oracles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import einsumad as ea
from einsumad.errors import TracingError
from einsumad.testing import check_derivatives
from tests.frontend.surface import check, data, traced

SHAPE = (4, 5, 3)
MASK = data(SHAPE) > 0.5
EXPRESSIONS = [
    np.s_[1],
    np.s_[-1, 2],
    np.s_[1:3],
    np.s_[::-1],
    np.s_[::2, 1:, None],
    np.s_[..., 0],
    np.s_[:, None, ::2, ...],
    np.s_[3:1:-1, 0],
    np.s_[:0],
    np.s_[10:],
    np.s_[()],
    np.s_[...],
    np.s_[[0, 2, 2]],
    np.s_[[]],
    np.s_[:, [1, 1]],
    np.s_[[0, 1], [2, 3]],
    np.s_[[0, 1], :, [2, 0]],
    np.s_[1, :, [0, 1]],
    np.s_[None, [0, 1], [2, 3]],
    np.s_[[0, 1], None, [2, 3]],
    np.s_[..., [0, 2], None],
    np.s_[:, [0, 1], [[0], [2]]],
    np.s_[:, np.array([[0, 1], [2, 3]])],
    np.s_[np.array(2)],
    np.s_[np.int64(1), np.uint8(2)],
    np.s_[MASK],
    np.s_[MASK[:, 0, 0]],
    np.s_[:, MASK[0]],
    np.s_[MASK[:, :, 0], 1],
    np.s_[np.zeros(SHAPE, bool)],
]


@pytest.mark.parametrize("index", EXPRESSIONS, ids=range(len(EXPRESSIONS)))
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "?"])
def test_values(index: Any, dtype: str) -> None:
    check(lambda a: a[index], data(SHAPE, dtype))


@pytest.mark.parametrize("index", EXPRESSIONS, ids=range(len(EXPRESSIONS)))
def test_gradients(index: Any) -> None:
    x = data(SHAPE)
    gradient = np.zeros_like(x)
    np.add.at(gradient, index, 3 * x[index] ** 2)
    np.testing.assert_allclose(ea.grad(lambda a: np.sum(a[index] ** 3))(x), gradient, rtol=1e-13)


@pytest.mark.parametrize("index", EXPRESSIONS[::5], ids=range(0, len(EXPRESSIONS), 5))
def test_three_orders(index: Any) -> None:
    x = data((4, 5, 3))[:, :, :]

    def f(a: Any) -> Any:
        return np.sum(np.sin(a[index]) * 0.7)

    def of_some(v: Any) -> Any:
        return f(np.reshape(v, (4, 5, 1)) * np.ones(3))

    check_derivatives(of_some, x[:, :, 0].ravel()[:20], order=2, entries=20).raise_if_wrong(undecided=True)


def test_infinities_stay_where_they_are() -> None:
    x = np.array([1.0, np.inf, np.nan, -np.inf])
    check(lambda a: a[[0, 3, 1]], x)
    check(lambda a: a[::-1], x)
    np.testing.assert_array_equal(ea.grad(lambda a: np.sum(a[[0, 0, 3]]))(x), [2, 0, 0, 1])


def test_traced_indices() -> None:
    def f(x: Any, k: Any) -> Any:
        return np.sum(x[k] ** 2) + x[-1, 0]

    x, k = data((4, 3)), np.array([0, -1, 2, 2])
    gradient = np.zeros_like(x)
    np.add.at(gradient, k, 2 * x[k])
    gradient[-1, 0] += 1
    compiled = ea.compile(ea.grad(f))
    for _ in range(2):
        np.testing.assert_allclose(compiled(x, k), gradient, rtol=1e-14)
    other = np.array([3, 3, 3, -4])
    np.testing.assert_allclose(compiled(x, other), ea.grad(f)(x, other), rtol=1e-14)
    for bad in (np.array([0, 0, 0, 4]), np.array([0, 0, 0, -5])):
        with pytest.raises(IndexError, match="out of bounds"):
            compiled(x, bad)


@pytest.mark.parametrize(
    "entries",
    [
        lambda x, k: x[np.arange(3), k],
        lambda x, k: x[k, k[::-1]],
        lambda x, k: np.take_along_axis(x, k[:, None], axis=1)[:, 0],
    ],
)
def test_a_traced_index_of_one_of_several_axes_does_not_reach_over_its_bounds(entries: Any) -> None:
    """An index 4 into rows of 4 entries is no entry of the next row."""
    x = data((3, 4))
    compiled = ea.compile(ea.grad(lambda x, k: np.sum(entries(x, k) ** 3)))
    inside = np.array([0, 2, -1])
    np.testing.assert_allclose(compiled(x, inside), ea.grad(lambda x: np.sum(entries(x, inside) ** 3))(x), rtol=1e-14)
    for bad in (np.array([0, 4, 1]), np.array([0, -5, 1]), np.array([10**9, 0, 1]), np.array([-5, 1, 5])):
        with pytest.raises(IndexError, match="out of bounds"):
            compiled(x, bad)


def test_a_mask_needs_known_values() -> None:
    x = data((5,))
    np.testing.assert_array_equal(ea.grad(lambda a: np.sum(a[a > 0.5]))(x), x > 0.5)
    with pytest.raises(TracingError, match=r"np\.where"):
        ea.compile(ea.grad(lambda a: np.sum(a[a > 0.5])))(x)


@pytest.mark.parametrize(
    ("index", "error"),
    [
        (4, IndexError),
        (-5, IndexError),
        ((0, 0, 0, 0), IndexError),
        (1.0, IndexError),
        ("a", IndexError),
        ([0, 4], IndexError),
        (np.array([0.5]), IndexError),
        ((..., ...), IndexError),
        (True, TracingError),
        (slice(0, 2, 0), ValueError),
    ],
)
def test_refusals(index: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        traced(data(SHAPE))[index]


def test_iteration_and_unpacking() -> None:
    first, second = traced(data((2, 3)))
    assert first.shape == second.shape == (3,)
    assert len(list(traced(data((4,))))) == 4
    with pytest.raises(TypeError, match="without axes"):
        iter(traced(np.array(1.0)))
    gradient = ea.grad(lambda x: sum(np.prod(row) for row in x))(data((2, 3)))
    np.testing.assert_allclose(gradient, [np.prod(r) / r for r in data((2, 3))], rtol=1e-14)


TAKES = [
    lambda a: np.take(a, [0, 5, -1]),
    lambda a: np.take(a, [[0, 1], [2, 2]], axis=1),
    lambda a: np.take(a, 2, axis=-1),
    lambda a: np.take(a, [7, -9], axis=0, mode="wrap"),
    lambda a: np.take(a, [7, -9], axis=0, mode="clip"),
    lambda a: a.take([1, 1], 0),
    lambda a: np.take_along_axis(a, np.array([[[0, 4, 1]]]), 1),
    lambda a: np.take_along_axis(a, np.argsort(data(SHAPE, seed=5), axis=2)[:, :, :2], 2),
    lambda a: np.take_along_axis(a, np.array([3, 0]), None),
    lambda a: np.compress([True, False, True, True], a, axis=0),
    lambda a: np.compress([0, 1, 1], a),
    lambda a: np.delete(a, 1, axis=1),
    lambda a: np.delete(a, [0, -1], axis=0),
    lambda a: np.delete(a, slice(0, 4, 2), axis=1),
    lambda a: np.delete(a, 3),
    lambda a: np.insert(a, 1, 1, axis=1),
    lambda a: np.insert(a, [1, 3], 0, axis=0),
    lambda a: np.insert(a, 2, a[:, 0], axis=1),
    lambda a: np.insert(a, slice(0, 2), 1, axis=2),
    lambda a: np.append(a, a[:1], axis=0),
    lambda a: np.append(a, [1, 0]),
]


@pytest.mark.parametrize("f", TAKES)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8"])
def test_takes(f: Any, dtype: str) -> None:
    check(f, data(SHAPE, dtype))


@pytest.mark.parametrize("f", TAKES)
def test_gradients_of_takes(f: Any) -> None:
    x = data(SHAPE)
    weights = data(f(x).shape, seed=3)
    places = f(np.arange(1.0, 1 + x.size).reshape(SHAPE))
    gradient = np.array([np.sum(weights[places == k] if k else 0.0) for k in range(1, 1 + x.size)])
    found = ea.grad(lambda a: np.sum(weights * f(a)))(x)
    constants = {0.0, 1.0}  # what insert and append add: the entry 1 is one of them too
    same = [k for k in range(x.size) if float(k + 1) not in constants]
    np.testing.assert_allclose(found.ravel()[same], gradient[same], rtol=1e-13, atol=1e-15)


@st.composite
def indexed_arrays(draw: Any) -> tuple[np.ndarray, Any]:
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=4))
    basic = draw(hnp.basic_indices(shape, allow_newaxis=True, max_dims=6))
    advanced = draw(hnp.integer_array_indices(shape))
    count = draw(st.integers(0, len(shape)))
    one = st.one_of([st.just(slice(None)), *[st.slices(size) for size in shape[:count]]])
    mixed = tuple([advanced[k] if draw(st.booleans()) else draw(one) for k in range(count)])
    return data(shape), draw(st.sampled_from([basic, advanced, mixed]))


@pytest.mark.fuzz
@settings(max_examples=max(80, settings().max_examples))
@given(indexed_arrays())
def test_any_index(case: tuple[np.ndarray, Any]) -> None:
    x, index = case
    value, tangent = ea.jvp(lambda a: a[index], (x,), (2 * x,))
    np.testing.assert_array_equal(value, x[index])
    np.testing.assert_array_equal(tangent, 2 * x[index])
    gradient = np.zeros_like(x)
    np.add.at(gradient, index, 2 * x[index])
    np.testing.assert_allclose(ea.grad(lambda a: np.sum(a[index] ** 2))(x), gradient, rtol=1e-14)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.uint32])
def test_indices_of_a_dtype_that_does_not_hold_the_size(dtype: Any) -> None:
    x, index = np.arange(70000.0), np.array([5, 100], dtype)
    if np.issubdtype(dtype, np.signedinteger):
        index[0] = -3
    expected = np.zeros(70000)
    expected[index.astype(int)] = 2 * x[index.astype(int)]
    np.testing.assert_array_equal(ea.grad(lambda x: np.sum(x[index] ** 2))(x), expected)
    np.testing.assert_array_equal(ea.grad(lambda x: np.sum(np.take(x, index) ** 2))(x), expected)
    np.testing.assert_array_equal(ea.compile(lambda i: ea.numpy.take(x, i))(index), x[index.astype(int)])
