"""A few smooth functions of one number, with their derivatives, for chain and product rules.

Owns them. Imports nothing of the toolkit. Invariant: each is made of arithmetic operators with Python numbers, so that
it takes arrays of every library; it is scaled to arguments of a given size, so that no derivative of it is large.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Formula = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Smooth:
    """The function ``y -> amplitude · p(y / size)``; `formulas` are p and its first three derivatives."""

    name: str
    formulas: tuple[Formula, Formula, Formula, Formula]
    size: float = 1.0
    amplitude: float = 1.0

    def __call__(self, y: Any) -> Any:
        """Return the value for an argument of any library."""
        return self.amplitude * self.formulas[0](y * (1 / self.size))

    def derivative(self, order: int, y: Any) -> Any:
        """The derivative of that order, at most three."""
        return self.amplitude / self.size**order * self.formulas[order](y * (1 / self.size))

    def scaled(self, size: float, amplitude: float = 1.0) -> Smooth:
        """The same for arguments of another size, and values of another one."""
        return Smooth(self.name, self.formulas, size, amplitude)


def _weight(z: Any) -> Any:
    return 1 / (1 + z * z)


CUBIC = Smooth(
    "a cubic",
    (lambda z: z + z * z * z * 0.5, lambda z: 1 + 1.5 * z * z, lambda z: 3 * z, lambda z: 3 + 0 * z),
)
QUADRATIC = Smooth(
    "a positive quadratic",
    (lambda z: 2 + z + z * z, lambda z: 1 + 2 * z, lambda z: 2 + 0 * z, lambda z: 0 * z),
)
BUMP = Smooth(
    "a bump",
    (
        _weight,
        lambda z: -2 * z * _weight(z) ** 2,
        lambda z: (6 * z * z - 2) * _weight(z) ** 3,
        lambda z: 24 * z * (1 - z * z) * _weight(z) ** 4,
    ),
)
