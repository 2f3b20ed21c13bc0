"""Symbols: variables by name, derivatives as expressions, evaluation with values put in.

Owns that way in. Imports tracing and requests. Invariant: a variable is known by its name, shape and dtype: two with
the same three are the same variable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from einsumad.errors import DifferentiationError, ShapeError, TracingError
from einsumad.execution.backends import common_home, home_of, library_of, shape_and_dtype
from einsumad.frontend.cache import Derivation, find_or_derive, run
from einsumad.frontend.lifting import as_node
from einsumad.frontend.met import walk_of_trace
from einsumad.frontend.recording import recording
from einsumad.frontend.registry import arrays_are_nodes, call_function
from einsumad.frontend.structured import from_parts, in_structure, refuse_elsewhere
from einsumad.frontend.tensor import Tensor, wrap
from einsumad.frontend.trees import flatten, unflatten
from einsumad.frontend.values import snapshot, value_of
from einsumad.graph import Leaf, Node, leaf, structural_key, with_slots
from einsumad.planning import (
    STRATEGIES,
    Request,
    Strategy,
    checked_limit,
    derive,
    options_for,
    progress_of_functions,
    progress_of_jacobians,
)
from einsumad.rewriting import normalise


def variable(name: str, shape: int | Sequence[int] = (), dtype: Any = np.float64) -> Tensor:
    """A variable of the given name, shape and floating dtype.

    >>> import numpy as np, einsumad as ea
    >>> x = ea.variable("x", (2,))
    >>> float(ea.evaluate(np.sum(x * x), {x: np.array([1.0, 2.0])}))
    5.0
    """
    sizes = _checked_shape(name, shape)
    kind = np.dtype(dtype)
    if kind.kind not in "fiub":
        hint = ": complex numbers are not supported yet" if kind.kind == "c" else ""
        raise TypeError(f"a variable cannot have dtype {kind}{hint}")
    return Tensor(leaf(sizes, kind, ("variable", name), name))


def _checked_shape(name: Any, shape: Any) -> tuple[int, ...]:
    if not isinstance(name, str) or not name:
        raise TypeError(f"a variable needs a name, got {name!r}")
    sizes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    if any(isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 0 for size in sizes):
        raise ShapeError(f"the shape of {name} must be whole numbers of at least 0, got {shape!r}")
    return tuple([int(size) for size in sizes])


def diff(expression: Tensor, *variables: Tensor, mode: Strategy = "auto") -> Tensor:
    """The derivative of an expression with respect to one variable after another, as an expression.

    The axes are those of the expression, then those of each variable in turn.

    >>> import numpy as np, einsumad as ea
    >>> x, A = ea.variable("x", 3), ea.variable("A", (3, 3))
    >>> print(ea.diff(x @ A @ x, x, x))
    A[i,j] + A[j,i]  =  A + Aᵀ
    """
    if not variables:
        raise TypeError("diff needs at least one variable")
    if mode not in STRATEGIES:
        raise ValueError(f"mode must be one of {', '.join(STRATEGIES)}, got {mode!r}")
    node = as_node(expression)
    for later, symbol in zip(reversed(range(len(variables))), variables, strict=True):
        source = _leaf_of(symbol)
        if source.dtype.kind != "f" or node.dtype.kind != "f":
            raise DifferentiationError(f"dtype {source.dtype} or {node.dtype} cannot be differentiated")
        with recording():
            (node,) = derive(Request("derivatives", (1,), mode, later), [node], [source]).outputs
    return Tensor(node)


def _leaf_of(symbol: Any) -> Leaf:
    if not isinstance(symbol, Tensor) or not isinstance(symbol.node, Leaf):
        raise TypeError(f"expected a variable made by einsumad.variable or einsumad.tensor, got {symbol!r}")
    return symbol.node


def simplify(expression: Tensor) -> Tensor:
    """The expression in normal form."""
    return Tensor(normalise([as_node(expression)])[0])


def evaluate(
    expressions: Any,
    values: Mapping[Tensor, Any] | None = None,
    *,
    compressed: bool = False,
    rows: int | None = None,
    memory_limit: int | None = None,
) -> Any:
    """The value of an expression, or of a tree of expressions, with the given values for its variables.

    With `compressed` each is a :class:`CompressedTensor`. The first `rows` of its axes are those of the rows; without
    it, half of them.

    Raises :class:`TracingError` naming variables that are needed and have no value, and :class:`ShapeError` for values
    that do not fit.
    """
    memory_limit = checked_limit(memory_limit)
    outputs, tree = flatten(expressions)
    roots = tuple([as_node(output) for output in outputs])
    given = _given_values({} if values is None else values)
    structure, found = structural_key(roots)

    def build() -> Derivation:
        over_slots, slots = with_slots(roots, found)
        with options_for(over_slots):
            normal = normalise(over_slots, progress_of_functions() if compressed else progress_of_jacobians())
        return in_structure(normal, slots, rows) if compressed else Derivation(slots, normal)

    derivation, _ = find_or_derive(("evaluate", structure, compressed, rows), build)
    values_found = {node: given[node] if node in given else value_of(node) for node in found}
    read = derivation.read()
    missing = [
        node.name or "an unnamed array" for k, node in enumerate(found) if k in read and values_found[node] is None
    ]
    if missing:
        raise TracingError(f"no value was given for {', '.join(missing)}")
    home = common_home(map(home_of, (*given.values(), *values_found.values())))
    refuse_elsewhere(home if compressed else None)
    arrays = run(derivation, found, values_found.__getitem__, memory_limit, home=home)
    if not compressed:
        return unflatten(tree, arrays)

    def private(slot: int) -> Any:
        node = found[slot]
        return snapshot(given[node]) if node in given else values_found[node]

    return unflatten(tree, from_parts(derivation, arrays, private))


def _given_values(values: Mapping[Tensor, Any]) -> dict[Node, Any]:
    given: dict[Node, Any] = {}
    for symbol, value in values.items():
        node = _leaf_of(symbol)
        shape, dtype = shape_and_dtype(value)
        if shape != node.shape:
            raise ShapeError(f"{node.name} has shape {node.shape}, but its value has shape {shape}")
        if not np.can_cast(dtype, node.dtype, "same_kind"):
            raise TypeError(f"{node.name} has dtype {node.dtype}, but its value has dtype {dtype}")
        if node in given:
            raise ValueError(
                f"{node.name} was given two values: variables of one name, shape and dtype are the same variable"
            )
        given[node] = np.asarray(value, node.dtype) if library_of(value) is None else value
    return given


def einsum(*operands: Any) -> Any:
    """A product in Einstein notation, as :func:`numpy.einsum` takes it: subscripts and operands, or interleaved.

    With a tensor among the operands the result is a tensor, otherwise an array. Ellipsis axes may be dropped from the
    output, and there may be any number of indices. Raises :class:`IndexNotationError` and :class:`ShapeError` with a
    caret under the place.

    >>> import numpy as np, einsumad as ea
    >>> ea.einsum("ij,j->i", np.eye(2), np.array([1.0, 2.0]))
    array([1., 2.])
    """
    if not any(isinstance(operand, Tensor) for operand in operands):
        return evaluate(_product(einsum, operands, {}))
    walk = walk_of_trace()
    return _product(einsum, operands, {}) if walk is None else walk.call(einsum, operands, {}, _product)


def _product(_: Any, operands: Sequence[Any], options: Mapping[str, Any]) -> Any:
    return wrap(call_function(np.einsum, operands, options))


arrays_are_nodes(einsum, after_text=True)
