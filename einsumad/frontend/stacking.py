"""Arrays put together from traced entries.

Owns stacking. Imports the graph and lifting. Invariant: an entry is placed by a 0/1 tensor, so entries meet
no arithmetic and an infinite one does not spread.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from einsumad.errors import ShapeError
from einsumad.frontend.lifting import as_node, holds_tensor, is_python_number
from einsumad.frontend.promotion import in_dtype
from einsumad.graph import BOOL, Node, add, affine, einsum


def stacked(entries: Any, dtype: Any = None) -> Node:
    """The array of nested sequences of tensors, arrays and numbers, as ``np.array`` would read them."""
    return _build(entries, np.result_type(*_dtypes(entries)) if dtype is None else np.dtype(dtype))


def _dtypes(entry: Any) -> Iterator[np.dtype]:
    """The dtypes of all parts. As in ``np.array``, Python numbers are float64 or int64, not weak."""
    if _nested(entry):
        for part in entry:
            yield from _dtypes(part)
    else:
        yield as_node(entry).dtype


def _build(entry: Any, dtype: Any) -> Node:
    if _nested(entry):
        return _stack([_build(part, dtype) for part in entry])
    return in_dtype(entry if is_python_number(entry) else as_node(entry), dtype)


def _nested(entry: Any) -> bool:
    """Whether the entry is a sequence to be stacked; sequences of plain numbers are arrays already."""
    return isinstance(entry, (list, tuple)) and holds_tensor(entry)


def _stack(nodes: Sequence[Node]) -> Node:
    """The nodes along a new first axis."""
    shapes = {node.shape for node in nodes}
    if len(shapes) != 1:
        raise ShapeError(f"entries of different shapes {sorted(shapes)} are no array")
    shape, dtype = shapes.pop(), nodes[0].dtype
    if dtype == BOOL:
        number = _stack([in_dtype(node, np.int64) for node in nodes])
        return in_dtype(number, BOOL)
    axes = range(2, len(shape) + 2)
    terms = []
    for position, node in enumerate(nodes):
        place = affine(len(nodes), [1], [0], position, dtype)
        terms.append(einsum([node, place], [axes, (0, 1)], [0, *axes], 1, dtype))
    return add(terms, dtype)
