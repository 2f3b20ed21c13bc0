"""``order=`` on traced values, which have no order in memory: compared with NumPy, or refused."""

import numpy as np
import pytest

import einsumad as ea
from einsumad.errors import TracingError

X = np.asfortranarray(np.arange(6.0).reshape(2, 3))
WEIGHTS = np.arange(6.0)

BY_MEMORY = {
    "ravel, K": lambda x: np.ravel(x, order="K"),
    "ravel, A": lambda x: np.ravel(x, "A"),
    "ravel, small letter": lambda x: np.ravel(x, order="k"),
    "method ravel": lambda x: x.ravel("K"),
    "method flatten, K": lambda x: x.flatten("K"),
    "method flatten, A": lambda x: x.flatten(order="A"),
    "reshape": lambda x: np.reshape(x, 6, order="A"),
    "method reshape": lambda x: x.reshape(6, order="A"),
    "of a transpose": lambda x: x.T.ravel("K"),
}
SAID = {
    "ravel, F": lambda x: np.ravel(x, order="F"),
    "ravel, small letter": lambda x: np.ravel(x, order="f"),
    "ravel, none": lambda x: np.ravel(x, order=None),
    "flatten": lambda x: x.flatten("F"),
    "reshape, F": lambda x: np.reshape(x, (3, 2), order="f").ravel(),
    "reshape, none": lambda x: x.reshape(6, order=None),
}
OF_MEMORY_ALONE = {
    "copy": lambda x: np.copy(x, order="K"),
    "copy, F": lambda x: np.copy(x, order="F"),
    "method copy": lambda x: x.copy("A"),
    "zeros_like": lambda x: x + np.zeros_like(x, order="K"),
    "ones_like": lambda x: x + np.ones_like(x, order="A"),
    "full_like": lambda x: x + np.full_like(x, 3.0, order="F"),
    "einsum": lambda x: np.einsum("ij->ji", x, order="K").T,
}


def loss(f):
    return lambda x: np.sum(f(x).ravel() ** 2 * WEIGHTS)


def slopes(f, x):
    """By central differences, exact to rounding as the function is quadratic."""
    found = np.empty(x.shape)
    for place in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[place] = 0.5
        found[place] = f(x + step) - f(x - step)
    return found


@pytest.mark.parametrize("name", BY_MEMORY)
@pytest.mark.parametrize("x", [X, np.ascontiguousarray(X)], ids=["F", "C"])
def test_an_order_that_depends_on_memory_is_refused(name, x):
    f = loss(BY_MEMORY[name])
    for _ in range(3):
        with pytest.raises(TracingError, match=r"order='[AKk]'\) .* write 'C' for rows first, 'F' for columns first"):
            ea.value_and_grad(f)(x)
    with pytest.raises(TracingError, match="order="):
        ea.compile(f)(x)


@pytest.mark.parametrize("name", SAID)
@pytest.mark.parametrize("x", [X, np.ascontiguousarray(X)], ids=["F", "C"])
def test_an_order_that_is_said_does_not_depend_on_memory(name, x):
    f = loss(SAID[name])
    for _ in range(3):
        value, gradient = ea.value_and_grad(f)(x)
        assert value == f(x)
        np.testing.assert_allclose(gradient, slopes(f, x))


@pytest.mark.parametrize("name", OF_MEMORY_ALONE)
def test_an_order_of_the_result_in_memory_is_taken(name):
    f = loss(OF_MEMORY_ALONE[name])
    for _ in range(3):
        value, gradient = ea.value_and_grad(f)(X)
        assert value == f(X)
        np.testing.assert_allclose(gradient, slopes(f, X))


@pytest.mark.parametrize("shape", [(6,), (1, 6), (6, 1), (1, 6, 1), ()])
@pytest.mark.parametrize("order", ["A", "K"])
def test_with_one_long_axis_all_orders_are_the_same(shape, order):
    x = np.asfortranarray(np.arange(np.prod(shape, dtype=int), dtype=float).reshape(shape) + 1)
    weights = WEIGHTS[: x.size] + 1
    for given in (x, x[..., ::-1] if shape else x):
        value, gradient = ea.value_and_grad(lambda x: np.sum(np.ravel(x, order=order) * weights))(given)
        assert value == np.sum(np.ravel(given, order=order) * weights)
        np.testing.assert_array_equal(np.ravel(gradient), weights)
    folded = ea.grad(lambda x: np.sum(np.reshape(x, (2, -1), order="A")[0] ** 2))(np.arange(6.0))
    np.testing.assert_array_equal(folded, [0, 2, 4, 0, 0, 0])


def test_without_entries_all_orders_are_the_same():
    assert ea.grad(lambda x: np.sum(np.ravel(x, order="K")))(np.ones((2, 0, 3))).shape == (2, 0, 3)


def test_what_is_no_order():
    with pytest.raises(ValueError, match="order must be one of"):
        ea.grad(lambda x: np.sum(np.ravel(x, order="x")))(X)
    with pytest.raises(ValueError, match="order must be one of"):
        ea.grad(lambda x: np.sum(np.ravel(x, order="")))(X)
    with pytest.raises(ValueError, match="'K' is not permitted"):
        ea.grad(lambda x: np.sum(np.reshape(x, 6, order="K")))(X)
