"""The form of a result before it is computed.

Owns the ways to find it. Imports tracing and evaluation. Invariant: what is found is a promise only, which is checked
whenever the function has run.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from einsumad.errors import TracingError
from einsumad.frontend.evaluation import concrete
from einsumad.frontend.own.arguments import Layout, Number, Static
from einsumad.frontend.own.definition import Definition, called
from einsumad.frontend.own.results import Form, declared_form, form_of, form_of_nodes, traced
from einsumad.frontend.tracing import abstract_variable, run
from einsumad.graph import Node


def find_form(definition: Definition, layout: Layout, args: Sequence[Any], operands: Sequence[Node]) -> Form:
    """The form of the result: declared, known from an equal call, computed where all values are known, or traced.

    The function is traced, which only some can be, where values are not known: for symbols, within
    :func:`einsumad.compile` and within rules.
    """
    if definition.shape is not None:
        weak = layout.weak_dtype([node.dtype for node in operands])
        return declared_form(definition.name, definition.shape, definition.dtype, args, weak)
    key = _key(layout, operands)
    form: Form | None = definition.forms.get(key)
    if form is None:
        form = computed_form(definition, layout, operands) or _traced_form(definition, layout, operands)
        definition.forms[key] = form
    return form


def _key(layout: Layout, operands: Sequence[Node]) -> Hashable:
    """What the form depends on. A float counts as an array of the dtype that it takes on, which rules get for it."""
    weak = layout.weak_dtype([node.dtype for node in operands])
    places = [place for place in layout.places if not isinstance(place, Static)]
    arrays = [
        (node.shape, weak if isinstance(place, Number) else node.dtype)
        for node, place in zip(operands, places, strict=True)
    ]
    statics = [place if isinstance(place, Static) else None for place in layout.places]
    return layout.tree, tuple(statics), tuple(arrays)


def computed_form(definition: Definition, layout: Layout, operands: Sequence[Node]) -> Form | None:
    """The form of the function's result, which is computed; None where a value is not known."""
    values = []
    for node in operands:
        value = concrete(node)
        if value is None:
            return None
        values.append(value)
    result = called(definition, *layout.plain(values))
    return form_of(definition.name, result, layout.weak_dtype([node.dtype for node in operands]))


def _traced_form(definition: Definition, layout: Layout, operands: Sequence[Node]) -> Form:
    leaves = [abstract_variable(node.shape, node.dtype) for node in operands]
    try:
        nodes, tree = run(definition.function, layout.arguments(traced(leaves)), {})
    except Exception as error:
        raise TracingError(
            f"the shape of {definition.name} is not known: values are not known here (symbols, ea.compile, or a push "
            "or pull), and the function cannot be traced; say its shape, as in "
            f"ea.custom_function({definition.name}, shape=lambda x: x.shape)"
        ) from error
    return form_of_nodes(nodes, tree)
