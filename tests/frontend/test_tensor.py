"""The handle: what it refuses and in which words, what it knows, how arrays and numbers become nodes."""

import copy
import math
import operator
import pickle
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.special

import einsumad as ea
import einsumad.numpy as enp
from einsumad.errors import TracingError
from einsumad.frontend.evaluation import concrete
from einsumad.frontend.lifting import as_node
from einsumad.frontend.met import one_leaf_per_array
from einsumad.frontend.registry import implements, implements_ufunc
from einsumad.frontend.tensor import Tensor
from einsumad.frontend.values import bind, remember, snapshot, value_of
from einsumad.graph import Leaf, Ones, Zero, fresh_leaf, leaf
from tests.frontend.surface import data, traced, value

CONVERSIONS = [
    (float, "float()"),
    (int, "int()"),
    (complex, "complex()"),
    (round, "np.round"),
    (math.floor, "np.floor"),
    (math.ceil, "np.ceil"),
    (math.trunc, "np.trunc"),
    (lambda x: x.item(), ".item()"),
    (lambda x: x.tolist(), ".tolist()"),
    (math.exp, "np.exp"),
    (operator.index, "index"),
    (lambda x: [1, 2, 3][x], "index"),
    (np.asarray, "conversion to an array"),
    (np.array, "einsumad.numpy.array"),
    (lambda x: np.array([x, x]), "einsumad.numpy.array"),
    (lambda x: [x, 1] + np.ones(2) * x, "einsumad.numpy.array"),
    (lambda x: np.full(3, x), "np.where"),
    (lambda x: 1.0 in x, "np.any"),
    (np.vectorize(lambda v: v * v), "apply the function to the whole array"),
    (lambda x: np.r_[x, 1.0], "np.concatenate"),
    (lambda x: np.c_[[x], [1.0]], "np.stack"),
    (scipy.linalg.expm, "conversion to an array"),
    (scipy.special.logsumexp, "conversion to an array"),
    (np.ones(()).dot, "conversion to an array"),
]


@pytest.mark.parametrize(("convert", "remedy"), CONVERSIONS)
def test_conversions_that_would_lose_the_derivative(convert: Any, remedy: str) -> None:
    with pytest.raises(TracingError) as caught:
        convert(traced(np.array(3.0)))
    assert remedy in str(caught.value)


def test_writing_a_traced_value_into_an_array() -> None:
    x, w, target = traced(np.array(2.0)), traced(data((3,))), np.zeros(3)
    with pytest.raises(TracingError, match=r"np\.where"):
        target[:] = w
    with pytest.raises(ValueError, match="sequence") as caught:  # NumPy's own error, caused by ours
        target[0] = x
    assert isinstance(caught.value.__cause__, TracingError)
    with pytest.raises(TracingError, match=r"write a = a \+ x"):
        target += w
    with pytest.raises(TracingError, match="out"):
        np.add(w, 1, out=target)
    with pytest.raises(TracingError, match="out"):
        np.add(target, 1, out=w)
    with pytest.raises(TracingError, match="where"):
        np.add(w, 1, where=target > 0)
    assert (target == 0).all()


def test_an_in_place_operator_writes_into_arrays_and_rebinds_numbers() -> None:
    w = traced(data((3,)))
    x = w
    x += 1
    assert x is w
    np.testing.assert_array_equal(w.numpy(), data((3,)) + 1)
    s = t = np.sum(w)
    s += 1
    np.testing.assert_array_equal(s.numpy(), t.numpy() + 1)


UNSUPPORTED = [
    (np.fft.fft, "numpy.fft.fft"),
    (lambda x: np.linalg.eig(np.multiply.outer(x, x)), "numpy.linalg.eig"),
    (np.roots, "numpy.roots"),
    (lambda x: np.nextafter(x, 1), "numpy.nextafter"),
    (lambda x: np.gcd.reduce(np.argsort(x)), "numpy.gcd.reduce"),
    (lambda x: x.partition(1), "ndarray.partition"),
    (lambda x: x.sort(), "ndarray.sort"),
    (lambda x: x.flat, "ndarray.flat"),
]


@pytest.mark.parametrize(("call", "name"), UNSUPPORTED, ids=[name for _, name in UNSUPPORTED])
def test_what_is_not_supported_is_named(call: Any, name: str) -> None:
    with pytest.raises(TracingError, match="not supported") as caught:
        call(traced(data((3,))))
    assert name in str(caught.value)


def test_numbers_in_a_container_are_no_array() -> None:
    for f in (np.sum, lambda v: np.ones(2) * v, lambda v: np.array(v)[0]):
        for transform in (ea.grad, ea.compile):
            with pytest.raises(TracingError, match=r"a list or tuple of numbers.*einsumad\.numpy\.array\(x\)"):
                transform(f)([1.0, 2.0])
    with pytest.raises(TracingError, match="derivative would be lost"):
        ea.grad(lambda v: np.sum(np.array([v[0] * v[1]])))((1.0, 2.0))
    assert ea.grad(lambda v: np.sum(enp.array(v) ** 2))([1.0, 2.0]) == [2.0, 4.0]
    for transform in (ea.grad, ea.compile):
        with pytest.raises(TracingError, match=r"np\.nditer goes through plain arrays"):
            transform(lambda x: sum(np.nditer(x)))(np.ones(2))


def test_attributes() -> None:
    x = traced(data((3,)))
    assert not hasattr(x, "partition")
    assert not hasattr(x, "__array_interface__")
    with pytest.raises(AttributeError, match="'colour'"):
        _ = x.colour


def test_truth_follows_the_value() -> None:
    x = traced(np.array(2.0))
    assert x > 1
    assert not x * x < x
    assert [max(x, 1.0) is x, min(x, 1.0)] == [True, 1.0]
    with pytest.raises(ValueError, match="ambiguous"):
        bool(traced(data((3,))))
    unknown = Tensor(fresh_leaf((), "f8"))
    with pytest.raises(TracingError, match=r"np\.where"):
        bool(unknown > 0)
    with pytest.raises(TracingError, match="not known"):
        unknown.numpy()


def test_values_that_were_remembered_are_enough() -> None:
    unknown = fresh_leaf((3,), "f8")
    middle = np.exp(Tensor(unknown))
    top = np.sum(middle)
    assert concrete(top.node) is None
    remember(middle.node, np.array([1.0, 2.0, 3.0]))
    assert float(concrete(top.node) or 0) == 6
    assert value_of(top.node) is not None


def test_numpy_gives_a_copy() -> None:
    x = traced(data((3,)))
    first = x.numpy()
    first[:] = 0
    np.testing.assert_array_equal(x.numpy(), data((3,)))


def test_copies_hash_and_text() -> None:
    x = traced(data((3,)))
    assert copy.copy(x).node is copy.deepcopy(x).node is x.node
    assert pickle.loads(pickle.dumps(np.exp(x))).node is np.exp(x).node  # noqa: S301 (made above)
    assert {x: 1}[x] == 1
    assert repr(x) == "Tensor(x0[i], shape=(3,), dtype=float64)"
    assert len(x) == 3
    with pytest.raises(TypeError):
        len(np.sum(x))


def test_later_writes_to_an_array_change_nothing() -> None:  # G7
    array = np.array([1.0, 2.0])
    x = traced(np.ones(2)) * array
    array[:] = 7
    np.testing.assert_array_equal(value(x), [1.0, 2.0])
    view = np.zeros((2, 3)).T
    kept = snapshot(view)
    view[0] = 5
    assert kept.sum() == 0
    assert not kept.flags.writeable


def test_one_array_met_twice_is_one_leaf_unless_it_changed() -> None:
    array = np.array([1.0, np.nan, 0.0])
    assert as_node(array) is not as_node(array)
    with one_leaf_per_array():
        first = as_node(array)
        assert as_node(array) is first
        with one_leaf_per_array():
            assert as_node(array) is first
        array[2] = -0.0
        second = as_node(array)
        assert second is not first
        assert as_node(array) is second
    assert as_node(array) is not second
    assert isinstance(first, Leaf)


def test_numbers() -> None:
    assert isinstance(as_node(0.0), Zero)
    assert isinstance(as_node(1), Ones)
    assert as_node(1).dtype == np.int64
    assert as_node(3.0, np.float32).dtype == np.float32
    assert as_node(3, np.float32) is as_node(3.0, np.float32)
    assert as_node(3.0, np.int8).dtype == np.float64
    assert as_node(True).dtype == np.bool_
    assert as_node(np.float64(0)) is leaf((), "f8", ("number", 0.0))  # data, not a constant of the graph
    for number in (math.nan, math.inf, -0.0, 1e300, 10**20):
        found = value_of(as_node(number, np.float64))
        assert found is not None
        np.testing.assert_array_equal(found, np.float64(number))
        assert np.signbit(found) == np.signbit(np.float64(number))


REFUSED: list[Any] = [
    1j,
    np.array([1j]),
    np.complex64(1),
    np.array(["a"]),
    "text",
    np.array([None]),
    None,
    object(),
    np.array(["2020-01-01"], "M8[D]"),
    10**400,
]


@pytest.mark.parametrize("operand", REFUSED, ids=lambda operand: type(operand).__name__)
def test_operands_that_cannot_be_traced(operand: Any) -> None:
    with pytest.raises((TracingError, OverflowError)):
        traced(data((1,))) + operand
    with pytest.raises((TracingError, OverflowError)):
        operand + traced(data((1,)))


def test_complex_numbers_say_so() -> None:
    with pytest.raises(TracingError, match="complex numbers are not supported yet"):
        1j * traced(data((3,)))


def test_array_subclasses_and_object_arrays_are_refused() -> None:
    x = traced(data((2,)))
    with pytest.raises(TracingError, match="recarray"):
        np.add(np.ones((1, 2)).view(np.recarray), x)
    with pytest.raises(TracingError, match=r"einsumad\.numpy\.array"):
        np.array([x, None], dtype=object) + x
    objects = np.empty(2, object)
    objects[0], objects[1] = np.sum(x), 1.0
    with pytest.raises(TracingError, match=r"einsumad\.numpy\.array"):
        objects * x


def test_the_left_operand_never_makes_an_object_array() -> None:  # B9
    x = traced(data((3,)))
    for left in (
        np.float64(2),
        np.float32(2),
        np.array([1.0, 2.0, 3.0]),
        np.array(2.0),
        [1, 2, 3],
        np.bool_(1),
    ):
        for f in (operator.add, operator.mul, operator.truediv, operator.pow, operator.lt, operator.eq):
            assert isinstance(f(left, x), Tensor)
    assert isinstance(np.ones((2, 3)) @ x, Tensor)
    assert isinstance(sum([x, x]), Tensor)
    assert isinstance(enp.array([x, x]), Tensor)


def test_other_array_types_may_take_over() -> None:
    class Foreign:
        __array_ufunc__ = None

        def __radd__(self, other: object) -> str:
            return "foreign"

        __rpow__ = __radd__

    assert traced(data((3,))) + Foreign() == "foreign"
    assert traced(data((3,))) ** Foreign() == "foreign"


def test_a_second_handler_is_refused() -> None:
    with pytest.raises(ValueError, match="already has a handler"):
        implements(np.sum)(data)
    with pytest.raises(ValueError, match="already has a handler"):
        implements_ufunc(np.add)(data)


def test_a_long_chain_is_built_and_deleted_without_recursion() -> None:
    x = Tensor(bind_scalar(1.0))
    for _ in range(8_000):
        x = x + 0.25 * x
    assert x.shape == ()
    del x


def bind_scalar(number: float) -> Leaf:
    node = fresh_leaf((), "f8")
    bind(node, np.asarray(number))
    return node
