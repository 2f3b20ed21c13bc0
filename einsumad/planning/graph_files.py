"""Files of graphs: JSON tables of nodes over numbered leaves, checked entry by entry when they are read.

Owns the format. Imports the graph, the catalogue and the reading of files. Invariant: a graph that is read was put
together by the constructors from functions of the catalogue, so it is legal whatever the file says; texts of a file
never become part of a program, but for parameters of tensor functions, which are written as literals.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from einsumad.errors import EinsumadError
from einsumad.functions import apply, call, elementwise_names, general_names
from einsumad.graph import (
    Affine,
    Einsum,
    Elementwise,
    General,
    Leaf,
    Node,
    Number,
    Params,
    add,
    affine,
    einsum,
    ones,
    selection,
    topological,
    unit,
    zero,
)
from einsumad.graph.digests import blake2b
from einsumad.planning.files import is_file, read_json, write_json
from einsumad.planning.stored import Stored

FORMAT = 1
_MOST_CHARACTERS = 200_000_000
_LARGEST_SIZE = 2**48
_PLAIN = re.compile(r"[A-Za-z0-9_ .,+-]{0,40}")
_WRONG = (ValueError, TypeError, KeyError, IndexError, OverflowError, EinsumadError)
"""What checks and constructors raise where an entry is not what it should be."""


def write_graph(folder: str, key: Mapping[str, Any], made: Stored, leaves: Sequence[Leaf]) -> None:
    """Write the file of a key; a warning where that fails. What has parameters that no file may have is left out."""
    full = _full(key)
    body = {"graph": table_of(made.roots, leaves), "notes": made.notes}
    if any(not _are_params(node) for node in _functions(made.roots)):
        return
    try:
        write_json(_path(folder, full), {"key": full, "digest": _digest(body), **body})
    except (OSError, ValueError) as error:
        warnings.warn(f"nothing is kept in {folder}: {error}", stacklevel=2)


def read_graph(
    folder: str, key: Mapping[str, Any], leaves: Sequence[Leaf], check: Callable[[Stored], object]
) -> Stored | None:
    """The graph in the file of a key; None where there is none, or, with a warning, none that can be used.

    `check` raises :class:`ValueError` for what is not of the kind that the key asks for.
    """
    full = _full(key)
    path = _path(folder, full)
    if not is_file(path):
        return None
    try:
        content = read_json(path, _MOST_CHARACTERS)
        if not isinstance(content, dict) or content.get("key") != full:
            raise ValueError("it is of another function, version or machine")
        body = {"graph": content.get("graph"), "notes": content.get("notes")}
        if content.get("digest") != _digest(body):
            raise ValueError("its content was changed")
        found = Stored(graph_of(body["graph"], leaves), body["notes"])
        check(found)
    except (OSError, *_WRONG) as error:
        warnings.warn(f"{path} is not used, and written anew: {error}", stacklevel=2)
        return None
    return found


def _full(key: Mapping[str, Any]) -> dict[str, Any]:
    """The key as a file has it, with format and version."""
    whole = {**key, "format": FORMAT, "version": import_module("einsumad").__version__}
    return dict(import_module("json").loads(_text(whole)))


def _path(folder: str, full: Mapping[str, Any]) -> Path:
    return Path(folder) / f"{full['what']}-{_digest(full)}.json"


def _text(content: Any) -> str:
    return str(import_module("json").dumps(content, sort_keys=True, separators=(",", ":")))


def _digest(content: Any) -> str:
    return blake2b(_text(content).encode(), digest_size=16).hexdigest()


def table_of(roots: Sequence[Node], leaves: Sequence[Leaf]) -> dict[str, Any]:
    """The graph as plain data: a record for each node, operands before users, and the places of the roots."""
    numbers = {leaf: k for k, leaf in enumerate(leaves)}
    place: dict[Node, int] = {}
    records: list[list[Any]] = []
    for node in topological(roots):
        own: list[Any] = [numbers[node]] if isinstance(node, Leaf) else _fields(node)
        places = [place[operand] for operand in node.operands]
        place[node] = len(records)
        records.append([type(node).__name__, list(node.shape), node.dtype.str, places, *own])
    return {"nodes": records, "roots": [place[root] for root in roots]}


def _fields(node: Node) -> list[Any]:
    match node:
        case Affine():
            return [list(node.strides), node.offset]
        case Einsum():
            return [node.coefficient, [list(labels) for labels in node.inputs]]
        case Elementwise() | General():
            return [node.function, [list(p) if isinstance(p, tuple) else p for p in node.params]]
    return []


def graph_of(table: Any, leaves: Sequence[Leaf]) -> tuple[Node, ...]:
    """The roots of the graph that a table describes, over these leaves.

    Raises :class:`ValueError`, or what a constructor raises, for a table that is not one that :func:`table_of` made.
    """
    if not isinstance(table, dict) or set(table) != {"nodes", "roots"}:
        raise ValueError("it has no table of nodes")
    nodes: list[Node] = []
    for record in _list(table["nodes"]):
        kind, shape, dtype, places, *own = _list(record)
        sizes = _integers(shape, 0, _LARGEST_SIZE)
        operands = [nodes[k] for k in _integers(places, 0, len(nodes) - 1)]
        if kind == "Leaf":
            node: Node = leaves[_integers(own, 0, len(leaves) - 1)[0]]
        else:
            node = _node(kind, sizes, _dtype(dtype), operands, own)
        if (node.shape, node.dtype.str) != (sizes, dtype):
            raise ValueError(f"a node {kind} has shape {node.shape} and dtype {node.dtype}, not {sizes} and {dtype}")
        nodes.append(node)
    return tuple([nodes[k] for k in _integers(table["roots"], 0, len(nodes) - 1)])


def _node(kind: Any, shape: tuple[int, ...], dtype: np.dtype, operands: list[Node], own: list[Any]) -> Node:
    match kind, own:
        case "Einsum", [coefficient, inputs]:
            labels = [_integers(held, 0, 10**6) for held in _list(inputs)]
            return einsum(operands, labels, range(len(shape)), _number(coefficient), dtype)
        case "Add", []:
            return add(operands, dtype)
        case "Elementwise", [function, params]:
            _named(function, elementwise_names())
            return apply(function, *operands, params=_params(params, texts=False))
        case "General", [function, params]:
            _named(function, general_names())
            return call(function, *operands, params=_params(params, texts=True))
    return _structural(kind, shape, dtype, operands, own)


def _structural(kind: Any, shape: tuple[int, ...], dtype: np.dtype, operands: list[Node], own: list[Any]) -> Node:
    match kind, own:
        case "Unit", []:
            return unit(shape[0], len(shape), dtype)
        case "Ones", []:
            return ones(shape, dtype)
        case "Zero", []:
            return zero(shape, dtype)
        case "Affine", [strides, offset]:
            steps = _integers(strides, -_LARGEST_SIZE, _LARGEST_SIZE)
            (start,) = _integers([offset], -_LARGEST_SIZE, _LARGEST_SIZE)
            return affine(shape[0], shape[1:], steps, start, dtype)
        case "Selection", []:
            (index,) = operands
            return selection(index, shape[-1], dtype)
    raise ValueError(f"it has a node {kind!r}")


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"{value!r} is no list")
    return value


def _integers(values: Any, low: int, high: int) -> tuple[int, ...]:
    for value in _list(values):
        if type(value) is not int or not low <= value <= high:
            raise ValueError(f"{value!r} is no whole number from {low} to {high}")
    return tuple(values)


def _number(value: Any) -> Number:
    if type(value) not in (int, float):
        raise ValueError(f"{value!r} is no number")
    return value  # type: ignore[no-any-return]


def _dtype(text: Any) -> np.dtype:
    if not isinstance(text, str) or not re.fullmatch(r"[<>|=][biuf]\d{1,2}", text):
        raise ValueError(f"{text!r} is no dtype")
    return np.dtype(text)


def _named(function: Any, names: Sequence[str]) -> None:
    if not isinstance(function, str) or function not in names:
        raise ValueError(f"{function!r} is no function of the catalogue")


def _params(values: Any, *, texts: bool) -> Params:
    found = tuple([_integers(v, -_LARGEST_SIZE, _LARGEST_SIZE) if isinstance(v, list) else v for v in _list(values)])
    if not _are_plain(found, texts=texts):
        raise ValueError(f"{values!r} are no parameters")
    return found


def _are_plain(params: Params, *, texts: bool) -> bool:
    """Whether these are numbers, flags, whole numbers, or short plain texts where `texts` are allowed."""
    kinds = (int, float, bool, type(None), tuple)
    return all(type(p) in kinds or (texts and isinstance(p, str) and bool(_PLAIN.fullmatch(p))) for p in params)


def _functions(roots: Sequence[Node]) -> list[Elementwise | General]:
    return [node for node in topological(roots) if isinstance(node, Elementwise | General)]


def _are_params(node: Elementwise | General) -> bool:
    return _are_plain(node.params, texts=isinstance(node, General))
