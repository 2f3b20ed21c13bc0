"""What the tests of the NumPy surface share: traced copies of arrays, and the comparison with NumPy."""

from collections.abc import Callable
from typing import Any

import numpy as np

from einsumad.execution.reference import evaluate
from einsumad.frontend.eager import tensor
from einsumad.frontend.tensor import Tensor
from einsumad.frontend.values import value_of
from einsumad.graph import Node, leaves
from einsumad.rewriting import normalise

TOLERANCE = {"f2": 5e-3, "f4": 2e-6, "f8": 1e-13}


def traced(value: Any) -> Any:
    """A tensor for an array; Python numbers and tuples of axes stay what they are."""
    return tensor(value) if isinstance(value, np.ndarray) else value


def value(result: Any) -> Any:
    """The value of a traced result by the reference interpreter, which its normal form has too."""
    if isinstance(result, tuple):
        return type(result)(*map(value, result)) if hasattr(result, "_fields") else tuple(map(value, result))
    if not isinstance(result, Tensor):
        return result
    array, normal = [reference(node) for node in (result.node, *normalise([result.node]))]
    tolerance = 10 * TOLERANCE[array.dtype.str[1:]] if array.dtype.kind == "f" else 0
    np.testing.assert_allclose(normal, array, rtol=tolerance, atol=tolerance)
    return array


def reference(node: Node) -> np.ndarray:
    """The value of a node by the reference interpreter."""
    (array,) = evaluate([node], {leaf: value_of(leaf) for leaf in leaves([node])})
    assert array.dtype == node.dtype
    return array


def check(f: Callable[..., Any], *args: Any) -> None:
    """The function of traced arguments has NumPy's value, shape and dtype, with all arrays traced or one."""
    with np.errstate(all="ignore"):
        expected = f(*args)
    arrays = [k for k, arg in enumerate(args) if isinstance(arg, np.ndarray)]
    choices = [arrays] if len(arrays) < 2 else [arrays, *[[k] for k in arrays]]
    for chosen in choices:
        result = f(*[traced(arg) if k in chosen else arg for k, arg in enumerate(args)])
        same(result, expected)


def same(result: Any, expected: Any) -> None:
    if isinstance(expected, tuple):
        assert isinstance(result, type(expected))
        assert len(result) == len(expected)
        for part, wanted in zip(result, expected, strict=True):
            same(part, wanted)
        return
    wanted = np.asarray(expected)
    assert isinstance(result, Tensor)
    assert result.shape == wanted.shape
    assert result.dtype == wanted.dtype
    found = value(result)
    assert found.dtype == wanted.dtype
    if wanted.dtype.kind == "f":
        scale = TOLERANCE[wanted.dtype.str[1:]]
        np.testing.assert_allclose(found, wanted, rtol=scale, atol=scale)
    else:
        np.testing.assert_array_equal(found, wanted)


def data(shape: tuple[int, ...], dtype: Any = "f8", seed: int = 0, low: float = 0.2, high: float = 0.9) -> np.ndarray:
    """Values in an interval in which every function of the surface is at ease."""
    rng = np.random.default_rng([seed, *shape])
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.random(shape) < 0.5
    if kind in "iu":
        return rng.integers(1, 5, shape).astype(dtype)
    return rng.uniform(low, high, shape).astype(dtype)
