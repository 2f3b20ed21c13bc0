"""Arrays that are read-only by their flag while others write to their memory: what was taken in does not change."""

import numpy as np
import pytest

import einsumad as ea
from einsumad.frontend import values
from einsumad.frontend.values import snapshot
from tests.frontend.walks import forget

X = np.array([1.0, 2.0, 3.0])


class Shared:
    """An array that cannot be written itself, owns its data, and has a view that can be written."""

    def __init__(self, entries):
        self.array = np.array(entries, float)
        self.writer = self.array[...]
        self.array.flags.writeable = False


@pytest.fixture(autouse=True)
def _no_ways():
    forget()


@pytest.fixture
def shared():
    return Shared(np.ones(3))


def test_a_tensor_has_a_private_copy(shared):
    t = ea.tensor(shared.array, requires_grad=True)
    loss = np.sum(t * t * t)
    shared.writer[:] = 3
    loss.backward()
    np.testing.assert_array_equal(t.grad, 3 * np.ones(3))


def test_arguments_are_copied(shared):
    value, pull = ea.vjp(lambda z: z**3, shared.array)
    H = ea.hessian(lambda z: np.sum(z**3), compressed=True)(shared.array)
    shared.writer[:] = 2
    np.testing.assert_array_equal(value, np.ones(3))
    np.testing.assert_array_equal(pull(X), 3 * X)
    np.testing.assert_array_equal(H @ X, 6 * X)


def test_writes_within_a_function_are_seen_and_no_later_ones(shared):
    def f(x):
        before = np.sum(x * shared.array)
        shared.writer[:] = 5
        after = np.sum(x * shared.array)
        shared.writer[:] = 1
        return before + after

    for _ in range(4):  # by the ordinary way, and as a walk
        value, gradient = ea.value_and_grad(f)(X)
        assert value == 36
        np.testing.assert_array_equal(gradient, np.full(3, 6.0))


def test_writes_between_calls_are_seen(shared):
    gradient = ea.grad(lambda x: np.sum(x * shared.array))
    for k in range(6):
        shared.writer[:] = k
        np.testing.assert_array_equal(gradient(X), np.full(3, float(k)))


def test_a_compiled_function_reads_once_what_it_captures(shared):
    compiled = ea.compile(lambda x: x * shared.array)
    np.testing.assert_array_equal(compiled(X), X)
    shared.writer[:] = 2
    np.testing.assert_array_equal(compiled(X), X)


def test_structured_results_hold_private_copies(shared):
    a, x = ea.variable("a", 3), ea.variable("x", 3)
    H = ea.evaluate(ea.hessian(lambda x: np.sum(a * x**2))(x), {a: shared.array, x: X}, compressed=True)
    D = ea.hessian(lambda x: np.sum(shared.array * x**2), compressed=True)(X)
    shared.writer[:] = 7
    for held in (H, D):
        np.testing.assert_array_equal(held.dense(), 2 * np.eye(3))


def test_only_memory_that_cannot_change_is_shared(shared):
    text = np.arange(6.0).tobytes()
    over_bytes = np.frombuffer(text)
    for given in (over_bytes, over_bytes.reshape(2, 3).T, over_bytes[::2]):
        assert np.shares_memory(snapshot(given), over_bytes)
        np.testing.assert_array_equal(snapshot(given), given)
    for given in (shared.array, shared.array[:2], np.frombuffer(bytearray(text)), np.frombuffer(memoryview(text))):
        assert not np.shares_memory(snapshot(given), given)
        assert not snapshot(given).flags.writeable


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")
def test_an_array_over_bytes_may_get_another_shape_in_place():
    def f(x):
        held = np.frombuffer(np.arange(6.0).tobytes())
        flat = np.sum(x[0] * held)
        held.shape = (2, 3)
        return flat + np.sum(x * held)

    for _ in range(3):
        np.testing.assert_array_equal(ea.grad(f)(X), [18.0, 5.0, 7.0])


def test_private_values_are_not_copied_again(monkeypatch, shared):
    copied = []

    def counting(array):
        copied.append(np.shape(array))
        return snapshot(array)

    x = ea.tensor(X, requires_grad=True)
    monkeypatch.setattr(values, "snapshot", counting)
    again = ea.tensor(x)
    assert copied == []
    np.testing.assert_array_equal(again.numpy(), X)
    nested = ea.grad(lambda x: np.sum(ea.grad(lambda y: np.sum(shared.array * y**3))(x)))
    np.testing.assert_array_equal(nested(X), 6 * X)
    assert copied == [(3,)]
