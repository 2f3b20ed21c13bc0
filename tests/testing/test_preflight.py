"""Preflight: each kind of trouble is found, harmless functions are left alone, and nothing of the caller's changes."""

# ruff: noqa: NPY002, S311 - the global random states are what is tested

from __future__ import annotations

import functools
import random
from typing import Any, NamedTuple

import numpy as np
import pytest

from einsumad.testing.preflight import KINDS, preflight, unchanged

X = np.array([1.0, -2.0, 0.5])


class Pair(NamedTuple):
    first: Any
    second: Any


def kinds(f, *args, argnums=(0,), **kwargs):
    return {
        trouble.kind: trouble.fatal for trouble in preflight(f, args, kwargs, argnums, ("x", "y", "z")[: len(args)])
    }


def message(f, *args, **options):
    (trouble,) = preflight(f, args, options, (0,), ("x", "y"))
    return trouble.message


@pytest.mark.parametrize(
    ("f", "args", "argnums"),
    [
        (lambda x: np.sum(x**2), (X,), (0,)),
        (lambda x: float(np.sum(x)), (X,), (0,)),
        (np.sin, (np.float32(2),), (0,)),
        (lambda x: x * 2, (2.5,), (0,)),
        (lambda x, k: x * k, (X, 3), (0,)),
        (lambda x, k: x * k, (X, 3), (-2,)),
        (lambda x, mask: np.where(mask == 0, 0, x), (X, np.array([0.0, -np.inf, np.nan])), (0,)),
        (lambda p: p["W"] @ p["b"][0], ({"W": np.eye(3), "b": [X, None]},), (0,)),
        (lambda x: np.asarray(x) ** 2, ([1.0, 2.0],), (0,)),
        (lambda x: x.conj() * x, (X + 1j,), (0,)),
        (np.sum, (np.asfortranarray(np.ones((2, 3)))[::-1, ::2],), (0,)),
        (lambda x: np.random.default_rng(0).standard_normal(3) @ x, (X,), (0,)),
        (np.sum, (X,), (0,)),
        (functools.partial(np.add, 1.0), (X,), (0,)),
        (lambda x: (x.astype(np.longdouble) / 3).astype(float), (X,), (0,)),
        (lambda x: x.astype(np.longdouble) / 3, (X,), (0,)),
    ],
)
def test_nothing_to_say(f, args, argnums):
    assert preflight(f, args, {}, argnums, ("x", "mask")[: len(args)]) == ()


def test_randomness():
    rng = np.random.default_rng(0)
    assert kinds(lambda x: np.sum(x) + rng.standard_normal(), X) == {"nondeterministic": True}
    assert kinds(lambda x: np.sum(x) + np.random.standard_normal(), X) == {
        "global random state": False,
        "nondeterministic": True,
    }
    assert "numpy.random" in preflight(lambda x: x * np.random.random(), (X,))[0].message
    assert "it draws from the global random state" in preflight(lambda x: x * random.random(), (X,))[1].message
    assert kinds(lambda x: np.sum(x) + 0 * random.random(), X) == {"global random state": False}
    text = message(lambda x: x * (1 + np.floor(4 * rng.random())), X)
    assert "two calls with equal arguments" in text
    assert "at [" in text


def test_calls_that_differ_by_rounding_are_no_obstacle():
    counter = iter(range(100))
    assert kinds(lambda x: np.sum(x) * (1 + 1e-15 * (next(counter) % 2)), X) == {"nondeterministic": False}
    assert kinds(lambda x: np.sum(x) * (1 + 1e-12 * (next(counter) % 2)), X) == {"nondeterministic": True}


def test_the_global_random_state_is_put_back():
    random.seed(3)
    np.random.seed(3)
    np.random.standard_normal()
    before = random.getstate(), np.random.get_state()

    def failing(x):
        random.random()
        np.random.standard_normal(len(x))
        raise KeyError("mine")

    preflight(lambda x: x * np.random.standard_normal() * random.random(), (X,))
    with pytest.raises(KeyError, match="mine"):
        preflight(failing, (X,))
    assert random.getstate() == before[0]
    after = np.random.get_state()
    assert all(np.array_equal(one, other) for one, other in zip(before[1], after, strict=True))


def test_state():
    class Memory:
        def __init__(self):
            self.largest = 0.0

        def __call__(self, x):
            self.largest = max(self.largest, float(np.max(np.abs(x))))
            return np.sum(x) / self.largest

    assert kinds(Memory(), X) == {"stateful": True}
    seen = []
    assert kinds(lambda x: np.sum(x) * len(seen.append(0) or seen), X) == {"nondeterministic": True}


def test_running_means_are_put_back():
    mean = np.zeros(3)
    stats = {"mean": mean}

    class Layer:
        def __init__(self):
            self.mean = mean

        def train(self, x):
            self.mean[...] = 0.9 * self.mean + 0.1 * x
            return x - x.mean()

        __call__ = train

    def closure(x):
        stats["mean"] += x
        return np.sum(x**2)

    def default(x, kept=mean, *, also=1):
        kept[0] += also
        return np.sum(x**2)

    layer = Layer()
    for f in (layer.train, layer, closure, default, functools.partial(lambda m, x: np.add(m, x, out=m) * 0 + x, mean)):
        found = preflight(f, (X,))
        assert [(trouble.kind, trouble.fatal) for trouble in found] == [("stateful", False)]
        assert "mean" in found[0].message or "argument 0" in found[0].message or "default 0" in found[0].message
        assert not mean.any()
    closure(X)
    kept = mean.copy()
    with pytest.raises(KeyError), unchanged(layer):
        layer(X) + {}[0]
    np.testing.assert_array_equal(mean, kept)


def test_mutation():
    def scales(x):
        x *= 2
        return np.sum(x)

    def of_container(p):
        p["a"][0][1] = 5.0
        return np.sum(p["a"][0])

    def appends(p):
        p.append(1.0)
        return np.sum(p[0])

    def counts(x, y):
        y += 1
        return np.sum(x) * y[0]

    def scratch(x, y):
        np.multiply(x, x, out=y)
        return np.sum(y)

    def keyword(x, *, work):
        work[...] = x
        return np.sum(work)

    assert kinds(scales, X) == {"mutation": True}
    assert "'x' in place" in message(scales, X)
    assert kinds(of_container, {"a": [X.copy(), X]}) == {"mutation": True}
    assert "x['a'][0]" in message(of_container, {"a": [X.copy()]})
    assert kinds(appends, [X]) == {"mutation": True}
    assert kinds(counts, X, np.ones(1)) == {"mutation": True}
    assert kinds(scratch, X, np.zeros(3)) == {"mutation": False}
    assert kinds(keyword, X, work=np.zeros(3)) == {"mutation": False}
    assert kinds(scratch, X, np.zeros(3), argnums=(0, 1)) == {"mutation": True}


def test_the_arguments_keep_their_bits():
    def f(p, y):
        p.first[...] = np.nan
        p.second.clear()
        y[...] = 7
        return 1.0

    p, y = Pair(X.copy(), [1.0, 2.0]), X.copy()
    preflight(f, (p, y), {}, (0,), ("p", "y"))
    np.testing.assert_array_equal(p.first, X)
    assert p.second == [1.0, 2.0]
    np.testing.assert_array_equal(y, X)


@pytest.mark.parametrize("x", [3, True, np.arange(3), np.array([True, False]), [1, 2, 3], np.int8(3)])
def test_integers(x):
    found = preflight(lambda v: 1.5 * np.sum(v), (x,), {}, (0,), ("v",))
    assert [(trouble.kind, trouble.fatal) for trouble in found] == [("integers", True)]
    assert "'v'" in found[0].message
    assert "np.asarray(x, float)" in found[0].message


def test_integers_that_are_not_differentiated_are_fine():
    assert preflight(lambda x, k: x[k], (X, np.arange(2)), {}, (0,), ("x", "k")) == ()
    (found,) = preflight(lambda p: np.sum(p["x"][p["k"]]), ({"x": X, "k": np.arange(2)},), {}, (0,), ("p",))
    assert found.kind == "integers"
    assert "p['k']" in found.message


def test_not_finite():
    with np.errstate(all="raise"):
        assert kinds(np.log, np.array([1.0, 0.0])) == {"not finite": True}
    assert message(np.log, np.array([[1.0, 0.0]])).startswith("the value of log is -inf at [0, 1]")
    assert kinds(np.exp, np.array([-np.inf])) == {"not finite": True}
    assert "argument 'x' is nan at [1]" in message(np.nansum, np.array([1.0, np.nan]))
    assert "is inf: choose" in message(lambda x: 1 / x, np.array(0.0))
    assert kinds(lambda x: x, np.array([complex(0, np.nan)])) == {"not finite": True, "overlapping memory": False}


def test_overlapping_memory():
    assert kinds(np.sum, np.broadcast_to(2.0, (3,))) == {"overlapping memory": False}
    assert kinds(np.sum, np.lib.stride_tricks.sliding_window_view(X, 2)) == {"overlapping memory": False}
    base = np.ones(6)
    assert kinds(np.dot, base, base) == {"overlapping memory": False}
    assert kinds(np.dot, base[:4], base[2:]) == {"overlapping memory": False}
    assert kinds(np.dot, base[::2], base[1::2]) == {}
    assert "'x' and 'y' share memory" in message(np.dot, base, base)
    assert kinds(lambda x: x[1:], X) == {"overlapping memory": False}
    assert kinds(lambda x: x.T, np.ones((2, 2))) == {"overlapping memory": False}
    assert "shares memory with argument 'x'" in message(lambda x: x, X)


def test_empty():
    assert kinds(np.sum, np.zeros((0, 3))) == {"empty": False}
    assert kinds(lambda x: x[:0] * 1, X) == {"empty": False}
    assert len(preflight(lambda x: 2 * x, (np.zeros(0),))) == 2


@pytest.mark.parametrize(
    "value", [None, "text", object(), {"a": 1.0}, (X, 1), [1.0, 2.0], np.array(["a"]), np.array([None])]
)
def test_no_number(value):
    assert kinds(lambda _: value, X) == {"no number": True}


def test_no_number_as_an_argument():
    assert kinds(lambda _: 1.0, "text") == {"no number": True}
    assert kinds(lambda _: 1.0, object()) == {"no number": True}


def test_dtypes_of_values():
    assert kinds(lambda x: x + 1j, X) == {"complex output": False}
    assert kinds(np.argmax, X) == {"integer output": False}
    assert kinds(lambda x: x > 0, X) == {"integer output": False}
    assert kinds(lambda x: x.astype(np.float32), X) == {"low precision": False}
    assert kinds(lambda x: x * x, X.astype(np.float16)) == {"low precision": False}
    assert kinds(lambda x: x * x, X.astype(np.float32)) == {}


def test_subnormal():
    assert kinds(np.sum, np.array([1.0, 1e-310])) == {"subnormal": False}
    assert kinds(np.sum, np.array([1.0, 0.0])) == {}


def test_exceptions_of_the_function_come_through_unless_arguments_were_moved():
    def picky(x):
        if np.sum(x) != 1:
            raise ValueError("weights must sum to one")
        return x * x

    assert kinds(picky, np.array([0.5, 0.5])) == {}
    with pytest.raises(ValueError, match="sum to one"):
        preflight(picky, (X,))


def test_a_function_that_writes_and_draws_and_returns_nothing():
    def f(x):
        x += np.random.random()

    assert kinds(f, X) == {"global random state": False, "mutation": True, "no number": True}


def test_every_kind_is_listed():
    source = [kinds(np.sum, np.broadcast_to(2, (3,))), kinds(lambda x: np.log(x * 0) + 1j, X.astype(np.float16))]
    assert set().union(*source) <= set(KINDS)
