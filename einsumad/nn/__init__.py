"""Neural networks as thin wrappers.

Owns nothing but the names. Imports the modules of this folder.
"""

from einsumad.nn import functional
from einsumad.nn import initialisation as init
from einsumad.nn.context import no_grad
from einsumad.nn.layers.activations import ReLU, Tanh
from einsumad.nn.layers.attention import MultiHeadAttention, MultiheadAttention
from einsumad.nn.layers.containers import ModuleList, Sequential
from einsumad.nn.layers.dropout import Dropout
from einsumad.nn.layers.linear import Linear
from einsumad.nn.layers.normalisation import LayerNorm
from einsumad.nn.layers.recurrent import GRU, LSTM, RNN
from einsumad.nn.layers.transformer import TransformerEncoderLayer
from einsumad.nn.module import Module
from einsumad.nn.parameter import Buffer, Parameter
from einsumad.nn.random import manual_seed

__all__ = [
    "GRU",
    "LSTM",
    "RNN",
    "Buffer",
    "Dropout",
    "LayerNorm",
    "Linear",
    "Module",
    "ModuleList",
    "MultiHeadAttention",
    "MultiheadAttention",
    "Parameter",
    "ReLU",
    "Sequential",
    "Tanh",
    "TransformerEncoderLayer",
    "functional",
    "init",
    "manual_seed",
    "no_grad",
]
