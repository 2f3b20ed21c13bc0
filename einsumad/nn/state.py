"""Arrays of a module by name: handing them out, and taking them.

Owns the checks. Imports the tree. Invariant: either all arrays fit and are taken, or nothing is changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np

import einsumad as ea
from einsumad.nn.parameter import Buffer, Parameter
from einsumad.nn.tree import Tree


def state_of(tree: Tree) -> dict[str, np.ndarray]:
    """The arrays by all names they have, parameters first."""
    return {name: held.data for name, held in _kept(tree)}


class Names(NamedTuple):
    """Names that a module has and a state has not, and the other way round."""

    missing_keys: list[str]
    unexpected_keys: list[str]


def load_state(tree: Tree, state: Mapping[str, Any], strict: bool) -> Names:
    """Take the arrays, if all of them fit."""
    own = dict(_kept(tree))
    missing, unknown = [n for n in own if n not in state], [n for n in state if n not in own]
    if strict and (missing or unknown):
        raise KeyError(_mismatch(tree, missing, unknown))
    found = {name: np.asarray(state[name]) for name in own if name in state}
    wrong = [
        f"{name} has shape {own[name].data.shape} here and {array.shape} in what is loaded"
        for name, array in found.items()
        if array.shape != own[name].data.shape
    ]
    if wrong:
        raise ea.ShapeError(f"the state does not fit {type(tree).__name__}: {'; '.join(wrong)}")
    for name, array in found.items():
        if not np.can_cast(array.dtype, own[name].data.dtype, "same_kind"):
            raise TypeError(f"{name} has dtype {own[name].data.dtype} here and {array.dtype} in what is loaded")
    for name, array in found.items():
        own[name].data = array
    return Names(missing, unknown)


def values_by_identity(tree: Tree, values: Mapping[str, Any]) -> dict[int, Any]:
    """The values by the parameter or buffer that they stand for."""
    if not isinstance(values, Mapping):
        raise TypeError(
            f"apply takes arrays by name, as module.arrays() gives them, got {type(values).__name__}: to call a "
            "function with each module write: for part in module.modules(): function(part)"
        )
    own: dict[str, Parameter | Buffer] = {
        **dict(tree.named_parameters(every_name=True)),
        **dict(tree.named_buffers(every_name=True)),
    }
    unknown = [name for name in values if name not in own]
    if unknown:
        raise KeyError(_mismatch(tree, [], unknown))
    found: dict[int, Any] = {}
    for name, value in values.items():
        held = own[name]
        if np.shape(value) != held.data.shape:
            raise ea.ShapeError(f"{name} has shape {held.data.shape}, the value given for it {np.shape(value)}")
        if found.setdefault(id(held), value) is not value:
            raise KeyError(f"{name} is held under several names, and two values were given for it: give one of them")
    return found


def _kept(tree: Tree) -> Iterator[tuple[str, Parameter | Buffer]]:
    yield from tree.named_parameters(every_name=True)
    for name, buffer in tree.named_buffers(every_name=True):
        if buffer.persistent:
            yield name, buffer


def _mismatch(tree: Tree, missing: list[str], unknown: list[str]) -> str:
    own = [name for name, _ in _kept(tree)]
    parts = []
    if missing:
        parts.append(f"missing: {', '.join(missing)}")
    if unknown:
        near = [match for name in unknown for match in get_close_matches(name, own, 1)]
        meant = f" (near to: {', '.join(dict.fromkeys(near))})" if near else ""
        parts.append(f"not known: {', '.join(map(str, unknown))}{meant}")
    return f"the names do not fit {type(tree).__name__}: {'; '.join(parts)}"
