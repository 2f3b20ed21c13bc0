"""What the constructors refuse, and the normal forms they give."""

from __future__ import annotations

import numpy as np
import pytest

from einsumad.errors import IndexNotationError, ShapeError
from einsumad.graph import (
    Affine,
    Unit,
    Zero,
    add,
    affine,
    canonical_number,
    cast,
    constant,
    einsum,
    elementwise,
    general,
    leaf,
    multiply,
    ones,
    product_dtype,
    selection,
    sum_axes,
    transpose,
    unit,
    zero,
)
from einsumad.graph.verify import verify
from tests.graph.build import symbol
from tests.graph.dense import dense

_X, _Y, _A = symbol("x", 3), symbol("y", 4), symbol("A", 3, 4)
_MASK, _INDEX = symbol("m", 3, dtype=bool), symbol("k", 3, dtype=np.int64)


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: einsum([_X, _Y], [(0,)], (0,)), IndexNotationError, "2 operands but 1"),
        (lambda: einsum([_A], [(0,)], (0,)), IndexNotationError, "does not fit"),
        (lambda: einsum([_X, _Y], [(0,), (0,)], (0,)), ShapeError, "sizes 3 and 4"),
        (lambda: einsum([_A], [(0, 0)], (0,)), ShapeError, "sizes 3 and 4"),
        (lambda: einsum([_X], [(0,)], (0, 0)), IndexNotationError, "distinct"),
        (lambda: einsum([_X], [(0,)], (1,)), IndexNotationError, "appear among"),
        (lambda: einsum([], [], ()), ShapeError, "needs a dtype"),
        (lambda: multiply(_X, coefficient=float("nan")), ShapeError, "finite"),
        (lambda: multiply(_X, coefficient=float("-inf")), ShapeError, "finite"),
        (lambda: sum_axes(_MASK, [0]), ShapeError, "boolean"),
        (lambda: multiply(_MASK, coefficient=2), ShapeError, "boolean"),
        (lambda: multiply(_MASK, _X, dtype=bool), ShapeError, "boolean"),
        (lambda: multiply(_X, dtype=int), ShapeError, "cast"),
        (lambda: multiply(_INDEX, coefficient=0.5), ShapeError, "cast"),
        (lambda: add([]), ShapeError, "at least one"),
        (lambda: add([_X, _Y]), ShapeError, "equal shape"),
        (lambda: add([_MASK, _MASK]), ShapeError, "booleans"),
        (
            lambda: elementwise("maximum", [_X, _Y], (), float),
            ShapeError,
            "maximum needs operands of equal shape",
        ),
        (lambda: unit(3, 1, float), ShapeError, "two axes or more"),
        (lambda: ones((2, -1), float), ShapeError, "0 and more"),
        (lambda: leaf((-1,), float, ("variable", "x")), ShapeError, "0 and more"),
        (lambda: affine(3, [2], [1, 1], 0, float), ShapeError, "one stride for each"),
        (lambda: affine(3, [], [], 0, float), ShapeError, "one stride for each"),
        (lambda: selection(_X, 3, float), ShapeError, "integer"),
    ],
)
def test_what_is_not_legal_is_refused(make, error, says):
    with pytest.raises(error, match=says):
        make()


def test_the_dtype_of_a_product_is_that_of_its_factors_without_masks():
    single = symbol("s", 3, dtype="float32")
    assert multiply(single, _MASK).dtype == np.float32
    assert multiply(single, _X).dtype == np.float64
    assert multiply(single, _INDEX).dtype == np.result_type(np.float32, np.int64)
    assert multiply(_MASK, _MASK).dtype == bool
    assert add([single, single]).dtype == np.float32
    assert product_dtype([_INDEX, _MASK]) == np.int64
    assert cast(_X, "float32").dtype == np.float32
    assert cast(_X, float) is _X


def test_masks_that_count_become_numbers_by_a_cast():
    counted = sum_axes(cast(_MASK, np.int64), [0])
    verify([counted])
    assert counted.dtype == np.int64


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (2.0, 2),
        (True, 1),
        (-0.0, 0),
        (0.5, 0.5),
        (np.float32(0.5), 0.5),
        (np.int64(2**60 + 1), 2**60 + 1),
        (1e300, 1e300),
    ],
)
def test_whole_coefficients_are_ints(value, number):
    found = canonical_number(value)
    assert (found, type(found)) == (number, type(number))


@pytest.mark.parametrize(
    ("coefficient", "dtype", "kept"),
    [
        (127, "i1", 127),
        (128, "i1", -128),
        (-128, "i1", -128),
        (-129, "i1", 127),
        (256, "i1", 0),
        (300, "i1", 44),
        (255, "u1", 255),
        (256, "u1", 0),
        (-200, "u1", 56),
        (2**40 + 3, "i4", 3),
        (2**63, "i8", -(2**63)),
        (2**63, "u8", 2**63),
        (2**64 + 1, "u8", 1),
        (2**70, "f8", 2**70),
    ],
)
def test_coefficients_of_whole_numbers_are_counted_modulo_a_power_of_two(coefficient, dtype, kept):
    assert multiply(leaf((3,), dtype, ("variable", "n")), coefficient=coefficient).coefficient == kept


@pytest.mark.parametrize(
    ("made", "kind"),
    [
        (affine(4, [4], [1], 0, float), Unit),
        (affine(1, [1], [5], 0, float), Unit),
        (affine(4, [3], [1], 0, float), Affine),
        (affine(4, [4], [-1], 3, float), Affine),
        (affine(4, [4], [1], 4, float), Zero),
        (affine(4, [4], [1], -4, float), Zero),
        (affine(4, [2], [-3], -1, float), Zero),
        (affine(0, [2], [1], 0, float), Zero),
        (affine(4, [0], [1], 0, float), Zero),
    ],
)
def test_affine_tensors_in_their_simplest_kind(made, kind):
    assert isinstance(made, kind)
    verify([made])


def test_the_stride_of_an_axis_of_size_one_does_not_matter():
    assert affine(5, [1, 2], [7, 2], 1, float) is affine(5, [1, 2], [-3, 2], 1, float)


def test_an_identity_is_the_unit_even_where_a_formula_wrote_it():
    np.testing.assert_array_equal(dense(affine(3, [3], [1], 0, float)), np.eye(3))
    np.testing.assert_array_equal(dense(affine(1, [1], [9], 0, float)), np.eye(1))


def test_short_names_give_legal_nodes():
    made = [
        constant(2.5, (2, 3), float),
        constant(3, (), "float32"),
        transpose(_A, (1, 0)),
        sum_axes(_A, [0, 1]),
        zero((), float),
        general("determinant", [symbol("B", 2, 2)], (), (), float),
        selection(_INDEX, 5, float),
    ]
    verify(made)
    assert [node.shape for node in made] == [(2, 3), (), (4, 3), (), (), (), (3, 5)]
