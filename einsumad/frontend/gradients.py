"""Gradients left on leaves: what ``loss.backward()`` does.

Owns that step. Imports the cache, the tables of variables and values. Invariant: value and gradients come from one
plan, which is found again by structure; the loss's value is remembered.
"""

from __future__ import annotations

import numpy as np

from einsumad.errors import DifferentiationError
from einsumad.frontend.cache import Derivation, find_or_derive, run
from einsumad.frontend.values import home_among, known_value, remember
from einsumad.frontend.variables import add_to_gradient, requires_gradient
from einsumad.graph import Node, leaves, structural_key, with_slots
from einsumad.planning import Request, checked_limit, derive


def backward(root: Node, memory_limit: int | None = None) -> None:
    """Add the gradient of a scalar to every leaf it depends on that requires one."""
    memory_limit = checked_limit(memory_limit)
    if root.shape != ():
        raise DifferentiationError(f"backward() needs a scalar, got shape {root.shape}: sum it first")
    if root.dtype.kind != "f":
        raise DifferentiationError(f"backward() needs a floating dtype, got {root.dtype}")
    wanted = [leaf for leaf in leaves([root]) if requires_gradient(leaf)]
    if not wanted:
        raise DifferentiationError("backward(): the value depends on no tensor made with requires_grad=True")
    structure, found = structural_key([root, *wanted])

    def build() -> Derivation:
        (slot_root, *slot_wanted), slots = with_slots([root, *wanted], found)
        derived = derive(Request("derivatives", (0, 1)), [slot_root], slot_wanted)
        return Derivation(slots, derived.outputs, derived.choices)

    derivation, captured = find_or_derive(("backward", structure), build)
    home = home_among(found + captured)
    value, *gradients = run(derivation, found + captured, known_value, memory_limit, home=home)
    remember(root, np.asarray(value, root.dtype) if home is None else value)
    for leaf, gradient in zip(wanted, gradients, strict=True):
        add_to_gradient(leaf, np.asarray(gradient, leaf.dtype) if home is None else gradient)
