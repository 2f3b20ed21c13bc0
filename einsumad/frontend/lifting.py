"""From whatever a caller hands in to a node.

Owns the lifting of numbers and arrays. Imports the graph, the value store and the tensor. Invariant: a lifted
array is a private snapshot, so later writes by the caller change nothing; dtypes follow NumPy's promotion, in
which Python numbers are weak and everything else is not; what cannot be traced is refused, never turned into
objects.

Python's 0, 1, -1, 2, -2, 1/2 and -1/2 become constants of the graph, which rewrites may look at. All other
numbers become number leaves and all arrays leaves: the plan does not depend on their values.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeAlias

import numpy as np

from einsumad.errors import TracingError
from einsumad.execution.backends import library_of, shape_and_dtype
from einsumad.frontend.mapped import check_copy, is_read_only_map
from einsumad.frontend.met import Met, Seen, met_in_trace, same_bits
from einsumad.frontend.registry import lifts_arrays
from einsumad.frontend.tensor import Tensor
from einsumad.frontend.values import bind
from einsumad.frontend.variables import mark_constant
from einsumad.graph import Node, canonical_number, constant, fresh_leaf, leaf, ones, zero
from einsumad.graph.digests import blake2b

PythonNumber: TypeAlias = bool | int | float

_CONSTANTS = frozenset({0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5})
_TRACEABLE_KINDS = "biuf"
PLAIN_DTYPES = frozenset([np.dtype(code) for code in "?bhilqBHILQefdg"])
"""Those dtypes with which arrays are traced as they are."""
_NO_NAMES: Mapping[int, str] = {}
_names: ContextVar[Mapping[int, str]] = ContextVar("names of arrays by identity", default=_NO_NAMES)
_noted: ContextVar[dict[Node, np.ndarray] | None] = ContextVar("arrays that leaves were made of", default=None)


def as_node(x: Any, partner_dtype: Any = None) -> Node:
    """The node of a tensor, number, array or nested sequence of numbers.

    A Python number takes the dtype that NumPy's promotion gives it beside ``partner_dtype``; everything
    else, and a Python number without a partner, has the dtype that ``np.asarray`` gives it.
    """
    if isinstance(x, Tensor):
        return x.node
    if is_python_number(x):
        return number(x, np.result_type(partner_dtype, x) if partner_dtype is not None else np.asarray(x).dtype)
    if isinstance(x, np.generic):
        return _numpy_scalar(x)
    return _array(x)


@lifts_arrays
def _traced(x: Any) -> Tensor:
    return Tensor(as_node(x))


def is_python_number(x: object) -> bool:
    """Whether the operand is a bool, int or float of Python, and no NumPy scalar."""
    return isinstance(x, (int, float)) and not isinstance(x, np.generic)


def number(value: PythonNumber, dtype: Any) -> Node:
    """The node without axes of a Python number in the given dtype."""
    target = check_dtype(dtype)
    if target.kind == "b":
        return ones((), target) if value else zero((), target)
    if target.kind == "f":
        value = float(value)
    else:
        target.type(value)  # raises where the dtype cannot hold the number
    if value == 0 and math.copysign(1, value) > 0:
        return zero((), target)
    if value == 1:
        return ones((), target)
    if value in _CONSTANTS and value != 0:
        return constant(value, (), target)
    return leaf((), target, ("number", value if value == 0 else canonical(value)))


def check_dtype(dtype: Any) -> np.dtype:
    """The dtype, if values of it can be traced."""
    target: np.dtype = np.dtype(dtype)
    if not is_traceable(target):
        raise _refusal(target)
    return target


def is_traceable(dtype: np.dtype) -> bool:
    """Whether arrays of the dtype can be traced."""
    return dtype.kind in _TRACEABLE_KINDS


def canonical(value: PythonNumber) -> int | float:
    """The number in the one form in which it stands in the graph."""
    return canonical_number(value) if math.isfinite(value) else value


@contextmanager
def array_names(names: Mapping[int, str]) -> Iterator[None]:
    """Within this context arrays are lifted under the names given for their identities."""
    token = _names.set(names)
    try:
        yield
    finally:
        _names.reset(token)


def _array(x: Any) -> Node:
    met = met_in_trace()
    seen = met.arrays.get(id(x)) if met is not None else None
    library = library_of(x)
    if seen is not None and seen.leaf is not None and is_unchanged(x, seen):
        if library is None:
            _note(seen.leaf, seen.value)
        return seen.leaf
    array = plain_array(x)
    shape, dtype = (array.shape, array.dtype) if library is None else shape_and_dtype(array)
    node = mark_constant(fresh_leaf(shape, dtype, _names.get().get(id(x))))
    stamp = None if library is None else library.stamp(x)
    value = bind(node, array)
    if met is not None and (library is not None or is_read_only_map(x) or type(x) is np.ndarray):
        met.arrays[id(x)] = Seen(x, value, node, stamp)
    if library is None:
        _note(node, value)
    return node


def is_unchanged(x: Any, seen: Seen) -> bool:
    """Whether an array that was met has the entries that it had."""
    library = library_of(x)
    if library is not None:
        return library.unchanged(x, seen.value, seen.stamp)
    return same_bits(x, seen.value)


def index_node(index: np.ndarray) -> Node:
    """The node of an array of indices: within a trace equal ones are one leaf, so that what they select is tied."""
    return constant_node(index, met_in_trace())


def constant_node(array: np.ndarray, met: Met | None) -> Node:
    """The node of an array that nobody writes to. In a trace equal ones are one leaf."""
    key = b"" if met is None else _digest(array)
    seen = None if met is None else met.arrays.get(key)
    if seen is not None and seen.leaf is not None:
        _note(seen.leaf, array)
        return seen.leaf
    new = mark_constant(fresh_leaf(array.shape, array.dtype))
    value = bind(new, array)
    if met is not None:
        met.arrays[key] = Seen(array, value, new)
    _note(new, array)
    return new


def _digest(array: np.ndarray) -> bytes:
    form = f"{array.dtype.str}{array.shape}".encode()
    return blake2b(array.tobytes(), key=form[-64:], digest_size=16).digest()


@contextmanager
def noting_arrays() -> Iterator[dict[Node, np.ndarray]]:
    """Within this context arrays of NumPy are noted by the leaves that are made of them, also for those around it."""
    found: dict[Node, np.ndarray] = {}
    outer = _noted.get()
    token = _noted.set(found)
    try:
        yield found
    finally:
        _noted.reset(token)
        if outer is not None:
            outer.update(found)


def _note(node: Node, array: np.ndarray) -> None:
    noted = _noted.get()
    if noted is not None:
        noted[node] = array


def plain_array(x: Any) -> Any:
    """The operand as an array, of its own library if it is one; or an error that says why it cannot be traced."""
    if type(x) is np.ndarray and x.dtype in PLAIN_DTYPES:
        return x
    library = library_of(x)
    if library is not None:
        library.check(x)
        library.dtype_of(x)
        return x
    if isinstance(x, np.ndarray):
        if type(x) not in (np.ndarray, np.memmap):
            raise TracingError(
                f"an array of the subclass {type(x).__name__} has rules of its own that tracing does not "
                "know: "
                "convert it with np.asarray first"
            )
        array = x
    else:
        if isinstance(x, (list, tuple)) and holds_tensor(x):
            raise TracingError(
                f"a {type(x).__name__} with traced entries is no array: build one with einsumad.numpy.array(...)"
            )
        array = np.asarray(x)
    if array.dtype.kind not in _TRACEABLE_KINDS:
        raise _refusal(array.dtype, x)
    if array.dtype.isnative:
        return array
    check_copy(array)
    return array.astype(array.dtype.newbyteorder("="))


def _numpy_scalar(x: np.generic) -> Node:
    if x.dtype.kind not in _TRACEABLE_KINDS:
        raise _refusal(x.dtype, x)
    value = x.item()
    if x.dtype.kind == "b":
        return number(value, x.dtype)
    if isinstance(value, np.generic):  # a long double, which Python has no number for
        return _array(np.asarray(x))
    return leaf((), x.dtype, ("number", value if value == 0 else canonical(value)))


def holds_tensor(x: Any) -> bool:
    """Whether a nested sequence has a tensor in it."""
    stack = [x]
    while stack:
        part = stack.pop()
        if isinstance(part, Tensor):
            return True
        if isinstance(part, (list, tuple)):
            stack.extend(part)
    return False


def _refusal(dtype: np.dtype, x: Any = None) -> TracingError:
    if dtype.kind == "c":
        return TracingError(f"complex numbers are not supported yet, got dtype {dtype}: use real and imaginary parts")
    if dtype.kind == "O" and isinstance(x, np.ndarray) and any(isinstance(part, Tensor) for part in x.flat):
        return TracingError("an object array of traced values is no array: build one with einsumad.numpy.array(...)")
    what = type(x).__name__ if x is not None else "a value"
    return TracingError(
        f"{what} of dtype {dtype} cannot be traced: traced values are arrays of floats, integers or booleans"
    )
