"""A library of arrays as a plan needs it: its Array API namespace, and what the standard leaves open.

Owns the base, which keeps to the standard, and :class:`Home`, a library with a device. Imports NumPy and errors; the
library itself is given. Invariant: nothing moves from one device to another but numbers of Python and constants of a
plan; no array of the caller is written, and no result shares its memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import field
from typing import Any, TypeAlias

import numpy as np

from einsumad.errors import TracingError
from einsumad.graph import Number, Shape
from einsumad.records import record

Array: TypeAlias = Any
Function: TypeAlias = Callable[..., Any]

_DTYPES = (
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
)


class Library:
    """What the Array API standard says of any library; those that can do more, or need more, override it.

    `takes_numbers` says whether functions of two arrays take a number of Python for one of them, `takes_device` whether
    functions that make arrays take a device; `failures` are the errors of its linear algebra, and `either` calls the
    first of two functions if an array without axes is true, else the second.
    """

    takes_numbers = False
    takes_device = True
    failures: tuple[type[Exception], ...] = (np.linalg.LinAlgError,)
    either: Function = staticmethod(lambda holds, first, second: first() if bool(holds) else second())

    def __init__(self, name: str, namespace: Any) -> None:
        self.name = name
        self.xp = namespace
        own = {np.dtype(each): getattr(namespace, each) for each in _DTYPES if hasattr(namespace, each)}
        self._native = {dtype: dtype if isinstance(native, type) else native for dtype, native in own.items()}
        self._numpy = {native: dtype for dtype, native in self._native.items()}

    def native(self, dtype: np.dtype) -> Any:
        """The library's own dtype."""
        try:
            return self._native[dtype]
        except KeyError:
            raise TracingError(f"{self.name} has no arrays of dtype {dtype}: cast to another with astype") from None

    def dtype_of(self, x: Array) -> np.dtype:
        """NumPy's dtype of the same numbers."""
        try:
            return self._numpy[x.dtype]
        except (KeyError, TypeError):
            raise TracingError(
                f"an array of {self.name} of dtype {x.dtype} cannot be traced: traced values are arrays of floats "
                "(of 16, 32 or 64 bits), integers or booleans"
            ) from None

    def home_of(self, x: Array) -> Home:
        """The library with the device of an array; the host is known by its name."""
        return Home(self, x.device, "cpu" in str(x.device).lower())

    def check(self, x: Array) -> None:
        """Refuse an array with which something of the library's own would be lost."""

    def is_abstract(self, x: Array) -> bool:  # noqa: ARG002 (others look)
        """Whether the array has no values yet."""
        return False

    def private(self, x: Array) -> Array:
        """The values as they are now, which no later write changes."""
        return self.xp.asarray(x, copy=True)

    def unchanged(self, x: Array, kept: Array, stamp: object) -> bool:  # noqa: ARG002 (others have stamps)
        """Whether the array has the values of a private copy still; `stamp` is what :meth:`stamp` was then."""
        return bool(self.xp.all(x == kept))

    def stamp(self, x: Array) -> object:  # noqa: ARG002 (others have stamps)
        """What tells an array from itself after a write, where the library has such a thing."""
        return None

    def from_numpy(self, array: np.ndarray, device: Any) -> Array:
        """A constant on a device; on the host its memory may be shared."""
        return self.xp.asarray(array, device=device)

    def to_numpy(self, x: Array) -> np.ndarray:
        """A copy on the host, of arrays that are there; numbers without axes are read from any device."""
        if x.shape:
            return np.array(x)
        return np.array({"f": float, "b": bool}.get(self.dtype_of(x).kind, int)(x))

    def apart(self, outputs: Sequence[Array], given: Sequence[Array], shared: Sequence[bool]) -> tuple[Array, ...]:  # noqa: ARG002 (others look)
        """The outputs, those copied that may share memory."""
        return tuple([self.private(x) if may else x for x, may in zip(outputs, shared, strict=True)])

    def add_rows(self, x: Array, index: Array, size: int) -> Array:
        """The sum ``S[s, c] = sum of x[r, c] over r with index[r] = s``."""
        xp = self.xp
        place = xp.arange(size, dtype=index.dtype, device=index.device)
        chosen = xp.where((index[None, :] == place[:, None])[..., None], x[None, ...], xp.zeros_like(x)[None, ...])
        return xp.sum(chosen, axis=1, dtype=x.dtype)

    def over_slices(self, body: Function, parts: Sequence[Array], size: int) -> Array:
        """The results of `body` for each index of the first axis of the parts, stacked."""
        return self.xp.stack([body(*[part[k, ...] for part in parts]) for k in range(size)])

    def running(self, device: Any) -> AbstractContextManager[Any]:  # noqa: ARG002 (arrays know where they are)
        """A context for a run on a device, without warnings about infinities and NaN, which are in the results."""
        return np.errstate(all="ignore")

    def elementwise(self) -> tuple[Mapping[str, Function], Mapping[str, Function]]:
        """Functions of entries that the library has beside those of the standard, by NumPy's and SciPy's names."""
        return {}, {}


@record(eq=True, repr=True)
class Home:
    """Where arrays are: a library and a device, None where the library places arrays by itself."""

    array_library: Library = field(repr=False)
    device: Any
    on_host: bool

    @property
    def name(self) -> str:
        """The library and the device, for messages."""
        return self.array_library.name + ("" if self.device is None else f" on {self.device}")

    @property
    def xp(self) -> Any:
        """The namespace."""
        return self.array_library.xp

    def cast(self, x: Array, dtype: np.dtype) -> Array:
        """The array in a dtype."""
        native = self.array_library.native(dtype)
        return x if x.dtype == native else self.xp.astype(x, native)

    def full(self, shape: Shape, value: Number, dtype: np.dtype) -> Array:
        """One number everywhere."""
        return self.xp.full(shape, value, dtype=self.array_library.native(dtype), **self._placed())

    def places(self, size: int) -> Array:
        """The numbers 0, 1, ... below a size."""
        return self.xp.arange(size, dtype=self.array_library.native(np.dtype(np.int64)), **self._placed())

    def eye(self, size: int, dtype: np.dtype) -> Array:
        """The unit matrix."""
        return self.xp.eye(size, dtype=self.array_library.native(dtype), **self._placed())

    def constant(self, array: np.ndarray) -> Array:
        """A constant of the plan, such as an index."""
        return self.cast(self.array_library.from_numpy(array, self.device), array.dtype)

    def held(self, x: Any) -> Any:
        """What a plan keeps of a value between calls: NumPy arrays are brought here once, if they may be."""
        return self.brought(x) if isinstance(x, np.ndarray) and x.ndim else x

    def brought(self, array: np.ndarray) -> Array:
        """A NumPy array at this place. Whole numbers and truth values, of which indices are made, go anywhere."""
        if not self.on_host and array.dtype.kind == "f":
            raise TracingError(
                f"a NumPy array of {array.dtype} of shape {array.shape} stands beside arrays of {self.name}, and no "
                f"numbers are moved to a device behind your back: make it an array of "
                f"{self.array_library.name} on that device before the call"
            )
        return self.array_library.from_numpy(array, self.device)

    def where(self, mask: Array, first: Any, second: Any, dtype: np.dtype) -> Array:
        """Entries of the first where the mask holds, else of the second; either may be a number of Python."""
        numbers = isinstance(first, (int, float)) + isinstance(second, (int, float))
        if numbers == 2 or (numbers and not self.array_library.takes_numbers):
            first, second = self.array(first, dtype), self.array(second, dtype)
        return self.xp.where(mask, first, second)

    def array(self, x: Any, dtype: np.dtype) -> Array:
        """A number of Python as an array without axes; an array as it is."""
        return self.full((), x, dtype) if isinstance(x, (int, float)) else x

    def whole(self, x: Array, shape: Shape) -> Array:
        """The array in its full shape."""
        return x if tuple(x.shape) == tuple(shape) else self.xp.broadcast_to(x, shape)

    def _placed(self) -> dict[str, Any]:
        return {"device": self.device} if self.array_library.takes_device else {}
