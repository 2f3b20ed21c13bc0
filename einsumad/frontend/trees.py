"""Nested containers of arrays.

Owns how a tree is taken apart and put together. Imports optree. Invariant: None and empty containers have no leaves;
dictionaries are walked in the order of their sorted keys, unless it is asked for their own.
"""

from __future__ import annotations

import atexit
import importlib
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import cache
from typing import Any, TypeAlias

Tree: TypeAlias = Any
"""The shape of a tree, a ``PyTreeSpec`` of optree."""


@cache
def _optree() -> Any:
    """optree, loaded when the first tree is met: it takes as long to load as a third of everything here."""
    return importlib.import_module("optree")


@cache
def leaf_tree() -> Tree:
    """The shape of what is no container."""
    return flatten(0.0)[1]


def flatten(tree: Any) -> tuple[list[Any], Tree]:
    """The leaves of a tree and its shape."""
    leaves, spec = _optree().tree_flatten(tree)
    return list(leaves), spec


_IN_ORDER = "einsumad: in order"


@cache
def _keep_order() -> None:
    """Let dictionaries be walked in their own order under a name of ours, to the end of the process."""
    kept = ExitStack()
    kept.enter_context(_optree().dict_insertion_ordered(True, namespace=_IN_ORDER))
    atexit.register(kept.close)


def flatten_in_order(tree: Any) -> tuple[list[Any], Tree]:
    """The leaves of a tree and its shape, in which dictionaries have an order: it differs where theirs does."""
    _keep_order()
    return flatten_in(_IN_ORDER, tree)


def flatten_in(namespace: str, tree: Any) -> tuple[list[Any], Tree]:
    """The leaves and the shape of a tree in which the classes registered under a name are containers too."""
    leaves, spec = _optree().tree_flatten(tree, namespace=namespace)
    return list(leaves), spec


def register(namespace: str, kind: type, apart: Callable[[Any], Any], together: Callable[[Any, Any], Any]) -> None:
    """Let a class be a container, in trees that are flattened under this name."""
    _optree().register_pytree_node(kind, apart, together, namespace=namespace)


def unflatten(spec: Tree, leaves: Sequence[Any]) -> Any:
    """The tree of this shape with these leaves."""
    if spec is leaf_tree():
        (leaf,) = leaves
        return leaf
    return _optree().tree_unflatten(spec, leaves)


_LONGEST = 60


def tree_text(tree: Tree) -> str:
    """The shape of a tree as it is written in Python, with a star for each leaf, cut short where it is long."""
    text = str(tree).removeprefix("PyTreeSpec(").removesuffix(")")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def other_structure(what: str, given: tuple[Sequence[Any], Tree], expected: Tree) -> TypeError:
    """The error where a tree was given that is not like another."""
    leaves, found = given
    hint = ""
    if any(isinstance(leaf, (int, float)) for leaf in leaves):
        hint = "; a list of numbers is no array here: np.asarray(v, float) makes one of it"
    structures = f"the structure {tree_text(found)}, expected {tree_text(expected)}"
    return TypeError(f"the {what} has {structures}, where * is an array or a number{hint}")


def leaf_names(tree: Any, prefix: str) -> list[str]:
    """A readable name for each leaf, such as ``params['W'][0]``."""
    paths, _, _ = _optree().tree_flatten_with_path(tree)
    return [prefix + "".join([f"[{key!r}]" for key in path]) for path in paths]
