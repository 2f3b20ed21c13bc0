"""The register of what is tested of the surface: one entry for each way in which a function is called.

A spec draws how a function is called: a function of arrays, with everything but the arrays decided, and its operands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from tests.surface.drawing import Drawer, Operand

Call: TypeAlias = tuple[Callable[..., Any], tuple[Operand, ...]]
Maker: TypeAlias = Callable[[Drawer], Call]


@dataclass(frozen=True)
class Spec:
    """What is tested of a function: dtypes by their kinds, and to which order it is differentiated.

    Of kind "d" is float64 only: where single precision is not SciPy's by design, or SciPy's own is less than single.
    A function of order 0 is a constant; None: only its values are tested, since a derivative is refused. The accuracy
    is the relative error of the function's own values, where it is larger than that of rounding.
    """

    name: str
    make: Maker
    dtypes: str = "fib"
    order: int | None = 3
    accuracy: float = 0.0

    def __str__(self) -> str:
        return self.name


SPECS: dict[str, Spec] = {}


def spec(name: str, dtypes: str = "fib", order: int | None = 3, accuracy: float = 0.0) -> Callable[[Maker], Maker]:
    """Enter a spec under the name of the function, followed by what distinguishes it after a comma."""

    def enter(make: Maker) -> Maker:
        assert name not in SPECS, name
        SPECS[name] = Spec(name, make, dtypes, order, accuracy)
        return make

    return enter


def each(
    namespace: Any, names: Iterable[str], dtypes: str = "fib", order: int = 3
) -> Callable[[Callable[[Any, Drawer], Call]], Callable[[Any, Drawer], Call]]:
    """Enter a spec for each of the functions of a namespace, where it has it; the maker is given the function."""
    prefix = namespace.__name__

    def enter(make: Callable[[Any, Drawer], Call]) -> Callable[[Any, Drawer], Call]:
        for name in names:
            if hasattr(namespace, name):
                spec(f"{prefix}.{name}", dtypes, order)(partial(make, getattr(namespace, name)))
        return make

    return enter


def function_of(name: str) -> str:
    """The function that a spec of this name is about."""
    return name.partition(",")[0]
