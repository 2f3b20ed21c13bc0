"""The rows of users' functions: a call of one as nodes of the graph, with value and local Jacobian.

Owns the registration of these rows. Imports the catalogue's registry and the rules. Invariant: a row has a name that
tells definition, layout, operands and result apart, so that nodes of one name mean the same; the name is the same in
every run where all that is no array is a number or a text.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from einsumad.errors import DifferentiationError, EinsumadError
from einsumad.frontend.own.arguments import Static
from einsumad.frontend.own.definition import called
from einsumad.frontend.own.results import checked_outputs, pack, traced, unpack
from einsumad.frontend.own.rules import Call, Kind, TracedRule, trace_rule
from einsumad.frontend.recording import recorded
from einsumad.functions import GeneralFunction, register_own
from einsumad.graph import Add, General, Node, Params, Shape, Zero, cast, general, substitute
from einsumad.graph.digests import blake2b
from einsumad.locks import module_lock

_FLOPS_AN_ENTRY = 1000
"""What a function of Python costs is not known; it is more than an operation for each entry."""
_rows: dict[tuple[Call, int], str] = {}
_objects: dict[Static, int] = {}
_lock = module_lock()


def call_nodes(call: Call, operands: Sequence[Node]) -> list[Node]:
    """The outputs of a call, each a node or a part of one."""
    form = call.form
    found: dict[int, Node] = {}
    for number, group in enumerate(form.groups()):
        node = general(_row(call, number), operands, (), form.group_shape(group), form.dtypes[group[0]])
        parts = [node]
        if len(group) > 1:
            (packed,) = traced([node])
            parts = [part.node for part in unpack(packed, [form.shapes[k] for k in group])]
        found.update(zip(group, parts, strict=True))
    return [found[k] for k in range(len(form.shapes))]


def local_jacobian(call: Call, kind: Kind, group: Sequence[int], operands: Sequence[Node], position: int) -> Node:
    """The Jacobian of the outputs of a group in an operand, by the rule of that kind."""
    rule: TracedRule = recorded((call, kind), lambda: trace_rule(call, kind))
    places: dict[Node, Node] = dict(zip(rule.primals, operands, strict=True))
    if rule.values:
        places.update(zip(rule.values, call_nodes(call, operands), strict=True))
    (found,) = substitute([rule.jacobian(group, position)], places)
    return cast(found, call.form.dtypes[group[0]])


def rule_for(call: Call, group: Sequence[int], position: int) -> Kind:
    """The rule that gives a Jacobian: of two that with the smaller seed, the push where they are equal."""
    definition = call.definition
    if definition.push is None and definition.pull is None:
        raise DifferentiationError(
            f"{call.name} has no derivative: give push=, pull= or both to ea.custom_function({call.name}, ...), or "
            "write it with supported functions"
        )
    if definition.push is None or definition.pull is None:
        return "pull" if definition.push is None else "push"
    return "pull" if prod(call.form.group_shape(group)) < prod(call.operands[position][0]) else "push"


def _row(call: Call, number: int) -> str:
    """The name of the row for a group of outputs of a call, entered if it is a new one."""
    with _lock:
        if (call, number) not in _rows:
            said = f"{call.layout.text(_objects)} {call.operands} {call.form} {number}"
            digest = blake2b(said.encode(), digest_size=6).hexdigest()
            name = f"{call.definition.key}:{digest}"
            while name in _rows.values():  # two classes of one name in the arguments look the same in text
                name += "+"
            register_own(_make_row(name, call, call.form.groups()[number]))
            _rows[call, number] = name
        return _rows[call, number]


def _make_row(name: str, call: Call, group: tuple[int, ...]) -> GeneralFunction:
    shape, dtype = call.form.group_shape(group), call.form.dtypes[group[0]]

    def infer(_operands: tuple[Node, ...], _params: Params) -> tuple[Shape, np.dtype[Any]]:
        return shape, dtype

    def jacobian(node: General, position: int) -> tuple[Node, ...]:
        found = local_jacobian(call, rule_for(call, group, position), group, node.operands, position)
        if isinstance(found, Zero):
            return ()
        return found.operands if isinstance(found, Add) and found.dtype == node.dtype else (found,)

    def kernel(*arrays: Any) -> np.ndarray[Any, Any]:
        result = called(call.definition, *call.layout.plain(arrays))
        try:
            outputs = checked_outputs(call.name, result, call.form)
        except EinsumadError:
            call.definition.forms.clear()  # the next trace looks at the function anew
            raise
        packed: np.ndarray[Any, Any] = pack([outputs[k] for k in group])
        return packed

    def cost(shapes: tuple[Shape, ...], _params: Params) -> int:
        return _FLOPS_AN_ENTRY * (prod(shape) + sum(prod(size) for size in shapes))

    doc = getattr(call.definition.function, "__doc__", None) or ""
    return GeneralFunction(
        name, len(call.operands), infer, jacobian, kernel, cost, call.name, "", doc, gives_index=True
    )
