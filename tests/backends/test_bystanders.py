"""Arguments of other libraries that nothing is differentiated in: constants, in NumPy's functions too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad.errors import TracingError
from tests.backends.libraries import Backend
from tests.backends.running import check_equal

W = np.array([0.5, -1.0, 2.0])
X = np.arange(6.0).reshape(2, 3)

CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "alone": (lambda w, x: np.sum(w * w) * np.sum(x), (X,)),
    "entrywise": (lambda w, x: np.sum(w * np.exp(x - np.max(x))), (X,)),
    "product": (lambda w, x: np.sum(np.matmul(x, w) ** 2), (X,)),
    "operator": (lambda w, x: np.sum((x @ w) ** 2), (X,)),
    "places": (lambda w, x: np.sum(w[x] ** 2), (np.array([0, 0, 2]),)),
    "condition": (lambda w, x: np.sum(np.where(x, w, 0) ** 2), (np.array([True, False, True]),)),
    "number": (lambda w, x: np.sum(w[: int(x)] ** 2) if x > 1 else np.sum(w), (np.array(2),)),
    "rows": (lambda w, x: sum(np.sum(row * w**2) for row in x), (X,)),
    "tree": (lambda w, p: np.sum(w**2 * np.exp(p["x"][0])) + p["n"], ({"x": [W], "n": 3.0, "none": None},)),
    "several": (lambda w, x, v: np.sum(w * w) * np.mean(x) + np.sum(w) * np.sum(v), (X, W)),
}
TRANSFORMS: dict[str, Callable[..., Any]] = {"grad": ea.grad, "hessian": ea.hessian, "jacobian": ea.jacobian}


def made(library: Backend, x: Any) -> Any:
    if isinstance(x, dict):
        return {name: made(library, part) for name, part in x.items()}
    if isinstance(x, list):
        return [made(library, part) for part in x]
    return library.make(x) if isinstance(x, np.ndarray) else x


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("name", CALLS)
def test_constants(library: Backend, name: str, transform: str) -> None:
    f, others = CALLS[name]
    expected = TRANSFORMS[transform](f)(W, *others)
    found = TRANSFORMS[transform](f)(library.make(W), *[made(library, x) for x in others])
    assert isinstance(found, library.kind)
    check_equal(library.back(found), expected)


def test_by_name_and_in_second_place(library: Backend) -> None:
    found = ea.grad(lambda w, x: np.sum(w * w) * np.sum(x))(library.make(W), x=library.make(X))
    check_equal(library.back(found), 30 * W)
    found = ea.grad(lambda x, w: np.sum(w * w) * np.sum(x), 1)(library.make(X), library.make(W))
    check_equal(library.back(found), 30 * W)


def test_a_container_without_such_arrays_is_handed_on_as_it_is(library: Backend) -> None:
    given = {"log": [], "name": "a", "array": W}

    def f(w: Any, held: Any) -> Any:
        assert held is given
        held["log"].append(1)
        return np.sum(w * w)

    check_equal(library.back(ea.grad(f)(library.make(W), given)), 2 * W)
    assert given["log"] == [1]


def test_an_argument_is_a_private_copy(library: Backend) -> None:
    if library.name.startswith("jax"):
        pytest.skip("arrays of JAX are not written to")
    x = library.make(W)

    def f(w: Any, held: Any) -> Any:
        x[0] = 100.0
        return np.sum(w * held)

    check_equal(library.back(ea.grad(f)(library.make(W), x)), W)


def test_functions_of_the_library_are_refused(library: Backend) -> None:
    if not library.name.startswith("torch"):
        pytest.skip("other libraries say it in their own words")
    torch = pytest.importorskip("torch")
    with pytest.raises(TracingError, match="of torch does not take traced values"):
        ea.grad(lambda w, x: np.sum(w * torch.exp(x)))(library.make(W), library.make(W))
    x = library.make(W)
    check_equal(library.back(ea.grad(lambda w: np.sum(w * torch.exp(x)))(library.make(W))), np.exp(W))
