"""What PyTorch users look for under ``nn.utils``: clipping of gradients, and parameters as one vector.

Owns the vectors. Imports parameters and optimisation. Invariant: the order in a vector is that of the parameters, each
row by row.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

import einsumad as ea
from einsumad.nn.parameter import Parameter
from einsumad.optim import clip_grad_norm_, clip_grad_value_

__all__ = ["clip_grad_norm_", "clip_grad_value_", "parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters: Iterable[Parameter]) -> np.ndarray:
    """The numbers of all parameters as one array.

    >>> import einsumad.nn as nn
    >>> nn.utils.parameters_to_vector(nn.Linear(3, 2).parameters()).shape
    (8,)
    """
    arrays = [np.ravel(p.data) for p in parameters]
    if not arrays:
        raise ValueError("there are no parameters to make a vector of")
    return np.concatenate(arrays)


def vector_to_parameters(vec: Any, parameters: Iterable[Parameter]) -> None:
    """Give the parameters the numbers of a vector.

    Raises :class:`ShapeError` if it has not as many as they have; nothing is changed then.
    """
    known = list(parameters)
    vector, total = np.asarray(vec), sum([p.data.size for p in known])
    if vector.shape != (total,):
        raise ea.ShapeError(f"the parameters hold {total} numbers, the vector has shape {vector.shape}")
    ends = np.cumsum([p.data.size for p in known])
    for p, part in zip(known, np.split(vector, ends[:-1]), strict=True):
        p.data = part.reshape(p.data.shape)
