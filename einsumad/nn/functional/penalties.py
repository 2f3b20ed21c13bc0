"""Penalties: numbers that grow with parameters, to be added to a loss.

Owns their formulas. Imports the tree of modules. Invariant: they are functions of what stands for the parameters, and
are differentiated like all others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from einsumad.nn.tree import Tree


def l1_penalty(values: Tree | Mapping[str, Any]) -> Any:
    """``Σ |w|`` over all entries of a module's parameters, or of named arrays; the derivative at 0 is 0.

    Parameters that are held twice count once. Raises :class:`TypeError` for what is neither.

    >>> import numpy as np, einsumad.nn as nn
    >>> float(nn.l1_penalty({"weight": np.array([[1.0, -2.0]]), "bias": np.array([0.5])}))
    3.5
    """
    return _total(values, lambda array: np.sum(np.abs(array)))


def l2_penalty(values: Tree | Mapping[str, Any]) -> Any:
    """``Σ w²`` over all entries of a module's parameters, or of named arrays.

    Parameters that are held twice count once. Raises :class:`TypeError` for what is neither.

    >>> import numpy as np, einsumad as ea, einsumad.nn as nn
    >>> net = nn.Linear(2, 1, rng=0)
    >>> decay = ea.grad(nn.l2_penalty)(net.arrays())
    >>> bool(np.all(decay["weight"] == 2 * net.weight.data))
    True
    """
    return _total(values, lambda array: np.sum(array**2))


def _total(values: Tree | Mapping[str, Any], measure: Callable[[Any], Any]) -> Any:
    if isinstance(values, Tree):
        arrays = list(values.parameters())
    elif isinstance(values, Mapping):
        arrays = list(values.values())
    else:
        raise TypeError(
            f"a penalty is of a module or of arrays by name, got {type(values).__name__}: for a single array write "
            "np.sum(array**2)"
        )
    return sum([measure(array) for array in arrays], start=0.0)
