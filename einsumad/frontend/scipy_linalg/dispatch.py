"""SciPy's function for plain arrays, ours for traced values.

Owns the table of functions and the reading of matrices. Imports the graph, lifting and the tensor; SciPy when a
function is called with plain arrays. Invariant: a function without traced arguments is SciPy's own; an option that a
traced function lacks is refused.

Every function takes ``overwrite_*`` and ``check_finite`` where SciPy does. The first is a permission that is not made
use of; the second is not checked, since values are not known: what is not finite gives NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import signature
from types import MappingProxyType
from typing import Any

import numpy as np

from einsumad.errors import ShapeError, TracingError
from einsumad.frontend.broadcasting import broadcast_shape, spread
from einsumad.frontend.coverage.limits import refused
from einsumad.frontend.lifting import as_node, holds_tensor
from einsumad.frontend.promotion import in_dtype
from einsumad.frontend.tensor import Tensor, own_called
from einsumad.functions.general.matrix_kernels import linear_algebra
from einsumad.graph import Node

_functions: dict[str, Callable[..., Any]] = {}
FUNCTIONS: Mapping[str, Callable[..., Any]] = MappingProxyType(_functions)
"""The functions of ``scipy.linalg`` that take traced values, by name."""


def supports_tracing(body: Callable[..., Any]) -> Callable[..., Any]:
    """Enter a function of traced values under its name; for plain arrays it is SciPy's."""
    name, parameters = body.__name__, signature(body)

    @wraps(body)
    def function(*args: Any, **kwargs: Any) -> Any:
        if not holds_tensor([*args, *kwargs.values()]):
            return getattr(linear_algebra(), name)(*args, **kwargs)
        try:
            parameters.bind(*args, **kwargs)
        except TypeError as error:
            raise TracingError(f"scipy.linalg.{name} on traced values: {error}; it is {name}{parameters}") from error
        return own_called(body, args, kwargs)

    _functions[name] = function
    return function


def refuse(name: str, given: Mapping[str, Any], **defaults: Any) -> None:
    """Raise for each option whose value is not the one that is supported."""
    for option, default in defaults.items():
        if given[option] is not default and given[option] != default:
            raise refused(f"scipy.linalg.{name}", option, f"{option}={given[option]!r}")


def floating(name: str, x: Any) -> Node:
    """The node of a float32 or float64 operand; integers become float64, as SciPy has it."""
    node = as_node(x)
    if node.dtype in (np.float32, np.float64):
        return node
    if node.dtype.kind == "f":
        raise TracingError(f"scipy.linalg.{name} of {node.dtype}: convert to float32 or float64 first")
    return in_dtype(node, np.float64)


def matrices(name: str, a: Any) -> Node:
    """The node of square matrices in the last two axes."""
    node = floating(name, a)
    if len(node.shape) < 2 or node.shape[-1] != node.shape[-2]:
        raise ShapeError(f"scipy.linalg.{name} needs square matrices in the last two axes, got shape {node.shape}")
    return node


def rectangular(name: str, a: Any) -> Node:
    """The node of matrices of any size in the last two axes."""
    node = floating(name, a)
    if len(node.shape) < 2:
        raise ShapeError(f"scipy.linalg.{name} needs matrices in the last two axes, got shape {node.shape}")
    return node


def in_common(*nodes: Node) -> list[Node]:
    """Matrices in one dtype, with the batch axes that they broadcast to."""
    dtype = np.result_type(*[node.dtype for node in nodes])
    batch = broadcast_shape(*[node.shape[:-2] for node in nodes])
    return [spread(in_dtype(node, dtype), batch + node.shape[-2:]) for node in nodes]


def tensors(name: str, *operands: Any) -> list[Tensor]:
    """Operands as traced floats."""
    return [Tensor(floating(name, operand)) for operand in operands]


def vector(name: str, x: Any, least: int = 0) -> Tensor:
    """The operand as a traced vector; of what has more axes SciPy's versions make different things."""
    node = as_node(x)
    if len(node.shape) != 1 or node.shape[0] < least:
        raise ShapeError(f"scipy.linalg.{name} needs a vector of {least} entries or more, got shape {node.shape}")
    return Tensor(node)


def choice(name: str, option: str, value: Any, known: Sequence[Any]) -> None:
    """Raise unless the option has one of the values."""
    if not any(value is each or value == each for each in known):
        raise ValueError(f"scipy.linalg.{name}({option}={value!r}): it is one of {', '.join(map(repr, known))}")
