"""Recurrences: one step of each kind, and a loop over all steps.

Owns their formulas. Imports NumPy and SciPy's special functions. Invariant: a step takes what the input gives to all
gates, computed before the loop, and a tuple of states whose first is the output; gates are joined along the last axis
in PyTorch's order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy import special

from einsumad.nn.functional.activations import relu

States: TypeAlias = tuple[Any, ...]
Step: TypeAlias = Callable[[Any, States], States]

_NONLINEARITIES: dict[str, Callable[[Any], Any]] = {"tanh": np.tanh, "relu": relu}


def rnn_step(
    from_input: Any, states: States, weight: Any, bias: Any = None, nonlinearity: Literal["tanh", "relu"] = "tanh"
) -> States:
    """``h' = tanh(a + W h + b)`` for ``a = from_input`` of shape ``(..., hidden)`` (Elman, 1990)."""
    if nonlinearity not in _NONLINEARITIES:
        raise ValueError(f"nonlinearity is one of {', '.join(map(repr, _NONLINEARITIES))}, got {nonlinearity!r}")
    return (_NONLINEARITIES[nonlinearity](from_input + _affine(states[0], weight, bias)),)


def lstm_step(from_input: Any, states: States, weight: Any, bias: Any = None) -> States:
    """``c' = σ(f) c + σ(i) tanh(g)``, ``h' = σ(o) tanh(c')``, where i, f, g and o are ``a + W h + b``.

    States are h and c; forget gates are those of Gers, Schmidhuber and Cummins (2000).
    """
    hidden, cell = states
    i, f, g, o = _gates(from_input + _affine(hidden, weight, bias), 4)
    cell = special.expit(f) * cell + special.expit(i) * np.tanh(g)
    return special.expit(o) * np.tanh(cell), cell


def gru_step(from_input: Any, states: States, weight: Any, bias: Any = None) -> States:
    """``h' = (1 - z) n + z h`` with ``n = tanh(a_n + r u_n)``, where ``u = W h + b``.

    Gates are ``r = σ(a_r + u_r)`` and ``z = σ(a_z + u_z)``. The reset gate acts behind the product, as in PyTorch;
    in Cho et al. (2014) it acts before.
    """
    (hidden,) = states
    a, u = _gates(from_input, 3), _gates(_affine(hidden, weight, bias), 3)
    reset, update = special.expit(a[0] + u[0]), special.expit(a[1] + u[1])
    new = np.tanh(a[2] + reset * u[2])
    return (new + update * (hidden - new),)


def unrolled(step: Step, from_inputs: Any, states: States, *, reverse: bool = False) -> tuple[Any, States]:
    """The outputs of all steps along the first axis, and the last states; in reverse the last step is done first."""
    order = range(np.shape(from_inputs)[0])
    outputs = [None for _ in order]
    for t in reversed(order) if reverse else order:
        states = step(from_inputs[t], states)
        outputs[t] = states[0]
    return np.stack(outputs), states  # type: ignore[arg-type]  # every entry is set


def _affine(x: Any, weight: Any, bias: Any) -> Any:
    y = x @ weight.T
    return y if bias is None else y + bias


def _gates(joined: Any, count: int) -> list[Any]:
    """The gates, each a view."""
    size = np.shape(joined)[-1] // count
    return [joined[..., k * size : (k + 1) * size] for k in range(count)]
