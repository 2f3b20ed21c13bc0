"""What errors say where the arguments of a transform, or directions, are given in another way than they are taken."""

import numpy as np
import pytest

import einsumad as ea

X = np.ones(3)


def f(x):
    return np.sum(x**3)


def test_a_list_of_numbers_is_no_array():
    message = r"the direction has the structure \[\*, \*, \*\], expected \*, .* np.asarray\(v, float\) makes one of it$"
    with pytest.raises(TypeError, match=message):
        ea.hvp(f)(X, [1.0, 2.0, 3.0])
    with pytest.raises(
        TypeError, match=r"the tangent has the structure \(\[\*, \*, \*\],\), expected \(\*,\), .* np.asarray"
    ):
        ea.jvp(f, (X,), ([1.0, 2.0, 3.0],))
    with pytest.raises(
        TypeError, match=r"the cotangent has the structure \[\*,.{50,70}\.\.\., expected \*, .* np.asarray"
    ):
        ea.vjp(np.sin, X)[1]([1.0] * 300)


def test_another_structure():
    with pytest.raises(TypeError, match=r"the cotangent has the structure \(\*, \*\), expected \*, .* or a number$"):
        ea.vjp(np.sin, X)[1]((X, X))
    H = ea.hessian(lambda t: f(t["a"]) * np.sum(t["b"]), compressed=True)({"a": X, "b": X})
    with pytest.raises(TypeError, match=r"the vector has the structure \(\*, \*\), expected {'a': \*, 'b': \*}"):
        H @ (X, X)


def test_arguments_by_name():
    for act in (ea.grad(f), ea.hessian(f, compressed=True), lambda **given: ea.explain(ea.grad(f), **given)):
        with pytest.raises(
            TypeError, match="has 0 positional arguments beside x=: give what is differentiated by position"
        ):
            act(x=X)
    with pytest.raises(TypeError, match=r"has 1 positional arguments$"):
        ea.grad(f, argnums=1)(X)
    found = ea.grad(lambda x, power: np.sum(x**power))(X, power=3)
    np.testing.assert_array_equal(found, 3 * X)
