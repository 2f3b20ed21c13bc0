"""What NumPy itself does, checked, where the library has to agree with it or do better."""

from __future__ import annotations

import numpy as np
import pytest

import einsumad as ea
from tests.reported.oracle import integers


def test_ellipsis_axes_may_be_dropped_without_a_path_option():
    x = integers(1, 2, 3, 4)
    np.testing.assert_array_equal(ea.einsum("i...->i", x), x.sum(axis=(1, 2)))
    np.testing.assert_array_equal(ea.einsum("...->", x), x.sum())


@pytest.mark.parametrize("subscripts", ["ii->i", "ij->ji"])
def test_views_of_numpy_are_copies_here(subscripts):
    x = integers(2, 3, 3)
    assert np.shares_memory(np.einsum(subscripts, x), x)
    assert not np.shares_memory(ea.einsum(subscripts, x), x)


def test_a_named_index_of_size_1_broadcasts():
    x, y = np.array([2.0, 2.0]), np.array([2.0])
    assert np.einsum("i,i", x, y) == ea.einsum("i,i", x, y) == 8


def test_small_integers_wrap_as_they_do_in_numpy():
    x = np.array([200, 144], np.uint8)
    found = ea.einsum("i->", x)
    assert found == np.einsum("i->", x) == 88
    assert found.dtype == np.uint8
    total = ea.compile(np.sum)(x)
    assert total == np.sum(x) == 344
    assert total.dtype == np.sum(x).dtype


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (np.ones(2, np.float32), np.float64(2)),
        (np.ones(2, np.float32), 2.0),
        (np.ones(2, np.float32), 2),
        (np.ones(2, np.float32), np.ones(2, np.int64)),
        (np.ones(2, np.float32), np.float32(2)),
        (np.ones(2, np.float16), 2.0),
        (np.ones(2, np.float64), np.float32(2)),
        (np.ones(2, np.float32), True),
        (np.ones(2, np.float32), np.ones(2, np.int16)),
    ],
)
@pytest.mark.parametrize("operator", [np.multiply, np.add, np.divide, np.power, np.maximum, np.subtract])
def test_dtypes_promote_as_in_numpy(left, right, operator):
    expected = operator(left, right)
    value, tangent = ea.jvp(lambda x: operator(x, right), (left,), (left,))
    assert value.dtype == tangent.dtype == expected.dtype
    np.testing.assert_array_equal(value, expected)
    gradient = ea.grad(lambda x: np.sum(operator(x, right)))(left)
    assert gradient.dtype == left.dtype
    if np.ndim(right) == 0:
        value, _ = ea.jvp(lambda x: operator(right, x), (left,), (left,))
        assert value.dtype == operator(right, left).dtype


def test_scalars_and_empty_arrays():
    assert ea.einsum(",->", 2.0, 3.0) == 6
    assert ea.einsum("->", 2.0) == 2
    assert ea.einsum("i->", np.zeros(0)) == 0
    assert ea.einsum("ij,jk->ik", np.zeros((2, 0)), np.zeros((0, 3))).tolist() == np.zeros((2, 3)).tolist()
    assert ea.grad(lambda x: np.einsum(",->", x, 3.0))(np.float64(2)) == 3
    assert ea.grad(lambda x: np.einsum("->", x))(2.0) == 1


def test_output_labels_that_numpy_rejects():
    for subscripts in ("i->ii", "i->j"):
        with pytest.raises(ValueError, match="output"):
            np.einsum(subscripts, np.ones(2))
        with pytest.raises(ea.IndexNotationError, match="output"):
            ea.einsum(subscripts, np.ones(2))


def test_python_numbers_are_floats_and_results_are_arrays_or_scalars_of_the_dtype():
    gradient = ea.grad(lambda x: x * x)(3.0)
    assert isinstance(gradient, (np.floating, np.ndarray))
    assert np.shape(gradient) == ()
    assert gradient.dtype == np.float64
    assert float(gradient) == 6
    single = ea.grad(lambda x: x * x)(np.float32(3))
    assert single.dtype == np.float32
