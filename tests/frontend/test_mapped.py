"""Arrays that are mapped from files: read where they lie, compared with the same arrays in memory."""

import tracemalloc

import numpy as np
import pytest

import einsumad as ea
from einsumad.frontend.mapped import is_read_only_map
from einsumad.frontend.values import snapshot

N, K = 30_000, 4
RNG = np.random.default_rng(0)
X, Y, W = RNG.normal(size=(N, K)), RNG.normal(size=N), 0.1 * RNG.normal(size=K)
LIMIT = 100_000


def mapped(path, array, mode="r"):
    np.save(path, array)
    return np.load(path, mmap_mode=mode)


@pytest.fixture
def files(tmp_path):
    return mapped(tmp_path / "X.npy", X), mapped(tmp_path / "Y.npy", Y)


def allocated(call):
    call()
    tracemalloc.start()
    result = call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak, result


def loss(w, X, Y):
    return np.mean((np.tanh(X @ w) - Y) ** 2)


@pytest.mark.parametrize(
    "transform", [ea.grad, pytest.param(ea.hessian, marks=pytest.mark.whole_planner), ea.value_and_grad]
)
def test_arguments_and_captured_arrays_are_not_copied(files, transform):
    data, target = files
    expected = transform(loss)(W, X, Y)
    given = transform(loss, memory_limit=LIMIT)
    captured = transform(lambda w: loss(w, data, target), memory_limit=LIMIT)
    for call in (
        lambda: given(W, data, target),
        lambda: captured(W),
        lambda: ea.compile(captured, memory_limit=LIMIT)(W),
    ):
        peak, found = allocated(call)
        assert peak < LIMIT + 250_000 < X.nbytes
        compare(found, expected)


def compare(found, expected):
    if isinstance(found, tuple):
        for one, other in zip(found, expected, strict=True):
            compare(one, other)
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-10)
        assert type(found) is type(expected)


def test_a_compiled_function_of_mapped_arguments(files):
    fast = ea.compile(ea.grad(loss), memory_limit=LIMIT)
    peak, found = allocated(lambda: fast(W, *files))
    assert peak < LIMIT + 250_000
    compare(found, ea.grad(loss)(W, X, Y))


def test_an_array_that_is_met_again_is_the_same_leaf(files):
    data, _ = files
    plan = ea.explain(ea.hessian(lambda w: np.sum((data @ w) ** 2)), W).plan
    assert [leaf.shape for leaf in plan.inputs] == [(N, K)]


def test_views_of_a_map_lie_in_it_too(files):
    data, _ = files
    for view in (data, data[5:], data[::2, 1], data.T, np.asarray(data), np.asarray(data)[3:].reshape(-1)):
        assert is_read_only_map(view)
        assert np.shares_memory(snapshot(view), data)
        assert type(snapshot(view)) is np.ndarray
    for other in (data.copy(), data + 0, X, np.asarray(data).copy(), 3.0):
        assert not is_read_only_map(other)
    compare(
        ea.grad(lambda w: np.sum(np.exp(data[10:20, 1:] @ w)))(W[1:]), X[10:20, 1:].T @ np.exp(X[10:20, 1:] @ W[1:])
    )


@pytest.mark.parametrize("mode", ["r+", "c"])
def test_a_map_that_can_be_written_to_is_copied(tmp_path, mode):
    data = mapped(tmp_path / "X.npy", X, mode)
    assert not is_read_only_map(data)

    def f(w):
        value = np.sum(np.exp(data @ w))
        data[0] = 0  # what was traced does not change
        return value

    compare(ea.grad(f)(W), X.T @ np.exp(X @ W))


@pytest.mark.parametrize("mode", ["r+", "c"])
def test_one_that_is_larger_than_the_limit_is_refused(tmp_path, mode):
    data = mapped(tmp_path / "X.npy", X, mode)
    given = ea.grad(lambda w: np.sum(np.exp(data @ w)), memory_limit=LIMIT)
    with pytest.raises(ea.MemoryLimitError, match="mode='r'"):
        given(W)
    with pytest.raises(ea.MemoryLimitError, match="mode='r'"):
        ea.jvp(lambda w: np.sum(np.exp(data @ w)), (W,), (W,), memory_limit=LIMIT)
    with pytest.raises(ea.MemoryLimitError, match="mode='r'"):
        ea.compile(lambda w: np.sum(np.exp(data @ w)), memory_limit=LIMIT)(W)
    compare(ea.grad(lambda w: np.sum(np.exp(data @ w)))(W), X.T @ np.exp(X @ W))


def test_another_byte_order_is_copied_within_the_limit_only(tmp_path):
    data = mapped(tmp_path / "X.npy", X.astype(">f8"))
    f = lambda w: np.sum(np.exp(data @ w))  # noqa: E731
    compare(ea.grad(f)(W), X.T @ np.exp(X @ W))
    with pytest.raises(ea.MemoryLimitError, match="byte order"):
        ea.grad(f, memory_limit=LIMIT)(W)


def test_mapped_indices_are_read_part_by_part(tmp_path, files):
    group = RNG.integers(-7, 7, N)
    data, places = files[0], mapped(tmp_path / "group.npy", group)
    u = RNG.normal(size=7)

    def f(u, data, group):
        return np.sum(np.exp(u[group] + data[:, 0]) * u[group])

    expected = ea.hessian(f)(u, X, group)
    peak, found = allocated(lambda: ea.hessian(f, memory_limit=200_000)(u, data, places))
    assert peak < 450_000
    compare(found, expected)
    H = ea.hessian(f, compressed=True)(u, data, places)
    assert "δ" in H.structure
    np.testing.assert_allclose(H.dense(), expected, rtol=1e-10, atol=1e-12)
    outside = mapped(tmp_path / "outside.npy", group + 1)
    with pytest.raises(IndexError):
        ea.hessian(f)(u, X, outside)


def test_differentiated_maps(tmp_path):
    u = mapped(tmp_path / "u.npy", Y)
    found = ea.grad(lambda u: np.sum(np.sin(u)), memory_limit=2 * Y.nbytes)(u)
    np.testing.assert_allclose(found, np.cos(Y), rtol=1e-14)
    assert type(found) is np.ndarray
    assert found.flags.writeable


def test_structured_derivatives_hold_maps(files):
    data, _ = files
    H = ea.hessian(lambda U: np.sum((data[:50] @ U.T) ** 2), compressed=True)(np.ones((200, K)))
    np.testing.assert_allclose(H.diagonal(), np.broadcast_to(2 * np.sum(X[:50] ** 2, axis=0), (200, K)), rtol=1e-12)
