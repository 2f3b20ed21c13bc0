"""Places, counts and conditions that are traced but known are read; where they are not known the function is named."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import einsumad as ea
import einsumad.numpy as enp
from einsumad.errors import TracingError
from tests.frontend.slopes import along
from tests.frontend.surface import data, same, traced

X = data((3, 4), low=-0.9)
assert X.argmax(1).tolist() != [0, 0, 0]


def written(write: Callable[[Any], object]) -> Callable[[Any], Any]:
    """The function that gives the array after the write."""

    def f(x: Any) -> Any:
        x = x * 1
        write(x)
        return x

    return f


def through_a_view(x: Any) -> Any:
    x = x * 1
    row = x[np.argmax(x[:, 0]), 1:]
    rest = np.split(np.swapaxes(x, np.argmin([0, 1]), np.argmax(x[:2, 0] * 0 + [0, 1])), np.array([1]))[1]
    row[0] = x[0, 0] ** 2
    rest[0, 0] = 2.0
    x[1, 2] = 3.0
    return np.concatenate([x.ravel(), row, rest.ravel()])


NEED_VALUES: dict[str, Callable[[Any], Any]] = {
    "put_along_axis": written(lambda x: np.put_along_axis(x, np.argmax(x, 1)[:, None], x[:, :1] ** 2, 1)),
    "place": written(lambda x: np.place(x, x > 0, [2 * x[0, 0], 1.0])),
    "put": written(lambda x: np.put(x, np.argmin(x, axis=1), x[0, :3] ** 2)),
    "put, a list": written(lambda x: np.put(x, [np.argmax(x), 0], x[0, :2] ** 2)),
    "item assignment": written(lambda x: x.__setitem__((np.argmax(x[:, 0]), np.argsort(x[0])[:2]), x[0, :2] ** 2)),
    "compress": lambda x: np.compress(x[:, 0] > 0, x, axis=0),
    "compress, the method": lambda x: x.compress(x[:, 0] > 0, 0),
    "delete": lambda x: np.delete(x, np.argmax(x, axis=1), axis=1),
    "insert": lambda x: np.insert(x, np.argsort(x[0])[:2], x[:, :2], axis=1),
    "repeat": lambda x: np.repeat(x, np.argsort(x[0]), axis=1),
    "roll": lambda x: np.roll(x, (np.argmax(x[0]), 1), axis=(0, 1)),
    "split": lambda x: np.split(x, np.argsort(x[0])[2:], axis=1)[1],
    "tile": lambda x: np.tile(x, (np.argmax(x[0]), 2)),
    "resize": lambda x: np.resize(x, (np.argmax(x[0]), 3)),
    "broadcast_to": lambda x: np.broadcast_to(x[0], (np.argmax(x[0]), 4)),
    "reshape": lambda x: np.reshape(x, (np.argmax(x[0]), -1)),
    "tril": lambda x: np.tril(x, np.argmax(x[0]) - 1),
    "diagonal": lambda x: np.diagonal(x, np.argmax(x[0]) - 1),
    "partition": lambda x: np.partition(x, np.argmax(x[0]), axis=1),
    "pad": lambda x: np.pad(x, ((np.argmax(x[0]), 1), (0, 1))),
    "diff": lambda x: np.diff(x, n=np.argmax(x[0]), axis=1),
    "sliding_window_view": lambda x: np.lib.stride_tricks.sliding_window_view(x, np.argmax(x[0]), axis=1),
    "linspace": lambda x: np.linspace(x[0], x[1], np.argmax(x[0])),
    "vander": lambda x: np.vander(x[0], np.argmax(x[0])),
    "polyder": lambda x: np.polyder(x[0], np.argmax(x[0])),
    "matrix_power": lambda x: np.linalg.matrix_power(x[:, :3], np.argmax(x[0])),
}
NEED_NUMBERS: dict[str, Callable[[Any], Any]] = {
    "an axis": lambda x: np.sum(x, axis=np.argmax(x[0]) - 1) ** 2,
    "axes": lambda x: np.swapaxes(x, np.argmax(x[0]) - 1, 0),
    "pad, by axes": lambda x: np.pad(x, {0: (1, int(np.argmax(x[0]))), -1: int(np.argmax(x[0]))}),
    "range": lambda x: sum(x[k] for k in range(np.argmax(x[0]))),
    "a slice": lambda x: x[: np.argmax(x[0]), ::-1],
    "int": lambda x: x * int(np.sum(x > 0)),
    "a list of Python": lambda x: [x[0], x[1] ** 2, x[2]][np.argmax(x[0])],
    "an array": lambda x: x * np.arange(5.0)[np.argmax(x[0])],
    "through views": through_a_view,
}
NEED_NOTHING: dict[str, Callable[[Any], Any]] = {
    "take, wrap": lambda x: np.take(x, np.argmax(x, axis=1) + 7, axis=1, mode="wrap"),
    "take, clip": lambda x: np.take(x, [np.argmax(x), -1, 9], axis=0, mode="clip"),
    "choose": lambda x: np.choose(np.argmax(x, axis=0), x),
    "choose, wrap": lambda x: np.choose(np.argsort(x, axis=1) - 5, [x, 2.0, np.log(x + 1)], mode="wrap"),
    "choose, a list": lambda x: np.choose([np.argmax(x[:, 0]), 1], [x[0, :2], x[1, 1], x[0, 0] ** 2]),
    "a plain array": lambda x: enp.take(X, np.argsort(x, axis=1) % 3, axis=0) * x[0],
    "a plain array, a list": lambda x: enp.take(X, [np.argmax(x), 0]) * x[0, 0],
    "take, a list": lambda x: np.take(x, [np.argmax(x), 0]),
    "an index with a list": lambda x: x[[np.argmax(x[:, 0]), 0]],
    "putmask": written(lambda x: np.putmask(x, x > 0, x * 2)),
    "copyto": written(lambda x: np.copyto(x, x**2, where=x > 0)),
    "fill_diagonal": written(lambda x: np.fill_diagonal(x, np.argmax(x))),
    "take_along_axis": lambda x: np.take_along_axis(x, np.argsort(x, axis=1), 1),
}
ALL = NEED_VALUES | NEED_NUMBERS | NEED_NOTHING


@pytest.mark.parametrize("name", ALL)
def test_values_and_derivatives(name: str) -> None:
    f = ALL[name]
    same(f(traced(X)), f(X))
    move = data(X.shape, seed=3)
    value, tangent = ea.jvp(f, (X,), (move,))
    np.testing.assert_allclose(value, f(X), rtol=1e-14)
    np.testing.assert_allclose(tangent, along(f, X, move), rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", NEED_VALUES)
def test_where_they_are_not_known_the_function_is_named(name: str) -> None:
    function = "writing at an index" if name == "item assignment" else name.split(",", maxsplit=1)[0]
    with pytest.raises(TracingError, match=rf"{function}.*ea\.compile.*use np\.where"):
        ea.compile(NEED_VALUES[name])(X)


@pytest.mark.parametrize("name", NEED_NUMBERS)
def test_numbers_that_are_not_known(name: str) -> None:
    with pytest.raises(TracingError, match=r"ea\.compile|conversion to an array"):
        ea.compile(NEED_NUMBERS[name])(X)


@pytest.mark.parametrize("name", NEED_NOTHING)
def test_compiled_at_other_values(name: str) -> None:
    compiled = ea.compile(NEED_NOTHING[name])
    for x in (X, X[::-1, ::-1].copy()):
        np.testing.assert_allclose(compiled(x), NEED_NOTHING[name](x), rtol=1e-14)


def test_a_row_at_a_traced_number_is_a_view() -> None:
    def f(x: Any, k: Any) -> Any:
        x = x * 1
        row = x[k]
        x[0, 0] = 5.0
        return x, row

    for k in (0, 1):  # read under ea.compile too, written to where the number is known
        for found, wanted in zip(ea.compile(f)(X, np.int64(k)), f(X, k), strict=True):
            np.testing.assert_allclose(found, wanted)

    def writes(x: Any, k: Any) -> Any:
        x = x * 1
        row = x[k]
        row[0] = 5.0
        return x

    np.testing.assert_allclose(ea.jvp(lambda x: writes(x, np.argmax(x[:, 0])), (X,), (X,))[0][X[:, 0].argmax(), 0], 5)
    with pytest.raises(TracingError, match="writing at an index"):
        ea.compile(writes)(X, np.int64(1))


@pytest.mark.parametrize("convert", [int, range, float, lambda x: [1, 2][x]])
def test_floats_are_no_whole_numbers(convert: Callable[[Any], Any]) -> None:
    with pytest.raises(TracingError, match="derivative would be lost"):
        convert(traced(np.array(1.0)))


def test_whole_numbers_are_rounded_as_those_of_numpy() -> None:
    for convert in (round, math.floor, math.ceil, math.trunc):
        assert convert(traced(np.array(3))) == 3
    for number, digits in ((2.345, 1), (2.5, 0), (1234.5, -2), (17, -1)):
        same(round(traced(np.array(number)), digits), np.round(np.asarray(number), digits))
    assert ea.grad(lambda x: x * round(x, 1))(2.36) == 2.4
    with pytest.raises(TypeError, match=r"np\.round"):
        round(traced(X), 1)


def test_plain_arrays_take_traced_indices_and_masks_that_are_known() -> None:
    table, x = np.array([1.0, 2.0, 3.0]), np.array([0.3, 0.1, 0.2])
    for f, expected in (
        (lambda x: np.sum(table[np.argsort(x)] * x), table[np.argsort(x)]),
        (lambda x: np.sum(np.take(table, np.argsort(x)) * x), table[np.argsort(x)]),
        (lambda x: np.sum(table[x > 0.15]) * np.sum(x), np.full(3, 4.0)),
        (lambda x: np.sum(table[np.digitize(x, [0, 0.15])] * x), [3.0, 2.0, 3.0]),
    ):
        np.testing.assert_allclose(ea.grad(f)(x), expected)
    for pick in (lambda o: table[o], lambda o: np.take(table, o), lambda o: [1, 2, 3][o[0]]):
        with pytest.raises(TracingError, match=r"ea\.compile.*einsumad\.numpy\.take.*ea\.tensor\(g\)\[index\]"):
            ea.compile(lambda x, pick=pick: np.sum(pick(np.argsort(x)) * x))(x)


def test_places_out_of_bounds_are_found_when_they_are_computed() -> None:
    compiled = ea.compile(lambda x, k: enp.take(X[0, :2], k) * x)
    assert compiled(3.0, np.int64(1)) == X[0, 1] * 3
    with pytest.raises(IndexError):
        compiled(3.0, np.int64(2))
