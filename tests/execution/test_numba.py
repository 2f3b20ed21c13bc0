"""Loops of Numba: what NumPy gives, to the sign of zeros; and without Numba, what is said."""

from __future__ import annotations

import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module

import numpy as np
import pytest

import einsumad as ea
from einsumad.execution import compile_plan
from einsumad.execution import compiled as plans
from einsumad.execution import numba as loops
from einsumad.execution.loops import functions, regions
from einsumad.execution.loops.functions import FUNCTIONS
from einsumad.execution.reference import evaluate
from einsumad.functions import apply, elementwise_function
from einsumad.graph import leaf
from einsumad.planning import make_plan
from tests.execution.small_programs import check_small_program, numbers_and_single_axes

RNG = np.random.default_rng(5)


def quotient(x, y, z):
    return (x * y + z) * (x - y) / (1 + x * z)


def distances(x, m):
    return np.sum((x[:, None, :] - m[None]) ** 2 * 3.0 + 1.0, axis=2)


def chosen(x, y, z):
    return np.where(x > y, x * z, y - 2 * z) * np.sqrt(x) + np.abs(y) / z


def rows(x, y, z):
    return np.sum(np.where(x > y, x * z, y + z) - x * y * z, axis=0)


def test_without_numba_an_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr(loops, "find_spec", lambda _: None)
    with pytest.raises(ImportError, match=r"einsumad\[numba\]"):
        ea.compile(np.sum, numba=True)


def test_numba_is_not_loaded_unless_asked_for():
    code = (
        "import sys, numpy as np, einsumad as ea; ea.compile(lambda x: x * x)(np.ones(9000)); "
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def compiled(f, *args):
    pytest.importorskip("numba", reason="loops are compiled by Numba")
    program = ea.compile(f, numba=True).program(*args)
    assert "@loop" in program.plan.source
    return program(args)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("f", [quotient, chosen, rows])
def test_extreme_numbers(f, dtype):
    special = np.array([0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan], dtype)
    args = [RNG.choice(special, size=(90, 80)) for _ in range(3)]
    with np.errstate(all="ignore"):
        expected = f(*args)
    found = compiled(f, *args)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, ea.compile(f)(*args))
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    same = np.isfinite(expected)
    np.testing.assert_allclose(found[same], expected[same], rtol=8 * np.finfo(dtype).eps)
    zero = same & (expected == 0)
    np.testing.assert_array_equal(np.signbit(found[zero]), np.signbit(expected[zero]))


@pytest.mark.parametrize("f", [quotient, rows])
def test_strides_and_broadcast_axes(f):
    whole = RNG.normal(size=(90, 160, 3))
    args = whole[::-1, ::2, 0], whole[:1, 1::2, 1], whole[:, :80, 2]
    kept = [a.copy() for a in args]
    np.testing.assert_allclose(compiled(f, *args), f(*kept), rtol=1e-11, atol=1e-11)
    for arg, copy in zip(args, kept, strict=True):
        np.testing.assert_array_equal(arg, copy)


def test_short_sums_and_scalars():
    x, m = RNG.normal(size=(200, 3)), RNG.normal(size=(20, 3))
    np.testing.assert_allclose(compiled(distances, x, m), distances(x, m), rtol=1e-13)
    y = RNG.normal(size=9000)
    np.testing.assert_allclose(compiled(lambda a, b: (a * b + 1) * (a * a + b), y, 2.5), (y * 2.5 + 1) * (y * y + 2.5))


def test_derivatives():
    args = RNG.normal(size=(3, 90, 80)) + 3
    gradient = ea.grad(lambda x, y, z: np.sum(quotient(x, y, z)), argnums=(0, 1, 2))
    for found, expected in zip(compiled(gradient, *args), gradient(*args), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("shape", [(0, 5000), (3, 1), (1,), ()])
def test_small_and_empty_arrays(shape):
    pytest.importorskip("numba", reason="loops are compiled by Numba")
    args = [np.full(shape, value) for value in (1.0, 2.0, 3.0)]
    found = ea.compile(quotient, numba=True)(*args)
    assert (np.shape(found), found.dtype) == (shape, np.float64)
    np.testing.assert_array_equal(found, quotient(*args))


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_each_function_is_compiled(name, dtype, monkeypatch):
    pytest.importorskip("numba", reason="loops are compiled by Numba")
    monkeypatch.setattr(regions, "_LEAST_STEPS", 1)
    arity = elementwise_function(name).arity
    operands = [leaf((7,), np.dtype(bool if name == "logical_not" else dtype), ("variable", k)) for k in range(arity)]
    values = [np.linspace(-0.9, 2.1, 7).astype(x.dtype)[:: 1 - 2 * k] for k, x in enumerate(operands)]
    root = apply(name, *operands)
    plan = compile_plan(make_plan([root], operands), loops=True)
    assert "@loop" in plan.source
    (found,) = plan(*values)
    (expected,) = evaluate([root], dict(zip(operands, values, strict=True)))
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=16 * np.finfo(dtype).eps, atol=np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_hessian_of_a_network(dtype):
    X, y = RNG.normal(size=(8, 6)).astype(dtype), np.arange(8) % 3
    W1, W2 = RNG.normal(size=(6, 5)).astype(dtype), RNG.normal(size=(5, 3)).astype(dtype)

    def loss(A, B):
        out = np.tanh(X @ A) @ B
        peak = np.max(out, axis=1)
        return np.sum(np.log(np.sum(np.exp(out - peak[:, None]), axis=1)) + peak - out[np.arange(8), y])

    transform = ea.hessian(loss, (0, 1))
    found, expected = compiled(transform, W1, W2), transform(W1, W2)
    for i in range(2):
        for j in range(2):
            assert found[i][j].dtype == dtype
            tolerance = 1e-4 if dtype == np.float32 else 1e-12
            np.testing.assert_allclose(found[i][j], expected[i][j], rtol=tolerance, atol=tolerance)


def test_arrays_that_cannot_be_written_and_threads():
    pytest.importorskip("numba", reason="loops are compiled by Numba")
    fast = ea.compile(ea.grad(lambda x, y: np.sum(np.tanh(x * y) * (x - y) / (1 + y * y))), numba=True)
    args = [RNG.normal(size=(20, 9)) for _ in range(2)]
    expected = ea.grad(lambda x, y: np.sum(np.tanh(x * y) * (x - y) / (1 + y * y)))(*args)
    args[0].flags.writeable = False
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: fast(*args), range(16)):
            np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_integers_stay_with_numpy():
    pytest.importorskip("numba", reason="loops are compiled by Numba")
    x = np.arange(9000, dtype=np.int32)
    fast = ea.compile(lambda a: (a * a + a) * (a - 1) * a, numba=True)
    assert fast(x).dtype == np.int32
    np.testing.assert_array_equal(fast(x), (x * x + x) * (x - 1) * x)


@pytest.mark.parametrize("case", numbers_and_single_axes(), ids=lambda case: case[0])
def test_numbers_and_single_axes(case, monkeypatch):
    monkeypatch.setattr(regions, "_LEAST_STEPS", 1)
    _, f, *args = case
    found, expected = compiled(f, *args), ea.compile(f)(*args)
    pairs = zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]
    for one, other in pairs:
        assert (np.shape(one), one.dtype) == (np.shape(other), other.dtype)
        np.testing.assert_allclose(one, other, rtol=1e-5 if one.dtype == np.float32 else 1e-11)


@pytest.mark.fuzz
@pytest.mark.parametrize("first", [0, 12, 24, 36, 48])
def test_random_programs_on_few_entries(first, monkeypatch):
    pytest.importorskip("numba", reason="loops are compiled by Numba")
    monkeypatch.setattr(regions, "_LEAST_STEPS", 1)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "a plan runs in calls of NumPy")
        for seed in range(first, first + 12):
            check_small_program(seed)


def test_a_region_is_compiled_once_whatever_its_operands_are(monkeypatch):
    numba = pytest.importorskip("numba", reason="loops are compiled by Numba")
    made = []
    monkeypatch.setattr(numba, "njit", lambda njit=numba.njit, **how: lambda f: made.append(njit(**how)(f)) or made[-1])
    fixed = RNG.normal(size=(20, 9))
    fast = ea.compile(ea.grad(lambda x: np.sum(np.tanh(x * fixed) * (x - fixed) / (1 + x * x))), numba=True)
    x = RNG.normal(size=(20, 9))
    odd = np.frombuffer(b"+" + x.tobytes(), np.uint8)[1:].view(np.float64).reshape(20, 9)
    assert not odd.flags.aligned
    assert not odd.flags.writeable
    expected = fast(x)
    for other in (odd, np.asfortranarray(x), x[::-1].copy()[::-1]):
        np.testing.assert_array_equal(fast(other), expected)
    assert [len(region.signatures) for region in made] == [1]


def six_steps(x, y):
    return np.tanh(x * y) * np.exp(x - y) / (1 + y * y) + np.cos(x)


def check_it_runs_without_regions(reason):
    x, y = RNG.normal(size=(2, 7))
    fast = ea.compile(six_steps, numba=True)
    with pytest.warns(RuntimeWarning, match=reason) as caught:
        found = fast(x, y)
    assert len(caught) == 1
    np.testing.assert_array_equal(found, ea.compile(six_steps)(x, y))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(fast(x, y), found)


def test_a_region_that_is_not_compiled_is_said_and_its_plan_runs_without(monkeypatch):
    def refuse(*_, **__):
        raise loops.UncompiledError("no region is compiled today")

    monkeypatch.setattr(import_module("einsumad.frontend.compile"), "check_numba", lambda: None)
    monkeypatch.setattr(plans, "loop_compiler", lambda: refuse)
    check_it_runs_without_regions("as without numba=True.*no region is compiled today")


def test_what_numba_cannot_type_is_said_and_runs_without(monkeypatch):
    pytest.importorskip("numba", reason="loops are compiled by Numba")
    monkeypatch.setitem(functions.FUNCTIONS, "tanh", lambda _, x: f"np.tanh({x}).reshape((1,))")
    check_it_runs_without_regions("as without numba=True.*does not compile region.*reshape")
