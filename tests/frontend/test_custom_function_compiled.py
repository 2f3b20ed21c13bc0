"""Functions of users under compile: the function and its rules read what they capture at the same time."""

from __future__ import annotations

import numpy as np

import einsumad as ea


def test_compiled_functions_and_their_rules_read_what_they_capture_together() -> None:
    weights = np.array([2.0, 3.0])
    function = ea.custom_function(
        lambda x: np.sin(weights * x),
        push=lambda primals, tangents: np.cos(weights * primals[0]) * weights * tangents[0],
    )
    loss = lambda x: np.sum(function(x) ** 2)  # noqa: E731
    value, hessian = ea.compile(ea.value_and_grad(loss)), ea.compile(ea.hessian(loss))
    x = np.array([0.3, 0.4])
    for change in (lambda: None, lambda: weights.fill(5.0), lambda: np.multiply(weights, 0.5, out=weights)):
        change()
        plain = np.sin(weights * x)
        np.testing.assert_allclose(value(x)[0], np.sum(plain**2))
        np.testing.assert_allclose(value(x)[1], weights * np.sin(2 * weights * x))
        np.testing.assert_allclose(hessian(x), np.diag(2 * weights**2 * np.cos(2 * weights * x)))
    before = ea.statistics()
    value(x), hessian(x)
    assert ea.statistics().derived == before.derived


def test_a_compiled_rule_that_becomes_another_is_traced_anew() -> None:
    power = [2]
    function = ea.custom_function(
        lambda x: x ** power[0],
        push=lambda primals, tangents: (2 * primals[0] if power[0] == 2 else 3 * primals[0] ** 2) * tangents[0],
    )
    gradient = ea.compile(ea.grad(lambda x: np.sum(function(x))))
    x = np.array([0.5, 2.0])
    for exponent in (2, 3, 2):
        power[0] = exponent
        np.testing.assert_allclose(gradient(x), exponent * x ** (exponent - 1))


def test_what_comes_back_shares_memory_with_nothing() -> None:
    """Also where the function gives its argument back, or an array that it keeps."""
    kept = np.array([1.0, 2.0])
    for inner in (lambda x: x, lambda _: kept):
        function = ea.custom_function(inner, push=lambda *given: given[1][0])
        for call in (
            lambda x, v, f=function: ea.jvp(f, (x,), (v,)),
            ea.compile(lambda x, v, f=function: ea.jvp(f, (x,), (v,))),
            ea.compile(lambda x, v, f=function: (f(x), f(v), f(f(x)))),
            lambda x, v, f=function: (ea.vjp(f, x)[0], ea.vjp(f, x)[1](v)),
        ):
            x, v = np.array([3.0, 4.0]), np.array([5.0, 6.0])
            results = call(x, v)
            expected = [result.copy() for result in results]
            for k, result in enumerate(results):
                assert not any(np.shares_memory(result, other) for other in (x, v, kept, *results[k + 1 :]))
                result[:] = 7
            np.testing.assert_array_equal(call(x, v), expected)
            assert (x.tolist(), v.tolist(), kept.tolist()) == ([3, 4], [5, 6], [1, 2])
