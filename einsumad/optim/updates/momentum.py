"""Gradient descent, with momentum or without.

Owns that update. Imports what updates have in common.
"""

from __future__ import annotations

from typing import Any

from einsumad.optim.updates.averages import Numbers, State, direction


def sgd(
    value: Any,
    gradient: Any,
    state: State,
    numbers: Numbers,
    *,
    momentum: bool = False,
    dampening: bool = False,
    nesterov: bool = False,
    weight_decay: bool = False,
    maximize: bool = False,
) -> tuple[Any, State]:
    """``b ← momentum b + undamped g`` and ``p ← p - lr b``; with `nesterov` ``p ← p - lr (g + momentum b)``.

    State: "momentum_buffer" b, zeros at first, if there is momentum. Numbers: "lr", and for the flags "momentum",
    "undamped" (1 in the first step, then 1 - dampening) and "weight_decay".

    Source: Sutskever, Martens, Dahl and Hinton, On the importance of initialization and momentum in deep learning,
    2013.

    >>> import numpy as np
    >>> from einsumad.optim import updates
    >>> updates.sgd(np.array([1.0, 2.0]), np.array([10.0, -10.0]), {}, {"lr": np.float64(0.1)})
    (array([0., 3.]), {})
    """
    step = direction(value, gradient, numbers, maximize=maximize, weight_decay=weight_decay)
    if not momentum:
        return value - numbers["lr"] * step, {}
    added = numbers["undamped"] * step if dampening else step
    buffer = numbers["momentum"] * state["momentum_buffer"] + added
    step = step + numbers["momentum"] * buffer if nesterov else buffer
    return value - numbers["lr"] * step, {"momentum_buffer": buffer}
