"""JAX.

Owns the differences of its arrays from the standard. Imports JAX, which is loaded already. Invariant: arrays never
change, so nothing is copied; arrays that JAX traces are taken as they are, so plans can be compiled, batched and
differentiated by it; what is kept between calls is never made of traced ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from einsumad.execution.backends.array_library import Array, Function, Home, Library
from einsumad.execution.backends.jax_functions import tables


class JaxLibrary(Library):
    """Arrays of JAX. It places them by itself, and without ``jax_enable_x64`` has no double precision."""

    takes_numbers = True
    takes_device = False
    failures = ()

    def __init__(self, jax: Any, special: Any) -> None:
        super().__init__("jax", jax.numpy)
        self.jax, self.special = jax, special
        self.canonical = jax.dtypes.canonicalize_dtype
        self.either = jax.lax.cond

    def native(self, dtype: np.dtype) -> Any:
        """The dtype, in single precision where JAX has no other."""
        return self.canonical(dtype)

    def home_of(self, x: Array) -> Home:
        """On the host if all its parts are. Where a traced array will be is not known: it takes any constant."""
        if self.is_abstract(x):
            return Home(self, None, True)
        return Home(self, None, all(device.platform == "cpu" for device in x.devices()))

    def is_abstract(self, x: Array) -> bool:
        """Whether JAX traces."""
        return isinstance(x, self.jax.core.Tracer)

    def private(self, x: Array) -> Array:
        """The array itself."""
        return x

    def unchanged(self, x: Array, kept: Array, stamp: object) -> bool:  # noqa: ARG002 (it cannot be written)
        """An array always has."""
        return True

    def from_numpy(self, array: np.ndarray, device: Any) -> Array:  # noqa: ARG002 (JAX places it)
        """An array that is no traced one, also while JAX traces."""
        with self.jax.ensure_compile_time_eval():
            return self.xp.asarray(array.astype(self.canonical(array.dtype), copy=False))

    def apart(self, outputs: Sequence[Array], given: Sequence[Array], shared: Sequence[bool]) -> tuple[Array, ...]:  # noqa: ARG002 (nothing can be written)
        """The outputs."""
        return tuple(outputs)

    def add_rows(self, x: Array, index: Array, size: int) -> Array:
        """By ``.at[...].add``."""
        return self.xp.zeros((size, *x.shape[1:]), x.dtype).at[index].add(x)

    def over_slices(self, body: Function, parts: Sequence[Array], size: int) -> Array:  # noqa: ARG002 (of the parts)
        """By a loop that is compiled once."""
        return self.jax.lax.map(lambda some: body(*some), tuple(parts))

    def running(self, device: Any) -> AbstractContextManager[Any]:  # noqa: ARG002 (arrays know where they are)
        """JAX does not warn."""
        return nullcontext()

    def elementwise(self) -> tuple[Mapping[str, Function], Mapping[str, Function]]:
        """What ``jax.numpy`` and ``jax.scipy.special`` have by the same names."""
        return tables(self.xp, self.special)
