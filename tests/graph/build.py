"""Short ways to write leaves in tests."""

from __future__ import annotations

from einsumad.graph import Leaf, leaf


def symbol(name: str, *shape: int, dtype: object = float, facts: tuple[str, ...] = ()) -> Leaf:
    """The variable of this name."""
    return leaf(shape, dtype, ("variable", name), name, facts)
