"""Eager style: tensors with values.

Owns :func:`tensor`. Imports lifting and the tables of values and variables. Invariant: the tensor has a private copy of
the array, so later writes to the array change nothing.
"""

from __future__ import annotations

from typing import Any

from einsumad.errors import DifferentiationError
from einsumad.execution.backends import shape_and_dtype
from einsumad.frontend.evaluation import evaluated
from einsumad.frontend.lifting import plain_array
from einsumad.frontend.tensor import Tensor
from einsumad.frontend.values import bind, share
from einsumad.frontend.variables import require_gradient
from einsumad.graph import fresh_leaf


def tensor(array: Any, requires_grad: bool = False, name: str | None = None) -> Tensor:
    """A tensor with a value, for use in NumPy functions; ``loss.backward()`` leaves its gradient in ``tensor.grad``.

    Gradients add up over calls of ``backward``; set ``tensor.grad = None`` to start anew. Integer arrays can be tensors
    but require no gradient (:class:`DifferentiationError`).

    >>> import numpy as np, einsumad as ea
    >>> w = ea.tensor(np.array([1.0, 2.0]), requires_grad=True)
    >>> np.sum(w * w).backward()
    >>> w.grad
    array([2., 4.])
    """
    known = evaluated(array.node) if isinstance(array, Tensor) else plain_array(array)
    value = array.numpy() if known is None else known  # which says why it is not known
    shape, dtype = shape_and_dtype(value)
    if requires_grad and dtype.kind != "f":
        raise DifferentiationError(f"requires_grad needs a floating dtype, got {dtype}")
    leaf = fresh_leaf(shape, dtype, name)
    (share if isinstance(array, Tensor) else bind)(leaf, value)
    if requires_grad:
        require_gradient(leaf)
    return Tensor(leaf)
