"""Walks of traces: what ends them, threads, tensors that outlive them, and how much is kept of them."""

from __future__ import annotations

import contextlib
import contextvars
import gc
import operator
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import einsumad as ea
from einsumad.errors import MemoryLimitError, ShapeError, TracingError
from einsumad.frontend import cache, walking
from tests.frontend.walks import anew, counting, forget

A = np.array([1.0, 2.0, 3.0])
X = np.array([0.3, -0.7, 1.2])


@pytest.fixture(autouse=True)
def _no_ways() -> None:
    forget()


def tanh_layers(x: Any) -> Any:
    for _ in range(3):
        x = np.tanh(x * A)
    return np.sum(x)


def test_a_known_way_makes_no_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = ea.grad(tanh_layers)
    expected = [gradient(x) for x in (X, X + 1, X + 2)]

    def refuse(_: walking.Walk) -> None:
        raise AssertionError("nodes were made")

    monkeypatch.setattr(walking.Walk, "_make", refuse)
    for k, gradient_there in enumerate(expected):
        np.testing.assert_array_equal(gradient(X + k), gradient_there)


def test_a_call_that_is_never_made_again_is_no_step() -> None:
    for k in range(300):
        found = ea.grad(lambda x, k=k: np.sum(np.sin(x) * (1.5 + k)))(X)
        np.testing.assert_allclose(found, np.cos(X) * (1.5 + k))
    assert walking._kept < 40
    assert all(len(start.missed) <= walking._MOST_MISSED for start in walking._starts.values())


def test_the_tree_stays_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walking, "_MOST_STEPS", 200)
    for k in range(150):
        for _ in range(3):
            found = ea.grad(lambda x, k=k: np.sum(np.sin(x) * (1.5 + k)))(X)
        np.testing.assert_allclose(found, np.cos(X) * (1.5 + k))
        assert walking._kept <= 200 + walking._END


def test_ways_are_forgotten_with_the_derivations() -> None:
    gradient = ea.grad(tanh_layers)
    for _ in range(4):
        gradient(X)
    cache.clear()
    before = ea.statistics()
    gradient(X)
    assert ea.statistics().derived == before.derived + 1


def test_nothing_of_a_trace_outlives_it() -> None:
    gc.collect()
    gc.disable()
    try:
        with counting() as ends:
            for _ in range(5):
                ea.grad(tanh_layers)(X)
            values = [weakref.ref(walk.arrays[id(A)].value) for walk in ends]
            ends.clear()
        assert len(values) > 1
        assert all(value() is None for value in values)
    finally:
        gc.enable()


def test_tensors_that_outlive_a_trace() -> None:
    kept: list[Any] = []

    def f(x: Any) -> Any:
        y = x * A
        kept.append(np.sin(y))
        return np.sum(y * y)

    def uses_one(x: Any) -> Any:
        return np.sum(x * x) + np.sum(kept[-1])

    for _ in range(4):
        np.testing.assert_allclose(ea.grad(f)(X), 2 * X * A * A)
        np.testing.assert_allclose(kept[-1].numpy(), np.sin(X * A))
        assert kept[-1].shape == (3,)
        assert kept[-1].dtype == np.float64
        np.testing.assert_allclose(ea.evaluate(np.sum(kept[-1] * 2), {}), 2 * np.sum(np.sin(X * A)))
    for tensor in kept:
        assert tensor.numpy().shape == (3,)
    with pytest.raises(TracingError, match="use"):
        float(kept[-1])
    for _ in range(4):
        with pytest.raises(TracingError, match="of an earlier call"):
            ea.grad(uses_one)(X)


def test_errors_leave_nothing_wrong() -> None:
    fail = [False]

    def f(x: Any) -> Any:
        y = np.sin(x) * A
        if fail[0]:
            raise RuntimeError("in the middle")
        z = np.cos(y)
        if fail[0] is None:
            z = z @ np.ones(7)
        return np.sum(z * y)

    y = np.sin(X) * A
    expected = (np.cos(y) - np.sin(y) * y) * np.cos(X) * A
    for fail[0] in (False, False, True, None, False, None, True, False, True, False):
        if fail[0] is False:
            np.testing.assert_allclose(ea.grad(f)(X), expected)
        else:
            with pytest.raises((RuntimeError, ShapeError)):
                ea.grad(f)(X)


def test_an_error_between_two_arrays_of_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first array is met, the second is not: what is called after that is no step of the way.

    With the first one at a place of its own, `where` at the place of `z` would be taken for it.
    """
    snapshot, bad = walking.snapshot, np.array([5.0, 6.0, 7.0])
    other, where = np.array([1.0, 0.0, 1.0]), np.array([False, True, True])

    def refusing(array: Any) -> Any:
        if array is bad:
            raise MemoryLimitError("too large")
        return snapshot(array)

    def f(x: Any, *, tries: bool) -> Any:
        y = np.sin(x)
        if tries:
            with contextlib.suppress(MemoryLimitError):
                np.where(other, y, bad)
        z = np.where(where, y, x)
        return np.sum(where * y) if tries else np.sum(z * y)

    expected = 2 * np.sin(X) * np.cos(X) * where + (np.sin(X) + X * np.cos(X)) * ~where
    monkeypatch.setattr(walking, "snapshot", refusing)
    for tries in (False, False, False, True, True, True, False, True):
        found = ea.grad(lambda x, t=tries: f(x, tries=t))(X)
        np.testing.assert_allclose(found, where * np.cos(X) if tries else expected)


def test_a_limit_of_memory_holds_on_known_ways() -> None:
    x = np.linspace(0, 1, 300)

    def f(x: Any) -> Any:
        return np.sum(np.outer(np.sin(x), np.cos(x)) ** 2 * np.outer(x, x) ** 2)

    for _ in range(3):
        expected = ea.hessian(f)(x)
        with pytest.raises(MemoryLimitError):
            ea.hessian(f, memory_limit=1000)(x)
        np.testing.assert_allclose(ea.hessian(f, memory_limit=10**8)(x), expected)


@pytest.mark.whole_planner  # sets options itself, and counts what they make new
def test_options_of_the_planner_hold_on_known_ways() -> None:
    cache.clear()
    plain = [ea.hessian(tanh_layers)(X) for _ in range(5)][-1]
    before = ea.statistics()
    with ea.planner_options(sharing=False, factoring=False):
        for _ in range(3):
            np.testing.assert_allclose(ea.hessian(tanh_layers)(X), plain)
    after = ea.statistics()
    assert (after.derived, after.planned) == (before.derived + 1, before.planned + 1)
    assert after.found == before.found + 2


def test_a_variable_of_an_enclosing_trace_is_captured() -> None:
    def f(x: Any) -> Any:
        return np.sum(x * ea.grad(lambda z: np.sum(np.sin(z) * x))(A))

    for _ in range(4):
        np.testing.assert_allclose(ea.grad(f)(X), 2 * X * np.cos(A))
        np.testing.assert_allclose(ea.hessian(f)(X), np.diag(2 * np.cos(A)))


def test_tensors_of_another_kind_are_captured() -> None:
    w, s = ea.tensor(A, requires_grad=True), ea.variable("s", 3)
    for k in range(1, 5):
        np.testing.assert_allclose(ea.grad(lambda x: np.sum(np.sin(x) * s))(X).shape, (3,))
        loss = np.sum(ea.grad(lambda x: np.sum(x * x * w))(X))
        loss.backward()
        np.testing.assert_allclose(w.grad, 2 * X * k)


def test_threads_on_one_way() -> None:
    gradient, expected = ea.grad(tanh_layers), {k: anew(ea.grad(tanh_layers), X + k) for k in range(4)}
    forget()
    wrong: list[int] = []

    def work(k: int) -> None:
        for step in range(60):
            if step % 20 == 10:
                walking.forget()
            if not np.array_equal(gradient(X + k), expected[k]):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("shared", [False, True])
def test_a_function_that_works_in_threads(*, shared: bool) -> None:
    """Threads of a function's own, with the context of the trace or without."""

    def f(x: Any) -> Any:
        parts: dict[int, Any] = {}

        def part(k: int) -> None:
            parts[k] = np.sin(x * A * (k + 1)) * A

        contexts = [contextvars.copy_context() for _ in range(3)]
        threads = [
            threading.Thread(target=contexts[k].run if shared else part, args=(part, k) if shared else (k,))
            for k in range(3)
        ]
        y = np.cos(x * A)
        for thread in threads:
            thread.start()
        y = y * A + x
        for thread in threads:
            thread.join()
        return np.sum(y * y) + sum(np.sum(parts[k]) for k in range(3))

    inner = np.cos(X * A) * A + X
    expected = 2 * inner * (1 - np.sin(X * A) * A * A) + sum(np.cos(X * A * k) * A * A * k for k in (1, 2, 3))
    for _ in range(12):
        np.testing.assert_allclose(ea.grad(f)(X), expected)


OPERATIONS: list[Callable[..., Any]] = [
    *(np.sin, np.negative, np.square, np.transpose, np.sum, np.mean, np.max, np.cumsum, np.sign, np.ravel),
    *(lambda x: x[0] if x.ndim else x, lambda x: x[::-1] if x.ndim else x, lambda x: np.where(x > 0, x, 0.0)),
    *(lambda x: np.stack([x, x]), lambda x: x.astype(np.float32), lambda x: np.sum(x, axis=-1, keepdims=True)),
]
PAIRS = [np.add, np.multiply, np.maximum, np.subtract, np.divide, np.hypot, np.power, np.matmul, np.copysign]
NUMBERS = [0, 1, 2, True, 0.0, -0.0, 1.0, 2.5, np.float64(2.5), np.float32(0.5), np.int64(2)]
programs = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 99), st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=8
)
settings_of_calls = st.tuples(
    st.sampled_from([0, 1, 3]), st.booleans(), st.booleans(), st.sampled_from([0, 1, (0, 1)]), st.booleans()
)


def _value(program: Any, inputs: Any, arrays: Any, shift: int, *, writes: bool) -> Any:
    values = list(inputs)
    for kind, what, first, second in program:
        x, y = values[first % len(values)], values[second % len(values)]
        try:
            if kind == 0:
                found = OPERATIONS[what % len(OPERATIONS)](x)
            elif kind == 1:
                found = PAIRS[what % len(PAIRS)](x, y)
            elif kind == 2:
                number = NUMBERS[(second + shift) % len(NUMBERS)]
                found = PAIRS[what % len(PAIRS)](*((x, number) if what % 2 else (number, x)))
            else:
                array = arrays[second % len(arrays)]
                if writes:
                    array += 0.5
                found = PAIRS[what % len(PAIRS)](*((x, array) if what % 2 else (array, x)))
        except (TypeError, ValueError, ArithmeticError):
            found = values[-1]
        if found.size <= 64 and found.dtype.kind == "f":
            values.append(found)
    return sum(k * np.sum(np.tanh(value)) for k, value in enumerate(values[-3:], 1))


def _outcome(program: Any, how: Any, transform: Any) -> Any:
    shift, writes, alike, which, narrow = how
    arrays = [A.copy(), np.array([0.5, -1.0, 2.0]), np.outer(A, A) / 9, A[:1].copy()]
    if alike:
        arrays[1] = arrays[0]
    x, y = X.astype(np.float32) if narrow else X, np.outer(X, A)

    def f(x: Any, y: Any) -> Any:
        return _value(program, (x, y), arrays, shift, writes=writes)

    try:
        with np.errstate(all="ignore"):
            found = transform(f, which)(x, y)
    except Exception as error:  # noqa: BLE001 (a refusal is an outcome like another)
        return type(error).__name__
    parts = [found] if not isinstance(found, tuple) else [part for row in found for part in row]
    return [(str(np.asarray(part).dtype), np.asarray(part).tobytes()) for part in parts]


@pytest.mark.fuzz
@settings(max_examples=50 if settings().max_examples <= 100 else settings().max_examples, deadline=None)
@given(programs, st.lists(settings_of_calls, min_size=2, max_size=4), st.randoms(use_true_random=False))
def test_random_programs_give_what_they_give_first(program: Any, hows: Any, shuffled: Any) -> None:
    calls = [(how, transform) for how in hows for transform in (ea.grad, ea.hessian)]
    expected = [anew(_outcome, program, *call) for call in calls]
    forget()
    order = [k for k in range(len(calls)) for _ in range(4)]
    shuffled.shuffle(order)
    for k in order:
        assert _outcome(program, *calls[k]) == expected[k]


def test_limits_of_memory_hold_on_the_way_of_calls_without_them() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.sin(x) ** 2)

    x = np.linspace(0, 1, 50)
    for _ in range(4):
        np.testing.assert_allclose(ea.hessian(f)(x), np.diag(2 * np.cos(2 * x)), atol=1e-14)
        np.testing.assert_allclose(ea.hessian(f, memory_limit=10**6)(x), np.diag(2 * np.cos(2 * x)), atol=1e-14)
        with pytest.raises(MemoryError, match="over the limit of 100 bytes"):
            ea.hessian(f, memory_limit=100)(x)


def test_a_function_that_empties_the_container_of_its_arguments() -> None:
    kept = {"a": np.ones(2), "b": np.full(2, 3.0)}
    for _ in range(4):
        given = dict(kept)

        def f(q: Any, given: Any = given) -> Any:
            given.clear()
            return np.sum(ea.grad(lambda z: np.sum(q["a"] * q["b"] * z**2))(np.ones(2)))

        found = ea.grad(f)(given)
        np.testing.assert_array_equal(found["a"], 2 * kept["b"])
        np.testing.assert_array_equal(found["b"], 2 * kept["a"])


class Clipped(ea.Tensor):
    """A tensor of which ufuncs have results between 0 and 1."""

    __slots__ = ()

    def __array_ufunc__(self, *args: Any, **options: Any) -> Any:
        return np.clip(super().__array_ufunc__(*args, **options), 0, 1)


@pytest.mark.parametrize("operation", [lambda k: k * 2.0, lambda k: 12.0 - k, lambda k: k @ k, operator.neg, abs])
def test_operators_of_a_class_with_ufuncs_of_its_own_are_these(operation: Callable[[Any], Any]) -> None:
    clipped = Clipped(ea.tensor(np.array([5.0, 6.0])).node)
    gradient = ea.grad(lambda x: np.sum((x * 3.0) * operation(clipped)))
    expected = 3 * np.clip(operation(np.array([5.0, 6.0])), 0, 1) * np.ones(2)
    for _ in range(4):
        np.testing.assert_array_equal(gradient(np.ones(2)), expected)
