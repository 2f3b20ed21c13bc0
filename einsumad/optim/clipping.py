"""Gradients that are kept from being too large, by their norm or entry by entry.

Owns the pure functions and those for parameters. Imports NumPy and the errors. Invariant: a clipped gradient has the
dtype that it had, and gradients of zeros stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from einsumad.optim.first_order.groups import Parameter, parameters_of

_EPS = 1e-6
"""What is added to a norm that is divided by, as PyTorch does."""


def total_norm(gradients: Sequence[Any], norm_type: float = 2.0) -> Any:
    """The norm of all entries of all gradients together, of any order above 0 or infinite. Plain or traced arrays.

    >>> import numpy as np
    >>> from einsumad.optim import total_norm
    >>> float(total_norm([np.array([3.0]), np.array([[0.0, 4.0]])]))
    5.0
    """
    order = _order(norm_type)
    norms = [_norm(gradient, order) for gradient in gradients if np.size(gradient)]
    if not norms:
        return np.zeros((), gradients[0].dtype if len(gradients) else np.float32)[()]
    return np.linalg.norm(np.stack(norms), order) if len(norms) > 1 else norms[0]


def clipped_by_norm(gradients: Sequence[Any], max_norm: Any, norm_type: float = 2.0) -> list[Any]:
    """The gradients times ``min(1, max_norm / (norm + 1e-6))``, where norm is that of all together.

    Plain or traced arrays. Source: Pascanu, Mikolov and Bengio, On the difficulty of training recurrent neural
    networks, 2013.

    >>> import numpy as np
    >>> from einsumad.optim import clipped_by_norm
    >>> [g.round(5) for g in clipped_by_norm([np.array([3.0]), np.array([4.0])], 1.0)]
    [array([0.6]), array([0.8])]
    """
    return _scaled(gradients, total_norm(gradients, norm_type), max_norm)


def clipped_by_value(gradients: Sequence[Any], clip_value: Any) -> list[Any]:
    """The gradients with all entries between ``-clip_value`` and ``clip_value``. Plain or traced arrays.

    >>> import numpy as np
    >>> from einsumad.optim import clipped_by_value
    >>> clipped_by_value([np.array([3.0, -0.5])], 1.0)
    [array([ 1. , -0.5])]
    """
    bounds = [_number_like(clip_value, gradient) for gradient in gradients]
    return [np.clip(gradient, -bound, bound) for gradient, bound in zip(gradients, bounds, strict=True)]


def clip_grad_norm_(
    parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False
) -> np.floating:
    """Scale the gradients of the parameters so that their norm is at most `max_norm`; returns the norm they had.

    Parameters without a gradient count as nothing. Raises :class:`ValueError` for a negative `max_norm`, and
    :class:`RuntimeError` where the norm is infinite or NaN with `error_if_nonfinite`; nothing is changed then.

    >>> import numpy as np, einsumad.nn as nn
    >>> from einsumad import optim
    >>> p = nn.Parameter(np.zeros(2))
    >>> p.grad = np.array([3.0, 4.0])
    >>> float(optim.clip_grad_norm_([p], 1.0))
    5.0
    >>> p.grad.round(5)
    array([0.6, 0.8])
    """
    if not max_norm >= 0:
        raise ValueError(f"max_norm must be a number of at least 0, got {max_norm!r}")
    held = _with_gradients(parameters)
    gradients = [np.asarray(parameter.grad) for parameter in held]
    norm: np.floating = total_norm(gradients, norm_type)
    if error_if_nonfinite and not np.isfinite(norm):
        raise RuntimeError(
            f"the norm of the gradients is {norm}, so they cannot be clipped: with error_if_nonfinite=False they "
            "become zero or NaN"
        )
    for parameter, gradient in zip(held, _scaled(gradients, norm, float(max_norm)), strict=True):
        parameter.grad = gradient
    return norm


def clip_grad_value_(parameters: Any, clip_value: float) -> None:
    """Bring all entries of the gradients of the parameters between ``-clip_value`` and ``clip_value``.

    Raises :class:`ValueError` for a negative bound.

    >>> import numpy as np, einsumad.nn as nn
    >>> from einsumad import optim
    >>> p = nn.Parameter(np.zeros(2))
    >>> p.grad = np.array([3.0, -0.5])
    >>> optim.clip_grad_value_([p], 1.0)
    >>> p.grad
    array([ 1. , -0.5])
    """
    if not clip_value >= 0:
        raise ValueError(f"clip_value must be a number of at least 0, got {clip_value!r}")
    held = _with_gradients(parameters)
    gradients = clipped_by_value([np.asarray(parameter.grad) for parameter in held], clip_value)
    for parameter, gradient in zip(held, gradients, strict=True):
        parameter.grad = gradient


def _with_gradients(parameters: Any | Iterable[Any]) -> list[Parameter]:
    return [parameter for parameter in parameters_of(parameters) if parameter.grad is not None]


def _scaled(gradients: Sequence[Any], norm: Any, max_norm: Any) -> list[Any]:
    """The gradients times what brings the norm down; 1 where it is not above the maximum."""
    factor = 1 / np.maximum((norm + _EPS) * _inverse(max_norm), 1)  # a divisor that is known not to be zero
    return [gradient * _number_like(factor, gradient) for gradient in gradients]


def _norm(gradient: Any, order: float) -> Any:
    """The norm of the entries of one array; that of order 2 reads them where they lie."""
    return np.linalg.norm(gradient) if order == 2 else np.linalg.norm(np.reshape(gradient, -1), order)


def _inverse(number: Any) -> Any:
    """One over a number, infinite for 0."""
    return 1 / number if hasattr(number, "astype") or number else np.inf


def _number_like(number: Any, array: Any) -> Any:
    """The number in the dtype of the array."""
    return number.astype(array.dtype) if hasattr(number, "astype") else array.dtype.type(number)


def _order(norm_type: float) -> float:
    order = float(norm_type)
    if not order > 0:
        raise ValueError(f"norm_type must be a number above 0, infinite or not, got {norm_type!r}")
    return order
