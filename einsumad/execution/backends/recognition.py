"""Which library an array is of.

Owns the table of libraries that were met. Imports them never: an array of a library is there only once its user has
loaded it. Invariant: arrays and numbers of NumPy and everything that is no array are of none.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Any

import numpy as np

from einsumad.errors import TracingError
from einsumad.execution.backends.array_library import Home, Library

_of_type: dict[type, Library | None] = {np.ndarray: None, float: None, int: None, bool: None, list: None, tuple: None}
_NAMES = ("torch", "jax", "cupy")
_libraries: dict[str, Library] = {}


def library_of(x: Any) -> Library | None:
    """The library of an array that is not NumPy's; None for all else."""
    kind = type(x)
    try:
        return _of_type[kind]
    except KeyError:
        found = _of_type[kind] = _recognised(x)
        return found


def _recognised(x: Any) -> Library | None:
    if isinstance(x, (np.ndarray, np.generic)):
        return None
    torch, jax, cupy = (sys.modules.get(name) for name in _NAMES)
    if isinstance(x, getattr(torch, "Tensor", ())):
        return _known("torch", lambda: _class_of("Torch")(torch, _compatible("torch")))
    if isinstance(x, getattr(jax, "Array", ())):
        return _known("jax", lambda: _class_of("Jax")(jax, import_module("jax.scipy.special")))
    if isinstance(x, getattr(cupy, "ndarray", ())):
        special = import_module("cupyx.scipy.special")
        return _known("cupy", lambda: _class_of("Cupy")(cupy, _compatible("cupy"), special))
    if hasattr(x, "__array_namespace__") and not isinstance(x, type):
        namespace = x.__array_namespace__()
        return _known(namespace.__name__, lambda: Library(namespace.__name__, namespace))
    return None


def _known(name: str, make: Any) -> Library:
    if name not in _libraries:
        _libraries[name] = make()
    return _libraries[name]


def _class_of(name: str) -> Any:
    return getattr(import_module(f"einsumad.execution.backends.{name.lower()}_library"), f"{name}Library")


def _compatible(name: str) -> Any:
    return import_module(f"array_api_compat.{name}")


def is_array_type(kind: type) -> bool:
    """Whether arrays of the type are of a library that answers to NumPy's functions with its own, as CuPy does."""
    return _of_type.get(kind) is not None or issubclass(kind, getattr(sys.modules.get("cupy"), "ndarray", ()))


def any_met() -> bool:
    """Whether an array of some library was seen in this process."""
    return bool(_libraries)


def any_loaded() -> bool:
    """Whether there may be arrays of some library in this process."""
    return bool(_libraries) or not sys.modules.keys().isdisjoint(_NAMES)


def shape_and_dtype(x: Any) -> tuple[tuple[int, ...], np.dtype]:
    """The shape of an array of any library, and NumPy's name for its dtype."""
    library = library_of(x)
    if library is None:
        array = np.asarray(x)
        return array.shape, array.dtype
    return tuple(x.shape), library.dtype_of(x)


def home_of(x: Any) -> Home | None:
    """Where an array is that is not NumPy's."""
    library = library_of(x)
    return None if library is None else library.home_of(x)


def common_home(homes: Iterable[Home | None]) -> Home | None:
    """The one place among these; None if there is none. Raises :class:`TracingError` for two of them."""
    found: Home | None = None
    for home in homes:
        if home is None or found == home:
            continue
        if found is None:
            found = home
        elif found.array_library is home.array_library and found.device is None:
            found = found if home.on_host else home  # the library itself decides about its devices
        else:
            raise TracingError(
                f"one call has arrays of {found.name} and of {home.name}: bring them to one library and one device "
                "before the call"
            )
    return found
