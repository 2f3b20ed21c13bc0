"""A common offset of the entries costs no digit of what is formed of them less their logsumexp."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import einsumad as ea
from einsumad.execution import compile_plan
from einsumad.execution.reference import evaluate
from einsumad.functions import apply, call, general_function
from einsumad.graph import General, add, broadcast, einsum, leaf, multiply, negate, scale, topological, total
from einsumad.nn import functional
from einsumad.planning import expand, make_plan
from einsumad.rewriting import normalise
from einsumad.scipy import special

RNG = np.random.default_rng(11)
Z = np.round(RNG.normal(size=(6, 5)) * 64) / 64
"""Entries with few digits, so that sums with the offsets are exact."""
W = RNG.normal(size=(6, 5))
V = RNG.normal(size=(6, 5))
T = np.array([0, 1, 2, 3, 4, 0])
MASK = np.tri(6, 5, dtype=bool)


def like(w, z):
    return w.astype(z.dtype)


FUNCTIONS = {
    "cross entropy": lambda z: functional.cross_entropy(z, T),
    "label smoothing": lambda z: functional.cross_entropy(z, T, label_smoothing=0.1),
    "probabilities": lambda z: functional.cross_entropy(z, functional.softmax(like(W, z))),
    "softmax": lambda z: np.sum(like(W, z) * functional.softmax(z, 1)),
    "softmax of columns": lambda z: np.sum(like(W, z) * functional.softmax(z, 0)),
    "log-softmax of columns": lambda z: np.sum(like(W, z) * functional.log_softmax(z, 0) ** 2),
    "one entry": lambda z: functional.log_softmax(z, 1)[2, 3],
    "with a mask": lambda z: np.sum(like(W, z) * functional.softmax(np.where(MASK, z, -np.inf), 1)),
    "transposed": lambda z: np.sum(like(W, z).T * functional.softmax(z.T, 0) ** 2),
    "of a sum": lambda z: np.sum(like(W, z) * functional.softmax(2 * z + like(Z[0], z), 1)),
    "attention": lambda z: np.sum(
        like(W, z) * functional.scaled_dot_product_attention(np.ones((6, 1), z.dtype), z[:, :1], like(W, z), scale=1.0)
    ),
}
LOGARITHMS = {
    "logsumexp": lambda z: np.sum(special.logsumexp(z, axis=1) * like(W[:, 0], z)),
    "by hand": lambda z: np.sum(np.log(np.sum(np.exp(z), axis=1)) * like(W[:, 0], z)),
    "beside entries": lambda z: np.sum(special.logsumexp(z, axis=1) - z[np.arange(6), T]),
}
OFFSETS = [(np.float32, 2.0**10), (np.float32, 2.0**14), (np.float64, 2.0**33)]


def close(found, expected, dtype):
    bound = 16 * np.finfo(dtype).eps * np.max(np.abs(expected))
    np.testing.assert_allclose(np.asarray(found, float), np.asarray(expected, float), rtol=0, atol=bound)


@pytest.mark.parametrize(("dtype", "offset"), OFFSETS)
@pytest.mark.parametrize("name", [*FUNCTIONS, *LOGARITHMS])
def test_derivatives_are_those_without_the_offset(name, dtype, offset):
    function = (FUNCTIONS | LOGARITHMS)[name]
    z, v = (Z + offset).astype(dtype), V.astype(dtype)
    assert np.array_equal(z - dtype(offset), Z)
    close(ea.grad(function)(z), ea.grad(function)(Z), dtype)
    close(ea.hvp(function)(z, v), ea.hvp(function)(Z, v.astype(float)), dtype)


@pytest.mark.parametrize(("dtype", "offset"), OFFSETS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_are_those_without_the_offset(name, dtype, offset):
    function = FUNCTIONS[name]
    value, gradient = ea.value_and_grad(function)((Z + offset).astype(dtype))
    expected = function(Z)
    assert abs(float(value) - expected) <= 64 * np.finfo(dtype).eps * max(abs(expected), 1)
    close(gradient, ea.grad(function)(Z), dtype)


@pytest.mark.parametrize("name", LOGARITHMS)
def test_logarithms_beside_their_derivatives_are_as_they_were(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = np.sum([np.logaddexp.reduce(row) for row in Z] * W[:, 0])
    if name == "beside entries":
        expected = sum(np.logaddexp.reduce(row) - row[t] for row, t in zip(Z, T, strict=True))
    value, gradient = ea.value_and_grad(LOGARITHMS[name])(Z)
    assert float(value) == pytest.approx(expected, rel=1e-14)
    close(gradient, ea.grad(LOGARITHMS[name])(Z), np.float64)


def variable(name, *shape, dtype=np.float64):
    return leaf(shape, dtype, ("variable", name))


Y, P = variable("y", 4, 3), variable("p", 4, 3)
ROWS = call("logsumexp", Y)
SPREAD = broadcast(ROWS, (0,), (4, 3))
ONE = {Y: np.array([[0.0, 1.0, 2.0], [1e9, 1e9 + 1, -1e9], [3.0, 3.0, 3.0], [-7.0, 0.0, 0.5]])}
SECOND = {P: RNG.normal(size=(4, 3))}
SPECIAL = {Y: np.array([[np.inf, 0, 1], [-np.inf] * 3, [np.nan, 1, 2], [-np.inf, 0, np.inf]])}


def names_in(roots):
    return {node.function for node in topological(expand(roots)) if isinstance(node, General)}


@pytest.mark.parametrize(
    ("root", "names"),
    [
        (total(Y, negate(SPREAD)), {"log_softmax"}),
        (total(SPREAD, negate(Y)), {"log_softmax"}),
        (add([multiply(Y, P), negate(multiply(SPREAD, P)), Y]), {"log_softmax"}),
        (add([einsum([Y], [(0, 1)], (1, 0)), negate(broadcast(ROWS, (1,), (3, 4)))]), {"log_softmax"}),
        (add([einsum([Y, Y], [(0, 1), (0, 2)], (0, 1)), negate(SPREAD)]), {"logsumexp"}),
        (add([scale(2, Y), negate(SPREAD)]), {"logsumexp"}),
        (add([Y, SPREAD]), {"logsumexp"}),
        (SPREAD, {"logsumexp"}),
    ],
    ids=["less", "more", "some of it", "transposed", "another product", "twice", "their sum", "alone"],
)
def test_sums_are_shifted_where_a_level_cancels(root, names):
    (root,) = normalise([root])
    assert names_in([root]) == names
    for values in (ONE | SECOND, SPECIAL | SECOND):
        with np.errstate(all="ignore"):
            expected = evaluate([root], values)[0]
            found = np.asarray(compile_plan(make_plan([root], [Y, P]))(values[Y], values[P])[0])
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
        assert found.shape == root.shape


def test_a_level_is_shared_with_a_logarithm_that_is_kept():
    roots = normalise([ROWS, apply("exp", total(Y, negate(SPREAD)))])
    assert names_in(roots) == {"logsumexp", "max_reduce"}
    for values in (ONE, SPECIAL):
        with np.errstate(all="ignore"):
            expected = evaluate(roots, values)
            found = compile_plan(make_plan(roots, [Y]))(values[Y])
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)
    once = expand(roots)
    assert expand(once) == once


def test_what_is_lowered_by_hand_is_left_alone():
    lower = total(Y, negate(broadcast(call("max_reduce", Y), (0,), (4, 3))))
    (root,) = normalise([total(lower, negate(broadcast(call("logsumexp", lower), (0,), (4, 3))))])
    assert expand([root]) == (root,)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_no_entries(shape):
    x = variable("x", *shape)
    (root,) = normalise([total(x, negate(broadcast(call("logsumexp", x), (0,), shape)))])
    (found,) = compile_plan(make_plan([root], [x]))(np.zeros(shape))
    assert np.shape(found) == shape


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(7,), (3, 40), (90, 3), (2, 50, 4), (200, 700)])
def test_kernel(shape, dtype):
    exact = RNG.normal(size=shape).astype(dtype).astype(np.longdouble)
    expected = exact - np.log(np.sum(np.exp(exact), axis=-1, keepdims=True))
    x = exact.astype(dtype)
    for given in (x, np.asfortranarray(x)):
        before = given.copy()
        found = general_function("log_softmax").kernel(given)
        assert found.dtype == dtype
        assert np.array_equal(given, before)
        np.testing.assert_allclose(found, expected.astype(dtype), rtol=8 * np.finfo(dtype).eps)
