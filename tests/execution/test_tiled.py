"""Entrywise steps in blocks: the values of the whole, whatever the size of blocks and the number of threads."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings

import einsumad as ea
from einsumad.execution import tiles
from einsumad.execution.lowering import tiled
from einsumad.execution.reference import evaluate
from tests.execution.graphs import graphs
from tests.execution.test_compiled import run
from tests.planning.products import products

MANY = settings(max_examples=max(100, settings().max_examples // 2))
RNG = np.random.default_rng(3)
N = 400
X, Y, V = RNG.normal(size=(N, N)), RNG.normal(size=(N, N)), RNG.normal(size=N)

FUNCTIONS = {
    "chain": lambda x: np.exp(np.sin(x) * 2 + V) / (1 + x**2),
    "transpose": lambda x: x + x.T,
    "transposes": lambda x: (x.T * 2 + x).T - x,
    "column": lambda x: np.tanh(x) * x[:, :1] - x,
    "mask": lambda x: np.where(x > 0, np.exp(x), x.T * V[:, None]),
    "kinks": lambda x: np.maximum(x.T, 0) * x + np.abs(x),
    "two results": lambda x: (np.tanh(x) * V, np.cos(np.tanh(x))),
    "three axes": lambda x: np.sin((x[:, :, None] * np.arange(3.0)).transpose(2, 0, 1) * np.exp(x)) + 1,
    "sum": lambda x: np.sum(np.log(1 + np.exp(x * V))),
    "reused": lambda x: (x * x + x) * (x * x - x.T) / (2 + np.cos(x)),
    "not a number": lambda x: np.sqrt(x) * np.log(x.T),
}


def source_of(compiled):
    (program,) = compiled._by_arrays.values()
    return program.plan.source


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_values_are_those_of_numpy(name, dtype):
    function, x = FUNCTIONS[name], X.astype(dtype)
    before = x.copy()
    compiled = ea.compile(function)
    found, expected = compiled(x), function(x)
    assert "tiled(" in source_of(compiled)
    found, expected = (value if isinstance(value, tuple) else (value,) for value in (found, expected))
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.dtype == theirs.dtype
        tolerance = 1e-12 if ours.dtype == np.float64 and dtype == np.float64 else 1e-4
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)
    np.testing.assert_array_equal(x, before)


def test_one_thread_gives_the_bits_of_many(monkeypatch):
    def f(x, y):
        return np.exp(-(x**2)) * y.T + np.sin(y) / (1 + x.T**2)

    x, y = (np.resize(a, (1200, 1100)) for a in (X, Y))
    x = np.resize(x, (1100, 1100))
    y = x[::-1] * 0.5
    results = []
    for threads in (1, 2, 3):
        monkeypatch.setattr(tiles, "thread_count", lambda count=threads: count)
        results.append(ea.compile(f)(x, y))
    assert np.array_equal(results[0], results[1])
    assert np.array_equal(results[0], results[2])


def test_errors_of_blocks_reach_the_caller_and_warnings_stay_silent(monkeypatch):
    monkeypatch.setattr(tiles, "thread_count", lambda: 2)
    large = np.zeros((1000, 1000))
    with np.errstate(all="raise"):
        assert np.isinf(ea.compile(lambda x: 1 / np.sin(x) + 1)(large)).all()

    def body(result):
        raise ZeroDivisionError(result.shape)

    with pytest.raises(ZeroDivisionError):
        tiles.tiled(body, (100, 1000), (large,), ())


def test_a_result_takes_the_memory_of_an_operand_only_where_it_reads_nothing_else_of_it():
    """``e = exp(x); e + e.T`` reads e at two places: it may not be overwritten block by block."""
    found = ea.compile(lambda x: np.exp(x) + np.exp(x).T * 2)(X)
    np.testing.assert_allclose(found, np.exp(X) + np.exp(X).T * 2, rtol=1e-15)


def test_results_lie_in_order():
    assert ea.compile(lambda x: x + x.T)(X).flags.c_contiguous


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(tiled, "_LARGE", 1)
    monkeypatch.setattr(tiled, "_HUGE", 1)
    monkeypatch.setattr(tiled, "_BLOCK", 4)
    monkeypatch.setattr(tiled, "_SIDE", 2)
    monkeypatch.setattr(tiles, "_WORTH_A_THREAD", 8)
    monkeypatch.setattr(tiles, "thread_count", lambda: 2)


def check(roots, values):
    for value, expected in zip(run(roots, values), evaluate(roots, values), strict=True):
        size = np.abs(expected).max(initial=1)
        if np.isfinite(expected).all() and (expected.dtype == np.float64 or size < 1e4):
            rtol = 1e-7 if expected.dtype == np.float64 else 2e-2
            np.testing.assert_allclose(value, expected, rtol=rtol, atol=rtol * size)


@pytest.mark.fuzz
@pytest.mark.usefixtures("small_blocks")
def test_random_graphs():
    @MANY
    @given(graphs(most_nodes=16))
    def each(graph):
        check(graph.roots, graph.values)

    each()


@pytest.mark.fuzz
@pytest.mark.usefixtures("small_blocks")
def test_random_products():
    @MANY
    @given(products())
    def each(case):
        check((case.node,), case.values)

    each()


if sys.platform == "linux":

    def test_a_forked_process_has_threads_of_its_own():
        import os  # noqa: PLC0415

        f = ea.compile(lambda x: np.exp(x) * x + 1)
        large = np.resize(X, (1000, 1000))
        expected = f(large)
        child = os.fork()
        if not child:
            os._exit(0 if np.array_equal(f(large), expected) else 1)
        assert os.waitpid(child, 0)[1] == 0
