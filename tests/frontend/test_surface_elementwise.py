"""Ufuncs: value, shape and dtype as in NumPy, for every mix of arrays, scalars and Python numbers."""

from typing import Any

import numpy as np
import pytest
import scipy.special
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import mutually_broadcastable_shapes

import einsumad as ea
from einsumad.errors import ShapeError, TracingError
from einsumad.frontend.broadcasting import align, broadcast_shape, product
from einsumad.frontend.lifting import as_node
from einsumad.frontend.numpy_functions.elementwise import (
    ROW_OF_COMPARISON,
    ROW_OF_ROUNDING,
    ROW_OF_UFUNC,
)
from einsumad.frontend.tensor import Tensor
from einsumad.graph import Einsum, Ones
from tests.frontend.surface import check, data, traced, value

SHAPES = [(), (1,), (3,), (2, 3), (0,), (2, 0, 1)]
UNARY = [
    *[u for u in [*ROW_OF_UFUNC, *ROW_OF_ROUNDING] if u.nin == 1],
    *[np.absolute, np.fabs, np.positive, np.conjugate, np.negative, np.square, np.reciprocal],
    *[np.deg2rad, np.radians, np.rad2deg, np.degrees],
]
BINARY = [
    *[u for u in [*ROW_OF_UFUNC, *ROW_OF_COMPARISON] if u.nin == 2],
    *[np.add, np.subtract, np.multiply, np.true_divide, np.maximum, np.minimum, np.power, np.logical_xor],
    *[np.fmax, np.fmin, np.float_power],
]
SPECIAL = [
    scipy.special.expit,
    scipy.special.log_expit,
    scipy.special.erf,
    scipy.special.erfc,
    scipy.special.gammaln,
    scipy.special.psi,
    scipy.special.digamma,
    scipy.special.log1p,
    scipy.special.expm1,
    *[scipy.special.erfinv, scipy.special.erfcinv, scipy.special.ndtr, scipy.special.log_ndtr, scipy.special.ndtri],
    *[scipy.special.logit, scipy.special.gamma, scipy.special.entr, scipy.special.cbrt, scipy.special.exp2],
    *[scipy.special.j0, scipy.special.j1, scipy.special.i0, scipy.special.i1],
]
SPECIAL_OF_TWO = [
    *[scipy.special.beta, scipy.special.betaln, scipy.special.xlogy, scipy.special.xlog1py],
    *[scipy.special.rel_entr, scipy.special.kl_div],
]
OPERANDS: list[Any] = [
    data((2, 3), "f8", 1),
    data((3,), "f4", 2),
    data((2, 1), "i8", 3),
    data((), "f8", 4),
    data((), "f4", 5),
    data((1,), "i1", 6),
    data((2, 3), "?", 7),
    data((0, 3), "f8", 8)[:0],
    np.float64(0.7),
    np.float32(0.3),
    np.int64(3),
    3,
    2,
    0.5,
    0.25,
    True,
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("ufunc", [*UNARY, *SPECIAL], ids=lambda u: u.__name__)
def test_unary_ufuncs(ufunc: np.ufunc, shape: tuple[int, ...]) -> None:
    for dtype in ("f8", "f4"):
        check(ufunc, data(shape, dtype))


@pytest.mark.parametrize("ufunc", UNARY, ids=lambda u: u.__name__)
@pytest.mark.parametrize("dtype", ["f2", "i8", "i1", "?"])
def test_unary_ufuncs_of_other_dtypes(ufunc: np.ufunc, dtype: str) -> None:
    x = data((3,), dtype)
    if ufunc is np.reciprocal and np.dtype(dtype).kind != "f":
        with pytest.raises(TracingError, match="integers"):
            ufunc(traced(x))
        return
    try:
        with np.errstate(all="ignore"):
            ufunc(x)
    except TypeError:  # NumPy has no such function of booleans
        with pytest.raises(TypeError):
            ufunc(traced(x))
        return
    check(ufunc, x)


@pytest.mark.parametrize("ufunc", BINARY, ids=lambda u: u.__name__)
@pytest.mark.parametrize("k", range(len(OPERANDS)))
def test_binary_ufuncs(ufunc: np.ufunc, k: int) -> None:
    x = OPERANDS[k]
    for y in OPERANDS:
        if not isinstance(x, np.ndarray) and not isinstance(y, np.ndarray):
            continue
        try:
            with np.errstate(all="ignore"):
                expected = ufunc(x, y)
        except (TypeError, ValueError) as error:
            kind = ShapeError if "broadcast" in str(error) else type(error)
            with pytest.raises(kind):
                ufunc(traced(x), traced(y))
            continue
        if ufunc is np.power and expected.dtype.kind in "iu" and isinstance(y, np.ndarray):
            with pytest.raises(TracingError, match="exponents"):
                ufunc(traced(x), traced(y))
            continue
        check(ufunc, x, y)


@pytest.mark.parametrize("ufunc", SPECIAL_OF_TWO, ids=lambda u: u.__name__)
@pytest.mark.parametrize("dtypes", ["f8 f8", "f4 f4", "f8 f4", "i8 f8"])
def test_special_ufuncs_of_two(ufunc: np.ufunc, dtypes: str) -> None:
    first, second = dtypes.split()
    check(ufunc, data((2, 3), first), data((3,), second))
    check(ufunc, data((3,), first), 0.5)


@pytest.mark.parametrize("order", [-2, 0, 1, 3, 3.0, 0.5, -1.5])
def test_bessel_functions_of_real_order(order: float) -> None:
    for ufunc in (scipy.special.jv, scipy.special.iv):
        check(lambda x, f=ufunc: f(order, x), data((3,)))


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_functions_with_two_values(dtype: str) -> None:
    x = np.array([-2.5, -0.25, 0.75, 3.0], dtype)
    check(lambda a: np.divmod(a, 0.5), x)
    check(np.modf, x)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8"])
def test_numbers_for_what_is_none(dtype: str) -> None:
    x = np.array([1.0, np.nan, np.inf, -np.inf]) if dtype != "i8" else np.arange(4)
    for options in ({}, {"nan": 2.5}, {"posinf": 3, "neginf": -1}):
        check(lambda a, o=options: np.nan_to_num(a, **o), x.astype(dtype))


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, -1, -2, 0.5, -0.5, 1.5, np.float64(2.0), np.float32(2.5), True, 0.0])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "?"])
def test_powers_with_constant_exponents(exponent: Any, dtype: str) -> None:
    x = data((3,), dtype) + (dtype == "?")
    x = x.astype(dtype)
    if np.result_type(x, exponent).kind in "biu" and exponent < 0:
        with pytest.raises(ValueError, match="negative"):
            _ = traced(x) ** exponent
        return
    check(lambda a: a**exponent, x)
    check(lambda a: np.power(a, exponent), x)


def test_the_square_is_the_same_node_however_it_is_written() -> None:
    x = traced(data((3,)))
    assert (x**2).node is np.square(x).node is np.power(x, 2.0).node is (x ** np.float64(2)).node


def test_operators() -> None:
    x, y = data((2, 3)), data((3,), "f4", 1)
    for f in [
        lambda a, b: a + b,
        lambda a, b: a - b,
        lambda a, b: a * b,
        lambda a, b: a / b,
        lambda a, b: a**b,
        lambda a, b: a @ b,
        lambda a, b: a < b,
        lambda a, b: a <= b,
        lambda a, b: a > b,
        lambda a, b: a >= b,
        lambda a, b: a == b,
        lambda a, b: a != b,
        lambda a, b: (a > 0.5) & (b > 0.5),
        lambda a, b: (a > 0.5) | ~(b > 0.5),
        lambda a, b: (a > 0.5) ^ (b > 0.5),
        lambda a, b: -a + +b,
        lambda a, b: abs(a - b),
        lambda a, b: 2 + a - 3 * b / 0.5,
        lambda a, b: 1 / a - 1 - b,
        lambda a, b: 2**a + b,
    ]:
        check(f, x, y)


@pytest.mark.parametrize(
    "left", [np.float64(2), np.float32(2), np.int64(2), np.ones(3), np.ones((2, 3), "f4"), [1, 2, 3], 2]
)
def test_reflected_operands_give_a_tensor_of_numpys_dtype(left: Any) -> None:
    x = data((3,), "f4")
    for f in [
        lambda a: left + a,
        lambda a: left - a,
        lambda a: left * a,
        lambda a: left / a,
        lambda a: left**a,
        lambda a: left < a,
        lambda a: left == a,
        lambda a: np.arctan2(left, a),
    ]:
        check(f, x)


def test_integers_that_do_not_fit_overflow_as_in_numpy() -> None:
    with pytest.raises(OverflowError):
        traced(data((3,), "i1")) + 300


@pytest.mark.parametrize("dtype", ["i1", "u2", "i8", "u8"])
@pytest.mark.parametrize("number", [-(2**70), -1, 3, 300, 2**16, 2**63, 2**64, 2**70])
@pytest.mark.parametrize("ufunc", ROW_OF_COMPARISON, ids=lambda ufunc: ufunc.__name__)
def test_whole_numbers_of_any_size_are_compared_as_in_numpy(ufunc: np.ufunc, number: int, dtype: str) -> None:
    bounds = np.iinfo(dtype)
    x = np.array([[bounds.min, 3, bounds.max]], dtype)
    check(lambda a: ufunc(a, number), x)
    check(lambda a: ufunc(number, a), x)
    weights = np.array([1.5, -2.0, 4.0])
    gradient = ea.grad(lambda w: np.sum(np.where(ufunc(traced(x), number), w**2, 0.0)))(weights)
    np.testing.assert_array_equal(gradient, np.where(ufunc(x, number)[0], 2 * weights, 0.0))


def test_number_of_the_graph() -> None:
    x = traced(data((3,)))
    doubled = (2 * x).node
    assert isinstance(doubled, Einsum)
    assert (doubled.coefficient, doubled.operands) == (2, (x.node,))
    halved = (x / 2).node
    assert isinstance(halved, Einsum)
    assert (halved.coefficient, halved.operands) == (0.5, (x.node,))
    assert len((3 * x).node.operands) == 2  # 3 is an input of the plan
    assert (3 * x).node is (3.0 * x).node
    assert value(np.multiply(x, -0.0)).tobytes() == np.full(3, -0.0).tobytes()


def test_masked_conditions_and_booleans() -> None:
    x = np.array([0.5, np.inf, -1.0])
    with np.errstate(all="ignore"):
        check(lambda a: (a > 0) * 2.0, x)
        check(lambda a: (a > 0) + (a < 0), x)
        check(lambda a: np.sum(a > 0), x)
        check(lambda a: np.mean(a > 0), x)
        check(lambda a: 0 / (a - a), x)
        check(lambda a: (a > 0) / (a > 9), x)
        check(lambda a: (a < 0).astype(int) * a, x)
        check(lambda a: (a < 0) * a, x)  # False times infinity is NaN, as in NumPy: only np.where selects


@given(mutually_broadcastable_shapes(num_shapes=3, max_dims=3, max_side=3), st.integers(0, 99))
def test_broadcasting(shapes: Any, seed: int) -> None:
    given_shapes, result = shapes
    arrays = [data(shape, "f8", seed + k) for k, shape in enumerate(given_shapes)]
    assert broadcast_shape(*given_shapes) == result
    nodes = [as_node(array) for array in arrays]
    for node, array in zip(align(nodes), arrays, strict=True):
        np.testing.assert_array_equal(value(Tensor(node)), np.broadcast_to(array, result))
    a, b, c = arrays
    np.testing.assert_allclose(value(Tensor(product(nodes, "f8"))), a * b * c, rtol=1e-14)
    check(lambda a, b, c: a * b - c, a, b, c)
    check(lambda a, b, c: np.where(a > 0.5, b, c), a, b, c)
    check(lambda a, b, c: np.maximum(np.minimum(a, b), c) / a, a, b, c)


def test_products_spread_nothing_out() -> None:
    a, b = traced(data((4, 1))), traced(data((1, 3)))
    node = (a * b).node
    assert isinstance(node, Einsum)
    assert not any(isinstance(operand, Ones) for operand in node.operands)
    assert set(node.operands) == {a.node, b.node}


def test_shapes_that_do_not_broadcast() -> None:
    with pytest.raises(ShapeError, match=r"axis -1 has sizes 3 and 2"):
        traced(data((2, 3))) + traced(data((2,)))


def test_rounding() -> None:
    x = np.array([0.5, 1.5, -2.5, np.nan, np.inf])
    check(np.round, x)
    check(lambda a: a.round(), x)
    check(np.round, np.array([True, False]))
    check(lambda a: np.round(a, 1), x + 0.26)
    check(lambda a: np.round(a, -1), np.array([4, 15, -26]))
    with pytest.raises(TracingError, match="decimals"):
        np.round(traced(np.array([True])), 2)
    for decimals in (2, -1):
        check(lambda a, d=decimals: np.round(a, d), 10 * data((3,)))
        check(lambda a, d=decimals: np.around(a, d), 10 * data((3,), "f4"))
