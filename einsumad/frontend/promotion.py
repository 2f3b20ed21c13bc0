"""The operands of a NumPy function as nodes of the dtypes that NumPy would compute in.

Owns promotion. Imports the graph, the catalogue, lifting and broadcasting. Invariant: NumPy itself is asked
for the dtypes (``ufunc.resolve_dtypes``, ``np.result_type``), so they are NumPy's; every conversion is a
node.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from einsumad.errors import TracingError
from einsumad.frontend.broadcasting import constant_of, convert
from einsumad.frontend.carrying import carries_derivative
from einsumad.frontend.lifting import as_node, check_dtype, is_python_number, number
from einsumad.frontend.tensor import Tensor
from einsumad.frontend.weak import WeakTensor
from einsumad.functions import apply, call
from einsumad.graph import BOOL, Node, Ones, Zero, zero


def ufunc_operands(ufunc: np.ufunc, *inputs: Any) -> tuple[list[Node], np.dtype]:
    """The inputs in the dtypes of the loop that NumPy would choose, and the dtype of its result."""
    lifted = [x if is_python_number(x) else as_node(x) for x in inputs]
    tokens = [float if isinstance(x, WeakTensor) else _token(node) for x, node in zip(inputs, lifted, strict=True)]
    if all(isinstance(token, type) for token in tokens):  # numbers of Python alone are arrays
        tokens = [np.dtype(token) for token in tokens]
    resolved = ufunc.resolve_dtypes((*tokens, *[None] * ufunc.nout))
    nodes = [in_dtype(x, dtype) for x, dtype in zip(lifted, resolved[: ufunc.nin], strict=True)]
    return nodes, resolved[ufunc.nin]


def common_operands(*inputs: Any) -> tuple[list[Node], np.dtype]:
    """The inputs in the dtype that they promote to, Python numbers being weak."""
    lifted = [x if is_python_number(x) else as_node(x) for x in inputs]
    weak = [0.0 if isinstance(x, WeakTensor) else node for x, node in zip(inputs, lifted, strict=True)]
    dtype = np.result_type(*[x.dtype if isinstance(x, Node) else x for x in weak])
    return [in_dtype(x, dtype) for x in lifted], dtype


def array_operands(*inputs: Any) -> tuple[list[Node], np.dtype]:
    """The inputs in the dtype that they promote to as arrays, Python numbers being arrays without axes."""
    lifted = [as_node(x) for x in inputs]
    dtype = np.result_type(*[node.dtype for node in lifted])
    return [in_dtype(node, dtype) for node in lifted], dtype


def in_dtype(x: Any, dtype: Any) -> Node:
    """A node or Python number in the given dtype; booleans of numbers are what differs from zero."""
    target = np.dtype(dtype)
    if not isinstance(x, Node):
        return number(x, target)
    if target == BOOL and x.dtype != BOOL:
        return apply("not_equal", x, zero(x.shape, x.dtype))
    check_dtype(target)
    if x.dtype.kind == "f" and target.kind in "iu":
        return _whole(x, target)
    if x.dtype == BOOL != target and constant_of(x) is None:
        return _indicator(convert(x, target))
    return convert(x, target)


def _whole(x: Node, target: np.dtype) -> Node:
    """Whole numbers of what is constant but for jumps."""
    if carries_derivative(x):
        raise TracingError(
            f"a traced {x.dtype} with a derivative cannot become {target}, as the derivative would be lost: round it "
            "first, since what is rounded has none, as in np.floor(x).astype(int)"
        )
    return convert(x, target) if isinstance(x, Ones | Zero) else call("whole", x, params=(target.name,))


def tensor(x: Any, dtype: Any = None) -> Any:
    """The argument as a tensor, in a dtype if one is given; NumPy's functions take it as they take arrays."""
    node = as_node(x)
    return Tensor(node if dtype is None else in_dtype(node, dtype))


def _indicator(truth: Node) -> Node:
    """Truth values as numbers for good: under a sign they are no mask, so False times infinity is NaN."""
    return apply("sign", truth)


def reduced_dtype(function: Any, dtype: np.dtype) -> np.dtype:
    """The dtype of a NumPy reduction such as ``np.sum`` for operands of the given dtype."""
    result: np.dtype = function(np.ones(1, dtype)).dtype
    return result


def floating(name: str, dtype: np.dtype, nodes: Sequence[Node]) -> list[Node]:
    """The nodes in a dtype which has to be a float."""
    if dtype.kind != "f":
        raise TracingError(
            f"{name} of dtype {dtype} is not supported on traced values: convert to float64 with .astype"
        )
    return [in_dtype(node, dtype) for node in nodes]


def _token(x: Any) -> Any:
    if isinstance(x, Node):
        return x.dtype
    return BOOL if isinstance(x, bool) else float if isinstance(x, float) else int
