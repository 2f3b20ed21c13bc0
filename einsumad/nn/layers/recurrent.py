"""Recurrent layers: a loop over the steps of a sequence, unrolled.

Owns :class:`RNN`, :class:`LSTM` and :class:`GRU`. Imports modules, dropout, and the recurrences. Invariant: names,
shapes and the order of gates are those of PyTorch, so that states can be exchanged.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

import einsumad as ea
from einsumad.nn.functional.recurrent import Step, gru_step, lstm_step, rnn_step, unrolled
from einsumad.nn.initialisation import uniform_by_fan_in
from einsumad.nn.layers.dropout import Dropout
from einsumad.nn.module import Module
from einsumad.nn.parameter import Parameter
from einsumad.nn.random import Random, generator_of
from einsumad.nn.showing import headed


class Recurrent(Module):
    """What recurrent layers have in common: their parameters, layers one above the other, directions, and states.

    A subclass says how many gates and states it has, and what one step is.
    """

    gate_count: ClassVar[int] = 1
    state_names: ClassVar[tuple[str, ...]] = ("h_0",)

    def __init__(  # noqa: PLR0917 (PyTorch's order)
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        dtype: Any = np.float32,
        rng: Random = None,
    ) -> None:
        if min(input_size, hidden_size, num_layers) < 1:
            raise ValueError(
                f"input_size, hidden_size and num_layers are positive, got {input_size}, {hidden_size}, {num_layers}"
            )
        generator = generator_of(rng)
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout, self.bidirectional = bias, batch_first, dropout, bidirectional
        rows = self.gate_count * hidden_size
        for layer in range(num_layers):
            columns = hidden_size * len(self._ways()) if layer else input_size
            shapes: dict[str, tuple[int, ...]] = {"weight_ih": (rows, columns), "weight_hh": (rows, hidden_size)}
            shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)} if bias else {}
            for way in self._ways():
                for name, shape in shapes.items():
                    array = uniform_by_fan_in(shape, hidden_size, generator, dtype)
                    setattr(self, f"{name}_l{layer}{way}", Parameter(array))
        if dropout:
            self.between = Dropout(dropout, rng=generator)
            if num_layers == 1:
                warnings.warn(
                    f"dropout={dropout} acts between layers, and num_layers is 1: nothing is dropped", stacklevel=2
                )

    @abstractmethod
    def step(self, weight: Any, bias: Any) -> Step:
        """One step, with the weight and bias of the hidden state."""

    def forward(self, x: Any, hx: Any = None) -> tuple[Any, Any]:
        """The outputs of the last layer for all steps, and the last states of all layers.

        Inputs are ``(seq, batch, input_size)``, with `batch_first` ``(batch, seq, input_size)``, or without a batch
        ``(seq, input_size)``; states ``(num_layers * directions, batch, hidden_size)``, zeros if none are given;
        outputs have ``directions * hidden_size`` features.
        """
        shape = np.shape(x)
        if len(shape) not in (2, 3) or shape[-1] != self.input_size:
            first = "batch, seq" if self.batch_first else "seq, batch"
            raise ea.ShapeError(
                f"{headed(self)} takes inputs ({first}, {self.input_size}) or (seq, {self.input_size}), got {shape}"
            )
        batched, swapped = len(shape) == 3, len(shape) == 3 and self.batch_first
        x = np.swapaxes(x, 0, 1) if swapped else x if batched else np.expand_dims(x, 1)
        if np.shape(x)[0] == 0:
            raise ea.ShapeError(f"{headed(self)} takes sequences of at least one step, got inputs of shape {shape}")
        output, states = self._run(x, self._initial(x, hx, batched))
        if not batched:
            output, states = output[:, 0], tuple([state[:, 0] for state in states])
        output = np.swapaxes(output, 0, 1) if swapped else output
        return output, states if len(states) > 1 else states[0]

    def extra_repr(self) -> str:
        """The sizes, and the options that are not as by default."""
        options = {"num_layers": 1, "bias": True, "batch_first": False, "dropout": 0.0, "bidirectional": False}
        told = [f"{name}={getattr(self, name)}" for name, usual in options.items() if getattr(self, name) != usual]
        return ", ".join([str(self.input_size), str(self.hidden_size), *told])

    def _ways(self) -> tuple[str, ...]:
        """What the names of parameters end with, for each direction."""
        return ("", "_reverse") if self.bidirectional else ("",)

    def _run(self, x: Any, initial: Sequence[Any]) -> tuple[Any, tuple[Any, ...]]:
        """Outputs and last states for inputs and states with a batch, steps first."""
        last: list[tuple[Any, ...]] = []
        for layer in range(self.num_layers):
            if layer and self.dropout:
                x = self.between(x)
            outputs = []
            for way in self._ways():
                states = tuple([state[len(last)] for state in initial])
                found, states = self._one_way(x, states, f"l{layer}{way}", reverse=bool(way))
                outputs.append(found)
                last.append(states)
            x = outputs[0] if len(outputs) == 1 else np.concatenate(outputs, axis=-1)
        return x, tuple([np.stack([states[k] for states in last]) for k in range(len(initial))])

    def _one_way(self, x: Any, states: tuple[Any, ...], name: str, *, reverse: bool) -> tuple[Any, tuple[Any, ...]]:
        """One layer in one direction; what inputs give to the gates is one product for all steps."""
        from_inputs = x @ getattr(self, f"weight_ih_{name}").T
        if self.bias:
            from_inputs = from_inputs + getattr(self, f"bias_ih_{name}")
        step = self.step(getattr(self, f"weight_hh_{name}"), getattr(self, f"bias_hh_{name}") if self.bias else None)
        return unrolled(step, from_inputs, states, reverse=reverse)

    def _initial(self, x: Any, hx: Any, batched: bool) -> tuple[Any, ...]:
        """The states before the first step, with an axis for the batch."""
        count, batch = self.num_layers * len(self._ways()), np.shape(x)[1]
        needed = (count, batch, self.hidden_size) if batched else (count, self.hidden_size)
        names = self.state_names
        if hx is None:
            zeros = np.zeros((count, batch, self.hidden_size), np.result_type(x.dtype, self.weight_ih_l0.dtype))
            return (zeros,) * len(names)
        if len(names) > 1 and (not isinstance(hx, tuple | list) or len(hx) != len(names)):
            raise TypeError(f"{headed(self)} takes its initial states as a tuple ({', '.join(names)})")
        given = tuple(hx) if len(names) > 1 else (hx,)
        for name, state in zip(names, given, strict=True):
            if np.shape(state) != needed:
                raise ea.ShapeError(f"{headed(self)}: {name} has shape {needed} here, got {np.shape(state)}")
        return given if batched else tuple([np.expand_dims(state, 1) for state in given])


class RNN(Recurrent):
    """``h[t] = tanh(W_ih x[t] + b_ih + W_hh h[t-1] + b_hh)``, or with `nonlinearity` ``"relu"`` (Elman, 1990).

    For shapes, states and errors see :class:`LSTM`, whose c this layer has not.

    >>> import numpy as np, einsumad.nn as nn
    >>> output, h = nn.RNN(3, 4, nonlinearity="relu", rng=0)(np.ones((5, 2, 3), np.float32))
    >>> output.shape, h.shape
    ((5, 2, 4), (1, 2, 4))
    """

    def __init__(  # noqa: PLR0917 (PyTorch's order)
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: Literal["tanh", "relu"] = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        dtype: Any = np.float32,
        rng: Random = None,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"nonlinearity is 'tanh' or 'relu', got {nonlinearity!r}")
        self.nonlinearity = nonlinearity
        super().__init__(
            input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, dtype=dtype, rng=rng
        )

    def step(self, weight: Any, bias: Any) -> Step:
        """One step, with the weight and bias of the hidden state."""
        return partial(rnn_step, weight=weight, bias=bias, nonlinearity=self.nonlinearity)

    def extra_repr(self) -> str:
        """The sizes, and the options that are not as by default."""
        told = "" if self.nonlinearity == "tanh" else f", nonlinearity={self.nonlinearity!r}"
        return super().extra_repr() + told


class LSTM(Recurrent):
    """Long short-term memory (Hochreiter and Schmidhuber, 1997), with the gates ``i, f, g, o`` in this order.

    ``c[t] = σ(f) c[t-1] + σ(i) tanh(g)`` and ``h[t] = σ(o) tanh(c[t])``, where the gates are
    ``W_ih x[t] + b_ih + W_hh h[t-1] + b_hh``. `num_layers` of them take the outputs of one another, `dropout` is the
    probability with which an output between them is dropped in training, and with `bidirectional` each layer goes
    through the sequence in both directions and joins the outputs.

    Parameters of layer k are `weight_ih_lk` ``(4 hidden, inputs)``, `weight_hh_lk` ``(4 hidden, hidden)``, and with
    `bias` `bias_ih_lk` and `bias_hh_lk` ``(4 hidden,)``; those of the other direction end with ``_reverse``. All are
    uniform in ``±1/√hidden_size`` as in PyTorch.

    Takes inputs and, if wanted, ``(h_0, c_0)``, and gives ``(output, (h_n, c_n))``, see :meth:`Recurrent.forward`.
    Raises :class:`ShapeError` for other shapes and for sequences without a step.

    >>> import numpy as np, einsumad.nn as nn
    >>> lstm = nn.LSTM(3, 4, num_layers=2, batch_first=True, rng=0)
    >>> output, (h, c) = lstm(np.ones((2, 5, 3), np.float32))
    >>> output.shape, h.shape, c.shape
    ((2, 5, 4), (2, 2, 4), (2, 2, 4))
    """

    gate_count = 4
    state_names = ("h_0", "c_0")

    def step(self, weight: Any, bias: Any) -> Step:
        """One step, with the weight and bias of the hidden state."""
        return partial(lstm_step, weight=weight, bias=bias)


class GRU(Recurrent):
    """Gated recurrent units (Cho et al., 2014), with the gates ``r, z, n`` in this order.

    ``h[t] = (1 - z) n + z h[t-1]`` with ``n = tanh(W_in x + b_in + r (W_hn h + b_hn))``: the reset gate acts behind the
    product, as in PyTorch. For shapes, states and errors see :class:`LSTM`, whose c this layer has not.

    >>> import numpy as np, einsumad.nn as nn
    >>> output, h = nn.GRU(3, 4, bidirectional=True, rng=0)(np.ones((5, 2, 3), np.float32))
    >>> output.shape, h.shape
    ((5, 2, 8), (2, 2, 4))
    """

    gate_count = 3

    def step(self, weight: Any, bias: Any) -> Step:
        """One step, with the weight and bias of the hidden state."""
        return partial(gru_step, weight=weight, bias=bias)
