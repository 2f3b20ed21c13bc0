"""The values of arguments, where a function needs them.

Owns this reading. Imports the tensor. Invariant: a value is read only where it is known, and what is read carries no
derivative; so it may decide on shapes and positions, and never become a number of the result.
"""

from __future__ import annotations

from typing import Any

from einsumad.frontend.tensor import Tensor


def known(x: Any, name: str) -> Any:
    """The argument with arrays for traced values, within lists and tuples too."""
    if isinstance(x, Tensor):
        return x.numpy(f"numpy.{name}")
    if isinstance(x, (list, tuple)):
        return type(x)([known(part, name) for part in x])
    return x
