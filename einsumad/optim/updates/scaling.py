"""Steps scaled entry by entry with the squares of gradients: RMSprop and Adagrad.

Owns both updates. Imports NumPy and what updates have in common.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from einsumad.optim.updates.averages import Numbers, State, averaged, direction


def rmsprop(
    value: Any,
    gradient: Any,
    state: State,
    numbers: Numbers,
    *,
    momentum: bool = False,
    centered: bool = False,
    long: bool = True,
    weight_decay: bool = False,
    maximize: bool = False,
) -> tuple[Any, State]:
    """``v ← alpha v + (1 - alpha) g²`` and ``p ← p - lr g / (√v + eps)``.

    With `centered` the mean ``a ← alpha a + (1 - alpha) g`` is taken off: ``√(v - a²)``, where rounding never makes a
    negative number. With momentum ``b ← momentum b + g / (√v + eps)`` and ``p ← p - lr b``.

    State: "square_avg" v, and for the flags "grad_avg" a and "momentum_buffer" b, all zeros at first. Numbers: "lr",
    "alpha", "taken" (1 - alpha), "eps", and for the flags "momentum" and "weight_decay". `long` says that alpha is
    above one half.

    Source: Tieleman and Hinton, Lecture 6.5, 2012; centered: Graves, Generating sequences with recurrent neural
    networks, 2013.
    """
    step = direction(value, gradient, numbers, maximize=maximize, weight_decay=weight_decay)
    squares = numbers["alpha"] * state["square_avg"] + numbers["taken"] * step * step
    new = {"square_avg": squares}
    if centered:
        mean = averaged(state["grad_avg"], step, numbers["alpha"], numbers["taken"], long=long)
        new["grad_avg"] = mean
        squares = np.maximum(squares - mean * mean, 0)
    step = step / (np.sqrt(squares) + numbers["eps"])
    if momentum:
        step = numbers["momentum"] * state["momentum_buffer"] + step
        new["momentum_buffer"] = step
    return value - numbers["lr"] * step, new


def adagrad(
    value: Any,
    gradient: Any,
    state: State,
    numbers: Numbers,
    *,
    weight_decay: bool = False,
    maximize: bool = False,
) -> tuple[Any, State]:
    """``s ← s + g²`` and ``p ← p - lr g / (√s + eps)``, where lr has decayed already.

    State: "sum" s, at first the initial value of the accumulator. Numbers: "lr" (divided by 1 + (t - 1) lr_decay in
    step t), "eps", and for the flag "weight_decay".

    Source: Duchi, Hazan and Singer, Adaptive subgradient methods for online learning and stochastic optimization, 2011.
    """
    step = direction(value, gradient, numbers, maximize=maximize, weight_decay=weight_decay)
    squares = state["sum"] + step * step
    return value - numbers["lr"] * (step / (np.sqrt(squares) + numbers["eps"])), {"sum": squares}
