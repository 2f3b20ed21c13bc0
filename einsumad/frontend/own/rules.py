"""A push or a pull of a user, traced: what it computes as an expression, and the Jacobians that follow from it.

Owns the trace of a rule and its check. Imports tracing, planning and the linearity of expressions. Invariant: a rule is
traced on leaves without values, so its expression holds for all of them; it is a linear map with the shapes of
the function, or an error says what it is instead.

With p the operands, v the outputs: a push gives ``dv[j] = sum over k of J[j, k] dp[k]``, linear in the tangents dp, so
``J[j, k]`` is its derivative with respect to ``dp[k]``. A pull gives ``sum over j of c[j] J[j, k]``, linear in the
cotangents c, so ``J[j, k]`` is its derivative with respect to ``c[j]``, with the axes exchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any, Literal

import numpy as np

from einsumad.errors import DifferentiationError, ShapeError
from einsumad.frontend.evaluation import without_values
from einsumad.frontend.lifting import as_node
from einsumad.frontend.met import one_leaf_per_array
from einsumad.frontend.own.arguments import Layout, Number, Static, holds_traced
from einsumad.frontend.own.columns import by_columns
from einsumad.frontend.own.definition import Definition
from einsumad.frontend.own.linearity import reason_not_linear
from einsumad.frontend.own.results import Form, pack, traced, tree_of
from einsumad.frontend.tensor import Tensor
from einsumad.frontend.tracing import abstract_variable
from einsumad.frontend.trees import flatten
from einsumad.frontend.values import known_value, share
from einsumad.frontend.variables import Lifetime, is_variable
from einsumad.graph import Leaf, Node, Shape, Zero, cast, fresh_leaf, structural_key, substitute, transpose, zero
from einsumad.planning import jacobian
from einsumad.records import record
from einsumad.rewriting import normalise

Kind = Literal["push", "pull"]
Operands = tuple[tuple[Shape, np.dtype], ...]
_BY_ARRAYS = "put what needs values into an einsumad.custom_function of its own, which is given arrays"
_SEED = {"push": "tangent", "pull": "cotangent"}


@record(eq=True, repr=True)
class Call:
    """A function with everything that is fixed in a call: the layout, shapes and dtypes of operands, and the result."""

    definition: Definition
    layout: Layout
    operands: Operands
    form: Form

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.definition.name


@record(frozen=False, repr=True)
class TracedRule:
    """A push, with a root for each output, or a pull, with one for each operand; None where a root does not exist.

    Leaves: `primals` stand for the operands, `values` for the outputs, `seeds` for tangents or cotangents (None where
    there is none), `captured` for what the rule took from its surroundings.
    """

    call: Call
    kind: Kind
    primals: tuple[Leaf, ...]
    values: tuple[Leaf, ...]
    seeds: tuple[Leaf | None, ...]
    roots: tuple[Node | None, ...]
    captured: tuple[Leaf, ...]
    structure: bytes
    _found: dict[tuple[int, ...], Node] = field(default_factory=dict)
    _open: bool = False

    def again(self) -> tuple[Leaf, ...] | None:
        """What the rule captures now; None if it computes something else."""
        now = trace_rule(self.call, self.kind)
        return now.captured if now.structure == self.structure else None

    def jacobian(self, outputs: Sequence[int], position: int) -> Node:
        """The Jacobian of outputs that travel together in one operand, over the leaves of the rule."""
        key = (*outputs, position)
        if key not in self._found:
            if self._open:
                raise _OpenRule
            self._open = True
            try:
                self._found[key] = self._jacobian(outputs, position)
            finally:
                self._open = False
        return self._found[key]

    def _jacobian(self, outputs: Sequence[int], position: int) -> Node:
        shape = self.call.operands[position][0]
        if self.kind == "push":
            return self._derivative(_joined([self._root(k) for k in outputs]), self.seeds[position])
        blocks: list[Node] = []
        for k in outputs:
            block = self._derivative(self._root(position), self.seeds[k])
            rank = len(shape)
            turned = transpose(block, [*range(rank, len(block.shape)), *range(rank)])
            blocks.append(turned if len(outputs) == 1 else as_node(np.reshape(Tensor(turned), (-1, *shape))))
        return blocks[0] if len(blocks) == 1 else as_node(np.concatenate(traced(blocks)))

    def _root(self, k: int) -> Node:
        root = self.roots[k]
        assert root is not None
        return root

    def _derivative(self, root: Node, seed: Leaf | None) -> Node:
        """The derivative in a seed of a root, which has to be linear in all seeds."""
        assert seed is not None
        seeds = [leaf for leaf in self.seeds if leaf is not None]
        (normal,) = normalise([root])
        if isinstance(normal, Zero):
            return zero((*root.shape, *seed.shape), root.dtype)
        try:
            reason = reason_not_linear(normal, seeds)
            if reason is None:
                return jacobian(normal, [seed]).jacobians[0]
        except _OpenRule:
            others: dict[Node, Node] = {leaf: zero(leaf.shape, leaf.dtype) for leaf in seeds if leaf is not seed}
            (alone,) = normalise(substitute([normal], others))
            return by_columns(self.call.definition, alone, seed)
        raise DifferentiationError(
            f"{self.kind} of {self.call.name} is not linear in the {_SEED[self.kind]}: {reason}; a derivative "
            f"is a linear map, so each term must have the {_SEED[self.kind]} once as a factor"
        )


class _OpenRule(Exception):  # noqa: N818 (it is caught here, and no error)
    """A rule was asked for a Jacobian on the way to that Jacobian: it applies the function to its seed."""


def _joined(parts: Sequence[Node]) -> Node:
    return parts[0] if len(parts) == 1 else as_node(pack(traced(parts)))


def trace_rule(call: Call, kind: Kind) -> TracedRule:
    """Trace a rule of the user for a call."""
    traced_call = Lifetime()
    primals = _variables(call.operands, "primal", traced_call)
    values: tuple[Leaf, ...] = ()
    with one_leaf_per_array(apart=True), traced_call:
        if kind == "push":
            seeds = _seeds(call.operands, kind, traced_call)
            roots = _pushed(call, primals, seeds)
        else:
            outputs = tuple(zip(call.form.shapes, call.form.dtypes, strict=True))
            values = _variables(outputs, "value", traced_call)
            seeds = _seeds(outputs, kind, traced_call)
            roots = _pulled(call, primals, values, seeds)
    inputs = [*primals, *values, *[seed for seed in seeds if seed is not None]]
    present = [root for root in roots if root is not None]
    structure, found = structural_key([*inputs, *present])
    captured, replaced = _captured(call.name, kind, found[len(inputs) :])
    new = iter(substitute(present, replaced))
    return TracedRule(
        call,
        kind,
        primals,
        values,
        seeds,
        tuple([None if root is None else next(new) for root in roots]),
        captured,
        structure,
    )


def _variables(like: Operands, name: str, call: Lifetime) -> tuple[Leaf, ...]:
    return tuple([abstract_variable(shape, dtype, name, call) for shape, dtype in like])


def _seeds(like: Operands, kind: Kind, call: Lifetime) -> tuple[Leaf | None, ...]:
    leaves = _variables(like, _SEED[kind], call)
    return tuple([leaf if leaf.dtype.kind == "f" else None for leaf in leaves])


def _captured(function: str, kind: Kind, found: Sequence[Leaf]) -> tuple[tuple[Leaf, ...], dict[Node, Node]]:
    """Leaves with values for what was captured, and what they replace: another time it may be other values."""
    captured: list[Leaf] = []
    replaced: dict[Node, Node] = {}
    for leaf in found:
        if is_variable(leaf):
            raise DifferentiationError(
                f"{kind} of {function} uses a traced value of its surroundings, whose derivative would be lost: pass "
                f"it to {function} as an argument"
            )
        name = f"{leaf.key[1]:.6g}" if leaf.key[0] == "number" else leaf.name
        own = fresh_leaf(leaf.shape, leaf.dtype, name)
        share(own, known_value(leaf))
        captured.append(own)
        replaced[leaf] = own
    return tuple(captured), replaced


def _given(call: Call, leaves: Sequence[Leaf | None]) -> list[Any]:
    """What a rule gets for leaves that belong to the operands: floats of Python have the dtype of the arrays."""
    weak = call.layout.weak_dtype([dtype for _, dtype in call.operands])
    places = [place for place in call.layout.places if not isinstance(place, Static)]
    return [
        Tensor(cast(leaf, weak)) if leaf is not None and isinstance(place, Number) else _tensor_or_zero(leaf)
        for leaf, place in zip(leaves, places, strict=True)
    ]


def _tensor_or_zero(leaf: Leaf | None) -> Any:
    return 0.0 if leaf is None else Tensor(leaf)


def _pushed(call: Call, primals: Sequence[Leaf], seeds: Sequence[Leaf | None]) -> tuple[Node | None, ...]:
    """The tangents of the outputs."""
    arguments = call.layout.arguments(_given(call, primals))
    tangents = call.layout.filled(_given(call, seeds), lambda _: 0.0)
    parts, tree = flatten(_rule(call, "push")(arguments, tangents))
    if tree != call.form.tree:
        raise DifferentiationError(
            f"push of {call.name} gave the structure {tree}, but the function returns {call.form.tree}"
        )
    outputs = zip(parts, call.form.shapes, call.form.dtypes, strict=True)
    return tuple([_checked(call, "push", part, shape, dtype) for part, shape, dtype in outputs])


def _pulled(
    call: Call, primals: Sequence[Leaf], values: Sequence[Leaf], seeds: Sequence[Leaf | None]
) -> tuple[Node | None, ...]:
    """The cotangents of the operands."""
    arguments = call.layout.arguments(_given(call, primals))
    value = tree_of(call.form, traced(values))
    cotangent = tree_of(call.form, [_tensor_or_zero(seed) for seed in seeds])
    result = _rule(call, "pull")(arguments, value, cotangent)
    parts = _cotangent_leaves(call, arguments, result)
    roots: list[Node | None] = []
    position = 0
    for part, place in zip(parts, call.layout.places, strict=True):
        if not isinstance(place, Static):
            roots.append(_checked(call, "pull", part, *call.operands[position]))
            position += 1
        elif part is not None and np.any(part):
            raise DifferentiationError(f"pull of {call.name} gave a cotangent for an argument that is no array")
    return tuple(roots)


def _cotangent_leaves(call: Call, arguments: tuple[Any, ...], result: Any) -> list[Any]:
    """What a pull gave for each leaf of the arguments; None for an argument means no derivative."""
    if result is None:
        raise DifferentiationError(f"pull of {call.name} gave None: it must return the cotangents of its arguments")
    needed = 1 + max([k for k, argument in enumerate(arguments) if holds_traced(argument)])
    given = result if isinstance(result, tuple) and needed <= len(result) <= len(arguments) else None
    if given is None and needed == 1:
        given = (result,)
    if given is None:
        raise DifferentiationError(
            f"pull of {call.name} must give a tuple of {needed} cotangents, one for each argument (None for "
            f"those that have none), got {type(result).__name__}"
            + (f" of {len(result)}" if isinstance(result, (tuple, list)) else "")
        )
    leaves: list[Any] = []
    given += (None,) * (len(arguments) - len(given))
    for k, (argument, part) in enumerate(zip(arguments, given, strict=True)):
        wanted, tree = flatten(argument)
        found, own = ([None] * len(wanted), tree) if part is None else flatten(part)
        if own != tree:
            raise DifferentiationError(
                f"pull of {call.name} gave the structure {own} as the cotangent of argument {k}, which has {tree}"
            )
        leaves.extend(found)
    return leaves


def _rule(call: Call, kind: Kind) -> Callable[..., Any]:
    rule = call.definition.push if kind == "push" else call.definition.pull
    assert rule is not None
    return without_values(f"{kind} of {call.name} is traced once for all values", _BY_ARRAYS)(rule)


def _checked(call: Call, kind: Kind, part: Any, shape: Shape, dtype: np.dtype) -> Node | None:
    """A tangent or cotangent as a node of the shape and dtype that it must have; None for what has no derivative."""
    if not isinstance(part, Tensor):
        if part is not None and np.any(part):
            raise DifferentiationError(
                f"{kind} of {call.name} gave a constant that is not zero: a derivative is linear in the {_SEED[kind]}, "
                "so each term has it as a factor"
            )
        if part is None or np.shape(part) == ():
            return zero(shape, dtype) if dtype.kind == "f" else None
    node = zero(np.shape(part), dtype) if not isinstance(part, Tensor) else as_node(part)
    if dtype.kind != "f":
        if isinstance(normalise([node])[0], Zero):
            return None
        raise DifferentiationError(
            f"{kind} of {call.name} gave a derivative for a value of dtype {dtype}, which has none"
        )
    if node.shape != shape:
        call.definition.forms.clear()  # the function may have changed: the next trace looks at it anew
        raise ShapeError(f"{kind} of {call.name} gave a result of shape {node.shape} where {shape} is needed")
    if node.dtype.kind != "f" and not isinstance(node, Zero):
        raise DifferentiationError(f"{kind} of {call.name} gave a result of dtype {node.dtype}")
    return cast(node, dtype)
