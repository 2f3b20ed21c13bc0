"""Adam, with weight decay in the gradient or apart from it.

Owns that update. Imports NumPy and what updates have in common.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from einsumad.optim.updates.averages import Numbers, State, averaged, direction


def adam(
    value: Any,
    gradient: Any,
    state: State,
    numbers: Numbers,
    *,
    amsgrad: bool = False,
    decoupled: bool = False,
    long: bool = True,
    weight_decay: bool = False,
    maximize: bool = False,
) -> tuple[Any, State]:
    """``m ← β₁ m + (1 - β₁) g``, ``v ← β₂ v + (1 - β₂) g²`` and ``p ← p - size m / (√v + eps)``.

    In step t size is ``lr r / (1 - β₁ᵗ)`` with ``r = √(1 - β₂ᵗ)``, and eps was multiplied with r too: these are the
    bias corrections, without a pass over the arrays of their own (section 2 of the source). With `amsgrad` the largest
    v so far takes its place. With `decoupled` weight decay is ``p ← shrunk p`` beforehand, where shrunk is
    ``1 - lr weight_decay``.

    State: "exp_avg" m, "exp_avg_sq" v, and for `amsgrad` "max_exp_avg_sq", all zeros at first. Numbers: "beta1",
    "taken1" (1 - β₁), "beta2", "taken2" (1 - β₂), "eps", "size", and for weight decay "weight_decay" or
    "shrunk". `long` says that β₁ is above one half.

    Source: Kingma and Ba, Adam: a method for stochastic optimization, 2015; amsgrad: Reddi, Kale and Kumar, On the
    convergence of Adam and beyond, 2018; decoupled: Loshchilov and Hutter, Decoupled weight decay regularization, 2019.
    """
    if decoupled and weight_decay:
        value = numbers["shrunk"] * value
    step = direction(value, gradient, numbers, maximize=maximize, weight_decay=weight_decay and not decoupled)
    mean = averaged(state["exp_avg"], step, numbers["beta1"], numbers["taken1"], long=long)
    squares = numbers["beta2"] * state["exp_avg_sq"] + numbers["taken2"] * step * step
    new = {"exp_avg": mean, "exp_avg_sq": squares}
    if amsgrad:
        squares = np.maximum(state["max_exp_avg_sq"], squares)
        new["max_exp_avg_sq"] = squares
    return value - numbers["size"] * (mean / (np.sqrt(squares) + numbers["eps"])), new
