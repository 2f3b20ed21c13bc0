"""Arrays of other libraries among the arguments that nothing is differentiated in.

Owns that they are traced too, as constants. Imports lifting and trees. Invariant: an argument without such arrays is
handed on as it is. NumPy's functions would not know these arrays where no traced value stands beside them: they would
read them back to the host, or fail with the words of the library.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from einsumad.execution.backends import any_loaded, library_of
from einsumad.frontend.lifting import as_node
from einsumad.frontend.tensor import Tensor
from einsumad.frontend.trees import flatten, unflatten


def with_constants(args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Sequence[Any], dict[str, Any]]:
    """The arguments with constant tensors for arrays of other libraries, in lists, tuples and dictionaries too."""
    if not any_loaded():
        return args, kwargs
    return [_as_constant(x) for x in args], {name: _as_constant(x) for name, x in kwargs.items()}


def _as_constant(argument: Any) -> Any:
    if not isinstance(argument, (list, tuple, dict)):
        return argument if library_of(argument) is None else Tensor(as_node(argument))
    leaves, tree = flatten(argument)
    if not any(map(library_of, leaves)):
        return argument
    return unflatten(tree, [leaf if library_of(leaf) is None else Tensor(as_node(leaf)) for leaf in leaves])
