"""Arrays of other namespaces.

Owns the way from a NumPy array into any namespace of the Array API standard, and back to the namespace of an array.
Imports NumPy only. Invariant: shape, values and dtype stay what they are; nothing else of a namespace is used than
``asarray``, ``reshape`` and its dtypes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from einsumad.testing.strategies.drawing import Array

FLOATS = ("float64", "float32", "float16")


def float_dtype(dtype: Any) -> np.dtype[Any]:
    """The NumPy dtype that a dtype of any namespace stands for; floats only.

    >>> float_dtype("float32")
    dtype('float32')
    """
    try:
        name = np.dtype(dtype).name
    except TypeError:
        name = str(dtype).rpartition(".")[2]  # array_api_strict.float32, torch.float32
    if name not in FLOATS:
        raise TypeError(f"dtype {dtype!r} is no float that derivatives are tested in: give one of {', '.join(FLOATS)}")
    found: np.dtype[Any] = np.dtype(name)
    return found


def to_namespace(array: Array, xp: Any | None) -> Any:
    """Return the array as one of the namespace `xp`; None and NumPy itself leave it as it is.

    >>> import array_api_strict
    >>> to_namespace(np.ones((0, 2)), array_api_strict).shape
    (0, 2)
    """
    if xp is None or xp is np:
        return array
    dtype = getattr(xp, array.dtype.name, None)
    if dtype is None:
        raise TypeError(f"the namespace {xp.__name__} has no dtype {array.dtype.name}: give a dtype that it has")
    return xp.reshape(xp.asarray(array.ravel().tolist(), dtype=dtype), array.shape)


def namespace_of(array: Any) -> Any | None:
    """Return the namespace of an array, None for NumPy's arrays, numbers and lists."""
    if isinstance(array, (np.ndarray, np.generic)) or not hasattr(array, "__array_namespace__"):
        return None
    return array.__array_namespace__()
