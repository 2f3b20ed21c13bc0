"""Other libraries as systems: the same programs have the same derivatives, in the same nesting, shapes and dtypes."""

from typing import Any

import numpy as np
import pytest

from einsumad.errors import DifferentiationError, ShapeError
from einsumad.testing.systems import EINSUMAD
from tests.testing.systems.programs import NAMESPACES, PROGRAMS, SCALAR, peer

MODES = ("auto", "forward", "reverse")

every_peer = pytest.mark.parametrize("name", NAMESPACES)
every_program = pytest.mark.parametrize("program", PROGRAMS.values(), ids=list(PROGRAMS))


def assert_same(found: Any, expected: Any, tolerance: float = 1e-12) -> None:
    """Equal nesting, shapes and dtypes, and values within the tolerance; fresh writable arrays."""
    if isinstance(expected, tuple):
        assert isinstance(found, tuple)
        assert len(found) == len(expected)
        for part, own in zip(found, expected, strict=True):
            assert_same(part, own, tolerance)
        return
    assert type(found) is np.ndarray
    assert found.dtype == expected.dtype
    assert found.shape == np.shape(expected)
    assert found.flags.writeable
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@every_peer
@every_program
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_derivatives(name: str, program: Any, mode: str, order: int) -> None:
    found, namespace = peer(name)
    arrays = program.arrays()
    expected = EINSUMAD.derivative(program.written_with(np), arrays, order, "auto")
    assert_same(found.derivative(program.written_with(namespace), arrays, order, mode), expected)


@every_peer
@every_program
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_and_products(name: str, program: Any, dtype: Any) -> None:
    found, namespace = peer(name)
    own, other = program.written_with(np), program.written_with(namespace)
    arrays, tangents = program.arrays(dtype), program.arrays(dtype, seed=1)
    tolerance = 1e-12 if dtype is np.float64 else 1e-5
    value = EINSUMAD.evaluate(own, arrays)
    assert_same(found.evaluate(other, arrays), value, tolerance)
    assert_same(found.jvp(other, arrays, tangents), EINSUMAD.jvp(own, arrays, tangents), tolerance)
    cotangent = np.asarray(np.random.default_rng(2).uniform(-1, 1, value.shape), dtype)
    assert_same(found.vjp(other, arrays, cotangent), EINSUMAD.vjp(own, arrays, cotangent), tolerance)


@every_peer
@pytest.mark.parametrize("program", [PROGRAMS[key] for key in SCALAR], ids=SCALAR)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_with_the_hessian(name: str, program: Any, dtype: Any) -> None:
    found, namespace = peer(name)
    arrays, tangents = program.arrays(dtype), program.arrays(dtype, seed=1)
    expected = EINSUMAD.hvp(program.written_with(np), arrays, tangents)
    tolerance = 1e-12 if dtype is np.float64 else 1e-5
    assert_same(found.hvp(program.written_with(namespace), arrays, tangents), expected, tolerance)


@every_peer
@pytest.mark.parametrize("mode", MODES)
def test_single_precision_is_kept_in_higher_orders(name: str, mode: str) -> None:
    found, namespace = peer(name)
    program = PROGRAMS["outer"]
    arrays = program.arrays(np.float32)
    for order in (1, 2):
        expected = EINSUMAD.derivative(program.written_with(np), arrays, order, "auto")
        assert_same(found.derivative(program.written_with(namespace), arrays, order, mode), expected, 1e-4)


@every_peer
def test_arguments_are_neither_changed_nor_returned(name: str) -> None:
    found, _ = peer(name)
    x, u = np.array([1.0, 2.0]), np.array([0.5, 0.25])
    x.flags.writeable = u.flags.writeable = False

    def overwrites(array: Any) -> Any:
        array[0] = 7.0
        return array

    if name != "jax":  # its arrays cannot be overwritten
        assert found.evaluate(overwrites, [x]).tolist() == [7.0, 2.0]
    value, (pulled,) = found.vjp(lambda v: v, [x], u)
    _, tangent = found.jvp(lambda v: v, [x], [u])
    for result in (value, pulled, tangent, found.evaluate(lambda v: v, [x])):
        assert not np.shares_memory(result, x)
        assert not np.shares_memory(result, u)
    assert x.tolist() == [1.0, 2.0]
    assert u.tolist() == [0.5, 0.25]


@every_peer
def test_arrays_of_any_layout_and_byte_order(name: str) -> None:
    found, namespace = peer(name)
    program = PROGRAMS["network"]
    W, x = program.arrays()
    expected = EINSUMAD.derivative(program.written_with(np), [W, x], 1, "auto")
    backwards = np.asfortranarray(W)[::-1, ::-1][::-1, ::-1]
    swapped = x.astype(x.dtype.newbyteorder())
    assert_same(found.derivative(program.written_with(namespace), [backwards, swapped], 1, "auto"), expected)


@every_peer
@pytest.mark.parametrize("mode", MODES)
def test_constants_have_zero_derivatives(name: str, mode: str) -> None:
    found, _ = peer(name)
    x = np.array([1.0, 2.0])
    for order in (1, 2):
        nested = found.derivative(lambda v: 3.0, [x], order, mode)  # noqa: ARG005  it is constant
        for _ in range(order):
            (nested,) = nested
        assert nested.shape == (2,) * order
        assert not nested.any()


@every_peer
def test_tangents_take_the_dtype_of_their_primals(name: str) -> None:
    found, namespace = peer(name)
    x = np.array([1.0, 2.0], np.float32)
    value, tangent = found.jvp(namespace.sin, [x], [np.array([1, 2])])
    _, (pulled,) = found.vjp(namespace.sin, [x], np.array([1.0, 2.0]))
    assert value.dtype == tangent.dtype == pulled.dtype == np.float32
    np.testing.assert_allclose(tangent, np.cos(x) * [1, 2], rtol=1e-6)
    np.testing.assert_allclose(pulled, np.cos(x) * [1, 2], rtol=1e-6)


@every_peer
def test_complex_values_can_be_asked_for(name: str) -> None:
    found, namespace = peer(name)
    z = np.array([1.0 + 1e-20j])
    value = found.evaluate(namespace.sin, [z])
    assert value.dtype == np.complex128
    assert value[0].imag == pytest.approx(np.cos(1.0) * 1e-20, rel=1e-14)


@every_peer
def test_what_has_no_derivative_is_refused(name: str) -> None:
    found, namespace = peer(name)
    x = np.array([1.0, 2.0])

    def derivative_of(f: Any, array: Any = x) -> Any:
        return found.derivative(f, [array], 1, "auto")

    with pytest.raises(DifferentiationError, match="argument 0 is complex"):
        derivative_of(namespace.sin, x + 0j)
    with pytest.raises(DifferentiationError, match="argument 0 has dtype int64"):
        derivative_of(namespace.sin, np.arange(2))
    with pytest.raises(DifferentiationError, match="at least one array"):
        found.derivative(lambda: 1.0, [], 1, "auto")
    with pytest.raises(DifferentiationError, match="returned tuple: return one array"):
        derivative_of(lambda v: (v, v))
    with pytest.raises(DifferentiationError, match="returned NoneType"):
        derivative_of(lambda v: None)  # noqa: ARG005  forgot to return
    for f in (lambda v: v > 0, lambda v: v * 1j):
        with pytest.raises(DifferentiationError, match=r"returned dtype .*, which has no derivative"):
            derivative_of(f)
        with pytest.raises(DifferentiationError, match=r"returned dtype .*, which has no derivative"):
            found.vjp(f, [x], x)
    with pytest.raises(DifferentiationError, match=r"scalar output, got the shape \(2,\)"):
        found.hvp(namespace.sin, [x], [x])


@every_peer
def test_directions_have_to_fit(name: str) -> None:
    found, namespace = peer(name)
    x = np.array([1.0, 2.0])
    with pytest.raises(ShapeError, match=r"tangent 0 has shape \(3,\), expected \(2,\)"):
        found.jvp(namespace.sin, [x], [np.ones(3)])
    with pytest.raises(ShapeError, match="got 2 tangents for 1 arrays"):
        found.hvp(namespace.sum, [x], [x, x])
    with pytest.raises(ShapeError, match=r"the cotangent has shape \(1,\), expected \(2,\)"):
        found.vjp(namespace.sin, [x], np.ones(1))
    with pytest.raises(DifferentiationError, match="the cotangent has dtype complex128"):
        found.vjp(namespace.sin, [x], np.ones(2) * 1j)


@every_peer
def test_orders_and_modes_that_do_not_exist(name: str) -> None:
    found, namespace = peer(name)
    x = np.array([1.0])
    with pytest.raises(ValueError, match="at least 0, got -1"):
        found.derivative(namespace.sin, [x], -1, "auto")
    with pytest.raises(ValueError, match=f"{name} has the modes auto, forward, reverse, got 'cross-country'"):
        found.derivative(namespace.sin, [x], 1, "cross-country")


@every_peer
def test_errors_of_functions_say_which_library_was_asked(name: str) -> None:
    found, _ = peer(name)

    def broken(v: Any) -> Any:
        raise KeyError(v.shape)

    with pytest.raises(KeyError) as caught:
        found.derivative(broken, [np.ones(2)], 1, "auto")
    assert any(NAMESPACES[name] in note for note in caught.value.__notes__)


@pytest.mark.parametrize("name", ["jax", "torch"])
def test_more_than_double_precision_is_refused(name: str) -> None:
    found, namespace = peer(name)
    with pytest.raises(DifferentiationError, match=f"which {name} does not have"):
        found.derivative(namespace.sin, [np.ones(2, np.longdouble)], 1, "auto")
