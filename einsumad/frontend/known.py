"""The values of arguments, where a function needs them.

Owns this reading. Imports the tensor. Invariant: a value is read only where it is known, and what is read carries no
derivative; so it may decide on shapes and positions, and never become a number of the result.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, TypeVar

from einsumad.frontend.lifting import holds_tensor
from einsumad.frontend.tensor import Tensor

READ: dict[str, tuple[str, ...]] = {}
"""By function the arguments whose values are read, which have to be known."""

H = TypeVar("H", bound=Callable[..., Any])


def known(x: Any, name: str) -> Any:
    """The argument with arrays for traced values, within lists and tuples too, and numbers for those without axes."""
    if isinstance(x, Tensor):
        return x.numpy(f"numpy.{name}")[()]
    if isinstance(x, (list, tuple)) and holds_tensor(x):
        parts = [known(part, name) for part in x]
        return parts if isinstance(x, list) else tuple(parts)
    return {key: known(part, name) for key, part in x.items()} if isinstance(x, dict) else x


def at_known(name: str, *arguments: str) -> Callable[[H], H]:
    """Make a handler read the values of these arguments: places, numbers of entries, conditions that choose them."""
    READ[f"numpy.{name}"] = arguments

    def decorate(handler: H) -> H:
        names = list(signature(handler).parameters)
        places = [(names.index(argument), argument) for argument in arguments]

        @wraps(handler)
        def handle(*args: Any, **kwargs: Any) -> Any:
            given = list(args)
            for position, argument in places:
                if argument in kwargs:
                    kwargs[argument] = known(kwargs[argument], f"{name}({argument}=...)")
                elif position < len(given):
                    given[position] = known(given[position], f"{name}({argument}=...)")
            return handler(*given, **kwargs)

        return handle  # type: ignore[return-value]

    return decorate
