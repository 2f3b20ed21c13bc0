"""What the adapters of other libraries have in common: how a library is loaded, and what is refused before it is asked.

Owns loading by name and the checks of arguments. Imports the errors and points. Invariant: a library is loaded when one
of its functions is used and never before, and what reaches it are copies of the caller's arrays.
"""

from __future__ import annotations

import importlib
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np

from einsumad.errors import DifferentiationError, EinsumadError, ShapeError
from einsumad.testing.point import Array

MODES = ("auto", "forward", "reverse")

_WIDEST = {"f": 8, "c": 16}
_LACKING = (
    "forward-mode autodiff (jvp) to a custom_vjp",
    "Reverse-mode differentiation does not work for",
    "callbacks do not support",
    "must override the setup_context",
    "implement the jvp function",
)
"""What JAX and PyTorch say of functions that they cannot transform in some mode."""


def is_installed(package: str) -> bool:
    """Whether a package can be found; it is not loaded."""
    return find_spec(package) is not None


def missing(package: str) -> ModuleNotFoundError:
    """The error that says how to install a package."""
    message = (
        f'the system {package!r} needs the package {package}, which is not installed: pip install "einsumad[peers]"'
    )
    return ModuleNotFoundError(message, name=package)


def load(module: str) -> ModuleType:
    """A module by its name; :class:`ModuleNotFoundError` with what to install if its package is missing."""
    package = module.partition(".")[0]
    if not is_installed(package):
        raise missing(package)
    return importlib.import_module(module)


@contextmanager
def calling(library: str, namespace: str, ignored: str = "") -> Iterator[None]:
    """Add a note to the errors of a library or a function: which library, and how functions are written for it.

    What says that the library has no such transform of the function becomes ``NotImplementedError``.
    Warnings that begin with `ignored` are not shown: those that a library gives for what is not the caller's doing.
    """
    try:
        with warnings.catch_warnings():
            if ignored:
                warnings.filterwarnings("ignore", message=re.escape(ignored))
            yield
    except EinsumadError:
        raise
    except Exception as error:
        if any(phrase in str(error) for phrase in _LACKING):
            raise NotImplementedError(str(error).splitlines()[0]) from error
        error.add_note(f"raised while {library} worked on the function, which has to be written with {namespace}")
        raise


def copies(arrays: Sequence[Any]) -> list[Array]:
    """The arrays copied, in native byte order and contiguous, as every library takes them."""
    given = [np.asarray(array) for array in arrays]
    return [array.astype(array.dtype.newbyteorder("="), order="C", copy=True) for array in given]


def representable(arrays: Sequence[Array], library: str) -> None:
    """Refuse floating-point numbers of more than double precision, which most libraries would round silently."""
    for position, array in enumerate(arrays):
        if array.dtype.itemsize > _WIDEST.get(array.dtype.kind, array.dtype.itemsize):
            raise DifferentiationError(
                f"argument {position} has dtype {array.dtype}, which {library} does not have: "
                "pass at most double precision"
            )


def differentiable(arrays: Sequence[Any]) -> list[Array]:
    """Copies of the arrays if all are real floating-point arrays and there is at least one."""
    if not arrays:
        raise DifferentiationError("there is nothing to differentiate with respect to: pass at least one array")
    taken = copies(arrays)
    for position, array in enumerate(taken):
        if array.dtype.kind == "c":
            raise DifferentiationError(
                f"argument {position} is complex, and systems disagree on what its derivative is: "
                "split it into two real arrays"
            )
        if array.dtype.kind != "f":
            raise DifferentiationError(
                f"argument {position} has dtype {array.dtype}, which cannot be differentiated: "
                "pass floating-point values, e.g. np.asarray(x, float)"
            )
    return taken


def tangents_of(tangents: Sequence[Any], arrays: Sequence[Array]) -> list[Array]:
    """Copies of the tangents, in the shapes and dtypes of the arrays they belong to."""
    if len(tangents) != len(arrays):
        raise ShapeError(f"got {len(tangents)} tangents for {len(arrays)} arrays: pass one for each")
    return [
        direction(tangent, array.shape, f"tangent {position}").astype(array.dtype)
        for position, (tangent, array) in enumerate(zip(tangents, arrays, strict=True))
    ]


def direction(vector: Any, shape: Sequence[int], what: str) -> Array:
    """A copy of a tangent or cotangent, which has to be real and of this shape."""
    (array,) = copies([vector])
    if array.dtype.kind not in "fiu":
        raise DifferentiationError(f"{what} has dtype {array.dtype}: pass real numbers")
    if array.shape != tuple(shape):
        raise ShapeError(f"{what} has shape {array.shape}, expected {tuple(shape)}")
    return array


def request(order: int, mode: str, library: str) -> None:
    """Refuse orders and modes that do not exist."""
    if order < 0 or order != int(order):
        raise ValueError(f"order must be a whole number of at least 0, got {order!r}")
    if mode not in MODES:
        raise ValueError(f"{library} has the modes {', '.join(MODES)}, got {mode!r}")


def one_value(value: Any, library: str) -> Any:
    """The value of a function, unless it is none or several."""
    if value is None or isinstance(value, tuple | list | dict):
        raise DifferentiationError(
            f"the function for {library} returned {type(value).__name__}: return one array or number"
        )
    return value


def not_real(dtype: object, library: str) -> DifferentiationError:
    """The error for a value that has no real derivative."""
    return DifferentiationError(
        f"the function for {library} returned dtype {dtype}, which has no derivative here: "
        "return real floating-point values"
    )


def scalar(shape: Sequence[int]) -> None:
    """Refuse values that have no Hessian-vector product."""
    if tuple(shape):
        raise DifferentiationError(
            f"hvp needs a function with one scalar output, got the shape {tuple(shape)}: sum it, or use derivative"
        )


def numpy_array(value: Any) -> Array:
    """A fresh writable NumPy array; dtypes that NumPy lacks, such as bfloat16, become float32, which holds them."""
    array = np.array(value)
    return array.astype(np.float32) if array.dtype.kind == "V" else array


def numpy_arrays(nested: Any) -> Any:
    """The same nested tuples with NumPy arrays in them."""
    if isinstance(nested, tuple | list):
        return tuple([numpy_arrays(part) for part in nested])
    return numpy_array(nested)
