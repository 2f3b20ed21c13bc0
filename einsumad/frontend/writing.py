"""New entries at an index: the array that NumPy has after an item assignment.

Owns the expression of it. Imports indexing and maps. Invariant: entries that are written over contribute nothing, not
even infinities; where an index names an entry twice the last one counts, as with NumPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from einsumad.errors import ShapeError, TracingError
from einsumad.frontend.axes import drop_axes, insert_axes
from einsumad.frontend.broadcasting import product, spread
from einsumad.frontend.evaluation import concrete, unknown_value
from einsumad.frontend.indexing import NewAxis, Number, Part, Slice, parse
from einsumad.frontend.lifting import as_node, holds_tensor
from einsumad.frontend.maps import put_at, reshaped, take_at, write_axis
from einsumad.frontend.overlays import Write, overlaid
from einsumad.frontend.promotion import in_dtype
from einsumad.frontend.stacking import stacked
from einsumad.frontend.tensor import Tensor
from einsumad.frontend.views import is_basic
from einsumad.functions import apply
from einsumad.graph import BOOL, Node, Ones, Zero, add


def assigned(node: Node, index: Any, value: Any) -> Node:
    """The node after ``x[index] = value``."""
    new = entries_of(value, node.dtype)
    mask = _mask_of(index, node.shape)
    if mask is not None and prod(new.shape) == 1:
        missing = range(len(mask.shape), len(node.shape))
        return chosen(apply("logical_not", insert_axes(mask, missing)), node, reshaped(new, ()))
    if is_basic(index):
        return _at_slices(node, parse(_known(index), node.shape), new)
    positions = np.arange(prod(node.shape)).reshape(node.shape)[_known(index)]
    return put(node, positions, _fitted(new, positions.shape))


def entries_of(value: Any, dtype: np.dtype) -> Node:
    """New entries in the dtype of the array; those that are not traced are cast to it whatever they are."""
    if isinstance(value, (list, tuple)) and holds_tensor(value):
        value = Tensor(stacked(value))
    if not isinstance(value, Tensor) and dtype.kind != "f":
        value = np.asarray(value).astype(dtype)
    return in_dtype(as_node(value, dtype), dtype)


def put(node: Node, positions: np.ndarray, new: Node) -> Node:
    """The node with new entries, one for each position in C order."""
    size = prod(node.shape)
    entries = reshaped(new, (positions.size,))
    places, last = np.unique(positions.reshape(-1)[::-1], return_index=True)
    if not places.size:
        return node
    if not np.array_equal(places, positions.reshape(-1)):
        entries = take_at(entries, 0, as_node(positions.size - 1 - last))
    taken = np.zeros(size, bool)
    taken[places] = True
    scattered = reshaped(put_at(entries, 0, as_node(places), size), node.shape)
    return _overlaid(node, taken.reshape(node.shape), Write(None, entries, scattered))


def _overlaid(node: Node, taken: np.ndarray, write: Write) -> Node:
    """The node with new entries where they are taken."""
    if node.dtype != BOOL:
        return overlaid(node, taken, write)
    return apply("logical_or", product([as_node(~taken), node], BOOL, shape=node.shape), write.placed)


def chosen(kept: Node, old: Node, new: Node) -> Node:
    """The old entries where they are kept and one new one elsewhere."""
    held = product([kept, old], old.dtype, shape=old.shape)
    fresh = product([apply("logical_not", kept), new], old.dtype, shape=old.shape)
    return apply("logical_or", held, fresh) if old.dtype == BOOL else add([held, fresh], old.dtype)


def _at_slices(node: Node, parts: Sequence[Part], new: Node) -> Node:
    """New entries at slices and numbers: written along affine maps."""
    shape = [part.length if isinstance(part, Slice) else 1 for part in parts if not isinstance(part, Number)]
    if 0 in shape or 0 in node.shape:
        _fitted(new, shape)
        return node
    own = [part for part in parts if not isinstance(part, NewAxis)]
    acting = [k for k, part in enumerate(own) if not _is_whole(part, node.shape[k])]
    taken = np.zeros(node.shape, bool)
    taken[np.ix_(*[_indices(part) for part in own])] = True
    fitted = _fitted(new, shape)
    placed = insert_axes(
        drop_axes(fitted, _fresh(parts)), [k for k, part in enumerate(own) if isinstance(part, Number)]
    )
    for k in acting:
        placed = write_axis(placed, k, node.shape[k], *_run(own[k]))
    return _overlaid(node, taken, Write(tuple(parts), fitted, placed))


def _is_whole(part: Part, size: int) -> bool:
    return part == Slice(0, size, 1)


def _indices(part: Part) -> np.ndarray:
    step, start = _run(part)
    return start + step * np.arange(part.length if isinstance(part, Slice) else 1)


def _run(part: Part) -> tuple[int, int]:
    """The step and the start of a part."""
    if isinstance(part, Slice):
        return part.step, part.start
    if isinstance(part, Number):
        return 1, part.index
    raise TracingError("only slices and numbers are runs of an axis")


def _fresh(parts: Sequence[Part]) -> list[int]:
    """The new axes in the shape of the entries."""
    seen = [part for part in parts if not isinstance(part, Number)]
    return [k for k, part in enumerate(seen) if isinstance(part, NewAxis)]


def _fitted(new: Node, shape: Sequence[int]) -> Node:
    """New entries broadcast to the shape of the indexed part; axes of size one before it are dropped, as NumPy does."""
    extra = len(new.shape) - len(shape)
    leading = range(max(extra, 0))
    if any(new.shape[k] != 1 for k in leading):
        raise ShapeError(f"entries of shape {new.shape} do not fit into the indexed shape {tuple(shape)}")
    return spread(drop_axes(new, leading), tuple(shape))


def _mask_of(index: Any, shape: Sequence[int]) -> Node | None:
    """The one boolean array that an index is, over the first axes."""
    only = index[0] if isinstance(index, tuple) and len(index) == 1 else index
    if not isinstance(only, (Tensor, np.ndarray)) or only.dtype != BOOL or not only.ndim:
        return None
    if tuple(only.shape) != tuple(shape[: only.ndim]):
        raise IndexError(f"a boolean index of shape {tuple(only.shape)} does not match the shape {tuple(shape)}")
    mask = as_node(only)
    return None if isinstance(mask, (Ones, Zero)) else mask


def _known(index: Any) -> Any:
    """The index with the values of traced arrays."""
    if isinstance(index, tuple):
        return tuple([_known(item) for item in index])
    if not isinstance(index, Tensor):
        return index
    value = concrete(index.node)
    if value is None:
        raise unknown_value("writing at an index that is traced needs its value", "use np.where(mask, new, old)")
    return value[()]
