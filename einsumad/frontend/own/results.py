"""The result of a user's function: what it is expected to be, and the one vector in which several outputs travel.

Owns the form of a result and its check when the function has run. Imports the surface of traced values. Invariant: what
a function returns is either of the form that was promised for it or an error that says how it differs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from einsumad.errors import ShapeError, TracingError
from einsumad.frontend.lifting import plain_array
from einsumad.frontend.own.arguments import holds_traced
from einsumad.frontend.tensor import Tensor
from einsumad.frontend.trees import Tree, flatten, unflatten
from einsumad.graph import Node, Shape
from einsumad.records import record


@record(eq=True, repr=True)
class Form:
    """The tree of the outputs, and shape and dtype of each."""

    tree: Tree
    shapes: tuple[Shape, ...]
    dtypes: tuple[np.dtype, ...]

    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The outputs by dtype: those of a group travel in one vector."""
        found: dict[np.dtype, list[int]] = {}
        for position, dtype in enumerate(self.dtypes):
            found.setdefault(dtype, []).append(position)
        return tuple([tuple(group) for group in found.values()])

    def group_shape(self, group: Sequence[int]) -> Shape:
        """The shape in which a group travels: its own for one output, a vector for several."""
        if len(group) == 1:
            return self.shapes[group[0]]
        return (sum(prod(self.shapes[k]) for k in group),)


def pack(parts: Sequence[Any]) -> Any:
    """Arrays or traced values of one dtype as one vector; a single one as it is."""
    return parts[0] if len(parts) == 1 else np.concatenate([np.reshape(part, (-1,)) for part in parts])


def unpack(packed: Any, shapes: Sequence[Shape]) -> list[Any]:
    """The parts of these shapes again."""
    if len(shapes) == 1:
        return [packed]
    parts, start = [], 0
    for shape in shapes:
        stop = start + prod(shape)
        parts.append(np.reshape(packed[start:stop], shape))
        start = stop
    return parts


def outputs_of(name: str, result: Any) -> tuple[list[Any], Tree]:
    """The outputs of a call of the function itself."""
    parts, tree = flatten(result)
    if not parts:
        raise TracingError(f"{name} returned nothing: it must return an array or a tree of arrays")
    if holds_traced(result):
        raise TracingError(
            f"{name} returned a traced value although it was given plain arrays: it uses a traced value of its "
            "surroundings, whose derivative would be lost; pass that as an argument"
        )
    return parts, tree


def form_of(name: str, result: Any, weak: np.dtype) -> Form:
    """The form of a result that was computed; a float of Python has the dtype `weak`."""
    parts, tree = outputs_of(name, result)
    arrays = [np.asarray(part, weak) if type(part) is float else _array(name, part) for part in parts]
    return Form(tree, tuple([array.shape for array in arrays]), tuple([array.dtype for array in arrays]))


def _array(name: str, part: Any) -> np.ndarray:
    try:
        array = plain_array(part)
    except TracingError as error:
        raise TracingError(f"{name} returned what cannot be traced: {error}") from None
    if not isinstance(array, np.ndarray):
        raise TracingError(f"{name} returned a {type(part).__name__}: a function with a rule returns NumPy arrays")
    return array


def form_of_nodes(nodes: Sequence[Node], tree: Tree) -> Form:
    """The form of a result that was traced."""
    return Form(tree, tuple([node.shape for node in nodes]), tuple([node.dtype for node in nodes]))


def declared_form(name: str, shape: Any, dtype: Any, args: Sequence[Any], weak: np.dtype) -> Form:
    """The form that the user declared: `shape` is a shape, a list of shapes, or a function of the arguments."""
    given = shape(*args) if callable(shape) else shape
    several = isinstance(given, list) or (isinstance(given, tuple) and any(not _is_size(part) for part in given))
    shapes = tuple([_checked(name, part) for part in (given if several else [given])])
    kinds = list(dtype) if isinstance(dtype, (list, tuple)) else [dtype] * len(shapes)
    if len(kinds) != len(shapes):
        raise ShapeError(f"{name} was declared with {len(shapes)} shapes and {len(kinds)} dtypes")
    _, tree = flatten((0.0,) * len(shapes) if several else 0.0)
    return Form(tree, shapes, tuple([weak if kind is None else np.dtype(kind) for kind in kinds]))


def _is_size(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _checked(name: str, shape: Any) -> Shape:
    sizes = shape if isinstance(shape, (tuple, list)) else (shape,)
    if not all(_is_size(size) and size >= 0 for size in sizes):
        raise ShapeError(f"the shape of {name} must be whole numbers of at least 0, got {shape!r}")
    return tuple([int(size) for size in sizes])


def checked_outputs(name: str, result: Any, form: Form) -> list[np.ndarray]:
    """The outputs as private arrays, if the result has the form that was promised."""
    parts, tree = outputs_of(name, result)
    if tree != form.tree:
        raise TracingError(f"{name} returned the structure {tree} where {form.tree} was expected")
    arrays = []
    for position, (part, shape, dtype) in enumerate(zip(parts, form.shapes, form.dtypes, strict=True)):
        weak = type(part) in (bool, int, float) and np.can_cast(np.min_scalar_type(part), dtype, "same_kind")
        array = np.array(part, dtype) if weak else np.array(_array(name, part))
        which = f"output {position} of {name}" if len(parts) > 1 else name
        if array.shape != shape:
            raise ShapeError(
                f"{which} has shape {array.shape} where {shape} was expected: the shape of a result may depend on "
                "shapes and on what is no array, never on values; say what it is with shape="
            )
        if array.dtype != dtype:
            raise TracingError(
                f"{which} has dtype {array.dtype} where {dtype} was expected: say what it is with dtype=, or convert "
                "the result"
            )
        arrays.append(array)
    return arrays


def tree_of(form: Form, parts: Sequence[Any]) -> Any:
    """The outputs in the tree that the function returns them in."""
    return unflatten(form.tree, parts)


def traced(nodes: Sequence[Node]) -> list[Tensor]:
    """Nodes as traced values."""
    return [Tensor(node) for node in nodes]


Checker = Callable[[Any], list[np.ndarray]]
