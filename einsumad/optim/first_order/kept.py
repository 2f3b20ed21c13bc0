"""What an optimiser keeps for a parameter, and how it is saved and loaded.

Owns the record and the checks. Imports the groups, the methods and the errors. Invariant: arrays are read-only and have
the shape and dtype of the parameter; what is loaded is a copy, and is checked as a whole before it is handed out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from einsumad.errors import ShapeError
from einsumad.optim.first_order.groups import checked
from einsumad.optim.first_order.method import Method

_STEP = "step"


@dataclass(slots=True, eq=False)
class Kept:
    """How many steps a parameter took, and the arrays that these steps made."""

    steps: int = 0
    arrays: dict[str, np.ndarray] = field(default_factory=dict)

    def array(self, name: str, value: np.ndarray, fill: float) -> np.ndarray:
        """The array of this name, in the dtype of the parameter's value; filled with a number where none was made."""
        found = self.arrays.get(name)
        return np.full(value.shape, fill, value.dtype) if found is None else found.astype(value.dtype, copy=False)

    def advance(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Count a step that made these arrays. They are kept as they are, to be read only."""
        for name, array in arrays.items():
            kept = np.asarray(array).view()
            kept.flags.writeable = False
            self.arrays[name] = kept
        self.steps += 1


def fitting_state(state: Mapping[str, Any], wanted: Iterable[str], value: np.ndarray, what: str) -> dict[str, Any]:
    """The arrays of these names, as they were given. Raises for other names, shapes and kinds."""
    if state.keys() != set(wanted):
        raise ValueError(f"{what} has the arrays {_listed(state)}, expected {_listed(wanted)}")
    found = {name: np.asarray(array) for name, array in state.items()}
    for name, array in found.items():
        if array.shape != value.shape:
            raise ShapeError(f"{what}: {name} has shape {array.shape}, the parameter has shape {value.shape}")
        if array.dtype != value.dtype:
            if array.dtype.kind != "f" or not np.can_cast(array.dtype, value.dtype, "same_kind"):
                raise TypeError(f"{what}: {name} has dtype {array.dtype}, the parameter has dtype {value.dtype}")
            found[name] = array.astype(value.dtype)
    return found


def saved(groups: Sequence[Mapping[str, Any]], kept: Sequence[Kept]) -> dict[str, Any]:
    """All hyperparameters and all that is kept, with numbers in place of parameters."""
    shown, first = [], 0
    for group in groups:
        last = first + len(group["params"])
        hyperparameters = {name: value for name, value in group.items() if name != "params"}
        shown.append({**hyperparameters, "params": list(range(first, last))})
        first = last
    state = {place: {_STEP: held.steps, **held.arrays} for place, held in enumerate(kept) if held.steps}
    return {"state": state, "param_groups": shown}


def loaded(given: Any, groups: Sequence[Mapping[str, Any]], method: Method) -> tuple[list[dict[str, Any]], list[Kept]]:
    """The hyperparameters of each group and what is kept for each parameter, checked against those that there are."""
    if not isinstance(given, Mapping) or set(given) != {"state", "param_groups"}:
        raise ValueError("a state of an optimiser is a dictionary with 'state' and 'param_groups'")
    new = given["param_groups"]
    counts, own = [len(group["params"]) for group in new], [len(group["params"]) for group in groups]
    if counts != own:
        raise ValueError(f"what is loaded has groups of {_sizes(counts)} parameters, there are groups of {_sizes(own)}")
    values = [checked(group, method.hyperparameters, method.name) for group in new]
    for group in values:
        method.check(group)
    names = [name for group in new for name in group["params"]]
    unknown = [name for name in given["state"] if name not in names]
    if unknown:
        raise ValueError(f"there is a state for {unknown[0]!r}, which is in no group")
    if len(set(names)) != len(names):
        raise ValueError("a parameter is named twice in the groups of what is loaded")
    members = [(group, p) for group, old in zip(values, groups, strict=True) for p in old["params"]]
    kept = [
        _kept(given["state"].get(name), group, np.asarray(p.data), place, method)
        for place, (name, (group, p)) in enumerate(zip(names, members, strict=True))
    ]
    return values, kept


def _kept(
    entry: Mapping[str, Any] | None, group: Mapping[str, Any], value: np.ndarray, place: int, method: Method
) -> Kept:
    """What is kept for a parameter, from its entry in what is loaded."""
    what = f"the state of parameter {place}"
    if entry is None:
        return Kept()
    if _STEP not in entry:
        raise ValueError(f"{what} has no {_STEP!r}")
    steps = np.asarray(entry[_STEP])
    if steps.shape or steps.dtype.kind not in "iu" or steps < 0:
        raise ValueError(f"{what}: {_STEP!r} must be a whole number of at least 0, got {entry[_STEP]!r}")
    arrays = {name: array for name, array in entry.items() if name != _STEP}
    wanted = set(method.state(group)) | (set(arrays) & set(method.arrays))
    found = Kept()
    found.advance({name: array.copy() for name, array in fitting_state(arrays, wanted, value, what).items()})
    found.steps = int(steps)
    return found


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(map(str, names))) or "none"


def _sizes(counts: Sequence[int]) -> str:
    return ", ".join(map(str, counts)) or "no"
